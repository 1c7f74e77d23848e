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
	o := w.scriptText(c, strings.Join(texts, " "), itself, nil, c.state.fork())
	return outcome{ok: o.ok, fail: o.fail.or(c.state.folders)} // an expansion that fails ends it early
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

// trapBuiltin walks the action, which runs at a time that is not known. Unless that is the
// very end, the folder may be another at any time if it goes to one.
func trapBuiltin(w *walker, c *command) outcome {
	w.wrapping(c)
	flags, rest, ok := options(c.words, "")
	words := c.words[rest:]
	switch {
	case !ok || len(words) > 0 && !words[0].Known:
		w.unknown(c.part, nil, "traps with text that is not known")
		w.changed = true
		w.facts.learn(&w.facts.wild)
		w.facts.learn(&w.facts.adrift)
		return stays(c.state.folders)
	case len(flags) > 0 || len(words) < 2 || words[0].Text == "-" || words[0].Text == "":
		return w.harmless(c)
	}
	before := w.way
	w.apart(func() {
		w.scriptText(c, words[0].Text, itself, nil, c.state.adrift())
		if atExit(words[1:]) {
			return
		}
		w.changed = true
		if w.way.moves != before.moves {
			w.facts.learn(&w.facts.adrift)
		}
	})
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
