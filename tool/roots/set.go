package roots

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/assent-dev/assent/internal/realpath"
)

// Options are what holds for all roots of a set.
type Options struct {
	// Secrets are patterns of files that ask even where reads are free; nil
	// means [DefaultSecrets], an empty list none. A pattern without a slash is
	// for any element of a path, one with slashes for elements in a row; `*`
	// and `?` stay within an element; a `!` in front makes an exception.
	Secrets []string
	// Protected are absolute paths of files and folders that no tool writes or
	// deletes, such as assent's own config and state.
	Protected []string
	// Names are such files and folders by the end of their paths, wherever they lie: .claude is
	// every place of this name, and with a slash at its end, as in .claude/hooks/, all below too.
	Names []string
	// Missing takes roots that do not exist: their words hold for what is made there,
	// and nothing is opened in them. Otherwise such a root is an error.
	Missing bool
	// Home is the user's home folder, which only a person may let a tool delete or
	// replace; empty means that of the process.
	Home string
}

// A Set is the roots that tools may reach. It is safe for concurrent use and
// never changes.
type Set struct {
	folders   []*folder // in the order given
	byName    map[string]*folder
	secrets   patterns
	protected []protected
	names     []string // folded
	home      []string // as given and with links resolved; may be empty
	top       fs.FileInfo
	parent    *Set // whose word holds too; nil for none
}

// A folder is a root that was opened.
type folder struct {
	Root
	host   string      // as configured, absolute
	real   string      // with links resolved
	info   fs.FileInfo // what it was when it was opened
	handle *os.Root    // the folder, or the one that the single file lies in; nil if it does not exist
	file   string      // the name of the single file; empty for a folder
	base   fs.FileInfo // the folder that the handle is open on
	names  []*folder   // all roots that are this place, this one among them; "." last
}

