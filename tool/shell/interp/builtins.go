package interp

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A builtin gets its name as the first argument and returns its status.
type builtin func(s *shell, args []string) int

var builtins map[string]builtin

func init() {
	ok := func(*shell, []string) int { return 0 }
	builtins = map[string]builtin{
		":": ok, "true": ok, "false": func(*shell, []string) int { return 1 },
		"complete": ok, "compopt": ok, // completion has no effect where nobody types
		"compgen": compgenBuiltin,
		// Job control is off and cannot be switched on.
		"bg": noJobControl, "fg": noJobControl, "suspend": noJobControl,
		"history": ok,
		".":       sourceBuiltin, "source": sourceBuiltin,
		"[": testBuiltin, "test": testBuiltin,
		"alias": aliasBuiltin, "unalias": unaliasBuiltin,
		"break": breakBuiltin, "continue": breakBuiltin,
		"builtin": builtinBuiltin, "command": commandBuiltin, "type": typeBuiltin, "hash": hashBuiltin,
		"caller": callerBuiltin,
		"cd":     cdBuiltin, "pwd": pwdBuiltin, "dirs": dirsBuiltin, "pushd": pushdBuiltin, "popd": popdBuiltin,
		"declare": declareBuiltin, "typeset": declareBuiltin, "local": declareBuiltin,
		"export": declareBuiltin, "readonly": declareBuiltin, "unset": unsetBuiltin,
		"disown": disownBuiltin, "jobs": jobsBuiltin, "kill": killBuiltin, "wait": waitBuiltin,
		"echo": echoBuiltin, "printf": printfBuiltin,
		"eval": evalBuiltin, "exec": execBuiltin, "exit": exitBuiltin, "logout": exitBuiltin, "return": returnBuiltin,
		"getopts": getoptsBuiltin, "let": letBuiltin,
		"mapfile": mapfileBuiltin, "readarray": mapfileBuiltin, "read": readBuiltin,
		"set": setBuiltin, "shift": shiftBuiltin, "shopt": shoptBuiltin,
		"times": timesBuiltin, "trap": trapBuiltin, "ulimit": ulimitBuiltin, "umask": umaskBuiltin,
	}
	for _, name := range unsupportedBuiltins {
		builtins[name] = func(s *shell, args []string) int {
			s.unsupported(args[0], s.pos)
			return 2
		}
	}
}

// unsupportedBuiltins need a terminal or a history, or change what a name means.
var unsupportedBuiltins = []string{"bind", "enable", "fc", "help"}

// usages are what bash prints after an invalid option.
var usages = map[string]string{
	"cd": "cd [-L|[-P [-e]] [-@]] [dir]", "export": "export [-fn] [name[=value] ...] or export -p",
	"readonly": "readonly [-aAf] [name[=value] ...] or readonly -p", "unset": "unset [-f] [-v] [-n] [name ...]",
	"read":    "read [-ers] [-a array] [-d delim] [-i text] [-n nchars] [-N nchars] [-p prompt] [-t timeout] [-u fd] [name ...]",
	"declare": "declare [-aAfFgiIlnrtux] [name[=value] ...] or declare -p [-aAfFilnrtux] [name ...]",
	"local":   "local [option] name[=value] ...", "type": "type [-afptP] name [name ...]",
	"set":     "set [-abefhkmnptuvxBCEHPT] [-o option-name] [--] [-] [arg ...]",
	"shopt":   "shopt [-pqsu] [-o] [optname ...]",
	"printf":  "printf [-v var] format [arguments]",
	"getopts": "getopts optstring name [arg ...]",
	"kill":    "kill [-s sigspec | -n signum | -sigspec] pid | jobspec ... or kill -l [sigspec]",
	"trap":    "trap [-lp] [[arg] signal_spec ...]", "wait": "wait [-fn] [-p var] [id ...]",
	"jobs": "jobs [-lnprs] [jobspec ...] or jobs -x command [args]", "umask": "umask [-p] [-S] [mode]",
	"ulimit": "ulimit [-SHabcdefiklmnpqrstuvxPRT] [limit]", "hash": "hash [-lr] [-p pathname] [-dt] [name ...]",
	"mapfile": "mapfile [-d delim] [-n count] [-O origin] [-s count] [-t] [-u fd] [-C callback] [-c quantum] [array]",
	"command": "command [-pVv] command [arg ...]", "pwd": "pwd [-LP]", "source": "source filename [arguments]",
	".": ". filename [arguments]", "exec": "exec [-cl] [-a name] [command [argument ...]] [redirection ...]",
	"compgen": "compgen [-abcdefgjksuv] [-o option] [-A action] [-G globpat] [-W wordlist] [-F function] [-C " +
		"command] [-X filterpat] [-P prefix] [-S suffix] [word]",
	"disown": "disown [-h] [-ar] [jobspec ... | pid ...]",
}

