package landlock

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"unsafe"

	"github.com/landlock-lsm/go-landlock/landlock"
	"golang.org/x/sys/unix"

	"github.com/assent-dev/assent/sandbox/seccomp"
	"github.com/assent-dev/assent/sandbox/wall"
)

// Version returns the version of Landlock that the kernel has, and whether it will do.
func Version() (int, bool) { return wall.Version() }

// Apply reads its plan, restricts itself to it and becomes the command. It returns only
// with an error, and then the process must end.
func Apply() error {
	var p Plan
	in := os.NewFile(planFD, "plan")
	if err := json.NewDecoder(in).Decode(&p); err != nil {
		return fmt.Errorf("reading the plan: %w", err)
	}
	in.Close()
	program, err := find(p)
	if err != nil {
		return err
	}
	if err := p.limit(); err != nil {
		return err
	}
	if _, ok := Version(); !ok {
		return errors.New("the kernel has no Landlock that sees every change of a file; it needs Linux 6.2 or later")
	}
	runtime.LockOSThread() // the thread that is restricted is the one that becomes the command
	if err := p.restrict(); err != nil {
		return fmt.Errorf("restricting the command: %w", err)
	}
	if err := p.filter(); err != nil {
		return fmt.Errorf("filtering system calls: %w", err)
	}
	return fmt.Errorf("%s: %w", program, syscall.Exec(program, p.Argv, p.Env))
}

// find looks for the program in the command's own PATH.
func find(p Plan) (string, error) {
	for _, v := range p.Env {
		if path, ok := strings.CutPrefix(v, "PATH="); ok {
			os.Setenv("PATH", path)
		}
	}
	return exec.LookPath(p.Argv[0])
}

var resources = map[string]int{
	"core": unix.RLIMIT_CORE, "file size": unix.RLIMIT_FSIZE, "open files": unix.RLIMIT_NOFILE,
	"processes": unix.RLIMIT_NPROC,
}

func (p Plan) limit() error {
	for name, limit := range p.Limits {
		var own unix.Rlimit
		if err := unix.Getrlimit(resources[name], &own); err != nil {
			return err
		}
		limit = min(limit, own.Max)
		if err := unix.Setrlimit(resources[name], &unix.Rlimit{Cur: limit, Max: limit}); err != nil {
			return fmt.Errorf("limiting %s: %w", name, err)
		}
	}
	return nil
}

// restrict applies the file rules. What newer kernels can do besides is taken where it is
// there.
func (p Plan) restrict() error {
	config := landlock.V7.BestEffort()
	rules := []landlock.Rule{
		landlock.RODirs(p.ReadFolders...), landlock.ROFiles(p.ReadFiles...),
		landlock.RWDirs(p.WriteFolders...).WithRefer(), landlock.RWFiles(p.WriteFiles...),
	}
	if err := config.RestrictPaths(rules...); err != nil {
		return err
	}
	return config.RestrictScoped()
}

// filter applies the filter for system calls, which also keeps the network off.
func (p Plan) filter() error {
	code, err := seccomp.Assemble(seccomp.Options{Arch: runtime.GOARCH, Internet: p.Network})
	if err != nil {
		return err
	}
	program := unix.SockFprog{Len: uint16(len(code)), Filter: (*unix.SockFilter)(unsafe.Pointer(&code[0]))}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&program)))
	if errno != 0 {
		return errno
	}
	return nil
}
