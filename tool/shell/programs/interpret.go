package programs

// Interpret says what the program would do with the arguments. The name is that
// of the program without its folder; args are the words behind it. A program that
// is not in the table has a Reading with an empty Program that is not Known.
//
// (It is not called Read because that is the [Kind] of an effect.)
func Interpret(name string, args []Word) Reading {
	return Reading{Why: name + " is not in the table of programs"}
}
