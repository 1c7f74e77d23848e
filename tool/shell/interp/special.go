package interp

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"mvdan.cc/sh/v3/syntax"
)

const (
	bashVersion = "5.2.15(1)-release"
	machine     = "x86_64-pc-linux-gnu"
)

// computedNames are the variables that special computes and that have a name.
var computedNames = []string{
	"BASHOPTS", "BASHPID", "BASH_ARGV0", "BASH_COMMAND", "BASH_LINENO", "BASH_SOURCE", "BASH_SUBSHELL", "DIRSTACK",
	"EPOCHREALTIME", "EPOCHSECONDS", "FUNCNAME", "GROUPS", "LINENO", "PIPESTATUS", "RANDOM", "SECONDS",
	"SHELLOPTS", "SRANDOM",
}

// special returns what bash computes at each use, or nil.
func (s *shell) special(name string) *variable {
	str := func(v string) *variable { return &variable{set: true, str: v} }
	num := func(n int) *variable { return str(strconv.Itoa(n)) }
	list := func(l []string) *variable {
		return &variable{set: len(l) > 0, attrs: attrArray, arr: &array{vals: l, shared: true}}
	}
	if name == "" {
		return &variable{}
	}
	if c := name[0]; c >= '0' && c <= '9' {
		n, err := strconv.Atoi(name)
		switch {
		case err != nil:
			return nil
		case n == 0:
			return str(s.name0)
		case n <= len(s.params):
			return str(s.params[n-1])
		}
		return &variable{}
	}
	switch name {
	case "@", "*":
		return list(s.params)
	case "#":
		return num(len(s.params))
	case "?":
		return num(s.status)
	case "$":
		return num(s.r.pid)
	case "!":
		if s.lastBg == nil {
			return &variable{}
		}
		return num(s.jobPid(s.lastBg))
	case "-":
		flags := s.opt.flags()
		if s.script == "" {
			flags += "c"
		}
		return str(flags)
	case "_":
		return str(s.lastArg)
	}
	if s.hidden[name] {
		return nil // it was unset, and is an ordinary variable since
	}
	switch name {
	case "LINENO":
		return num(int(s.line))
	case "BASHPID":
		return num(s.pid)
	case "BASH_SUBSHELL":
		return num(s.level)
	case "BASH_COMMAND":
		if s.trapCommand != "" {
			return str(s.trapCommand)
		}
		return str(s.commandText())
	case "BASH_ARGV0":
		return str(s.name0)
	case "SECONDS":
		return num(int(time.Since(s.began)/time.Second) + s.secondsFrom)
	case "EPOCHSECONDS":
		return str(strconv.FormatInt(time.Now().Unix(), 10))
	case "EPOCHREALTIME":
		now := time.Now()
		return str(fmt.Sprintf("%d.%06d", now.Unix(), now.Nanosecond()/1000))
	case "RANDOM":
		return num(s.random())
	case "SRANDOM":
		var b [4]byte
		rand.Read(b[:])
		return str(strconv.FormatUint(uint64(binary.NativeEndian.Uint32(b[:])), 10))
	case "SHELLOPTS":
		return &variable{set: true, attrs: attrReadonly, str: s.opt.list(setOptions)}
	case "BASHOPTS":
		return &variable{set: true, attrs: attrReadonly, str: s.opt.list(shoptOptions)}
	case "FUNCNAME", "BASH_SOURCE", "BASH_LINENO":
		if name == "FUNCNAME" && !s.inFunction() {
			return &variable{attrs: attrArray}
		}
		var l []string
		for i := len(s.frames) - 1; i >= 0; i-- {
			f := s.frames[i]
			switch name {
			case "FUNCNAME":
				l = append(l, f.name)
			case "BASH_SOURCE":
				l = append(l, f.file)
			default:
				l = append(l, strconv.Itoa(int(f.line)))
			}
		}
		if s.script != "" {
			l = append(l, map[string]string{"FUNCNAME": "main", "BASH_SOURCE": s.script, "BASH_LINENO": "0"}[name])
		}
		return list(l)
	case "PIPESTATUS":
		var l []string
		for _, st := range s.pipeStatus {
			l = append(l, strconv.Itoa(st))
		}
		return list(l)
	case "DIRSTACK":
		return list(s.stack())
	case "GROUPS":
		groups, _ := os.Getgroups()
		l := []string{strconv.Itoa(os.Getgid())}
		for _, g := range groups {
			if g != os.Getgid() {
				l = append(l, strconv.Itoa(g))
			}
		}
		return list(l)
	}
	return nil
}

// assignable reports whether an assignment to the name changes a variable. Assigning
// to some that bash computes is ignored.
func (s *shell) assignable(name string) bool {
	switch name {
	case "FUNCNAME", "GROUPS", "PIPESTATUS", "BASH_SUBSHELL", "BASH_SOURCE", "BASH_LINENO", "BASHPID", "BASH_COMMAND":
		return s.hidden[name]
	case "_":
		return false
	}
	return true
}

