package refusal

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/assent-dev/assent/sandbox"
)

// Facts are what is known about a command that ended.
type Facts struct {
	// Exit is its exit status.
	Exit int
	// Dir is the folder that it ran in.
	Dir string
	// Named are the files that it would touch, as far as reading the command told.
	Named []Named
	// GitWrites says that it runs git in a way that changes a repository.
	GitWrites bool
	// Connects says that it would talk to a host.
	Connects bool
	// Output is what it printed, or the end of that.
	Output string
	// Exists tells whether a path is there on the host.
	Exists func(path string) bool
	// Shared tells whether a path is among those of the system that every command sees.
	Shared func(path string) bool
	// Private are the folders that each command has for itself.
	Private []string
}

// A Named is a file that a command names.
type Named struct {
	Path  string // absolute and clean
	Write bool   // or delete
}

// maxRefusals is how many are told: the first ones explain the rest.
const maxRefusals = 5

// Find returns what the sandbox refused to a command, the most certain first.
func Find(p sandbox.Profile, f Facts) []Refusal {
	if f.Exit == 0 {
		return nil
	}
	e := &explaining{profile: p, Facts: f, mentioned: mentioned(f.Output, f.Dir)}
	e.git()
	for _, file := range e.mentioned {
		if strings.Contains(f.Output, "Device or resource busy") && e.mounted(file) {
			e.busy(file)
		}
	}
	for _, n := range f.Named {
		e.named(n)
	}
	e.network()
	for _, file := range e.mentioned {
		e.seen(file)
	}
	slices.SortStableFunc(e.found, func(a, b Refusal) int { return cmp.Compare(b.Grade.rank(), a.Grade.rank()) })
	return e.found[:min(len(e.found), maxRefusals)]
}

type explaining struct {
	Facts
	profile   sandbox.Profile
	mentioned []string // paths in the output
	found     []Refusal
}

// add adds a refusal, unless the path is explained already.
func (e *explaining) add(r Refusal) {
	known := func(o Refusal) bool { return o.Path == r.Path && (o.Kind == r.Kind || r.Path != "") }
	if !slices.ContainsFunc(e.found, known) {
		e.found = append(e.found, r)
	}
}

// git explains a repository that could not be written. Reading the command told that it
// would be, and where it is the profile protects it: nothing else is needed.
func (e *explaining) git() {
	if e.GitWrites && !e.profile.GitWrite && e.profile.At(e.Dir) == sandbox.ModeReadWrite {
		e.add(Refusal{Kind: Git, Grade: Certain, Source: e.profile.GitSource})
	}
}

// named explains a file that the command was known to want.
func (e *explaining) named(n Named) {
	kind, refused := e.refuses(n)
	if !refused {
		return
	}
	grade := Likely
	if slices.Contains(e.mentioned, n.Path) {
		grade = Certain
	}
	e.add(e.refusal(kind, n.Path, grade))
}

// refusal is one about a path, with what fixes it there.
func (e *explaining) refusal(kind Kind, file string, grade Grade) Refusal {
	source, fixed := e.fixed(file)
	return Refusal{Kind: kind, Path: file, Grade: grade, Fixed: fixed, Source: source}
}

// refuses reports whether the profile keeps a command from a file.
func (e *explaining) refuses(n Named) (Kind, bool) {
	mode := e.mode(n.Path)
	switch {
	case e.private(n.Path) && n.Write:
		// What is written there stays there, if its folder is there.
		dir := path.Dir(n.Path)
		return Write, mode == sandbox.ModeHidden && !slices.Contains(e.Private, dir) && e.Exists(dir)
	case n.Write:
		return Write, mode != sandbox.ModeReadWrite && !strings.HasPrefix(n.Path, "/dev/")
	default:
		return Read, mode == sandbox.ModeHidden && e.Exists(n.Path) && !e.Shared(n.Path)
	}
}

// mode is what may be done with a file. What is found in the roots and protected is not in
// the profile itself.
func (e *explaining) mode(file string) sandbox.Mode {
	mode := e.profile.At(file)
	if guarded(file) && !e.profile.GitWrite {
		return min(mode, sandbox.ModeReadOnly)
	}
	return mode
}

// guarded reports whether a path leads through a name that commands may not change.
func guarded(file string) bool {
	for part := range strings.SplitSeq(file, "/") {
		if part == ".git" || part == ".assent" {
			return true
		}
	}
	return false
}

