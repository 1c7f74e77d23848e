package link

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// ErrRuns says that a bridge of this user runs already.
var ErrRuns = errors.New("a bridge runs already")

// Lock has the folder for one bridge, for as long as the file is open.
func Lock(state string) (*os.File, error) {
	if err := os.MkdirAll(folder(state), 0o700); err != nil {
		return nil, err
	}
	f, err := Open(filepath.Join(folder(state), lockName), os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, err
	}
	for range 5 { // who only looks whether one runs has it for a moment
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			break
		}
		<-time.After(10 * time.Millisecond)
	}
	if err == nil {
		return f, nil
	}
	f.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = ErrRuns
	}
	return nil, err
}

// Runs reports whether a bridge runs.
func Runs(state string) bool {
	f, err := Open(filepath.Join(folder(state), lockName), os.O_RDONLY)
	if err != nil {
		return false
	}
	defer f.Close()
	return errors.Is(syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}

// Wake starts a bridge if this machine has joined a team and none runs. It waits for nothing: of several that are
// started one stays. Program is the file of assent. An error is for show; the questions wait on without it.
func Wake(state, program string) error {
	if !Joined(state) || Runs(state) {
		return nil
	}
	log, err := Open(filepath.Join(folder(state), logName), os.O_WRONLY|os.O_CREATE|os.O_APPEND|os.O_TRUNC)
	if err != nil {
		return err
	}
	defer log.Close()
	c := exec.Command(program, "bridge", "--state", state)
	// It outlives the agent that happened to need it: of the agent's environment it gets what says where things are.
	c.Dir, c.Env, c.Stdout, c.Stderr = "/", environ(os.Environ()), log, log
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := c.Start(); err != nil {
		return err
	}
	go c.Wait() // nobody else does, should it end before this process
	return nil
}

// passed are variables that a bridge gets.
var passed = strings.Fields("HOME USER LOGNAME PATH LANG TMPDIR " +
	"XDG_CONFIG_HOME XDG_STATE_HOME HTTPS_PROXY NO_PROXY https_proxy no_proxy")

func environ(all []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return !slices.Contains(passed, name)
	})
}

// Holds reports whether a lock from [Lock] is still that of the folder. It is not once the folder was removed, also if a new one
// is in its place.
func Holds(lock *os.File, state string) bool {
	held, err := lock.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(filepath.Join(folder(state), lockName))
	return err == nil && os.SameFile(held, there)
}