func (s *shell) usage(name string) {
	if u := usages[name]; u != "" {
		s.errText(name + ": usage: " + u + "\n")
	}
}

// flags reads the options of a builtin. A letter of spec that is followed by ":" takes a
// value. It returns the operands, or false after a complaint.
func (s *shell) flags(args []string, spec string, set func(flag byte, value string)) ([]string, bool) {
	name := args[0]
	args = args[1:]
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' {
		arg := args[0]
		args = args[1:]
		if arg == "--" {
			break
		}
		if arg == "--help" {
			s.unsupported(name+" --help", s.pos)
		}
		for j := 1; j < len(arg); j++ {
			at := strings.IndexByte(spec, arg[j])
			if at < 0 || arg[j] == ':' {
				s.complain(name, "-%c: invalid option", arg[j])
				s.usage(name)
				return nil, false
			}
			if at+1 == len(spec) || spec[at+1] != ':' {
				set(arg[j], "")
				continue
			}
			value := arg[j+1:]
			if value == "" {
				if len(args) == 0 {
					s.complain(name, "-%c: option requires an argument", arg[j])
					s.usage(name)
					return nil, false
				}
				value, args = args[0], args[1:]
			}
			set(arg[j], value)
			break
		}
	}
	return args, true
}

func noJobControl(s *shell, args []string) int {
	what := "no job control"
	if args[0] == "suspend" {
		what = "cannot suspend: no job control"
	}
	s.complain(args[0], "%s", what)
	return 1
}

func echoBuiltin(s *shell, args []string) int {
	args = args[1:]
	newline, escape := true, s.opt.xpgEcho
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' && strings.Trim(args[0][1:], "neE") == "" {
		for _, c := range args[0][1:] {
			switch c {
			case 'n':
				newline = false
			case 'e':
				escape = true
			case 'E':
				escape = false
			}
		}
		args = args[1:]
	}
	var sb strings.Builder
	for i, arg := range args {
		if i > 0 {
			sb.WriteByte(' ')
		}
		if escape {
			text, stop := unescaped(arg, inEcho)
			sb.WriteString(text)
			if stop {
				newline = false
				break
			}
			continue
		}
		sb.WriteString(arg)
	}
	if newline {
		sb.WriteByte('\n')
	}
	return int(truth(!s.out(sb.String())))
}

// number reads a numeric operand.
func (s *shell) number(name, arg string) (int, bool) {
	n, err := strconv.ParseInt(strings.TrimSpace(arg), 10, 64)
	if err != nil {
		s.complain(name, "%s: numeric argument required", arg)
		return 0, false
	}
	return int(n), true
}

func exitBuiltin(s *shell, args []string) int {
	if args[0] == "logout" {
		s.complain("logout", "not login shell: use `exit'")
		return 1
	}
	status := s.status
	if len(args) > 1 && args[1] == "--" {
		args = append(args[:1:1], args[2:]...)
	}
	if len(args) > 1 {
		n, ok := s.number("exit", args[1])
		if !ok {
			panic(exiting{2})
		}
		if len(args) > 2 {
			s.tooMany("exit")
		}
		status = n & 255
	}
	panic(exiting{status})
}

// tooMany ends the shell, as bash does if one of these builtins gets more than a number.
func (s *shell) tooMany(name string) {
	s.complain(name, "too many arguments")
	panic(exiting{1})
}

func returnBuiltin(s *shell, args []string) int {
	if len(s.frames) == 0 {
		s.complain("return", "can only `return' from a function or sourced script")
		return 2
	}
	status := s.status
	if len(args) > 1 && args[1] == "--" {
		args = append(args[:1:1], args[2:]...)
	}
	if len(args) > 1 {
		n, ok := s.number("return", args[1])
		if !ok {
			n = 2
		} else if len(args) > 2 {
			s.tooMany("return")
		}
		status = n & 255
	}
	s.beforeReturn = s.status
	s.flow = flow{kind: 'r'}
	return status
}

