package programs

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// flag reads "-x --long ARG EFFECT…".
func (p *parser) flag(words []string) error {
	f := &flag{place: p.place()}
	for len(words) > 0 && isSpelling(words[0]) {
		f.names = append(f.names, words[0])
		words = words[1:]
	}
	if len(f.names) == 0 {
		return fmt.Errorf("%q is no spelling of a flag: it begins with - or + or ends with =", words[0])
	}
	for len(words) > 0 && isArgument(words[0]) {
		if words[0][0] == '[' {
			f.optional = true
		}
		f.args++
		words = words[1:]
	}
	if f.optional && f.args > 1 {
		return fmt.Errorf("flag %s: an argument that may be left out is the only one", f.names[0])
	}
	for len(words) > 0 {
		n, err := f.effect(words)
		if err != nil {
			return fmt.Errorf("flag %s: %w", f.names[0], err)
		}
		words = words[n:]
	}
	if f.args == 0 && len(f.does) > 0 {
		return fmt.Errorf("flag %s: %s needs an argument to work on: write its name in capitals", f.names[0],
			f.does[0].verb)
	}
	for i, name := range f.names {
		if slices.Contains(f.names[:i], name) {
			return fmt.Errorf("flag %s stands twice in a line", name)
		}
	}
	p.level.addFlag(f)
	return nil
}

// isSpelling reports whether a word of a flag line is one of the flag's names.
func isSpelling(w string) bool {
	return w[0] == '-' || w[0] == '+' || len(w) > 1 && strings.HasSuffix(w, "=")
}

// isArgument reports whether a word of a flag line names an argument.
func isArgument(w string) bool {
	if w[0] == '[' {
		return strings.HasSuffix(w, "]") && len(w) > 2
	}
	return w[0] >= 'A' && w[0] <= 'Z' && strings.ToUpper(w) == w
}

// effect takes one effect off the front of the words and says how many it took.
func (f *flag) effect(words []string) (int, error) {
	switch words[0] {
	case "ok":
		f.ok = true
	case "also":
		f.also = true
	case "tree":
		f.tree = true
	case "ends":
		f.ends = true
	case "dash":
		f.dash = true
	case "alarm":
		f.alarm = strings.Join(words[1:], " ")
		if f.alarm == "" {
			return 0, fmt.Errorf("alarm says why")
		}
		return len(words), nil
	case "turns":
		if len(words) < 2 {
			return 0, fmt.Errorf("turns names a role")
		}
		r, err := parseRole(words[1])
		if err != nil {
			return 0, err
		}
		f.turns = &r
		return 2, nil
	case "drops":
		if len(words) < 2 {
			return 0, fmt.Errorf("drops takes a number")
		}
		n, err := strconv.Atoi(words[1])
		if err != nil || n < 1 {
			return 0, fmt.Errorf("drops takes a number, not %q", words[1])
		}
		f.drops = n
		return 2, nil
	default:
		r, err := parseRole(words[0])
		if err != nil || r.many || r.opt {
			return 0, fmt.Errorf("there is no effect %q", words[0])
		}
		if r.verb != text {
			f.does = append(f.does, r)
		}
	}
	return 1, nil
}

// addFlag adds a flag; one of the same name gives way to it.
func (e *entry) addFlag(f *flag) {
	for _, name := range f.names {
		old := e.flagNamed(name)
		if old == nil {
			continue
		}
		kept := *old
		kept.names = slices.DeleteFunc(slices.Clone(old.names), func(n string) bool { return n == name })
		at := slices.Index(e.flags, old)
		if len(kept.names) == 0 {
			e.flags = slices.Delete(e.flags, at, at+1)
			continue
		}
		e.flags[at] = &kept
	}
	e.flags = append(e.flags, f)
}

// flagNamed returns the flag of that spelling, while an entry is being read.
func (e *entry) flagNamed(name string) *flag {
	for _, f := range e.flags {
		if slices.Contains(f.names, name) {
			return f
		}
	}
	return nil
}

