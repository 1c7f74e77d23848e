package programs

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// likeDepth is how many entries may be like one another in a row.
const likeDepth = 3

// maxSpellings is how many names a flag may have that a condition asks for.
const maxSpellings = 8

// A parser reads the lines of one entry.
type parser struct {
	slot  *slot
	find  func(name string) *slot
	depth int
	line  int
	root  *entry
	level *entry // the subcommand that lines belong to, or root
}

// parseSlot reads an entry; find returns those it may be like. The lines of
// subcommands are kept for when they are asked for.
func parseSlot(s *slot, find func(string) *slot, depth int) (*entry, error) {
	p := &parser{slot: s, find: find, depth: depth, line: s.line - 1}
	end := 0 // of the line, in the text
	for text := range strings.Lines(s.text) {
		p.line++
		end += len(text)
		if p.level != p.root && !strings.HasPrefix(strings.TrimLeft(text, " \t"), "sub ") {
			p.level.unread.add(s.text, end-len(text), end, p.line)
			continue
		}
		if err := p.readText(text); err != nil {
			return nil, err
		}
	}
	if p.root == nil {
		return nil, fmt.Errorf("%s:%d: no program line", s.file, s.line)
	}
	if depth == 0 {
		p.root.finish(nil)
	}
	return p.root, nil
}

// readText reads a line, and says where it stands if that fails.
func (p *parser) readText(text string) error {
	words := fields(text)
	if len(words) == 0 {
		return nil
	}
	if err := p.read(words); err != nil {
		return fmt.Errorf("%s:%d: %w", p.slot.file, p.line, err)
	}
	return nil
}

// place is where the parser is.
func (p *parser) place() place { return place{entry: p.root.name, line: p.line} }

// read takes one line.
func (p *parser) read(words []string) error {
	key, rest := words[0], words[1:]
	if (key == "program") != (p.root == nil) {
		return fmt.Errorf("%q does not belong here: an entry is one program line and what is below it", key)
	}
	if len(rest) == 0 && key != "preset" && key != "simple" && key != "project" && key != "raises" &&
		key != "elsewhere" && key != "operands" && key != "responses" {
		return fmt.Errorf("%s says nothing: put something behind it", key)
	}
	switch key {
	case "program":
		p.root = &entry{name: rest[0], style: abbreviates | clusters, prefix: -1}
		p.level = p.root
	case "like":
		return p.like(rest)
	case "preset":
		p.level.preset = true
	case "simple":
		p.level.simple = true
	case "tells":
		p.level.tells = rest
	case "project":
		p.level.project = true
	case "raises":
		p.level.raises = true
	case "responses":
		p.level.responds = true
	case "elsewhere":
		p.level.remote = true
	case "syntax":
		return p.syntax(rest)
	case "flags":
		return p.shared(rest)
	case "flag":
		return p.flag(rest)
	case "means":
		if len(rest) < 3 {
			return fmt.Errorf("means takes a flag and at least two that it stands for, not %q", strings.Join(rest, " "))
		}
		p.level.means = append(p.level.means, rest)
	case "operands":
		return p.operands(rest)
	case "default":
		return p.fixed(rest, &p.level.defaults)
	case "fixed":
		return p.fixed(rest, &p.level.fixed)
	case "sub":
		return p.sub(rest)
	case "prefix":
		n, err := strconv.Atoi(rest[0])
		if err != nil || n < 0 || len(rest) > 1 {
			return fmt.Errorf("prefix takes one number, not %q", strings.Join(rest, " "))
		}
		p.level.prefix = n
	case "open":
		p.level.open = strings.Join(rest, " ")
	case "opaque":
		p.level.opaque = strings.Join(rest, " ")
	case "stdin":
		if len(rest) != 1 || rest[0] != "shell" {
			return fmt.Errorf("stdin takes the word shell, not %q", strings.Join(rest, " "))
		}
		p.level.stdin = true
	case "special":
		if _, ok := specialNamed(rest[0]); !ok || len(rest) > 1 {
			return fmt.Errorf("there is no special function %q", strings.Join(rest, " "))
		}
		p.level.special = rest[0]
	default:
		return fmt.Errorf("%q is no line of an entry: see data/README.md", key)
	}
	return nil
}

func (p *parser) syntax(words []string) error {
	p.level.style, p.level.styled = 0, true
	for _, w := range words {
		s, ok := styleNamed(w)
		if !ok {
			return fmt.Errorf("there is no syntax %q", w)
		}
		if p.level.style != 0 && w == "posix" {
			s = stops // behind another style it only says where flags end
		}
		p.level.style |= s
	}
	return nil
}

// sub opens a subcommand: a path of names, each of which may have others.
func (p *parser) sub(path []string) error {
	at := p.root
	for _, step := range path {
		names := strings.Split(step, "|")
		next := at.subs[names[0]]
		if next == nil {
			next = &entry{name: at.name + " " + names[0], prefix: -1}
			next.unread = &unread{parser: *p, parent: at}
			if at.subs == nil {
				at.subs = map[string]*entry{}
			}
		}
		for _, n := range names {
			if n == "" {
				return fmt.Errorf("subcommand %q has an empty name", step)
			}
			at.subs[n] = next
		}
		at = next
	}
	if at.unread.text != "" {
		return fmt.Errorf("subcommand %s stands twice", strings.Join(path, " "))
	}
	p.level = at
	return nil
}