func breakBuiltin(s *shell, args []string) int {
	if s.loops == 0 {
		s.complain(args[0], "only meaningful in a `for', `while', or `until' loop")
		return 0
	}
	n := 1
	if len(args) > 1 {
		var ok bool
		if n, ok = s.number(args[0], args[1]); !ok {
			panic(exiting{128})
		}
		if len(args) > 2 {
			s.tooMany(args[0])
		}
		if n < 1 {
			s.complain(args[0], "%s: loop count out of range", args[1])
			n = s.loops
			s.flow = flow{'b', n}
			return 1
		}
	}
	s.flow = flow{args[0][0], min(n, s.loops)}
	return 0
}

func evalBuiltin(s *shell, args []string) int {
	args = args[1:]
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	text := strings.Join(args, " ")
	s.r.bound(s, len(text))
	if strings.TrimSpace(text) == "" {
		return 0
	}
	s.status = 0
	off := s.lineOff
	s.lineOff = s.line - 1
	s.traceDepth++
	defer func() {
		s.lineOff = off
		s.traceDepth--
	}()
	s.runText(text, &Source{Origin: Eval, Text: text}, "eval")
	return s.status
}

func sourceBuiltin(s *shell, args []string) int {
	name := args[0]
	args, ok := s.flags(args, "", nil)
	if !ok {
		return 2
	}
	if len(args) == 0 {
		s.complain(name, "filename argument required")
		s.usage(name)
		return 2
	}
	path := args[0]
	if !strings.Contains(path, "/") && s.opt.sourcepath {
		for _, full := range s.candidates(path, s.get("PATH")) {
			if info, err := s.stat(full, false); err == nil && info.Mode().IsRegular() {
				path = full
				break
			}
		}
	}
	d, err := s.open(path, os.O_RDONLY, "source")
	if err != nil {
		s.warn("%s: %s", args[0], errText(err))
		return 1
	}
	if info, err := d.f.Stat(); err == nil && info.IsDir() {
		d.release()
		s.complain(name, "%s: is a directory", args[0])
		return 1
	}
	text, err := s.readAll(d)
	d.release()
	if err != nil {
		s.warn("%s: %s", args[0], errText(err))
		return 1
	}
	if strings.IndexByte(text[:min(len(text), 80)], 0) >= 0 {
		s.complain(name, "%s: cannot execute binary file", args[0])
		return 126
	}
	old := *s
	s.frames = append(slices.Clip(s.frames), frame{name: "source", file: path, line: s.line})
	if len(args) > 1 {
		s.params = args[1:]
	}
	s.lineOff, s.paramsSet = 0, false
	s.traceDepth++
	defer func() {
		s.traceDepth--
		s.frames, s.line, s.lineOff = old.frames, old.line, old.lineOff
		if len(args) > 1 && !s.paramsSet {
			s.params = old.params
		}
	}()
	s.status = 0
	s.runText(text, &Source{Origin: Sourced, Name: path, Text: text}, "")
	if s.flow.kind == 0 {
		s.beforeReturn = s.status
	}
	if s.flow.kind == 'r' {
		s.flow = flow{}
	}
	s.returned()
	return s.status
}

func execBuiltin(s *shell, args []string) int {
	clean, argv0, login := false, "", false
	rest, ok := s.flags(args, "cla:", func(flag byte, value string) {
		switch flag {
		case 'c':
			clean = true
		case 'l':
			login = true
		case 'a':
			argv0 = value
		}
	})
	if !ok {
		return 2
	}
	if len(rest) == 0 {
		s.keepRedirs = true
		return 0
	}
	prog := s.findProgram(rest[0], lookupPath)
	if prog == "" {
		s.complain("exec", "%s: not found", rest[0])
		panic(exiting{127})
	}
	if clean {
		defer func(old []*scope) { s.scopes = old }(s.scopes)
		s.scopes = append(slices.Clip(s.scopes), newScope())
		for _, sc := range s.scopes[:len(s.scopes)-1] {
			for name := range sc.vars {
				s.scopes[len(s.scopes)-1].vars[name] = &variable{}
			}
		}
	}
	run := slices.Clone(rest)
	if argv0 != "" {
		run[0] = argv0
	}
	if login {
		run[0] = "-" + run[0]
	}
	s.last = s.current
	ch, status := s.start(run, nil, prog)
	if ch != nil {
		status = s.waitChild(ch)
	}
	delete(s.traps, "EXIT") // the shell is gone, and its trap with it
	panic(exiting{status})
}

