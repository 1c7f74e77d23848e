// Package reexec lets a test binary be the other programs that its tests need: it is started
// again with a role as its first argument, which works inside a sandbox too.
//
//	func TestMain(m *testing.M) {
//		reexec.Main(map[string]reexec.Role{"victim": victim})
//		os.Exit(m.Run())
//	}
//
//	cmd := reexec.Command("victim", folder)
package reexec

import (
	"fmt"
	"os"
	"os/exec"
)

// A Role is what the program does instead of testing, with the arguments after the role. An
// error is printed, and makes it end with status 1.
type Role func(args []string) error

// Main ends the program after it has played one of the roles, if it was started in one.
func Main(roles map[string]Role) {
	if len(os.Args) < 2 || roles[os.Args[1]] == nil {
		return
	}
	if err := roles[os.Args[1]](os.Args[2:]); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", os.Args[1], err)
		os.Exit(1)
	}
	os.Exit(0)
}

// Exits is a role of which the status says how it ended.
func Exits(f func(args []string) int) Role {
	return func(args []string) error { os.Exit(f(args)); return nil }
}

// Self returns the path of the program, without links.
func Self() string {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return self
}

// Argv returns how the program is started in a role.
func Argv(role string, args ...string) []string { return append([]string{Self(), role}, args...) }

// Command returns the program in a role, as it would run.
func Command(role string, args ...string) *exec.Cmd {
	argv := Argv(role, args...)
	return exec.Command(argv[0], argv[1:]...)
}

// inTest names the variable that tells a test that it runs in a process of its own.
const inTest = "ASSENT_TEST_ALONE"

// Alone returns the program as it runs one test in a process of its own, in which
// [IsAlone] returns what is said here.
func Alone(test, said string) *exec.Cmd {
	cmd := exec.Command(Self(), "-test.run=^"+test+"$")
	cmd.Env = append(os.Environ(), inTest+"="+said)
	return cmd
}

// IsAlone returns what a test was told that runs in a process of its own; empty if it does not.
func IsAlone() string { return os.Getenv(inTest) }
