package analysis

import (
	"regexp"
	"sync"

	"github.com/assent-dev/assent/tool/shell/programs"
)

// countsOutput finds printf's %n, which assigns to a variable, also with a length.
var countsOutput = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`%[-+ #0-9.*']*[hjlLqtz]*n`) })

func printfBuiltin(w *walker, c *command) outcome {
	w.harmless(c)
	flags, rest, ok := options(c.words, "v")
	if !ok {
		w.opaque(c, "the first word of printf may be -v")
		w.forgetAll(c.state)
		return stays(c.state.folders)
	}
	for _, f := range flags {
		if f.letter == 'v' {
			w.assignTo(c, []programs.Word{f.value})
		}
	}
	if rest < len(c.words) && (!c.words[rest].Known || countsOutput().MatchString(c.words[rest].Text)) {
		w.counted(c, c.words[rest+1:], c.words[rest].Known)
	}
	return stays(c.state.folders)
}

// counted assigns to the operands of a printf that has a %n, or may have one.
func (w *walker) counted(c *command, operands []programs.Word, certain bool) {
	for _, word := range operands {
		if certain || isName(word.Text) && w.noticed(word.Text) {
			w.assignTo(c, []programs.Word{word})
		}
	}
}

func readBuiltin(w *walker, c *command) outcome {
	w.harmless(c)
	flags, rest, ok := options(c.words, "adinNptu")
	names := append([]programs.Word(nil), c.words[rest:]...)
	for _, f := range flags {
		if f.letter == 'a' {
			w.declareShape(f.value.Text, array)
			names = append(names, f.value)
		}
	}
	if !ok {
		names = []programs.Word{{}}
	}
	if len(names) == 0 {
		names = literals([]string{"REPLY"})
	}
	w.assignTo(c, names)
	return stays(c.state.folders)
}

func mapfileBuiltin(w *walker, c *command) outcome {
	w.harmless(c)
	flags, rest, ok := options(c.words, "dnOsuCc")
	names := c.words[rest:]
	if len(names) == 0 {
		names = literals([]string{"MAPFILE"})
	}
	if !ok {
		names = []programs.Word{{}}
	}
	w.declareShape(names[0].Text, array)
	w.assignTo(c, names)
	for _, f := range flags {
		if f.letter == 'C' {
			w.opaque(c, "runs a callback with what it reads")
			if f.value.Known {
				w.scriptText(c, f.value.Text, itself, nil, c.state.adrift())
			}
			w.anything(c.state)
		}
	}
	return stays(c.state.folders)
}

func getoptsBuiltin(w *walker, c *command) outcome {
	w.harmless(c)
	if len(c.words) < 3 {
		return stays(c.state.folders)
	}
	w.assignTo(c, c.words[2:3])
	return stays(c.state.folders)
}

func unsetBuiltin(w *walker, c *command) outcome {
	w.harmless(c)
	flags, rest, ok := options(c.words, "")
	if !ok || !known(flags, "fvn") {
		w.assignTo(c, []programs.Word{{}})
		return stays(c.state.folders)
	}
	functions, variables := len(flags) == 0, true
	for _, f := range flags {
		functions = functions || f.letter == 'f'
		variables = variables && f.letter != 'f'
	}
	if variables {
		w.assignTo(c, c.words[rest:])
	}
	for _, name := range c.words[rest:] {
		if f := w.facts.functions[name.Text]; f != nil && functions {
			w.facts.learn(&f.loose)
		}
	}
	return stays(c.state.folders)
}

func declareBuiltin(w *walker, c *command) outcome {
	w.harmless(c)
	d := newDeclarer(c.name())
	for _, word := range c.words[1:] {
		w.declareWord(word, &d, c.part, c.state)
	}
	w.showDeclared(c.words, d)
	return stays(c.state.folders)
}

func letBuiltin(w *walker, c *command) outcome {
	w.harmless(c)
	w.opaque(c, "arithmetic that may be code")
	w.forgetAll(c.state)
	return stays(c.state.folders)
}