func builtinBuiltin(s *shell, args []string) int {
	args = args[1:]
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		return 0
	}
	run := builtins[args[0]]
	if run == nil {
		s.complain("builtin", "%s: not a shell builtin", args[0])
		return 1
	}
	s.call(CallBuiltin, args, nil)
	return s.runBuiltin(run, args)
}

func commandBuiltin(s *shell, args []string) int {
	path, show := lookupPath, byte(0)
	rest, ok := s.flags(args, "pvV", func(flag byte, _ string) {
		if flag == 'p' {
			path = standardPath
		} else {
			show = flag
		}
	})
	if !ok {
		return 2
	}
	if len(rest) == 0 {
		return 0
	}
	if show == 0 {
		if run := builtins[rest[0]]; run != nil {
			s.call(CallBuiltin, rest, nil)
			return s.runBuiltin(run, rest)
		}
		s.call(CallProgram, rest, nil)
		return s.external(rest, nil, path)
	}
	status := 1
	for _, name := range rest {
		found := s.meanings(name, path, false, false)
		if len(found) == 0 {
			if show == 'V' {
				s.complain("command", "%s: not found", name)
			}
			continue
		}
		status = 0
		m := found[0]
		if show == 'V' {
			s.out(s.describe(name, m))
			continue
		}
		switch m.kind {
		case "alias":
			s.outf("alias %s=%s\n", name, singleQuoted(s.aliases[name]))
		case "file":
			s.out(s.fullPath(m.path) + "\n")
		default:
			s.out(name + "\n")
		}
	}
	return status
}

// A meaning is one of the things that a command's name can be.
type meaning struct{ kind, path string }

// meanings lists what a name is, the first being what would run.
func (s *shell) meanings(name, path string, all, noFunctions bool) []meaning {
	var list []meaning
	if _, ok := s.aliases[name]; ok && s.opt.expandAliases {
		list = append(list, meaning{kind: "alias"})
	}
	if slices.Contains(keywords, name) {
		list = append(list, meaning{kind: "keyword"})
	}
	if s.funcs[name] != nil && !noFunctions {
		list = append(list, meaning{kind: "function"})
	}
	if builtins[name] != nil {
		list = append(list, meaning{kind: "builtin"})
	}
	return append(list, s.files(name, path, all && true)...)
}

func (s *shell) files(name, path string, all bool) []meaning {
	if strings.Contains(name, "/") {
		if info, err := s.stat(name, false); err == nil && !info.IsDir() && s.access(name, 1) == nil {
			return []meaning{{"file", name}}
		}
		return nil
	}
	if path == lookupPath {
		if e := s.hashed[name]; e != nil && !all {
			return []meaning{{"file", e.path}}
		}
		path = s.get("PATH")
	}
	var list []meaning
	for _, full := range s.candidates(name, path) {
		if info, err := s.stat(full, false); err == nil && !info.IsDir() && s.access(full, 1) == nil {
			list = append(list, meaning{"file", full})
			if !all {
				break
			}
		}
	}
	return list
}

func (s *shell) fullPath(path string) string {
	if strings.HasPrefix(path, "/") {
		return path
	}
	return s.dir + "/" + strings.TrimPrefix(path, "./")
}

var keywords = []string{
	"if", "then", "else", "elif", "fi", "case", "esac", "for", "select", "while", "until", "do", "done", "in",
	"function", "time", "{", "}", "!", "[[", "]]", "coproc",
}

func (s *shell) describe(name string, m meaning) string {
	switch m.kind {
	case "alias":
		return name + " is aliased to `" + s.aliases[name] + "'\n"
	case "keyword":
		return name + " is a shell keyword\n"
	case "function":
		return name + " is a function\n" + functionText(s.funcs[name]) + "\n"
	case "builtin":
		return name + " is a shell builtin\n"
	}
	if e := s.hashed[name]; e != nil && e.path == m.path {
		return name + " is hashed (" + m.path + ")\n"
	}
	return name + " is " + m.path + "\n"
}

