package programs

import "strings"

// assignOperands gives every operand its role, and says what it does.
func (r *reader) assignOperands() {
	defer r.useDefaults()
	line := r.line()
	if line == nil {
		if len(r.operands) > 0 && r.out.Why == "" {
			r.tooMany(r.operands[0])
		}
		return
	}
	roles := r.wanted(line)
	if len(roles) > 0 && roles[0].verb == assign {
		r.assignments()
		roles = roles[1:]
	}
	if !r.spread(roles) {
		return
	}
	for k := range r.roles {
		if r.act(k) {
			return // the rest belongs to another command
		}
	}
}

// line returns the line of operands that holds, or nil.
func (r *reader) line() *operandLine {
	for k := range r.entry.operands {
		if r.holds(r.entry.operands[k].when) {
			return &r.entry.operands[k]
		}
	}
	return nil
}

// wanted returns the roles of a line after flags have changed them.
func (r *reader) wanted(line *operandLine) []role {
	roles := line.roles[min(r.drops, len(line.roles)):]
	if r.turns == nil {
		return roles
	}
	anyFile := false
	for _, want := range roles {
		anyFile = anyFile || want.verb.isFile()
	}
	changed := make([]role, len(roles))
	for k, want := range roles {
		if want.verb.isFile() || !anyFile {
			want.verb, want.tree = r.turns.verb, r.turns.tree
		}
		changed[k] = want
	}
	return changed
}

// assignments takes the leading operands that set variables.
func (r *reader) assignments() {
	n := 0
	for n < len(r.operands) {
		if _, ok := assignment(r.args[r.operands[n]]); !ok {
			break
		}
		n++
	}
	r.assigned, r.operands = r.operands[:n], r.operands[n:]
}

// assignment reads NAME=VALUE.
func assignment(w Word) (Assignment, bool) {
	known := w.Text
	if !w.Known {
		known = w.Begin
	}
	name, value, ok := strings.Cut(known, "=")
	if !ok || name == "" {
		return Assignment{}, false
	}
	if w.Known {
		return Assignment{Name: name, Value: Literal(value)}, true
	}
	return Assignment{Name: name, Value: cutBegin(w, len(name)+1)}, true
}

// spread decides which operand has which role: those before the one that repeats
// from the start, those behind it from the end.
func (r *reader) spread(roles []role) bool {
	if at := wrapAt(roles); at >= 0 && len(r.operands) > at {
		// All from there on is one thing, but it may stand behind optional ones.
		r.operands = r.operands[:max(at+1, 0)]
	}
	least, repeats := 0, false
	for _, want := range roles {
		least += want.min
		repeats = repeats || want.many
	}
	extra := len(r.operands) - least
	if extra < 0 {
		if !r.quits {
			r.doubt(r.entry.name + " wants more operands")
		}
		extra = 0
	}
	k := 0
	for _, want := range roles {
		n := want.min
		switch {
		case want.opt && extra > 0:
			n, extra = 1, extra-1
		case want.many:
			n, extra = n+extra-optionals(roles, extra), optionals(roles, extra)
		}
		for ; n > 0 && k < len(r.operands); n-- {
			r.roles = append(r.roles, want)
			k++
		}
	}
	if k < len(r.operands) {
		r.tooMany(r.operands[k])
	}
	r.several(roles)
	return true
}

// optionals is how many of the extra operands go to roles that may be left out.
func optionals(roles []role, extra int) int {
	n := 0
	behind := false
	for _, want := range roles {
		behind = behind || want.many
		if behind && want.opt {
			n++
		}
	}
	return min(n, extra)
}

// wrapAt is where the roles reach a command or script, which takes all the rest.
func wrapAt(roles []role) int {
	for k, want := range roles {
		switch want.verb {
		case run, shell, script:
			return k
		}
	}
	return -1
}

// several looks for unknown words that may be more than one, or none: behind
// such a word no operand is certain to have the role that it was given.
func (r *reader) several(roles []role) {
	same := true
	for _, want := range roles {
		same = same && want.verb == roles[0].verb
	}
	for k, want := range r.roles {
		w := r.args[r.operands[k]]
		if w.Known || !w.Many || same || want.many {
			continue
		}
		r.doubt(w.Text + " may be more than one word, or none")
		r.spell(r.operands[k])
	}
}

func (r *reader) tooMany(at int) {
	r.doubt("operand " + r.args[at].Text + " of " + r.entry.name + " is not known")
	r.spell(at)
}