func waitBuiltin(w *walker, c *command) outcome {
	w.harmless(c)
	flags, _, ok := options(c.words, "p")
	for _, f := range flags {
		if f.letter == 'p' {
			w.assignTo(c, []programs.Word{f.value})
		}
	}
	if !ok {
		w.assignTo(c, []programs.Word{{}})
	}
	return stays(c.state.folders)
}

// setBuiltin knows the options that change nothing about what the text means.
func setBuiltin(w *walker, c *command) outcome {
	w.harmless(c)
	s := c.state
	if len(c.words) == 1 {
		w.show("")
	}
	for i := 1; i < len(c.words); i++ {
		word := c.words[i]
		switch {
		case !word.Known:
			w.facts.learn(&w.facts.shifts)
			if word.MayBeFlag() {
				w.opaque(c, "an option of the shell that is not known")
			}
			return stays(s.folders)
		case word.Text == "--" || word.Text == "-" || word.Text == "" || word.Text[0] != '-' && word.Text[0] != '+':
			w.facts.learn(&w.facts.shifts)
			return stays(s.folders)
		}
		takes, fine := w.shellOption(word.Text, c.words[i+1:])
		if !fine {
			w.opaque(c, "an option that changes how the text is read: "+word.Text)
		}
		i += takes
	}
	return stays(s.folders)
}

// shellOption reads one word of options of set, and how many words it takes.
func (w *walker) shellOption(text string, rest []programs.Word) (takes int, fine bool) {
	fine = true
	for j := 1; j < len(text); j++ {
		switch text[j] {
		case 'e', 'u', 'x', 'v', 'b', 'm', 'h', 'E', 'T', 'C':
		case 'a':
			w.exportAll()
		case 'o':
			if len(rest) == 0 {
				continue
			}
			takes = 1
			switch rest[0].Text {
			case "errexit", "nounset", "xtrace", "verbose", "pipefail", "noclobber", "errtrace", "functrace", "monitor",
				"notify", "hashall":
				fine = fine && rest[0].Known
			case "allexport":
				w.exportAll()
			default:
				fine = false
			}
		default:
			fine = false
		}
	}
	return takes, fine
}

// exportAll is set -a: every variable is exported from then on.
func (w *walker) exportAll() {
	w.exports = true
	w.facts.learn(&w.facts.wild)
}

func shiftBuiltin(w *walker, c *command) outcome {
	w.facts.learn(&w.facts.shifts)
	return w.harmless(c)
}

// shoptBuiltin lets pass what only asks, and options that change nothing here.
func shoptBuiltin(w *walker, c *command) outcome {
	w.harmless(c)
	flags, rest, ok := options(c.words, "")
	changes := !ok
	for _, f := range flags {
		changes = changes || f.letter == 's' || f.letter == 'u' || f.letter == 'o'
	}
	if !changes {
		return stays(c.state.folders)
	}
	for _, word := range c.words[rest:] {
		switch word.Text {
		case "inherit_errexit", "checkwinsize", "huponexit", "checkhash", "checkjobs", "cmdhist", "lithist",
			"histappend", "xpg_echo":
			continue
		}
		w.opaque(c, "an option that changes how the text is read: "+word.Text)
		return stays(c.state.folders)
	}
	return stays(c.state.folders)
}

func jobsBuiltin(w *walker, c *command) outcome {
	o := w.harmless(c)
	for _, word := range c.words[1:] {
		if !word.Known || word.Text == "-x" {
			w.opaque(c, "jobs -x runs a command")
		}
	}
	return o
}

func hashBuiltin(w *walker, c *command) outcome {
	o := w.harmless(c)
	for _, word := range c.words[1:] {
		if word.MayBeFlag() && word.Text != "-r" {
			w.opaque(c, "hash -p changes what names mean")
			return o
		}
	}
	return o
}
