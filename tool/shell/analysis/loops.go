package analysis

import (
	"github.com/assent-dev/assent/tool/shell/programs"
	"mvdan.cc/sh/v3/syntax"
)

// loose walks a body that may run any number of times: what it assigns is unknown from
// its beginning, since an earlier round may have assigned it.
func (w *walker) loose(s *state, v survey, walk func(*state) outcome) outcome {
	w.changed = true // by an earlier round
	v.apply(s)
	if v.moves {
		s.folders = folders{}
	}
	body := s.fork()
	first := len(w.parts)
	o := walk(body)
	w.rounds = append(w.rounds, span{first, len(w.parts)})
	s.join(s, body)
	return stays(s.folders.or(o.either()))
}

// apply makes unknown what the surveyed body may change.
func (v survey) apply(s *state) {
	if v.all {
		s.forgetAll()
	} else {
		s.forget(v.names)
	}
	if v.sets {
		s.params, s.paramsKnown, s.paramsChange = nil, false, true
	}
}

func (w *walker) whileLoop(cmd *syntax.WhileClause, s *state) outcome {
	v := changes(cmd.Cond, s)
	for _, stmt := range cmd.Do {
		v.node(stmt, s)
	}
	return w.loose(s, v, func(body *state) outcome {
		o := w.stmts(cmd.Cond, body)
		inside := body.fork()
		inside.folders = o.ok
		if cmd.Until {
			inside.folders = o.fail
		}
		rest := w.stmts(cmd.Do, inside)
		body.join(body, inside)
		return stays(o.either().or(rest.either()))
	})
}

func (w *walker) forLoop(cmd *syntax.ForClause, s *state) outcome {
	loop, ok := cmd.Loop.(*syntax.WordIter)
	if !ok {
		return w.countingLoop(cmd, cmd.Loop.(*syntax.CStyleLoop), s)
	}
	items := w.items(loop, s)
	v := changes(cmd.Do, s)
	v.name(loop.Name.Value, byText)
	if cmd.Select || !allKnown(items) || w.spent {
		return w.loose(s, v, func(body *state) outcome {
			w.assign(loop.Name.Value, w.oneOf(items, s), assigner{node: loop}, body)
			if cmd.Select {
				w.assign("REPLY", variable{}, assigner{node: loop}, body)
			}
			return w.stmts(cmd.Do, body)
		})
	}
	return w.unroll(cmd, loop.Name.Value, items, v, s)
}

// items are the words that a loop goes through.
func (w *walker) items(loop *syntax.WordIter, s *state) []programs.Word {
	if !loop.InPos.IsValid() {
		if s.paramsKnown {
			return s.params
		}
		return []programs.Word{{Text: `"$@"`, Many: true}}
	}
	return w.fields(nil, loop.Items, s)
}

// unroll walks the body once for each item, as long as there is room for repetitions.
func (w *walker) unroll(cmd *syntax.ForClause, name string, items []programs.Word, v survey, s *state) outcome {
	w.changed = true
	for i, item := range items {
		w.assign(name, variable{value: item}, assigner{node: cmd.Loop}, s)
		walk := func() { s.folders = w.stmts(cmd.Do, s).either() }
		if i == 0 {
			walk()
		} else {
			w.repeating(walk)
		}
		last := i == len(items)-1
		if v.jumps || !last && !w.mayRepeat() { // what follows may not have run, or ran and was not walked
			v.apply(s)
			if v.moves {
				s.folders = folders{}
			}
		}
		if !last && !w.mayRepeat() {
			break
		}
	}
	return stays(s.folders)
}

func (w *walker) countingLoop(cmd *syntax.ForClause, loop *syntax.CStyleLoop, s *state) outcome {
	if loop.Init != nil {
		w.arithmetic(loop.Init, s, cmd)
	}
	v := changes(cmd.Do, s)
	for _, x := range []syntax.ArithmExpr{loop.Cond, loop.Post} {
		if x != nil {
			v.node(x, s)
		}
	}
	return w.loose(s, v, func(body *state) outcome {
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
	if len(items) == 1 && items[0].Glob && !w.adrift {
		if dir := s.folders.only(); dir != "" {
			return variable{value: programs.Word{Text: items[0].Text, Glob: true}, from: dir}
		}
	}
	return variable{}
}
