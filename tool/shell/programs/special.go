package programs

// A special does what the language of entries cannot say. Each part may be nil.
type special struct {
	scan     func(*reader) // instead of telling flags from operands
	before   func(*reader) // when flags and operands are told apart
	operands func(*reader) // instead of giving operands their roles
	after    func(*reader) // at the end
}

// specialNamed returns the functions that an entry names. Each file of data may
// have its own list of them.
func specialNamed(name string) (special, bool) {
	switch name {
	case "find":
		return special{scan: scanFind, after: runFound}, true
	case "sed":
		return special{after: readSed}, true
	case "awk":
		return special{after: readAwk}, true
	case "grep":
		return special{after: finishGrep}, true
	case "rg":
		return special{after: finishRg}, true
	case "jq":
		return special{before: shiftJq, after: readJq}, true
	case "tar":
		return special{operands: readTar}, true
	case "gzip":
		return special{operands: readGzip}, true
	case "zip":
		return special{before: readZip, after: finishZip}, true
	case "unzip":
		return special{after: readUnzip}, true
	case "sevenZip":
		return special{operands: readSevenZip}, true
	case "ln":
		return special{operands: readLn}, true
	case "rmdir":
		return special{after: finishRmdir}, true
	case "split":
		return special{after: finishSplit}, true
	case "mktemp":
		return special{after: finishMktemp}, true
	case "csplit":
		return special{after: finishCsplit}, true
	case "cpio":
		return special{after: finishCpio}, true
	case "ar":
		return special{operands: readAr}, true
	case "man":
		return special{after: readMan}, true
	case "printenv":
		return special{after: readPrintenv}, true
	case "showsAll":
		return special{after: showsAll}, true
	case "ps":
		return special{after: finishPs}, true
	case "valgrind":
		return special{before: readValgrind}, true
	case "shell":
		return special{operands: readShell}, true
	case "foreignShell":
		return special{operands: readForeignShell}, true
	case "interpreter":
		return special{operands: readInterpreter}, true
	case "python":
		return special{operands: readPython}, true
	}
	return wrapperSpecial(name)
}

// wrapperSpecial returns the functions of programs that start others.
func wrapperSpecial(name string) (special, bool) {
	switch name {
	case "env":
		return special{before: readEnv, after: finishEnv}, true
	case "xargs":
		return special{after: finishXargs}, true
	case "entr":
		return special{after: finishEntr}, true
	case "parallel":
		return special{operands: readParallel}, true
	case "sudo":
		return special{before: readSudo}, true
	case "su":
		return special{after: finishSu}, true
	case "flock":
		return special{before: readFlock, after: finishFlock}, true
	case "script":
		return special{after: finishScript}, true
	case "strace":
		return special{before: readStrace, after: finishStrace}, true
	case "sysctl":
		return special{before: readSysctl}, true
	}
	return devSpecial(name)
}