// changed is called after a variable was assigned, or unset (nil).
func (s *shell) changed(name string, v *variable) {
	switch name {
	case "SECONDS", "RANDOM", "LINENO", "EPOCHSECONDS", "EPOCHREALTIME", "SRANDOM", "DIRSTACK", "FUNCNAME",
		"GROUPS", "BASH_ARGV0":
		if v == nil {
			hidden := map[string]bool{name: true}
			for n := range s.hidden {
				hidden[n] = true
			}
			s.hidden = hidden
			return
		}
	}
	switch name {
	case "SECONDS":
		n, _ := strconv.Atoi(v.str)
		s.began, s.secondsFrom = time.Now(), n
	case "RANDOM":
		n, _ := strconv.ParseInt(v.str, 10, 64)
		s.seed, s.seeded, s.lastRandom = uint32(n), true, 0
	case "BASH_ARGV0":
		s.name0 = v.str
	case "OPTIND":
		s.optPos = 0
	case "PATH":
		s.hashed = nil
	}
}

// random is bash's own generator, so that a seed gives the numbers it gives in bash.
func (s *shell) random() int {
	if !s.seeded {
		var b [4]byte
		rand.Read(b[:])
		s.seed, s.seeded = binary.NativeEndian.Uint32(b[:])&0x7fffffff, true
	}
	for {
		s.seed = brand(s.seed)
		n := int(s.seed>>16^s.seed&0xffff) & 0x7fff
		if n != s.lastRandom {
			s.lastRandom = n
			return n
		}
	}
}

// brand is the minimal standard generator of Park and Miller, as bash 5.2 computes it.
func brand(seed uint32) uint32 {
	r := int64(seed)
	if r == 0 {
		r = 123459876
	}
	h, l := r/127773, r%127773
	t := 16807*l - 2836*h
	if t < 0 {
		t += 0x7fffffff
	}
	return uint32(t)
}

// utf8 reports whether characters are UTF-8; otherwise they are bytes.
func (s *shell) utf8() bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		v, _ := s.find(name)
		if value, ok := v.scalar(); ok && value != "" {
			value = strings.ToLower(value)
			return strings.Contains(value, "utf-8") || strings.Contains(value, "utf8")
		}
	}
	return false
}

// ifs returns the characters that separate fields.
func (s *shell) ifs() string {
	v, _ := s.find("IFS")
	if value, ok := v.scalar(); ok {
		return value
	}
	return " \t\n"
}

// initial puts the environment and what bash adds to it into the main shell.
func (s *shell) initial(env []string) {
	global := s.scopes[0]
	for _, pair := range env {
		name, value, ok := strings.Cut(pair, "=")
		switch {
		case !ok || name == "" || name == "_":
		case syntax.ValidName(name):
			v := s.newVar(global, name)
			v.attrs, v.set, v.str = attrExport, true, value
		case strings.HasPrefix(name, "BASH_FUNC_"):
			// A function from outside would be code that nobody judged.
		default:
			s.foreign = append(s.foreign, pair)
		}
	}
	for name := range strings.FieldsSeq("SHELLOPTS BASHOPTS BASH_ENV GLOBIGNORE FUNCNAME BASHPID POSIXLY_CORRECT") {
		delete(global.vars, name) // as bash -p: they would change how text is read
	}
	def := func(name, value string, a attrs) {
		if v := global.vars[name]; v != nil {
			v.attrs |= a
			return
		}
		v := s.newVar(global, name)
		v.set, v.str, v.attrs = true, value, a
	}
	force := func(name, value string, a attrs) {
		delete(global.vars, name)
		def(name, value, a)
	}
	force("BASH", "/usr/bin/bash", 0)
	force("BASH_VERSION", bashVersion, 0)
	force("HOSTTYPE", "x86_64", 0)
	force("MACHTYPE", machine, 0)
	force("OSTYPE", "linux-gnu", 0)
	force("IFS", " \t\n", 0)
	force("OPTIND", "1", attrInteger)
	force("OPTERR", "1", 0)
	force("PPID", strconv.Itoa(os.Getppid()), attrInteger|attrReadonly)
	force("UID", strconv.Itoa(os.Getuid()), attrInteger|attrReadonly)
	force("EUID", strconv.Itoa(os.Geteuid()), attrInteger|attrReadonly)
	def("PS4", "+ ", 0)
	def("PATH", "/usr/local/bin:/usr/local/sbin:/usr/bin:/usr/sbin:/bin:/sbin:.", 0)
	def("TERM", "dumb", 0)
	def("SHELL", "/bin/bash", 0)
	if host, err := os.Hostname(); err == nil {
		def("HOSTNAME", host, 0)
	}
	level, _ := strconv.Atoi(s.get("SHLVL"))
	force("SHLVL", strconv.Itoa(max(level, 0)+1), attrExport)
	force("PWD", s.dir, attrExport)
	if v := global.vars["OLDPWD"]; v == nil {
		s.newVar(global, "OLDPWD").attrs = attrExport
	}
	v := s.newVar(global, "BASH_VERSINFO")
	v.set, v.attrs = true, attrArray|attrReadonly
	v.arr = &array{vals: []string{"5", "2", "15", "1", "release", machine}}
}
