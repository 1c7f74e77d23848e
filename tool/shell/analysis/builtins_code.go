package analysis

import (
	"strings"

	"github.com/assent-dev/assent/tool/shell/programs"
)

// wrapping is the reading of a builtin that does nothing but run something else.
func (w *walker) wrapping(c *command) {
	w.parts[c.part-1].Reading = programs.Reading{Program: c.name(), Known: true, Complete: true, Transparent: true}
}

func evalBuiltin(w *walker, c *command) outcome {
	w.wrapping(c)
	texts := make([]string, 0, len(c.words))
	for i, word := range c.words[1:] {
		if !word.Known {
			w.unknown(c.part, nil, "runs text that is not known")
			return w.anything(c.state)
		}
		if i > 0 || word.Text != "--" {
			texts = append(texts, word.Text)
		}
	}
	return w.scriptText(c, strings.Join(texts, " "), bash, nil, c.state)
}

func sourceBuiltin(w *walker, c *command) outcome {
	w.wrapping(c)
	w.parts[c.part-1].Reading.Complete = false
	if len(c.words) > 1 {
		w.scriptFile(c, c.words[1])
		p := Part{Kind: Touches, Cause: c.part, Access: programs.Read, Line: w.parts[c.part-1].Line, Source: w.parts[c.part-1].Source}
		w.touch(p, c.words[1], c.state, false)
	}
	w.unknown(c.part, nil, "runs what is in a file")
	w.changed = true
	return w.anything(c.state)
}

// execBuiltin replaces the shell by a program; alone it only redirects.
func execBuiltin(w *walker, c *command) outcome {
	w.wrapping(c)
	_, rest, ok := options(c.words, "a")
	if !ok {
		w.unknown(c.part, nil, "which command runs is not known")
	}
	if rest < len(c.words) {
		w.started(c, &command{words: c.words[rest:], outside: true})
	} else {
		w.parts[c.part-1].Reading = harmlessReading("exec")
	}
	return stays(c.state.folders)
}

// commandBuiltin runs a builtin or program, past functions.
func commandBuiltin(w *walker, c *command) outcome {
	w.wrapping(c)
	flags, rest, ok := options(c.words, "")
	if !ok {
		w.unknown(c.part, nil, "which command runs is not known")
	}
	for _, f := range flags {
		if f.letter == 'v' || f.letter == 'V' {
			return w.harmless(c)
		}
	}
	if rest >= len(c.words) {
		return w.harmless(c)
	}
	return w.started(c, &command{words: c.words[rest:], builtin: true})
}

// started walks a command that a builtin starts in the same shell.
func (w *walker) started(c, next *command) outcome {
	outer := w.parts[c.part-1]
	next.part = w.add(Part{Kind: Runs, Cause: c.part, Inner: true, Line: outer.Line, Source: outer.Source, Env: outer.Env})
	next.state, next.stdin = c.state, c.stdin
	if w.depth >= maxInner {
		w.parts[next.part-1].Words = next.words
		w.unknown(next.part, nil, "too many commands inside each other")
		return w.anything(c.state)
	}
	w.depth++
	o := w.run(next)
	w.depth--
	return o
}

// trapBuiltin walks the action, which runs at a time that cannot be told. Unless that is the
// very end, what it changes is unknown from now on.
func trapBuiltin(w *walker, c *command) outcome {
	w.wrapping(c)
	flags, rest, ok := options(c.words, "")
	words := c.words[rest:]
	switch {
	case !ok || len(words) > 0 && !words[0].Known:
		w.unknown(c.part, nil, "traps with text that is not known")
		w.unsteady, w.adrift, w.changed = true, true, true
		return stays(c.state.folders)
	case len(flags) > 0 || len(words) < 2 || words[0].Text == "-" || words[0].Text == "":
		return w.harmless(c)
	}
	action := words[0].Text
	if !atExit(words[1:]) {
		w.unsettle(action, c.state)
	}
	w.scriptText(c, action, bash, nil, c.state.adrift())
	return stays(c.state.folders)
}

func atExit(signals []programs.Word) bool {
	for _, signal := range signals {
		if !signal.Known || signal.Text != "EXIT" && signal.Text != "0" {
			return false
		}
	}
	return true
}

// unsettle notes what a trap may change at any time.
func (w *walker) unsettle(action string, s *state) {
	w.changed = true
	f, err := canonical(action)
	if err != nil {
		w.unsteady, w.adrift = true, true
		return
	}
	v := changes(f.file.Stmts, s)
	w.unsteady = w.unsteady || v.all
	w.adrift = w.adrift || v.moves || v.all
	if w.volatile == nil {
		w.volatile = make(map[string]bool)
	}
	for name := range v.names {
		w.volatile[name] = true
	}
}
