package roots

import (
	"os"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits on a name, about those of the systems that hold the files.
const (
	maxName    = 4096
	maxElement = 255
	maxDepth   = 128
)

// split cleans a name as a tool gives it into its elements: a leading slash,
// `//` and `.` mean nothing, `..` is taken back by what stands before it. What
// could mean another file to another program is refused.
func split(name string) ([]string, error) {
	bare := strings.TrimLeft(name, "/")
	switch {
	case len(name) > maxName:
		return nil, refuse("the name has %d bytes; %d are taken at most", len(name), maxName)
	case !utf8.ValidString(name), strings.ContainsFunc(name, unicode.IsControl):
		return nil, refuse("%q is not a plain name: it has control characters or is not UTF-8", name)
	case strings.Contains(name, `\`):
		return nil, refuse("%q has a backslash: write paths with /", name)
	case strings.HasPrefix(bare, "~"):
		return nil, refuse("%q begins with ~: home folders cannot be reached; begin with the name of a root", name)
	case hasDrive(bare):
		return nil, refuse("%q begins with a drive: begin with the name of a root", name)
	}
	var out []string
	for element := range strings.SplitSeq(name, "/") {
		switch element {
		case "", ".":
		case "..":
			if len(out) == 0 {
				return nil, refuse("%q leads out of every root", name)
			}
			out = out[:len(out)-1]
		default:
			if len(element) > maxElement || len(out) == maxDepth {
				return nil, refuse("%q is too deep, or a part of it too long, for a file", name)
			}
			out = append(out, element)
		}
	}
	return out, nil
}

// hasDrive reports whether the name begins as paths do on Windows.
func hasDrive(name string) bool {
	return len(name) >= 2 && name[1] == ':' && ('a' <= name[0]|0x20 && name[0]|0x20 <= 'z')
}

// pick finds the root that a name begins with, and the rest of the name.
func (s *Set) pick(name string) (*folder, []string, error) {
	elements, err := split(name)
	if err != nil {
		return nil, nil, err
	}
	here := s.byName["."]
	if len(elements) == 0 {
		if here == nil {
			return nil, nil, refuse("%q names no root; there is %s", name, s.known())
		}
		return here, nil, nil
	}
	if f := s.byName[elements[0]]; f != nil {
		return f, elements[1:], nil
	}
	if here == nil {
		return nil, nil, refuse("%q begins with no root; there is %s", name, s.known())
	}
	if strings.HasPrefix(name, "/") && here.foreign(elements[0]) {
		return nil, nil, refuse("%q is an absolute path: write names as they are below the root, such as src/a.txt", name)
	}
	return here, elements, nil
}

// foreign reports whether a name with a leading slash means the host's own
// folder rather than one in this root: it is there, and not here.
func (f *folder) foreign(first string) bool {
	if f.handle == nil {
		return false
	}
	if _, err := f.handle.Lstat(first); err == nil {
		return false
	}
	_, err := os.Lstat("/" + first)
	return err == nil
}

// known lists the names of the roots.
func (s *Set) known() string {
	if len(s.folders) == 0 {
		return "no root at all"
	}
	return strings.Join(s.Names(), ", ")
}
