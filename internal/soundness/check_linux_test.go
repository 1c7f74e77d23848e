package soundness

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/tool/shell/analysis"
	"github.com/assent-dev/assent/tool/shell/programs"
)

// An event is what happened when a command ran.
type event struct {
	starts        []start
	touches       []*touch
	before, after snapshot // only if something changed
	refused       string   // what bash said if it does not take the text
}

// changed reports whether there is more or less, or something else, than before.
func (e event) changed() bool {
	for _, t := range e.touches {
		if t.Wrote || t.Gone {
			return true
		}
	}
	return false
}

// judged is what a command was said to do: the parts that were read, and the acts that
// were made of them and judged.
type judged struct {
	parts []analysis.Part
	acts  []approval.Act
}

// differences says what happened and was not judged.
func (j judged) differences(e event) (wrong []string) {
	if e.refused != "" {
		wrong = append(wrong, "bash does not take it: "+e.refused)
	}
	for _, s := range e.starts {
		if !j.foresaw(s) {
			wrong = append(wrong, "it started "+s.String())
		}
	}
	for _, t := range e.touches {
		if t.Opened && !e.passing(t.Path) && !j.names(t.Path, programs.Read, programs.Write, programs.Delete) {
			wrong = append(wrong, "it opened "+t.Path)
		}
		if t.Wrote && !e.passing(t.Path) && !j.writes(t.Path) && !t.Gone {
			wrong = append(wrong, "it wrote "+t.Path)
		}
	}
	return append(wrong, j.changes(e)...)
}

// passing reports whether a file was neither there before nor afterwards: programs keep
// what they work on beside the file that it becomes, and bash a long here-document.
func (e event) passing(name string) bool {
	if path.Dir(name) == "/tmp" {
		return true
	}
	return e.after != nil && e.before[name] == "" && e.after[name] == ""
}

// changes compares what lies in the places before and after.
func (j judged) changes(e event) (wrong []string) {
	for name, was := range e.before {
		is, there := e.after[name]
		switch {
		case !there && !j.names(name, programs.Delete):
			wrong = append(wrong, "it removed "+name)
		case there && is != was && !j.writes(name):
			wrong = append(wrong, "it changed "+name)
		}
	}
	for name := range e.after {
		if _, there := e.before[name]; !there && !j.writes(name) {
			wrong = append(wrong, "it made "+name)
		}
	}
	return wrong
}

// writes reports whether a path is written, or made as a folder above one that is.
func (j judged) writes(name string) bool {
	if j.names(name, programs.Write) {
		return true
	}
	for _, act := range j.acts {
		for _, spelling := range spellings(act) {
			if act.Name == approval.WriteFile && strings.HasPrefix(spelling, name+"/") {
				return true
			}
		}
	}
	return false
}

// actNames are how acts are named for what is done to a file.
var actNames = map[programs.Kind]string{
	programs.Read: approval.ReadFile, programs.Write: approval.WriteFile, programs.Delete: approval.DeleteFile,
}

// names reports whether a part does one of these things to a path, and has an act for it.
func (j judged) names(name string, kinds ...programs.Kind) bool {
	for i := range j.parts {
		p := &j.parts[i]
		for _, kind := range kinds {
			if p.Kind != analysis.Touches || p.Access != kind || p.Path == "" || p.Names {
				continue
			}
			for _, act := range j.acts {
				if act.Name == actNames[kind] && slices.Contains(spellings(act), path.Clean(p.Path)) && covers(p, act, name) {
					return true
				}
			}
		}
	}
	return false
}

// spellings are the absolute names of an act's file.
func spellings(act approval.Act) (names []string) {
	for _, list := range [][]string{act.Target.Written, act.Target.Resolved} {
		for _, name := range list {
			if strings.HasPrefix(name, "/") {
				names = append(names, name)
			}
		}
	}
	return names
}

// covers reports whether the part, judged by the act, is about the path.
func covers(p *analysis.Part, act approval.Act, name string) bool {
	for _, spelling := range spellings(act) {
		if spelling == name {
			return true
		}
		if !p.Many {
			continue
		}
		if strings.HasPrefix(name, spelling+"/") {
			return true
		}
		if ok, _ := path.Match(spelling, name); ok {
			return true
		}
	}
	for _, m := range p.Matches {
		if real, err := filepath.EvalSymlinks(m); m == name || err == nil && real == name {
			return true
		}
	}
	return false
}

// foresaw reports whether an act says that the program is started, there and so.
func (j judged) foresaw(s start) bool {
	for i := range j.acts {
		act := &j.acts[i]
		if act.Name == approval.Shell && inFolder(act.Dir, s.Folder) && startsWith(act.Target.Words, s) {
			return true
		}
	}
	return false
}

// inFolder reports whether an act's folder is the one where something started.
func inFolder(dir, folder string) bool {
	if dir == "" {
		return false
	}
	if !strings.HasPrefix(dir, "/") {
		dir = "/w/" + dir
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	return dir == folder
}

// startsWith reports whether the words of an act, after the variables that it sets, are
// those that something was started with. The program may be named by its path.
func startsWith(words []approval.Word, s start) bool {
	for i, w := range words {
		if !w.Unknown && path.Base(w.Text) == path.Base(s.Program) && fits(words[i+1:], s.Words, 1) {
			return true
		}
		if !strings.Contains(w.Text, "=") {
			return false
		}
	}
	return false
}

// fits reports whether words turned out to be those that a program got, from the one at
// that index on. An unknown word may have become any number of them, and no flags if it
// is plain and the program has flags that do harm.
func fits(words []approval.Word, got []string, at int) bool {
	if len(words) == 0 {
		return at == len(got)
	}
	w := words[0]
	if !w.Unknown {
		return at < len(got) && same(w.Text, got[at]) && fits(words[1:], got, at+1)
	}
	for end := at; end <= len(got); end++ {
		if end > at && w.Plain && isFlag(got, end-1) {
			return false
		}
		if fits(words[1:], got, end) {
			return true
		}
	}
	return false
}

// same compares a word with what it became. Which descriptor a process substitution gets
// is for bash to say.
func same(word, got string) bool {
	const descriptor = "/dev/fd/"
	return word == got || strings.HasPrefix(word, descriptor) && strings.HasPrefix(got, descriptor)
}

// tame are programs of which no flag writes or runs anything: an unknown word may be any
// of them.
var tame = []string{"basename", "cat", "comm", "cut", "dirname", "du", "echo", "fold", "grep", "head", "join", "ls", "nl", "od",
	"paste", "printf", "rev", "stat", "tac", "tail", "touch", "tr", "tsort", "uniq", "wc"}

// isFlag reports whether a program would take the word for a flag that may do harm: not
// behind --, and not behind the script of a shell.
func isFlag(got []string, at int) bool {
	if len(got[at]) < 2 || got[at][0] != '-' || slices.Contains(tame, path.Base(got[0])) {
		return false
	}
	for i, word := range got[:at] {
		if word == "--" || i+1 < at && word == "-c" {
			return false
		}
	}
	return true
}

// report shows a difference to a person.
func (a answer) report(text string) string {
	return fmt.Sprintf("%q\nruns as    %q\nallowed by %s\n  %s\njudged:\n  %s",
		text, a.Command, a.Policy, strings.Join(a.Wrong, "\n  "), strings.Join(a.Acts, "\n  "))
}