// fixed reports whether no step can let a command at a path, and what says so: it is
// protected or hidden.
func (e *explaining) fixed(file string) (source string, is bool) {
	for _, entry := range slices.Concat(e.profile.Protected, e.profile.Masked) {
		if sandbox.Below(entry.Path, file) {
			return entry.Source, true
		}
	}
	return "", guarded(file)
}

func (e *explaining) private(file string) bool {
	return slices.ContainsFunc(e.Private, func(dir string) bool { return sandbox.Below(dir, file) })
}

// networkWords stand in the output of programs that found no network.
var networkWords = []string{
	"could not resolve host", "temporary failure in name resolution", "network is unreachable",
	"name or service not known", "getaddrinfo", "eai_again", "enetunreach", "no such host", "dial tcp",
	"failed to establish a new connection",
	"unable to connect to", "could not connect to server",
}

// network explains a host that could not be reached.
func (e *explaining) network() {
	if !e.profile.Network.Off() {
		return
	}
	output := strings.ToLower(e.Output)
	words := slices.ContainsFunc(networkWords, func(w string) bool { return strings.Contains(output, w) })
	switch {
	case e.Connects && words:
		e.add(Refusal{Kind: Network, Grade: Certain, Source: e.profile.Network.Source})
	case e.Connects, words:
		e.add(Refusal{Kind: Network, Grade: Likely, Source: e.profile.Network.Source})
	}
}

// seen explains a path that the output mentions: it is there on the host and not inside.
// One that is there and cannot be written is explained only if that is what the system said.
func (e *explaining) seen(file string) {
	mode := e.mode(file)
	switch {
	case e.Shared(file):
	case mode == sandbox.ModeHidden && e.Exists(file) && !e.writes(file):
		e.add(e.refusal(Read, file, Likely))
	case mode == sandbox.ModeReadWrite || mode == sandbox.ModeHidden && e.private(file):
	case strings.Contains(e.Output, "Read-only file system"):
		e.add(e.refusal(Write, file, Likely))
	}
}

// mounted reports whether the sandbox has to show a path, or something in it, as a mount:
// the system removes and renames none.
func (e *explaining) mounted(file string) bool {
	holds := func(o sandbox.Entry) bool { return sandbox.Below(file, o.Path) }
	root := func(r sandbox.Root) bool { return sandbox.Below(file, r.Path) }
	p := e.profile
	return slices.ContainsFunc(p.Protected, holds) || slices.ContainsFunc(p.Masked, holds) ||
		slices.ContainsFunc(p.Roots, root) || guarded(file) ||
		p.At(file) == sandbox.ModeReadWrite && e.Exists(path.Join(file, ".git"))
}

// busy explains what could not be removed or renamed. A file that is a root by itself can
// be, where its folder is one.
func (e *explaining) busy(file string) {
	grade := Likely
	if e.writes(file) {
		grade = Certain
	}
	alone := func(r sandbox.Root) bool {
		return r.Path == file && r.Mode == sandbox.ModeReadWrite && !e.Exists(file+"/.")
	}
	_, fixed := e.fixed(file)
	if dir := path.Dir(file); slices.ContainsFunc(e.profile.Roots, alone) && e.mode(dir) != sandbox.ModeReadWrite && !fixed {
		e.add(e.refusal(Write, dir, grade))
		return
	}
	e.add(Refusal{Kind: Move, Path: file, Grade: grade, Fixed: true})
}

// maxMentioned is how many paths of an output are looked at.
const maxMentioned = 50

// mentioned returns the paths that stand in a text, as a program in the folder means them.
func mentioned(text, dir string) []string {
	var out []string
	for word := range strings.FieldsFuncSeq(text, separates) {
		word = strings.TrimRight(word, ".")
		if len(word) < 2 || !strings.Contains(word, "/") && !strings.Contains(word, ".") {
			continue
		}
		if !path.IsAbs(word) {
			word = path.Join(dir, word)
		}
		if word = path.Clean(word); word != "/" && !slices.Contains(out, word) {
			out = append(out, word)
		}
		if len(out) == maxMentioned {
			break
		}
	}
	return out
}

// separates reports whether a character ends a path in a message.
func separates(r rune) bool {
	return r <= ' ' || strings.ContainsRune("'\"`:;,()[]{}<>=|‘’“”", r)
}
