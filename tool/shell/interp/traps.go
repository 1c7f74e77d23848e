package interp

import (
	"slices"
	"strconv"
	"strings"
	"syscall"

	"mvdan.cc/sh/v3/syntax"
)

// A trap is what a shell does about a signal.
type trap struct {
	action    string // empty: ignore
	inherited bool   // shown in a subshell, but not done there
	depth     int    // of functions when it was set
}

func (t trap) ignores() bool { return t.action == "" }

// signalNames are the names of signals by number, as kill -l lists them.
var signalNames = map[int]string{
	1: "HUP", 2: "INT", 3: "QUIT", 4: "ILL", 5: "TRAP", 6: "ABRT", 7: "BUS", 8: "FPE", 9: "KILL", 10: "USR1",
	11: "SEGV", 12: "USR2", 13: "PIPE", 14: "ALRM", 15: "TERM", 16: "STKFLT", 17: "CHLD", 18: "CONT", 19: "STOP",
	20: "TSTP", 21: "TTIN", 22: "TTOU", 23: "URG", 24: "XCPU", 25: "XFSZ", 26: "VTALRM", 27: "PROF", 28: "WINCH",
	29: "IO", 30: "PWR", 31: "SYS", 34: "RTMIN", 35: "RTMIN+1", 36: "RTMIN+2", 37: "RTMIN+3", 38: "RTMIN+4",
	39: "RTMIN+5", 40: "RTMIN+6", 41: "RTMIN+7", 42: "RTMIN+8", 43: "RTMIN+9", 44: "RTMIN+10", 45: "RTMIN+11",
	46: "RTMIN+12", 47: "RTMIN+13", 48: "RTMIN+14", 49: "RTMIN+15", 50: "RTMAX-14", 51: "RTMAX-13", 52: "RTMAX-12",
	53: "RTMAX-11", 54: "RTMAX-10", 55: "RTMAX-9", 56: "RTMAX-8", 57: "RTMAX-7", 58: "RTMAX-6", 59: "RTMAX-5",
	60: "RTMAX-4", 61: "RTMAX-3", 62: "RTMAX-2", 63: "RTMAX-1", 64: "RTMAX",
}

// signalNamed reads a signal by name or number.
func signalNamed(spec string) (syscall.Signal, bool) {
	if n, err := strconv.Atoi(spec); err == nil {
		_, ok := signalNames[n]
		return syscall.Signal(n), ok || n == 0
	}
	name := strings.TrimPrefix(strings.ToUpper(spec), "SIG")
	for n, known := range signalNames {
		if known == name {
			return syscall.Signal(n), true
		}
	}
	return 0, false
}

func signalName(sig syscall.Signal) string { return signalNames[int(sig)] }

// signalled sorts the signals that have arrived: a trap is kept for the next command,
// and one that nobody handles ends the shell.
func (s *shell) signalled() {
	owner := s.box.owner
	for _, sig := range s.box.take() {
		t, ok := owner.traps[signalName(sig)]
		switch {
		case ok && sig != syscall.SIGKILL && sig != syscall.SIGSTOP:
			if !t.ignores() && !t.inherited {
				owner.trapped, owner.handled = append(owner.trapped, sig), true
				continue
			}
			if t.ignores() {
				continue
			}
			fallthrough
		default:
			switch sig {
			case syscall.SIGCHLD, syscall.SIGCONT, syscall.SIGURG, syscall.SIGWINCH, syscall.SIGSTOP, syscall.SIGTSTP,
				syscall.SIGTTIN, syscall.SIGTTOU:
				continue
			}
			panic(died{sig, s.box})
		}
	}
}

// runTraps does what was trapped. It is called between commands, and where bash would
// be interrupted.
func (s *shell) runTraps() {
	if s.box == nil || s.box.owner != s {
		return
	}
	if s.box.any.Load() {
		s.signalled()
	}
	for len(s.trapped) > 0 {
		sig := s.trapped[0]
		s.trapped = s.trapped[1:]
		name := signalName(sig)
		t, ok := s.traps[name]
		if !ok || t.ignores() {
			continue
		}
		status, line, pipes := s.status, s.line, s.pipeStatus
		s.runTrap(name, t)
		if s.flow.kind != 0 {
			return
		}
		s.status, s.line, s.pipeStatus = status, line, pipes
	}
}

func (s *shell) runTrap(name string, t trap) {
	noErr, off, command, current := s.noErr, s.lineOff, s.trapCommand, s.current
	s.noErr, s.lineOff = 0, 0
	if name == "ERR" || name == "DEBUG" {
		s.lineOff = s.line - 1 // $LINENO is where it failed, or will run
	}
	if command == "" {
		s.trapCommand = s.commandText()
	}
	s.traceDepth++
	defer func() {
		s.noErr, s.lineOff, s.trapCommand, s.current = noErr, off, command, current
		s.traceDepth--
	}()
	s.runText(t.action, &Source{Origin: Trap, Name: name, Text: t.action}, strings.ToLower(name)+" trap")
}