// like takes over what another entry has: below a sub, another subcommand of
// this program without those below it, or a program.
func (p *parser) like(words []string) error {
	if p.depth >= likeDepth {
		return fmt.Errorf("like %s: too many entries are like one another", strings.Join(words, " "))
	}
	if other := p.subNamed(words); other != nil && p.level != p.root {
		if other == p.level {
			return fmt.Errorf("like %s: that is this one", strings.Join(words, " "))
		}
		again := *p
		again.depth++
		return again.replay(other.unread)
	}
	s := p.find(words[0])
	if s == nil || len(words) > 1 {
		return fmt.Errorf("like %s: there is no such entry", strings.Join(words, " "))
	}
	other, err := parseSlot(s, p.find, p.depth+1)
	if err != nil {
		return err
	}
	p.level.merge(other)
	return nil
}

// subNamed returns a subcommand of the program, or nil.
func (p *parser) subNamed(path []string) *entry {
	at := p.root
	for _, name := range path {
		if at = at.subs[name]; at == nil {
			return nil
		}
	}
	return at
}

// merge adds all that another entry has.
func (e *entry) merge(other *entry) {
	for _, f := range other.flags {
		e.addFlag(f)
	}
	e.means = append(e.means, other.means...)
	e.operands = append(slices.Clip(other.operands), e.operands...)
	e.defaults = append(slices.Clip(other.defaults), e.defaults...)
	e.fixed = append(slices.Clip(other.fixed), e.fixed...)
	for name, sub := range other.subs {
		if e.subs == nil {
			e.subs = map[string]*entry{}
		}
		if e.subs[name] == nil {
			e.subs[name] = sub
			sub.unread.parent = e
		}
	}
	if !e.styled {
		e.style = other.style
	}
	e.preset = e.preset || other.preset
	e.project = e.project || other.project
	e.raises = e.raises || other.raises
	e.remote = e.remote || other.remote
	e.open = cmp.Or(e.open, other.open)
	e.opaque = cmp.Or(e.opaque, other.opaque)
	e.stdin = e.stdin || other.stdin
	e.responds = e.responds || other.responds
	e.special = cmp.Or(e.special, other.special)
	if e.prefix < 0 {
		e.prefix = other.prefix
	}
}

// fixed reads "ROLE PATH… [if …]".
func (p *parser) fixed(words []string, to *[]fixedLine) error {
	words, when, err := p.condition(words)
	if err != nil {
		return err
	}
	words, unpiped := cutWord(words, "unpiped")
	r, err := parseRole(words[0])
	if err != nil {
		return err
	}
	if !r.verb.isFile() && r.verb != connect && r.verb != fetch || len(words) < 2 {
		return fmt.Errorf("%q: want read, write, delete, connect or fetch, and a path", strings.Join(words, " "))
	}
	*to = append(slices.Clip(*to), fixedLine{role: r, paths: words[1:], when: when, unpiped: unpiped, place: p.place()})
	return nil
}

func (p *parser) operands(words []string) error {
	words, when, err := p.condition(words)
	if err != nil {
		return err
	}
	o := operandLine{when: when, place: p.place()}
	repeats := 0
	for _, w := range words {
		r, err := parseRole(w)
		if err != nil {
			return err
		}
		if r.many {
			repeats++
		}
		o.roles = append(o.roles, r)
	}
	if repeats > 1 {
		return fmt.Errorf("more than one of the operands repeats")
	}
	// A line takes the place of one that an entry like this one brought along.
	p.level.operands = slices.DeleteFunc(slices.Clone(p.level.operands), func(old operandLine) bool {
		return len(old.when.flags) == 0 && len(when.flags) == 0
	})
	p.level.operands = append(p.level.operands, o)
	return nil
}

// cutWord cuts a word off the end of a line.
func cutWord(words []string, last string) ([]string, bool) {
	if n := len(words) - 1; n > 0 && words[n] == last {
		return words[:n], true
	}
	return words, false
}

// condition cuts "if -x --y" or "unless -x" off the end of a line.
func (p *parser) condition(words []string) ([]string, condition, error) {
	at := slices.IndexFunc(words, func(w string) bool { return w == "if" || w == "unless" })
	if at < 0 {
		return words, condition{}, nil
	}
	c := condition{unless: words[at] == "unless"}
	if at+1 == len(words) {
		return nil, c, fmt.Errorf("%s names no flag", words[at])
	}
	for _, name := range words[at+1:] {
		f := p.level.flagNamed(name)
		if f == nil && p.level != p.root {
			if f = p.root.flagNamed(name); f != nil && !f.also {
				f = nil
			}
		}
		if f == nil {
			return nil, c, fmt.Errorf("%s %s: no such flag above", words[at], name)
		}
		if len(f.names) > maxSpellings {
			return nil, c, fmt.Errorf("%s %s: it shares its line with %d others, which would count as well; "+
				"give it one of its own", words[at], name, len(f.names)-1)
		}
		c.flags = append(c.flags, f.names...)
	}
	return words[:at], c, nil
}

// parseRole reads read*, write-tree, text? and the like.
func parseRole(word string) (role, error) {
	r := role{min: 1}
	name := word
	switch word[len(word)-1] {
	case '*':
		r.min, r.many = 0, true
	case '+':
		r.many = true
	case '?':
		r.min, r.opt = 0, true
	}
	if r.many || r.opt {
		name = word[:len(word)-1]
	}
	if v, ok := verbNamed(name); ok {
		r.verb = v
		return r, nil
	}
	name, tree := strings.CutSuffix(name, "-tree")
	v, ok := verbNamed(name)
	if !ok || !tree || !v.isFile() && v != remote && v != remoteWrite {
		return r, fmt.Errorf("there is no role %q", word)
	}
	r.verb, r.tree = v, true
	return r, nil
}