// New opens the roots. Two roots may be one folder: what lies there has both
// names, and the stricter word of the two holds. Two roots of one name are refused.
// An error that is about one of the roots is a [*RootError]. Close the set when it
// is no longer used.
func New(opts Options, list ...Root) (*Set, error) {
	secrets := opts.Secrets
	if secrets == nil {
		secrets = DefaultSecrets()
	}
	s := &Set{byName: map[string]*folder{}}
	var err error
	if s.secrets, err = compilePatterns(secrets); err != nil {
		return nil, err
	}
	if s.protected, err = protectAll(opts.Protected); err != nil {
		return nil, err
	}
	for _, name := range opts.Names {
		s.names = append(s.names, "/"+fold(name))
	}
	if s.top, err = os.Lstat("/"); err != nil {
		return nil, err
	}
	s.home = homes(opts.Home)
	for _, r := range list {
		if err := s.add(r, opts.Missing); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	return s, nil
}

// homes returns the home folder in its spellings, or none if there is none.
func homes(given string) []string {
	home := given
	if home == "" {
		home, _ = os.UserHomeDir() // a process without one has none to lose
	}
	if !filepath.IsAbs(home) {
		return nil
	}
	real, _ := realpath.Resolve(home) // as far as it leads
	return []string{filepath.Clean(home), real}
}

func (s *Set) add(r Root, missing bool) error {
	if err := r.validate(); err != nil {
		return &RootError{r, err}
	}
	if s.byName[r.Name] != nil {
		return &RootError{r, errors.New("there are two roots of this name")}
	}
	f, err := open(r)
	if missing && errors.Is(err, fs.ErrNotExist) {
		f.real, err = realpath.Resolve(f.host)
	}
	if err != nil {
		return &RootError{r, err}
	}
	if err := s.join(f); err != nil {
		return errors.Join(&RootError{r, err}, f.close())
	}
	s.folders = append(s.folders, f)
	s.byName[r.Name] = f
	return nil
}

// join finds the roots that are the same place as a new one.
func (s *Set) join(f *folder) error {
	f.names = []*folder{f}
	for _, other := range s.folders {
		same := os.SameFile(other.info, f.info)
		switch {
		case other.real != f.real && !same:
			continue
		case other.real != f.real && f.file != "" && links(f.info) > 1:
			// A change puts a new file in place of one of the names, and they part.
			return fmt.Errorf("it is a hard link to the file of root %q; leave one of them out", other.Name)
		case f.file == "":
			f.real = other.real // another mount or another case of the letters: one spelling for all
		}
		f.names = append(slices.Clone(other.names), f)
		break
	}
	slices.SortStableFunc(f.names, func(a, b *folder) int { return dotLast(a.Name) - dotLast(b.Name) })
	for _, g := range f.names {
		g.names = f.names
	}
	return nil
}

func dotLast(name string) int {
	if name == "." {
		return 1
	}
	return 0
}

// open finds out what the root is. These errors are for the operator, who wrote
// the host path. A root that does not exist is returned beside the error.
func open(r Root) (*folder, error) {
	f := &folder{Root: r}
	var err error
	if f.host, err = filepath.Abs(r.Host); err != nil {
		return nil, err
	}
	if f.real, err = filepath.EvalSymlinks(f.host); err != nil {
		return f, err
	}
	if f.info, err = os.Lstat(f.real); err != nil {
		return nil, err
	}
	dir := f.real
	switch {
	case f.info.IsDir():
	case f.info.Mode().IsRegular():
		dir, f.file = filepath.Split(f.real)
	default:
		return nil, fmt.Errorf("%s is neither a folder nor a file", f.host)
	}
	if f.handle, err = os.OpenRoot(dir); err != nil {
		return nil, err
	}
	if f.base, err = f.handle.Stat("."); err != nil {
		return nil, errors.Join(err, f.handle.Close())
	}
	return f, nil
}

// anchored refuses a root whose folder is not found where it was any more.
func (f *folder) anchored() error {
	if f.handle == nil {
		return refuse("root %s cannot be used: its folder does not exist; make it, and start again", f.Name)
	}
	where := f.host // a link may lead elsewhere by now
	if f.file != "" {
		where = f.dir()
	}
	if now, err := os.Stat(where); err != nil || !os.SameFile(now, f.base) {
		return refuse("root %s cannot be used: its folder was moved or replaced since the start; put it back, or start again", f.Name)
	}
	return nil
}

// Close closes the roots. Places of the set cannot be opened any more.
func (s *Set) Close() error {
	var errs []error
	for _, f := range s.folders {
		errs = append(errs, f.close())
	}
	return errors.Join(errs...)
}

func (f *folder) close() error {
	if f.handle == nil {
		return nil
	}
	return f.handle.Close()
}

// Names returns the names of the roots, in the order given.
func (s *Set) Names() []string {
	out := make([]string, len(s.folders))
	for i, f := range s.folders {
		out[i] = f.Name
	}
	return out
}

// Folders returns the names of the roots, in the order given, and only one for
// each folder: of several that which host paths go by.
func (s *Set) Folders() []string {
	var out []string
	for _, f := range s.folders {
		if !slices.Contains(out, f.names[0].Name) {
			out = append(out, f.names[0].Name)
		}
	}
	return out
}

// Roots returns the roots as they were given, but for the mode: of several names
// for one folder each has the strictest.
func (s *Set) Roots() []Root {
	out := make([]Root, len(s.folders))
	for i, f := range s.folders {
		out[i] = f.Root
		if slices.ContainsFunc(f.names, func(g *folder) bool { return g.Mode != ModeReadWrite }) {
			out[i].Mode = ModeReadOnly
		}
	}
	return out
}

// Narrow returns a set for somebody who may reach no more than s: every root of
// it lies in one of s, and what s blocks, asks, protects or calls secret stays
// so. s is not changed.
func (s *Set) Narrow(opts Options, list ...Root) (*Set, error) {
	child, err := New(opts, list...)
	if err != nil {
		return nil, err
	}
	for _, f := range child.folders {
		if s.owner(f.location()) == nil {
			err := fmt.Errorf("it lies in no root of the parent; there is %s", s.known())
			return nil, errors.Join(&RootError{f.Root, err}, child.Close())
		}
	}
	child.parent = s
	return child, nil
}
