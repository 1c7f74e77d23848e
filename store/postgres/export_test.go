//go:build all && linux

package postgres

// ListenWith has stores begin their listening with another statement, until the end.
func ListenWith(statement string) (end func()) {
	was := listenStatement
	listenStatement = statement
	return func() { listenStatement = was }
}