func typeBuiltin(s *shell, args []string) int {
	all, noFuncs, short, pathOnly, forcePath := false, false, false, false, false
	names, ok := s.flags(args, "afptP", func(flag byte, _ string) {
		switch flag {
		case 'a':
			all = true
		case 'f':
			noFuncs = true
		case 't':
			short = true
		case 'p':
			pathOnly = true
		case 'P':
			forcePath = true
		}
	})
	if !ok {
		return 2
	}
	status := 0
	for _, name := range names {
		var found []meaning
		if forcePath {
			found = s.files(name, lookupPath, all)
		} else {
			found = s.meanings(name, lookupPath, all, noFuncs)
		}
		if len(found) == 0 {
			if !short && !pathOnly && !forcePath {
				s.complain("type", "%s: not found", name)
			}
			status = 1
			continue
		}
		if !all {
			found = found[:1]
		}
		for _, m := range found {
			switch {
			case short:
				s.out(m.kind + "\n")
			case pathOnly || forcePath:
				if m.kind == "file" {
					s.out(m.path + "\n")
				}
			case all && m.kind == "file":
				s.out(name + " is " + m.path + "\n")
			default:
				s.out(s.describe(name, m))
			}
		}
	}
	return status
}

func hashBuiltin(s *shell, args []string) int {
	reset, list, path, tell, drop := false, false, "", false, false
	names, ok := s.flags(args, "lrp:dt", func(flag byte, value string) {
		switch flag {
		case 'r':
			reset = true
		case 'l':
			list = true
		case 'p':
			path = value
		case 't':
			tell = true
		case 'd':
			drop = true
		}
	})
	if !ok {
		return 2
	}
	if reset {
		s.hashed = nil
	}
	if len(names) == 0 {
		if reset {
			return 0
		}
		if len(s.hashed) == 0 {
			s.out("hash: hash table empty\n")
			return 0
		}
		if !list {
			s.out("hits\tcommand\n")
		}
		names := slices.Collect(maps.Keys(s.hashed))
		slices.SortFunc(names, func(a, b string) int { return int(bashHash(a)&255) - int(bashHash(b)&255) })
		for _, name := range names {
			if e := s.hashed[name]; list {
				s.outf("builtin hash -p %s %s\n", e.path, name)
			} else {
				s.outf("%4d\t%s\n", e.hits, e.path)
			}
		}
		return 0
	}
	status := 0
	for _, name := range names {
		switch {
		case path != "":
			if s.hashed == nil {
				s.hashed = map[string]*hashEntry{}
			}
			s.hashed[name] = &hashEntry{path: path}
		case tell:
			if e := s.hashed[name]; e != nil {
				if len(names) > 1 {
					s.out(name + "\t")
				}
				s.out(e.path + "\n")
			} else {
				s.complain("hash", "%s: not found", name)
				status = 1
			}
		case drop:
			delete(s.hashed, name)
		case strings.Contains(name, "/") || s.funcs[name] != nil || builtins[name] != nil:
		default:
			found := s.files(name, s.get("PATH"), false)
			if len(found) == 0 {
				s.complain("hash", "%s: not found", name)
				status = 1
				continue
			}
			if s.hashed == nil {
				s.hashed = map[string]*hashEntry{}
			}
			s.hashed[name] = &hashEntry{path: found[0].path}
		}
	}
	return status
}

func aliasBuiltin(s *shell, args []string) int {
	names, ok := s.flags(args, "p", func(byte, string) {})
	if !ok {
		return 2
	}
	if len(names) == 0 {
		names = slices.Sorted(maps.Keys(s.aliases))
	}
	status := 0
	for _, arg := range names {
		name, value, ok := strings.Cut(arg, "=")
		switch {
		case ok && name != "":
			if s.aliases == nil {
				s.aliases = map[string]string{}
			}
			s.aliases[name] = value
		default:
			value, ok := s.aliases[arg]
			if !ok {
				s.complain("alias", "%s: not found", arg)
				status = 1
				continue
			}
			s.outf("alias %s=%s\n", arg, singleQuoted(value))
		}
	}
	return status
}

func unaliasBuiltin(s *shell, args []string) int {
	all := false
	names, ok := s.flags(args, "a", func(byte, string) { all = true })
	if !ok {
		return 2
	}
	if all {
		s.aliases = nil
		return 0
	}
	status := 0
	for _, name := range names {
		if _, ok := s.aliases[name]; !ok {
			s.complain("unalias", "%s: not found", name)
			status = 1
		}
		delete(s.aliases, name)
	}
	return status
}

