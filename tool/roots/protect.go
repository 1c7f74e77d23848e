package roots

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/assent-dev/assent/internal/realpath"
)

// protectedNames are folders that no tool changes, wherever they lie.
var protectedNames = []string{".git", ".assent"}

// A protected place is one that the program itself needs whole.
type protected struct {
	paths []string // as given and with links resolved, folded
	info  fs.FileInfo
}

func protectAll(paths []string) ([]protected, error) {
	var out []protected
	for _, p := range paths {
		abs, err := filepath.Abs(p)
		if err != nil {
			return nil, fmt.Errorf("protected path %q: %w", p, err)
		}
		real, _ := realpath.Resolve(abs) // as far as it leads
		item := protected{paths: []string{fold(abs), fold(real)}}
		if info, err := os.Stat(abs); err == nil {
			item.info = info
		}
		out = append(out, item)
	}
	return out, nil
}

// guards reports whether a location, by its folded path and the steps to it, is
// protected from an access that changes it.
func (s *Set) guards(abs string, steps []step, a Access) bool {
	for element := range strings.SplitSeq(abs, "/") {
		if slices.Contains(protectedNames, element) {
			return true
		}
	}
	if slices.ContainsFunc(s.names, func(name string) bool {
		return strings.HasSuffix(abs+"/", strings.TrimSuffix(name, "/")+"/") || strings.HasSuffix(name, "/") && strings.Contains(abs, name)
	}) {
		return true
	}
	for _, p := range s.protected {
		if p.holds(abs, steps) || a == AccessDelete && p.liesIn(abs) {
			return true
		}
	}
	return false
}

func (p protected) holds(abs string, steps []step) bool {
	if slices.ContainsFunc(p.paths, func(own string) bool { return below(own, abs) }) {
		return true
	}
	return p.info != nil && slices.ContainsFunc(steps, func(st step) bool {
		return st.info != nil && os.SameFile(st.info, p.info)
	})
}

func (p protected) liesIn(abs string) bool {
	return slices.ContainsFunc(p.paths, func(own string) bool { return below(abs, own) })
}

// fold makes spellings equal that some file system takes for the same name:
// upper and lower case, characters that take no space, stream names after a
// colon, dots and spaces at the end.
func fold(abs string) string {
	abs = strings.ToLower(strings.Map(visible, abs))
	if !strings.ContainsAny(abs, ". :") {
		return abs
	}
	elements := strings.Split(abs, "/")
	for i, e := range elements {
		if name, _, stream := strings.Cut(e, ":"); stream && name != "" {
			e = name
		}
		if trimmed := strings.TrimRight(e, ". "); trimmed != "" {
			e = trimmed
		}
		elements[i] = e
	}
	return strings.Join(elements, "/")
}

// visible drops the characters that HFS+ ignores in names.
func visible(r rune) rune {
	switch {
	case r >= 0x200b && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2060 && r <= 0x2064,
		r >= 0x206a && r <= 0x206f, r == 0xfeff, r == 0x00ad, r == 0x034f:
		return -1
	}
	return r
}
