package seatbelt

import (
	_ "embed"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/assent-dev/assent/sandbox"
	"github.com/assent-dev/assent/sandbox/launch"
)

//go:embed base.sbpl
var base string

//go:embed network.sbpl
var network string

// A Profile is a text for sandbox-exec and the paths that it names.
type Profile struct {
	Text   string
	Params []Param // in the order in which they are named
}

// A Param is a path that the text names.
type Param struct{ Name, Path string }

// Plan writes the profile for a layout.
func Plan(s launch.Layout, net sandbox.Network) Profile {
	w := &writer{}
	w.text.WriteString(base)
	w.reads(s)
	w.writes(s)
	w.carveOuts(s)
	w.anchors(s)
	if net.On {
		w.text.WriteString(network)
	}
	for _, socket := range s.Sockets {
		w.line("(allow network-outbound %s)", w.literal("SOCK", socket.Path))
	}
	return Profile{Text: w.text.String(), Params: w.params}
}

// A writer collects lines and parameters.
type writer struct {
	text   strings.Builder
	params []Param
}

// line adds a rule. Its arguments are filters made by literal and subpath.
func (w *writer) line(format string, filters ...any) { fmt.Fprintf(&w.text, format+"\n", filters...) }

// param names a path. The same path under the same prefix keeps its name.
func (w *writer) param(prefix, file string) string {
	count := 0
	for _, p := range w.params {
		if !strings.HasPrefix(p.Name, prefix+"_") {
			continue
		}
		if p.Path == file {
			return p.Name
		}
		count++
	}
	name := fmt.Sprintf("%s_%d", prefix, count)
	w.params = append(w.params, Param{name, file})
	return name
}

func (w *writer) literal(prefix, file string) string {
	return fmt.Sprintf(`(literal (param "%s"))`, w.param(prefix, file))
}

func (w *writer) subpath(prefix, file string) string {
	return fmt.Sprintf(`(subpath (param "%s"))`, w.param(prefix, file))
}

// place is a folder with all below it, or a single file.
func (w *writer) place(prefix string, p launch.Place) string {
	if p.Kind == launch.KindFile {
		return w.literal(prefix, p.Path)
	}
	return w.subpath(prefix, p.Path)
}

func prefix(m sandbox.Mode) string {
	if m == sandbox.ModeReadWrite {
		return "RW"
	}
	return "RO"
}

func (w *writer) reads(s launch.Layout) {
	w.line("\n; Roots.")
	for _, r := range s.Roots {
		w.line("(allow file-read* file-test-existence %s)", w.place(prefix(r.Mode), r))
	}
	for _, dir := range ancestors(s.Roots) {
		w.line("(allow file-read-metadata file-test-existence %s)", w.literal("ANC", dir))
	}
}

// writes go from the outermost root to the innermost: a read-only root inside a writable
// one takes back, and the other way round.
func (w *writer) writes(s launch.Layout) {
	roots := slices.Clone(s.Roots)
	slices.SortStableFunc(roots, func(a, b launch.Place) int { return strings.Count(a.Path, "/") - strings.Count(b.Path, "/") })
	for _, r := range roots {
		word := "deny"
		if r.Mode == sandbox.ModeReadWrite {
			word = "allow"
		}
		w.line("("+word+" file-write* %s)", w.place(prefix(r.Mode), r))
	}
}

// carveOuts come after every allow: what is protected is never written, and what is
// masked never read, by whatever spelling of its case.
func (w *writer) carveOuts(s launch.Layout) {
	for _, p := range s.Protected {
		w.line("(deny file-write* %s %s)", w.literal("PROT", p.Path), w.subpath("PROT", p.Path))
	}
	for _, p := range s.Masked {
		w.line("(deny file-read* file-write* %s %s)", w.literal("MASK", p.Path), w.subpath("MASK", p.Path))
	}
	w.line("(deny file-write-setugid)")
}

// anchors keep every folder that leads to a place with rules of its own where it is.
func (w *writer) anchors(s launch.Layout) {
	for _, l := range s.Layers() {
		w.line("(deny file-write-unlink %s)", w.literal("PIN", l.Path))
	}
}

// ancestors are the folders above the places, outermost first: a program must be able to
// walk down to a root.
func ancestors(places []launch.Place) []string {
	var out []string
	for _, p := range places {
		for dir := path.Dir(p.Path); dir != "/"; dir = path.Dir(dir) {
			out = append(out, dir)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
