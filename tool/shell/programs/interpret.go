package programs

import (
	"slices"
	"strings"
)

// Interpret says what the program would do with the arguments. The name is that
// of the program without its folder; args are the words behind it. A program that
// is not in the table has a Reading with an empty Program that is not Known.
func Interpret(name string, args []Word) Reading {
	e, err := lookup(name)
	switch {
	case err != nil:
		return Reading{Why: err.Error()}
	case e == nil:
		return Reading{Why: name + " is not in the table of programs"}
	}
	return interpret(e, name, args)
}

// interpret reads the arguments of a program that is known.
func interpret(e *entry, name string, args []Word) Reading {
	r := reader{entry: e, name: name, args: args, subAt: -1}
	r.uses, r.operands, r.roles = r.useRoom[:0], r.operandRoom[:0], r.roleRoom[:0]
	r.out = Reading{Program: e.name, Known: true, Complete: true, Dir: Word{Known: true}}
	special, _ := specialNamed(e.special)
	if special.scan != nil {
		special.scan(&r)
	} else {
		r.scan()
	}
	if r.entry.special != e.special {
		special, _ = specialNamed(r.entry.special)
	}
	if e.responds {
		r.responses()
	}
	if special.before != nil {
		special.before(&r)
	}
	r.useFlags()
	if special.operands != nil {
		special.operands(&r)
	} else {
		r.assignOperands()
	}
	r.useFolders()
	r.useFixed(r.entry.fixed)
	if special.after != nil {
		special.after(&r)
	}
	r.useEntry()
	r.conclude()
	return r.out
}

// responses notes the words that name files with further words: what those say is as open as
// what a flag could do.
func (r *reader) responses() {
	for i, w := range r.args {
		switch name, ok := strings.CutPrefix(w.Text, "@"); {
		case w.Known && ok && name != "":
			r.doubt("its options stand in the file " + name)
			r.opaque("its options stand in the file " + name)
			r.file(Read, Literal(name), i, false, true)
			r.spell(i)
		case !w.Known && !w.Number && (w.Begin == "" && !w.Glob || strings.HasPrefix(w.Begin, "@")):
			r.doubt(w.Text + " may name a file with options")
			r.spell(i)
		}
	}
}

// conclude says what follows from all that was noted.
func (r *reader) conclude() {
	e, out := r.entry, &r.out
	out.Raises, out.Project = e.raises, e.project
	if e.open != "" {
		out.Complete = false
	}
	if !out.Known {
		out.Complete = false
	}
	out.Prefix = r.prefix()
	out.Flags = r.spellings()
	out.Plain = slices.DeleteFunc(out.Plain, func(at int) bool { return slices.Contains(out.Spelled, at) })
	out.Readonly = e.preset && out.Known && out.Complete && !out.Raises && len(out.Runs) == r.started &&
		len(out.Shows) == 0
	for _, at := range out.Spelled {
		out.Readonly = out.Readonly && slices.Contains(r.starts, at)
	}
	for i := range out.Effects {
		out.Readonly = out.Readonly && (out.Effects[i].Kind == Read || out.Effects[i].Missing)
	}
	if len(r.args) == 1 && r.args[0].Known && slices.Contains(e.tells, r.args[0].Text) {
		out.Known, out.Complete, out.Readonly, out.Why, out.Opaque, out.Stdin = true, true, !out.Raises, "", "", false
		out.Effects, out.Runs, out.Scripts, out.Spelled = nil, nil, nil, nil
	}
	out.Simple = e.simple && out.Known && out.Complete && !out.Raises && len(out.Runs) == 0 && len(out.Spelled) == 0 &&
		len(out.Shows) == 0
	out.Transparent = e.wraps && out.Known && out.Complete && !out.Raises && !e.remote &&
		len(out.Runs) > 0 && len(out.Effects) == 0 && len(out.Spelled) == 0
}

// prefix is how many words are worth remembering.
func (r *reader) prefix() int {
	e := r.entry
	switch {
	case e.prefix == 0 || e.prefix < 0 && e.wraps:
		return 0
	case e.prefix > 0:
		return min(e.prefix+r.skipped, 1+len(r.args))
	}
	return r.subAt + 2
}