// debug runs the DEBUG trap before a command, which text describes if it is not the current
// statement.
func (s *shell) debug(text func() string) {
	t, ok := s.traps["DEBUG"]
	if !ok || t.inherited || t.ignores() || s.inDebug || s.inTrap > 0 {
		return
	}
	status, pos, line, pipes, current, command := s.status, s.pos, s.line, s.pipeStatus, s.current, s.trapCommand
	s.inDebug = true
	if text != nil {
		s.trapCommand = text()
	}
	defer func() { s.inDebug, s.trapCommand = false, command }()
	s.runTrap("DEBUG", t)
	s.pos, s.line, s.current = pos, line, current
	if s.flow.kind == 0 {
		s.status, s.pipeStatus = status, pipes
	}
}

// debugAhead runs the DEBUG trap before a simple command that gets a shell of its own, and
// reports whether that shell need not do it.
func (s *shell) debugAhead(st *syntax.Stmt) bool {
	if _, ok := st.Cmd.(*syntax.CallExpr); !ok || s.traps["DEBUG"].action == "" {
		return s.inDebug
	}
	s.current = st
	s.at(st.Pos())
	s.debug(nil)
	return true
}

// hideTraps takes away the traps that a function does not inherit. The returned function
// brings them back, unless the function has set its own.
func (s *shell) hideTraps() func() {
	if s.opt.functrace {
		return func() {}
	}
	hidden := map[string]trap{}
	for _, name := range []string{"DEBUG", "RETURN"} {
		if t, ok := s.traps[name]; ok {
			hidden[name] = t
			delete(s.traps, name)
		}
	}
	return func() {
		for name, t := range hidden {
			if _, ok := s.traps[name]; !ok {
				s.traps[name] = t
			}
		}
	}
}

// returned runs the RETURN trap.
func (s *shell) returned() {
	t, ok := s.traps["RETURN"]
	if !ok || t.inherited || t.ignores() {
		return
	}
	status, line, at := s.status, s.line, s.flow
	s.flow, s.status = flow{}, s.beforeReturn
	s.runTrap("RETURN", t)
	if s.flow.kind == 0 {
		s.status, s.line, s.flow = status, line, at
	}
}

// trapBuiltin is trap.
func trapBuiltin(s *shell, args []string) int {
	list, print := false, false
	args, ok := s.flags(args, "lp", func(flag byte, _ string) {
		list = list || flag == 'l'
		print = print || flag == 'p'
	})
	if !ok {
		return 2
	}
	if list {
		return listSignals(s)
	}
	if print || len(args) == 0 {
		return s.showTraps(args)
	}
	action, specs := args[0], args[1:]
	reset := action == "-"
	if len(specs) == 0 {
		// One operand is a signal to reset.
		if _, ok := trapName(action); !ok {
			s.errText("trap: usage: trap [-lp] [[arg] signal_spec ...]\n")
			return 2
		}
		specs, reset = args, true
	} else if _, err := strconv.Atoi(action); err == nil {
		specs, reset = args, true
	}
	// In a subshell the first change forgets what was inherited.
	for name, t := range s.traps {
		if t.inherited {
			delete(s.traps, name)
		}
	}
	status := 0
	for _, spec := range specs {
		name, ok := trapName(spec)
		if !ok {
			s.complain("trap", "%s: invalid signal specification", spec)
			status = 1
			continue
		}
		switch name {
		case "CHLD":
			if !reset && action != "" {
				s.unsupported("a trap for "+name, s.pos)
			}
		}
		if reset {
			delete(s.traps, name)
			continue
		}
		s.traps[name] = trap{action: action, depth: s.funcDepth()}
	}
	return status
}

func trapName(spec string) (string, bool) {
	switch name := strings.TrimPrefix(strings.ToUpper(spec), "SIG"); name {
	case "0", "EXIT":
		return "EXIT", true
	case "ERR", "DEBUG", "RETURN":
		return name, true
	}
	sig, ok := signalNamed(spec)
	return signalName(sig), ok && sig != 0
}

func (s *shell) showTraps(specs []string) int {
	order := []string{"EXIT"}
	for n := 1; n <= 64; n++ {
		if name := signalNames[n]; name != "" {
			order = append(order, name)
		}
	}
	order = append(order, "DEBUG", "ERR", "RETURN")
	status := 0
	var want []string
	for _, spec := range specs {
		name, ok := trapName(spec)
		if !ok {
			s.complain("trap", "%s: invalid signal specification", spec)
			status = 1
			continue
		}
		want = append(want, name)
	}
	for _, name := range order {
		t, ok := s.traps[name]
		if !ok || len(specs) > 0 && !slices.Contains(want, name) {
			continue
		}
		shown := name
		if sig, ok := signalNamed(name); ok && sig > 0 && name != "EXIT" {
			shown = "SIG" + name
		}
		s.outf("trap -- %s %s\n", singleQuoted(t.action), shown)
	}
	return status
}