// finish builds what lookups need, once all lines are read; from is the entry
// that this one is a subcommand of, if it is one.
func (e *entry) finish(from *entry) {
	if from != nil {
		e.inherit(from)
	}
	e.long = make(map[string]*flag, len(e.flags))
	for _, f := range e.flags {
		for _, name := range f.names {
			e.index(name, f)
		}
		e.harmful = e.harmful || f.harmful()
		e.reads = e.reads || f.reads()
	}
	for _, line := range e.operands {
		for _, r := range line.roles {
			e.deepens = e.deepens || r.verb.harmful() && slices.ContainsFunc(e.flags, func(f *flag) bool { return f.tree })
			switch r.verb {
			case run, shell, script, code:
				e.wraps = true
			}
		}
	}
}

// inherit takes over what holds for every subcommand.
func (e *entry) inherit(from *entry) {
	e.project = e.project || from.project
	if e.style == 0 {
		e.style = from.style
	}
	e.raises = e.raises || from.raises
	e.remote = e.remote || from.remote
	if e.open == "" {
		e.open = from.open
	}
	if e.special == "" {
		e.special = from.special
	}
	e.fixed = append(slices.Clip(from.fixed), e.fixed...)
	for _, f := range from.flags {
		if f.also && !slices.ContainsFunc(f.names, func(n string) bool { return e.flagNamed(n) != nil }) {
			e.flags = append(e.flags, f)
		}
	}
}

// index files a flag under one of its names.
func (e *entry) index(name string, f *flag) {
	switch {
	case name == "-NUMBER":
		e.number = f
	case name == "+":
		e.plus = f
	case strings.HasSuffix(name, "*"):
		e.prefixes = append(e.prefixes, f)
	case e.style&oneHyphen != 0 && name[0] == '-':
		e.long["-"+strings.TrimLeft(name, "-")] = f
	case len(name) == 2 && name[0] == '-' && name[1] < 128:
		e.short.set(name[1], f)
	default:
		e.long[name] = f
	}
}

// sharedFlags are the flags of entries that others share, by slot: git alone asks
// twenty times for those of diff.
var sharedFlags sync.Map

// shared adds the flags of other entries, such as git/diff, which stands for no
// program but for what several subcommands have in common.
func (p *parser) shared(names []string) error {
	for _, name := range names {
		flags, err := p.flagsOf(name)
		if err != nil {
			return err
		}
		if len(p.level.flags) == 0 {
			p.level.flags = slices.Clone(flags) // none can stand twice
			continue
		}
		for _, f := range flags {
			p.level.addFlag(f)
		}
	}
	return nil
}

// flagsOf returns the flags of another entry.
func (p *parser) flagsOf(name string) ([]*flag, error) {
	s := p.find(name)
	if s == nil {
		return nil, fmt.Errorf("flags %s: there is no such entry", name)
	}
	if flags, ok := sharedFlags.Load(s); ok {
		return flags.([]*flag), nil
	}
	if p.depth >= likeDepth {
		return nil, fmt.Errorf("flags %s: too many entries share the flags of one another", name)
	}
	other, err := parseSlot(s, p.find, p.depth+1)
	if err != nil {
		return nil, err
	}
	sharedFlags.Store(s, other.flags)
	return other.flags, nil
}

// An unread subcommand is parsed when it is first used: git has a hundred, and a
// run of it needs one.
type unread struct {
	parser parser // as it was where the subcommand begins
	parent *entry
	text   string // its lines
	line   int    // the number of the first
	once   sync.Once
	err    error
}

// add adds the line that begins at a byte of the entry's text, behind those it has.
func (u *unread) add(entry string, at, end, line int) {
	if u.text == "" {
		u.line = line
	}
	u.text = entry[at-len(u.text) : end]
}

// ready parses the lines of a subcommand, once.
func (e *entry) ready() error {
	u := e.unread
	if u == nil {
		return nil
	}
	u.once.Do(func() {
		if u.err = u.parent.ready(); u.err != nil {
			return
		}
		p := u.parser
		p.level = e
		if u.err = p.replay(u); u.err == nil {
			e.finish(u.parent)
		}
	})
	return u.err
}

// replay reads the lines that were kept.
func (p *parser) replay(u *unread) error {
	p.line = u.line - 1
	for text := range strings.Lines(u.text) {
		p.line++
		if err := p.readText(text); err != nil {
			return err
		}
	}
	return nil
}
