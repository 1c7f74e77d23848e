package analysis

import (
	"slices"

	"github.com/assent-dev/assent/tool/shell/programs"
	"mvdan.cc/sh/v3/syntax"
)

// A way is how far the walk has gone to other folders, and out of loops and functions, in the
// shell that is walked. Comparing two of them says what happened between.
type way struct{ moves, jumps int }

// apart walks what runs in a shell of its own: it leaves the folder and the loops of this one
// alone, and so does what fails in it.
func (w *walker) apart(walk func()) {
	way, risky := w.way, w.risky
	walk()
	w.way, w.risky = way, risky
}

// loose walks a body that may run any number of times. If it leaves the folder in which it
// began, an earlier round may have left it too.
func (w *walker) loose(s *state, walk func(*state) outcome) outcome {
	w.changed = true // by an earlier round
	body := s.fork()
	if w.facts.roams {
		body.folders = folders{}
	}
	first, before := len(w.parts), w.way
	w.unordered++
	o := walk(body)
	w.unordered--
	w.rounds = append(w.rounds, span{first, len(w.parts)})
	switch {
	case w.way.moves == before.moves:
		return stays(s.folders)
	case w.way.jumps == before.jumps && slices.Equal(o.either().list, s.folders.list):
		return stays(s.folders.or(o.either()))
	}
	w.facts.learn(&w.facts.roams)
	return stays(folders{})
}

func (w *walker) whileLoop(cmd *syntax.WhileClause, s *state) outcome {
	return w.loose(s, func(body *state) outcome {
		o := w.stmts(cmd.Cond, body)
		inside := body.fork()
		inside.folders = o.ok
		if cmd.Until {
			inside.folders = o.fail
		}
		rest := w.stmts(cmd.Do, inside)
		return stays(o.either().or(rest.either()))
	})
}

func (w *walker) forLoop(cmd *syntax.ForClause, s *state) outcome {
	loop, ok := cmd.Loop.(*syntax.WordIter)
	if !ok {
		return w.countingLoop(cmd, cmd.Loop.(*syntax.CStyleLoop), s)
	}
	items := w.items(loop, s)
	name := loop.Name.Value
	if cmd.Select {
		w.assign("REPLY", variable{}, assigner{node: loop}, s.fork())
	}
	var o outcome
	switch known := !cmd.Select && w.iterates(loop, s); {
	case known && allKnown(items) && !w.spent:
		o = w.unroll(cmd, name, items, s)
	default:
		w.assignEach(loop, w.oneOf(items, s), known, s)
		o = w.loose(s, func(body *state) outcome { return w.stmts(cmd.Do, body) })
	}
	s.keep(name, variable{})
	return o
}

// iterates reports whether the variable of a loop holds an item in each round: no other place
// assigns it, and nothing before the loop used it that an earlier round of another may have
// left it to.
func (w *walker) iterates(loop *syntax.WordIter, s *state) bool {
	name := loop.Name.Value
	f := w.facts.of(name)
	inOrder := !s.lost && (w.unordered == 0 || f.used != w.facts.walk)
	return w.once(f, loop, inOrder) && !dynamic(name) && w.shapeOf(name)&changing == 0
}

// assignEach gives the variable of a loop the value of a round.
func (w *walker) assignEach(loop *syntax.WordIter, v variable, known bool, s *state) {
	name := loop.Name.Value
	if w.assigned(name, v, assigner{node: loop}); known {
		s.keep(name, v)
	}
}

// items are the words that a loop goes through.
func (w *walker) items(loop *syntax.WordIter, s *state) []programs.Word {
	if !loop.InPos.IsValid() {
		if w.paramsKnown(s) {
			return s.params
		}
		return []programs.Word{{Text: `"$@"`, Many: true}}
	}
	return w.fields(nil, loop.Items, s)
}

// unroll walks the body once for each item, as long as there is room for repetitions.
func (w *walker) unroll(cmd *syntax.ForClause, name string, items []programs.Word, s *state) outcome {
	w.changed = true
	body := s.fork()
	for i, item := range items {
		w.assignEach(cmd.Loop.(*syntax.WordIter), variable{value: item}, true, body)
		before := w.way
		walk := func() { body.folders = w.stmts(cmd.Do, body).either() }
		if i == 0 {
			walk()
		} else {
			w.repeating(walk)
		}
		if before.moves != w.way.moves && before.jumps != w.way.jumps { // the rest of the round may not have run
			body.folders = folders{}
		}
		if i+1 < len(items) && !w.mayRepeat() {
			body.folders = folders{}
			break
		}
	}
	return stays(body.folders)
}

func (w *walker) countingLoop(cmd *syntax.ForClause, loop *syntax.CStyleLoop, s *state) outcome {
	if loop.Init != nil {
		w.arithmetic(loop.Init, s, cmd)
	}
	return w.loose(s, func(body *state) outcome {
		if loop.Cond != nil {
			w.arithmetic(loop.Cond, body, cmd)
		}
		o := w.stmts(cmd.Do, body)
		if loop.Post != nil {
			w.arithmetic(loop.Post, body, cmd)
		}
		return o
	})
}

func allKnown(words []programs.Word) bool {
	for _, word := range words {
		if !word.Known {
			return false
		}
	}
	return true
}

// oneOf is a variable that holds one of the items: the names that a pattern stands for, if
// there is only that.
func (w *walker) oneOf(items []programs.Word, s *state) variable {
	if len(items) == 1 && items[0].Glob && !w.facts.adrift {
		if dir := s.folders.only(); dir != "" {
			return variable{value: programs.Word{Text: items[0].Text, Glob: true}, from: dir}
		}
	}
	return variable{numeric: allNumbers(items)}
}
