package shell

import (
	"path"
	"slices"
	"strings"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool/roots"
	"github.com/assent-dev/assent/tool/shell/analysis"
	"github.com/assent-dev/assent/tool/shell/programs"
)

// maxUnseen is how many paths of one command are looked at; more ask on their own.
const maxUnseen = 256

// unseen adds the files that the words of a command name although nothing is known about what
// it does with them: the program is not in the table, or does more than the table says.
// Whatever allows the program, such a file meets the rules about files and the roots. It is
// judged as one that is read; if a rule denies writing it, only a person can say that the
// command does not.
func (j *judging) unseen(i int, act *policy.Act) []policy.Act {
	p := &j.script.Parts[i]
	r := &p.Reading
	described := r.Program != ""
	switch {
	case p.Builtin || p.Elsewhere || len(p.Words) == 0:
		return nil
	case described && (r.Complete || len(r.Runs) > 0 || r.Opaque != "" || r.Program == "git"):
		return nil // what it starts, and code that it is handed, is judged on its own; git's paths are known
	}
	var acts []policy.Act
	for at, w := range p.Words[1:] {
		if described && strings.ContainsAny(w.Text, " \t\n()\"'") {
			continue // a sentence
		}
		if !w.Known || slices.ContainsFunc(p.Reading.Effects, func(e programs.Effect) bool { return e.Arg == at }) {
			continue
		}
		for _, name := range j.namedIn(w.Text, p) {
			if len(acts) == maxUnseen {
				act.Verdict, act.PersonOnly, act.Why = min(act.Verdict, policy.VerdictAsk), true,
					"it names too many files to check each"
				return acts
			}
			file := j.places.act(roots.AccessRead, name, false)
			if j.sandboxed && file.Verdict == policy.VerdictAsk && !file.Secret && !file.PersonOnly &&
				!j.places.inside(name) {
				file.Verdict, file.Why = policy.VerdictFree, "the sandbox decides what is there"
			}
			acts = append(acts, file)
			act.Known = false
			write := j.places.act(roots.AccessWrite, name, false)
			if j.opts.Denied != nil && j.opts.Denied(j.ctx, write) {
				act.Verdict, act.PersonOnly = min(act.Verdict, policy.VerdictAsk), true
				act.Why = "it may write " + write.Target.String() + ", which is denied"
			}
		}
	}
	return acts
}

// namedIn returns the files that a word may name, as absolute paths: the whole word, or what
// stands in it behind a sign (--config=/x, @/x, host:/x, -f../x). A name without a slash counts
// if there is such a file; of a program in the table any name does only then.
func (j *judging) namedIn(word string, p *analysis.Part) []string {
	var names []string
	for _, text := range pathsWithin(word) {
		abs := join(p.Dir, text)
		if rest, ok := strings.CutPrefix(text, "~/"); ok {
			abs = path.Join(j.world.Home(), rest)
		}
		_, kind := j.world.Look(abs)
		looks := strings.HasPrefix(text, "/") || strings.HasPrefix(text, "~") || strings.Contains(text, "../")
		if (looks && p.Reading.Program == "" || kind != analysis.Nothing) && !slices.Contains(names, abs) {
			names = append(names, abs)
		}
	}
	return names
}

// pathSigns are what a path may stand behind, or end at, in a word.
const pathSigns = "=:,;@#%<>|\"'()[]{} \t\n"

// pathsWithin cuts a word where a path may begin and end. An address of the network names no
// file here.
func pathsWithin(word string) []string {
	found := []string{word}
	for at := strings.Index(word, "://"); at >= 0; at = strings.Index(word, "://") {
		rest := word[at+3:]
		end := strings.IndexAny(rest, ",;<>|\"'() \t\n")
		if end < 0 {
			end = len(rest)
		}
		scheme := word[strings.LastIndexAny(word[:at], pathSigns)+1 : at]
		if slash := strings.IndexByte(rest[:end], '/'); slash >= 0 && !ofNetwork(scheme) {
			end = slash // file:///x, file://localhost/x
		}
		word = word[:at] + " " + rest[end:]
	}
	if strings.HasPrefix(word, "-") {
		found = found[1:] // a flag does not name a file
		if !strings.HasPrefix(word, "--") && len(word) > 2 {
			found = append(found, word[2:])
		}
	}
	for rest := word; ; {
		at := strings.IndexAny(rest, pathSigns)
		if at < 0 {
			return append(found, rest)
		}
		if at > 0 && !strings.HasPrefix(rest, "-") {
			found = append(found, rest[:at])
		}
		if rest = rest[at+1:]; rest == "" {
			return found
		}
		found = append(found, rest)
	}
}

// ofNetwork reports whether addresses of a scheme are on another machine.
func ofNetwork(scheme string) bool {
	switch strings.ToLower(scheme) {
	case "http", "https", "ws", "wss", "ftp", "ftps", "sftp", "ssh", "git", "s3", "gs", "grpc", "tcp", "udp", "redis",
		"postgres", "postgresql", "mysql", "mongodb", "amqp", "smtp":
		return true
	}
	return false
}
