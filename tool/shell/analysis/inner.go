package analysis

import (
	"fmt"

	"github.com/assent-dev/assent/tool/shell/programs"
	"github.com/assent-dev/assent/tool/shell/subset"
)

// inner walks a command that a program starts.
func (w *walker) inner(c *command, run programs.Run) {
	s := w.handed(c.state)
	if run.Cleared {
		s.lost = true
	}
	w.innerDir(c, run, s)
	w.fromListing(c, &run)
	at := w.at
	at.cause, at.inner, at.listed = c.part, true, nil
	at.elsewhere = at.elsewhere || run.Elsewhere
	at.cleared = at.cleared || run.Cleared
	at.handed = at.handed || !run.IsScript
	at.line = w.parts[c.part-1].Line
	w.inside(at, func() {
		if run.Elsewhere {
			s.folders = folders{}
		}
		w.innerEnv(c, run, s)
		if !run.IsScript {
			w.innerWords(c, run, s)
			return
		}
		if !run.Script.Known {
			w.unknown(c.part, nil, "runs text that is not known")
			return
		}
		w.scriptText(c, run.Script.Text, shellOf(run.Shell), run.Args, s)
	})
}

func (w *walker) innerDir(c *command, run programs.Run, s *state) {
	if run.Dir == (programs.Word{}) || run.Dir.Known && run.Dir.Text == "" {
		return
	}
	var there folders
	for _, dir := range c.state.folders.list {
		name, ok := w.absolute(run.Dir.Text, dir)
		if !ok || !run.Dir.Known {
			there = folders{}
			break
		}
		real, _ := w.world.Look(name)
		there.list = append(there.list, real)
	}
	s.folders = there
}

// innerEnv adds the parts for what a wrapper assigns.
func (w *walker) innerEnv(c *command, run programs.Run, s *state) {
	for _, a := range run.Env {
		w.assign(a.Name, variable{value: a.Value}, assigner{part: c.part, alone: true}, s)
	}
}

// innerWords walks a command that is given as words.
func (w *walker) innerWords(c *command, run programs.Run, s *state) {
	if len(run.Words) == 0 {
		return
	}
	outer := w.parts[c.part-1]
	part := w.add(Part{Kind: Runs, Line: outer.Line, Source: outer.Source, Env: run.Env})
	if w.depth >= maxInner {
		w.parts[part-1].Words = run.Words
		w.unknown(part, nil, "too many commands inside each other")
		return
	}
	w.depth++
	w.repeating(func() {
		w.step()
		w.run(&command{words: run.Words, part: part, state: s, stdin: c.stdin, outside: true})
	})
	w.depth--
}

// A shell is what reads a text.
type shell int

const (
	itself shell = iota + 1 // the one that is walked
	bash
	posix   // any shell that knows no more than POSIX says
	foreign // one whose language we do not read
)

// shellOf tells which shell a program hands its script to.
func shellOf(program string) shell {
	switch program {
	case "bash", "rbash":
		return bash
	case "zsh", "fish", "ksh", "mksh", "csh", "tcsh", "xonsh", "nu", "elvish", "pwsh", "yash":
		return foreign
	}
	return posix
}

// scriptText walks the text of a script. The shell reads the text as it stands, and not its
// canonical form: if the two differ in more than white space, a part says so.
func (w *walker) scriptText(c *command, text string, reader shell, args []programs.Word, s *state) outcome {
	w.scripted += len(text)
	if w.depth >= maxInner || !w.mayRepeat() || w.scripted > maxScripts {
		w.unknown(c.part, nil, "too many scripts inside each other")
		return w.anything(s)
	}
	odd, f, err := w.facts.script(text)
	if err != nil {
		w.unknown(c.part, nil, "runs text that cannot be read: "+err.Error())
		return w.anything(s)
	}
	if odd != "" || !f.printed && reader != itself || !sameText(f.text, text, true) || reader > bash && !portable(f.file, reader) {
		w.unknown(c.part, nil, "runs text that its shell may read differently")
	} else if why := w.secondReading(c, text, reader); why != "" {
		w.unknown(c.part, nil, "runs text that its shell may read differently: "+why)
	}
	if args != nil {
		s.params, s.paramsKnown = nil, len(args) > 0 && noneMany(args)
		if s.paramsKnown {
			s.params = args[1:]
		}
	}
	at := place{text: f.text, line: w.parts[c.part-1].Line, cause: c.part, inner: true, elsewhere: w.at.elsewhere, cleared: w.at.cleared, handed: w.at.handed}
	var o outcome
	walk := func() {
		w.misread(f.file)
		w.expansions(f.file)
		w.repeating(func() { o = w.stmts(f.file.Stmts, s) })
	}
	w.depth++
	w.inside(at, func() {
		if reader == itself {
			walk()
			return
		}
		w.apart(func() {
			w.risky = false
			walk()
		})
	})
	w.depth--
	return o
}

// secondReading says why a text that another shell reads cannot be trusted to be what the
// parser read. Our own shell interprets the texts of those that it starts itself.
func (w *walker) secondReading(c *command, text string, reader shell) (why string) {
	if reader == itself || !w.at.handed && Interprets(w.parts[c.part-1].Reading.Program) {
		return ""
	}
	key := fmt.Sprint(reader, text)
	why, ok := w.facts.second[key]
	if ok {
		return why
	}
	if reader != bash {
		why = SecondReading(text, subset.Dash)
	}
	if why == "" {
		why = SecondReading(text, subset.Bash) // which may be sh as well
	}
	if w.facts.second == nil {
		w.facts.second = make(map[string]string)
	}
	w.facts.second[key] = why
	return why
}

// Interprets reports whether our own shell interprets texts in place of a program.
func Interprets(program string) bool {
	return program == "bash" || program == "sh" || program == "dash"
}
