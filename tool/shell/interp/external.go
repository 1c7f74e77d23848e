package interp

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

func openNull() (*desc, error) {
	f, err := os.OpenFile(os.DevNull, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	return adopt(f), nil
}

// lookupPath says to search PATH.
const lookupPath = ""

// standardPath is where command -p looks.
const standardPath = "/bin:/usr/bin:/sbin:/usr/sbin"

// findProgram returns the path of a program, or "".
func (s *shell) findProgram(name, path string) string {
	if strings.Contains(name, "/") {
		return name
	}
	if path == lookupPath {
		if e := s.hashed[name]; e != nil {
			s.hashed[name] = &hashEntry{path: e.path, hits: e.hits + 1} // subshells share the old one
			return e.path
		}
		path = s.get("PATH")
	}
	second := ""
	for _, full := range s.candidates(name, path) {
		info, err := s.stat(full, false)
		if err != nil || info.IsDir() {
			continue
		}
		if s.access(full, unix.X_OK) == nil {
			return full
		}
		if second == "" {
			second = full // it exists, and will be refused by the kernel
		}
	}
	return second
}

func (s *shell) candidates(name, path string) []string {
	var list []string
	for dir := range strings.SplitSeq(path, ":") {
		switch {
		case dir == "":
			dir = "."
		case strings.HasPrefix(dir, "~"):
			if rest := strings.TrimPrefix(dir, "~"); rest == "" || rest[0] == '/' {
				dir = s.get("HOME") + rest
			}
		}
		list = append(list, strings.TrimSuffix(dir, "/")+"/"+name)
	}
	return list
}

// remember puts a program into the table that hash shows.
func (s *shell) remember(name, path string) {
	if strings.Contains(name, "/") || !strings.HasPrefix(path, "/") || s.hashed[name] != nil {
		return
	}
	if s.hashed == nil {
		s.hashed = map[string]*hashEntry{}
	}
	s.hashed[name] = &hashEntry{path: path, hits: 1}
}

// external runs a program and returns its status.
func (s *shell) external(args, added []string, path string) int {
	defer s.notProgram()
	name := args[0]
	prog := ""
	if name != "" {
		prog = s.findProgram(name, path)
	}
	if prog == "" {
		if f := s.funcs["command_not_found_handle"]; f != nil {
			c := s.sub()
			return c.run(func() { c.status = c.callFunction(f, append([]string{f.name}, args...), nil) })
		}
		if v, _ := s.find("PATH"); path == lookupPath && (v == nil || v.str == "") {
			s.warn("%s: %s", name, errText(syscall.ENOENT))
			return 127
		}
		if needsAnsi(name) {
			name = quoteAnsi(name)
		}
		s.warn("%s: command not found", name)
		return 127
	}
	ch, status := s.start(args, added, prog)
	if ch == nil {
		return status
	}
	s.remember(name, prog)
	return s.waitChild(ch)
}

// start starts a program through the handler. Without a child, the status says why.
func (s *shell) start(args, added []string, prog string) (*child, int) {
	s.check()
	req := &ExecRequest{
		Act: s.act(), Args: args, Path: prog, Env: s.childEnv(prog), Added: added,
		Files: s.fds.files(), Umask: s.umask, Limits: s.limits, Background: s.inBackground,
	}
	act, err := s.r.h.Exec(s.ctx, req)
	var inline *Inline
	if errors.As(err, &inline) {
		s.check()
		return nil, s.inline(inline)
	}
	s.judge(err)
	if err != nil {
		return nil, s.startFailed(args, prog, err)
	}
	var ch *child
	if !s.r.gate.pass(func() {
		var p Process
		if p, err = act(); err == nil {
			ch = s.r.crowd.add(p, args, s.inBackground, func(ch *child) {
				switch {
				case s.lead != nil:
					s.lead.takes(ch)
					s.lead = nil
				case s.tail != nil && s.current == s.last:
					s.tail.takes(ch)
				}
			})
		}
	}) {
		panic(halted{})
	}
	s.judge(err)
	if err != nil {
		return nil, s.startFailed(args, prog, err)
	}
	return ch, 0
}

// takes makes a program the process of a job.
func (j *job) takes(ch *child) {
	ch.leads = true
	j.mu.Lock()
	j.prog = ch
	j.mu.Unlock()
	j.setPid(ch.info.Pid)
}

// waitChild waits for a program in the foreground.
func (s *shell) waitChild(ch *child) int {
	s.await(ch.done)
	if ch.status.Signaled() {
		switch {
		case ch.leads:
			s.killed = ch.status.Signal()
		case s.current != s.last:
			s.signalledChild = ch
		}
	}
	return exitStatus(ch.status)
}

// childEnv is the environment of a program, with $_ as its path.
func (s *shell) childEnv(prog string) []string {
	env := slices.DeleteFunc(s.environ(), func(e string) bool { return strings.HasPrefix(e, "_=") })
	if s.replaced() {
		for i, e := range env {
			if level, ok := strings.CutPrefix(e, "SHLVL="); ok {
				n, _ := strconv.Atoi(level)
				env[i] = "SHLVL=" + itoa(n-1)
			}
		}
	}
	return append(env, "_="+prog)
}

// replaced reports whether bash would turn into the program that is about to start: the
// last of the whole text, or of ( ).
func (s *shell) replaced() bool {
	return s.last != nil && s.current == s.last && len(s.traps) == 0 && !s.inFunction()
}

// startFailed reports that a program did not start, and returns 126 or 127. A script
// that does not say who runs it is run here.
func (s *shell) startFailed(args []string, prog string, err error) int {
	info, statErr := s.stat(prog, false)
	switch {
	case errors.Is(err, syscall.ENOEXEC):
		return s.runScript(args, prog)
	case statErr == nil && info.IsDir():
		s.warn("%s: %s", args[0], errText(syscall.EISDIR))
		return 126
	case errors.Is(err, syscall.ENOENT):
		if statErr == nil {
			s.warn("%s: cannot execute: required file not found", args[0])
		} else {
			s.warn("%s: %s", args[0], errText(err))
		}
		return 127
	}
	s.warn("%s: %s", args[0], errText(err))
	return 126
}

// runScript runs a file that the kernel has no interpreter for, as bash does, and puts
// everything in it to the same handlers.
func (s *shell) runScript(args []string, prog string) int {
	d, err := s.open(prog, os.O_RDONLY, "script")
	if err != nil {
		s.warn("%s: %s", prog, errText(err))
		return 126
	}
	text, err := s.readAll(d)
	d.release()
	if err != nil {
		s.warn("%s: %s", prog, errText(err))
		return 126
	}
	line, _, _ := bytes.Cut([]byte(text[:min(len(text), 80)]), []byte("\n"))
	if bytes.IndexByte(line, 0) >= 0 {
		s.warn("%s: cannot execute binary file: Exec format error", args[0])
		return 126
	}
	c := s.fresh(prog, args[1:])
	c.script = prog
	return c.run(func() {
		c.runText(text, &Source{Origin: Script, Name: prog, Text: text}, "")
	})
}

// inline runs the script that a handler answered with.
func (s *shell) inline(in *Inline) int {
	c := s.fresh(in.Name, in.Params)
	if len(in.Opts) > 0 {
		if status := setBuiltin(c, append([]string{"set"}, in.Opts...)); status != 0 {
			c.release()
			return status
		}
	}
	return c.run(func() {
		defer c.from(in.Source)()
		c.units(in.File.Stmts)
	})
}

// fresh returns a shell as a new process would have it: with the environment and the
// descriptors of this one, and nothing else.
func (s *shell) fresh(name string, params []string) *shell {
	c := s.sub()
	env := s.environ()
	c.scopes = []*scope{newScope()}
	c.foreign = nil
	c.hidden, c.aliases, c.hashed = nil, nil, nil
	c.funcs, c.funcsShared = map[string]*function{}, false
	for name, f := range s.funcs {
		if f.exported {
			c.funcs[name] = f
			c.funcsShared = true
		}
	}
	c.opt = newOptions()
	c.name0, c.params = name, params
	c.frames, c.dirs, c.jobs, c.lastBg = nil, nil, nil, nil
	c.noErr, c.level = 0, 0
	c.began, c.secondsFrom = time.Now(), 0
	c.status, c.pipeStatus = 0, nil
	c.initial(env)
	for name, t := range c.traps {
		if !t.ignores() {
			delete(c.traps, name)
		}
	}
	return c
}
