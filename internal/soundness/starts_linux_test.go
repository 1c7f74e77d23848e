package soundness

import (
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool/shell/programs"
)

// foresaw reports whether an act says that the program is started, there and so.
func (j judged) foresaw(s start) bool {
	for i := range j.acts {
		act := &j.acts[i]
		if act.Name == policy.ActShell && startsWith(act.Target.Words, s) && (j.inFolder(act.Dir, s.Folder) || j.inFolder(act.Dir, s.worksIn())) {
			return true
		}
	}
	return false
}

// worksIn is the folder that a program enters by a flag of its own, as git -C.
func (s start) worksIn() string {
	for i, word := range s.Words {
		name, ok := strings.CutPrefix(word, "-C")
		if ok && name == "" && i+1 < len(s.Words) {
			name = s.Words[i+1]
		}
		if !ok {
			name, ok = strings.CutPrefix(word, "--chdir=")
		}
		switch {
		case ok && path.IsAbs(name):
			return realPath(name)
		case ok:
			return realPath(s.Folder + "/" + name)
		}
	}
	return s.Folder
}

// realPath follows links, as far as there is something.
func realPath(name string) string {
	if real, err := filepath.EvalSymlinks(name); err == nil {
		return real
	}
	return path.Clean(name)
}

// inFolder reports whether an act's folder is the one where something started.
func (j judged) inFolder(dir, folder string) bool { return dir != "" && j.folders[dir] == folder }

// startsWith reports whether the words of an act, after the variables that it sets, are
// those that something was started with. The program may be named by its path.
func startsWith(words []policy.Word, s start) bool {
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
func fits(words []policy.Word, got []string, at int) bool {
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
	const any = "/dev/fd/N"
	return word == got || descriptor.ReplaceAllString(word, any) == descriptor.ReplaceAllString(got, any)
}

var descriptor = regexp.MustCompile(`/dev/fd/\d+`)

// tame reports whether an unknown word behind these may be any flag of the program and do
// no harm, by the table's own word: what it would do to files is seen anyway.
func tame(words []string) bool {
	var args []programs.Word
	for _, word := range words[1:] {
		args = append(args, programs.Literal(word))
	}
	args = append(args, programs.Word{Text: "*", Glob: true, Many: true})
	return slices.Contains(programs.Interpret(path.Base(words[0]), args).Plain, len(args)-1)
}

// isFlag reports whether a program would take the word for a flag that may do harm: not
// behind --, and not behind the script of a shell.
func isFlag(got []string, at int) bool {
	if len(got[at]) < 2 || got[at][0] != '-' || tame(got[:at]) {
		return false
	}
	for i, word := range got[:at] {
		if word == "--" || i+1 < at && word == "-c" {
			return false
		}
	}
	return true
}