func callerBuiltin(s *shell, args []string) int {
	n := 0
	if len(args) > 1 {
		var ok bool
		if n, ok = s.number("caller", args[1]); !ok {
			return 2
		}
	}
	at := len(s.frames) - 1 - n
	if at < 0 || len(args) > 1 && at == 0 {
		return 1
	}
	line := s.frames[at].line
	if at == 0 {
		return int(truth(!s.outf("%d NULL\n", line)))
	}
	caller := s.frames[at-1]
	if len(args) > 1 {
		return int(truth(!s.outf("%d %s %s\n", line, caller.name, caller.file)))
	}
	return int(truth(!s.outf("%d %s\n", line, caller.file)))
}

func letBuiltin(s *shell, args []string) int {
	if len(args) == 1 {
		s.complain("let", "expression expected")
		return 1
	}
	var n int64
	for _, arg := range args[1:] {
		var err error
		if n, err = s.evaluate(arg, nil); err != nil {
			s.arithFailed("let: ", err)
			return 1
		}
	}
	return int(truth(n == 0))
}

func shiftBuiltin(s *shell, args []string) int {
	n := 1
	if len(args) > 1 {
		var ok bool
		if n, ok = s.number("shift", args[1]); !ok {
			return 1
		}
		if n < 0 {
			s.complain("shift", "%s: shift count out of range", args[1])
			return 1
		}
		if len(args) > 2 {
			s.tooMany("shift")
		}
	}
	if n > len(s.params) {
		if s.opt.shiftVerbose {
			s.complain("shift", "%d: shift count out of range", n)
		}
		return 1
	}
	s.params = s.params[n:]
	return 0
}

func setBuiltin(s *shell, args []string) int {
	args = args[1:]
	if len(args) == 0 {
		s.showVariables()
		return 0
	}
	// bash looks at all options before it obeys the first.
	for _, arg := range args {
		if len(arg) < 2 || arg[0] != '-' && arg[0] != '+' || arg == "--" {
			break
		}
		for i := 1; i < len(arg); i++ {
			if _, ok := optionFlagged(arg[i]); !ok && arg[i] != 'o' {
				if strings.Contains(arg[:i], "o") {
					s.unsupported("set with -o and its name in one word", s.pos)
				}
				s.complain("set", "%c%c: invalid option", arg[0], arg[i])
				s.usage("set")
				return 2
			}
		}
		if strings.HasSuffix(arg, "o") {
			break // its name may follow
		}
	}
	for len(args) > 0 {
		arg := args[0]
		switch {
		case arg == "--":
			s.params, s.paramsSet = slices.Clone(args[1:]), true
			return 0
		case arg == "-" || arg == "+":
			if arg == "-" {
				s.opt.xtrace = false
			}
			if len(args) > 1 {
				s.params, s.paramsSet = slices.Clone(args[1:]), true
			}
			return 0
		case len(arg) < 2 || arg[0] != '-' && arg[0] != '+':
			s.params, s.paramsSet = slices.Clone(args), true
			return 0
		}
		args = args[1:]
		on := arg[0] == '-'
		for i := 1; i < len(arg); i++ {
			if arg[i] == 'o' {
				if len(args) == 0 || len(args[0]) > 0 && (args[0][0] == '-' || args[0][0] == '+') {
					s.showOptions(on)
					continue
				}
				opt, ok := optionNamed(setOptions, args[0])
				if !ok {
					s.complain("set", "%s: invalid option name", args[0])
					return 2
				}
				args = args[1:]
				s.turn(opt, on, "set -o "+opt.name)
				continue
			}
			opt, ok := optionFlagged(arg[i])
			if !ok {
				s.complain("set", "%c%c: invalid option", arg[0], arg[i])
				s.usage("set")
				return 2
			}
			s.turn(opt, on, fmt.Sprintf("set %c%c", arg[0], arg[i]))
		}
	}
	return 0
}

func (s *shell) turn(opt option, on bool, how string) {
	if !s.opt.turn(opt, on) {
		s.unsupported(how, s.pos)
	}
}

