package analysis

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

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
			w.unknown(c.part, nil, "runs text that is unknown before it runs")
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
		w.unknown(part, nil, "commands are nested too deeply")
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
		w.unknown(c.part, nil, "scripts are nested too deeply")
		return w.anything(s)
	}
	odd, f, err := w.facts.script(text)
	if err != nil {
		w.unknown(c.part, nil, "runs text that cannot be read: "+err.Error())
		return w.anything(s)
	}
	if odd != "" || !f.printed && reader != itself || !sameText(f.text, text, true) ||
		reader > bash && !portable(f.file, reader) {
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
	at := place{text: f.text, line: w.parts[c.part-1].Line, cause: c.part, inner: true, elsewhere: w.at.elsewhere,
		cleared: w.at.cleared, handed: w.at.handed}
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

// loaderName is what the system's loader of programs is called: ld.so, ld-linux-x86-64.so.2.
var loaderName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^ld[-.\w]*\.so(\.\d+)*$`) })

// otherName walks what a command is by another name, so that a deny of it is met: git-push
// is git push, and the loader starts the program that it is given.
func (w *walker) otherName(c *command) {
	name := path.Clean(c.name())
	base := path.Base(name)
	switch {
	case strings.HasPrefix(base, "git-") && len(base) > len("git-"):
		words := literals([]string{"git", strings.TrimPrefix(base, "git-")})
		w.started(c, &command{words: append(words, c.words[1:]...), outside: true})
	case strings.HasPrefix(base, "ld") && loaderName().MatchString(base):
		w.loaded(c)
	case strings.HasPrefix(name, "/proc/") && base == "exe":
		w.unknown(c.part, nil, "runs the program of another process, or the shell itself")
		words := append(literals([]string{"bash"}), c.words[1:]...)
		w.started(c, &command{words: words, outside: true})
	default:
		w.linked(c)
	}
}

// linked adds what a command is by the name of the file that a link leads to, if its own name says little. As it runs, our
// shell looks at that again; other programs that start it, and the shells of other agents, do not.
func (w *walker) linked(c *command) {
	name := c.name()
	base := path.Base(name)
	within := strings.Contains(name, "/")
	if name == "" || programs.Interpret(base, nil).Program != "" && (!within || w.onPath(name, base)) {
		return
	}
	files := []string{w.world.Program(name)}
	if within {
		files = nil
		for _, dir := range c.state.folders.list {
			if file, ok := w.absolute(name, dir); ok {
				files = append(files, file)
			}
		}
	}
	var seen []string
	for _, file := range files {
		real, kind := w.world.Look(file)
		other := path.Base(real)
		if file == "" || kind != File || other == base || slices.Contains(seen, other) {
			continue
		}
		seen = append(seen, other)
		outer := w.parts[c.part-1]
		words := append(literals([]string{other}), c.words[1:]...)
		w.add(Part{Kind: Runs, Cause: c.part, Alias: true, Line: outer.Line, Source: outer.Source, Dir: outer.Dir, Words: words,
			Reading: harmlessReading(other)})
		if r := programs.Interpret(other, words[1:]); len(r.Runs) > 0 || r.Stdin || r.Opaque != "" {
			w.started(c, &command{words: words, outside: true})
		}
	}
}

// loaderTakes are options of the loader with an argument.
var loaderTakes = []string{"--library-path", "--inhibit-rpath", "--audit", "--preload", "--argv0",
	"--glibc-hwcaps-prepend", "--glibc-hwcaps-mask"}

// loaded walks the command that the loader starts. Its options may load any code.
func (w *walker) loaded(c *command) {
	rest := 1
	for rest < len(c.words) && c.words[rest].MayBeFlag() {
		w.unknown(c.part, nil, "an option of the loader may run other code")
		if slices.Contains(loaderTakes, c.words[rest].Text) {
			rest++
		}
		rest++
	}
	if rest < len(c.words) {
		w.started(c, &command{words: slices.Clone(c.words[rest:]), outside: true})
	}
}

// ownCommands are those of assent itself that answer, or widen what is allowed. Nobody
// approves their own call.
var ownCommands = map[string]bool{
	"approve": true, "deny": true, "resume": true, "rules": true, "grants": true, "approvals": true, "trust": true,
	"inbox": true, "import": true, "install": true, "uninstall": true, "call": true, "pending": true, "undo": true, "api": true,
}

// helperWord is the first word of a program that embeds assent where it works for itself: see
// internal/selfexec. It then runs what it is handed, so an allow of the program is none of that.
const helperWord = "assent-inner"

// own marks a command of assent itself.
func (w *walker) own(c *command, r programs.Reading) {
	if described := r.Program != ""; !described && len(c.words) > 1 && c.words[1].Known && c.words[1].Text == helperWord {
		w.parts[c.part-1].OwnCommand = true
		return
	}
	if path.Base(c.name()) != "assent" {
		return
	}
	for i, word := range c.words[1:] {
		if !word.Known || ownCommands[word.Text] {
			w.parts[c.part-1].OwnCommand = true
			return
		}
		if i == 0 && !strings.HasPrefix(word.Text, "-") {
			return // another command of it
		}
	}
}

// obeyed reports variables that the shell or nearly every program obeys: assigning one
// changes what later commands do.
func obeyed(name string) bool {
	switch name {
	case "PATH", "IFS", "CDPATH", "ENV", "GLOBIGNORE", "EXECIGNORE", "FIGNORE", "POSIXLY_CORRECT",
		"SHELLOPTS", "BASHOPTS",
		"PROMPT_COMMAND", "PS0", "PS1", "PS2", "PS4", "TEXTDOMAIN", "TEXTDOMAINDIR", "HOME", "PWD", "OLDPWD",
		"SHELL", "TMPDIR",
		"HISTFILE", "INPUTRC", "LANG", "LANGUAGE", "TMOUT", "HOSTFILE", "MAILPATH", "MAIL", "TIMEFORMAT":
		return true
	}
	return strings.HasPrefix(name, "LD_") || strings.HasPrefix(name, "DYLD_") || strings.HasPrefix(name, "LC_") ||
		strings.HasPrefix(name, "GIT_") || strings.HasPrefix(name, "BASH_")
}

// runsCode are variables whose value the shell runs, or that decide what names mean.
var runsCode = map[string]string{
	"PATH":           "PATH is changed: names may mean other programs",
	"PS4":            "PS4 may run code",
	"PS0":            "PS0 may run code",
	"PS1":            "PS1 may run code",
	"PROMPT_COMMAND": "PROMPT_COMMAND runs code",
	"BASH_ENV":       "BASH_ENV names code that shells run",
	"ENV":            "ENV names code that shells run",
	"BASH_CMDS":      "BASH_CMDS changes what names mean",
	"BASH_ALIASES":   "BASH_ALIASES changes what names mean",
	"GLOBIGNORE":     "GLOBIGNORE changes what patterns mean",
	"SHELLOPTS":      "SHELLOPTS changes how the text is read",
	"BASHOPTS":       "BASHOPTS changes how the text is read",
	"BASH_COMPAT":    "BASH_COMPAT changes how the text is read",
	"EXECIGNORE":     "EXECIGNORE changes what names mean",
}
