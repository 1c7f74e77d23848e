package roots

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/assent-dev/assent/policy"
)

// A Mode says what can be done in a root at all, whoever consents.
type Mode string

// The modes. The zero Mode is ModeReadOnly.
const (
	ModeReadOnly  Mode = "ro"
	ModeReadWrite Mode = "rw"
)

// An Access is what a tool wants with a file.
type Access string

// The accesses; each is the act of that name on files.
const (
	AccessRead   Access = "read"
	AccessWrite  Access = "write"
	AccessDelete Access = "delete"
)

// acts are the names of the accesses in rules.
var acts = map[Access]string{
	AccessRead: policy.ActReadFile, AccessWrite: policy.ActWriteFile, AccessDelete: policy.ActDeleteFile,
}

// defaults are what a root says about an access that its config leaves out.
var defaults = map[Access]policy.Verdict{
	AccessRead: policy.VerdictFree, AccessWrite: policy.VerdictAsk, AccessDelete: policy.VerdictAsk,
}

// A Root gives a folder or a file of the host a name.
type Root struct {
	// Name is how tools and rules call it: one path element, or `.`.
	Name string
	// Host is the folder or the single file. It must exist, unless [Options] say
	// otherwise.
	Host string
	// Mode is ModeReadOnly unless it says ModeReadWrite.
	Mode Mode
	// Suffixes are the endings of the files that can be reached, such as ".md".
	// None means any.
	Suffixes []string
	// MaxFileBytes is the size of the largest file that is read or written; 0
	// means no limit of this root's own.
	MaxFileBytes int64
	// Approval says for each access whether it is free, asks or is blocked. What
	// it leaves out is free to read and asks to write and delete.
	Approval map[Access]policy.Verdict
	// Once are those accesses that ask of which a yes holds for the session, for
	// exactly the same file.
	Once []Access
	// Reason is told when Approval blocks; default "blocked by policy".
	Reason string
	// Source is the file and line of the root's config, told as the reason why.
	Source string
}

// validate reports what keeps the root from being used.
func (r *Root) validate() error {
	if err := checkName(r.Name); err != nil {
		return err
	}
	switch r.Mode {
	case "", ModeReadOnly, ModeReadWrite:
	default:
		return fmt.Errorf("unknown mode %q: it is ro or rw", string(r.Mode))
	}
	if r.MaxFileBytes < 0 {
		return errors.New("max_file_bytes is negative")
	}
	for access := range r.Approval {
		if acts[access] == "" {
			return fmt.Errorf("unknown access %q: it is read, write or delete", string(access))
		}
	}
	for _, access := range r.Once {
		if v, _ := r.word(access); acts[access] == "" || v != policy.VerdictAsk {
			return fmt.Errorf("%q cannot hold once per session: it does not ask", string(access))
		}
	}
	if r.Host == "" {
		return errors.New("it names no folder")
	}
	return nil
}

// checkName refuses names that could not be written as the first element of a
// path.
func checkName(name string) error {
	switch {
	case name == "":
		return errors.New("the name is empty")
	case name == "..", strings.HasPrefix(name, "~"), strings.ContainsAny(name, `/\`), hasDrive(name):
		return errors.New("the name cannot begin a path; use one plain word")
	case !utf8.ValidString(name), strings.ContainsFunc(name, unicode.IsControl):
		return errors.New("the name is not plain text")
	}
	return nil
}

// word is the root's own word on an access, and where it stands.
func (r *Root) word(a Access) (policy.Verdict, string) {
	v, said := r.Approval[a]
	if !said && !slices.Contains(r.Once, a) {
		return defaults[a], fmt.Sprintf("%ss are %s by default", a, participles[defaults[a]])
	}
	if !said {
		v = defaults[a]
	}
	if v != policy.VerdictAsk && v != policy.VerdictFree {
		return policy.VerdictBlock, r.reason()
	}
	does := "allows"
	switch {
	case slices.Contains(r.Once, a):
		does = "asks once per session before"
	case v == policy.VerdictAsk:
		does = "asks before"
	}
	return v, fmt.Sprintf("%s %s %s%s", cmp.Or(r.Source, "the policy"), does, whats[a], r.Name)
}

// How reasons name what roots say.
var (
	participles = map[policy.Verdict]string{policy.VerdictFree: "allowed", policy.VerdictAsk: "asked"}
	whats       = map[Access]string{AccessRead: "reads of ", AccessWrite: "writes to ", AccessDelete: "deletes in "}
)

func (r *Root) reason() string {
	reason := r.Reason
	if reason == "" {
		reason = "blocked by policy"
	}
	if r.Source != "" {
		reason += " (" + r.Source + ")"
	}
	return reason
}

// fits reports whether the root holds files of this name.
func (r *Root) fits(base string) bool {
	if len(r.Suffixes) == 0 {
		return true
	}
	for _, s := range r.Suffixes {
		if strings.HasSuffix(strings.ToLower(base), strings.ToLower(s)) {
			return true
		}
	}
	return false
}

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