func (s *shell) showOptions(table bool) {
	for _, opt := range setOptions {
		if table {
			s.outf("%-15s\t%s\n", opt.name, onOff(s.opt.is(opt)))
		} else if s.opt.is(opt) {
			s.outf("set -o %s\n", opt.name)
		} else {
			s.outf("set +o %s\n", opt.name)
		}
	}
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

func shoptBuiltin(s *shell, args []string) int {
	set, unset, print, quiet, posix := false, false, false, false, false
	names, ok := s.flags(args, "supqo", func(flag byte, _ string) {
		switch flag {
		case 's':
			set = true
		case 'u':
			unset = true
		case 'p':
			print = true
		case 'q':
			quiet = true
		case 'o':
			posix = true
		}
	})
	if !ok {
		return 2
	}
	if set && unset {
		s.complain("shopt", "cannot set and unset shell options simultaneously")
		return 1
	}
	table, word := shoptOptions, "shopt"
	if posix {
		table, word = setOptions, "set"
	}
	show := func(opt option) {
		on := s.opt.is(opt)
		switch {
		case quiet:
		case print && posix:
			s.outf("set %so %s\n", map[bool]string{true: "-", false: "+"}[on], opt.name)
		case print:
			s.outf("%s -%s %s\n", word, map[bool]string{true: "s", false: "u"}[on], opt.name)
		default:
			s.outf("%-15s\t%s\n", opt.name, onOff(on))
		}
	}
	if len(names) == 0 {
		for _, opt := range table {
			if on := s.opt.is(opt); !set && !unset || set && on || unset && !on {
				show(opt)
			}
		}
		return 0
	}
	status := 0
	for _, name := range names {
		opt, ok := optionNamed(table, name)
		if !ok {
			if posix {
				s.complain("shopt", "%s: invalid option name", name)
				continue
			}
			s.complain("shopt", "%s: invalid shell option name", name)
			status = 1
			continue
		}
		if set || unset {
			s.turn(opt, set, "shopt -s "+name)
			continue
		}
		show(opt)
		if !s.opt.is(opt) {
			status = 1
		}
	}
	return status
}

func getoptsBuiltin(s *shell, args []string) int {
	args, ok := s.flags(args, "", nil)
	if !ok {
		return 2
	}
	if len(args) < 2 {
		s.usage("getopts")
		return 2
	}
	spec, name := args[0], args[1]
	list := s.params
	if len(args) > 2 {
		list = args[2:]
	}
	silent := strings.HasPrefix(spec, ":")
	tell := !silent && s.get("OPTERR") != "0"
	ind, err := strconv.Atoi(s.get("OPTIND"))
	if err != nil || ind < 1 {
		ind = 1
	}
	pos := s.optPos
	finish := func(opt string, at, pos, status int) int {
		s.set("OPTIND", itoa(at))
		s.optPos = pos
		if !syntax.ValidName(name) {
			s.complain("getopts", "`%s': not a valid identifier", name)
			return 1
		}
		if !s.assign(name, "", false, opt, false) {
			return 2
		}
		return status
	}
	if ind > len(list) || pos == 0 && (len(list[ind-1]) < 2 || list[ind-1][0] != '-') {
		s.unset("OPTARG")
		return finish("?", min(ind, len(list)+1), 0, 1)
	}
	if list[ind-1] == "--" && pos == 0 {
		s.unset("OPTARG")
		return finish("?", ind+1, 0, 1)
	}
	if pos == 0 {
		pos = 1
	}
	word := list[ind-1]
	if pos >= len(word) {
		return finish("?", ind, 0, 1)
	}
	c := word[pos]
	at := strings.IndexByte(spec, c)
	pos++
	next := func() (int, int) {
		if pos >= len(word) {
			return ind + 1, 0
		}
		return ind, pos
	}
	if at < 0 || c == ':' {
		i, p := next()
		if silent {
			s.set("OPTARG", string(c))
		} else {
			s.unset("OPTARG")
			if tell {
				s.errText(s.name0 + ": illegal option -- " + string(c) + "\n")
			}
		}
		return finish("?", i, p, 0)
	}
	if at+1 < len(spec) && spec[at+1] == ':' {
		switch {
		case pos < len(word):
			s.set("OPTARG", word[pos:])
			return finish(string(c), ind+1, 0, 0)
		case ind < len(list):
			s.set("OPTARG", list[ind])
			return finish(string(c), ind+2, 0, 0)
		case silent:
			s.set("OPTARG", string(c))
			return finish(":", ind+1, 0, 0)
		}
		s.unset("OPTARG")
		if tell {
			s.errText(s.name0 + ": option requires an argument -- " + string(c) + "\n")
		}
		return finish("?", ind+1, 0, 0)
	}
	s.unset("OPTARG")
	i, p := next()
	return finish(string(c), i, p, 0)
}
