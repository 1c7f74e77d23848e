package soundness

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// places are the folders of the jail that are watched; commands start in the first.
var places = []string{"/w/proj", "/w/home", "/w/outside"}

// pristine is what lies there before a command: content by path. A path that ends in a
// slash is a folder, content that begins with an arrow is a link.
var pristine = map[string]string{
	"/w/proj/.env":           "KEY=1\n",
	"/w/proj/a.txt":          "alpha\nbeta\n",
	"/w/proj/b.txt":          "beta\ngamma\n",
	"/w/proj/notes.md":       "# notes\n",
	"/w/proj/sp ace.txt":     "space\n",
	"/w/proj/list":           "a.txt\nb.txt\n",
	"/w/proj/data.json":      `{"a": 1}` + "\n",
	"/w/proj/lib.sh":         "echo from lib\n",
	"/w/proj/src/x.go":       "package x\n",
	"/w/proj/src/y.go":       "package x\n",
	"/w/proj/src/deep/z.go":  "package z\n",
	"/w/proj/odd/-n":         "a flag\n",
	"/w/proj/odd/[a].txt":    "brackets\n",
	"/w/proj/odd/*":          "a star\n",
	"/w/proj/odd/$HOME":      "a dollar\n",
	"/w/proj/keep/held.txt":  "held\n",
	"/w/proj/empty/":         "",
	"/w/proj/links/in":       "->../src",
	"/w/proj/links/file":     "->../a.txt",
	"/w/proj/links/out":      "->../../outside",
	"/w/proj/links/env":      "->../.env",
	"/w/proj/links/loop":     "->loop",
	"/w/proj/via/in":         "->../src",
	"/w/proj/via/up/to":      "->../../keep",
	"/w/home/.ssh/id_rsa":    "secret\n",
	"/w/home/.profile":       "\n",
	"/w/home/notes.txt":      "home\n",
	"/w/outside/secret.txt":  "outside\n",
	"/w/outside/deep/it.txt": "outside\n",
}

// build puts everything where it belongs.
func build() error {
	for name, content := range pristine {
		if err := put(name, content); err != nil {
			return err
		}
	}
	return nil
}

// restore makes everything as it was. The places themselves stay, since policies have
// them open.
func (was snapshot) restore(is snapshot) (err error) {
	if is.closed() {
		if err := openFolders(); err != nil {
			return err
		}
		is = takeSnapshot()
	}
	for name := range is {
		if _, there := was[name]; !there {
			err = errors.Join(err, os.RemoveAll(name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(was)) { // a folder before what is in it
		switch {
		case is[name] == was[name]:
		case was[name] != aFolder:
			err = errors.Join(err, os.RemoveAll(name), put(name, pristine[name]))
		default:
			err = errors.Join(err, os.RemoveAll(name), os.Mkdir(name, 0o755))
		}
	}
	return err
}

// closed reports whether a folder has another mode than all have in the beginning.
func (s snapshot) closed() bool {
	for _, is := range s {
		if strings.HasPrefix(is, "d") && is != aFolder {
			return true
		}
	}
	return false
}

// openFolders lets us into every folder again.
func openFolders() (all error) {
	for _, place := range places {
		all = errors.Join(all, filepath.WalkDir(place, func(at string, d fs.DirEntry, err error) error {
			if err != nil || !d.IsDir() {
				return err
			}
			return os.Chmod(at, 0o755) // before its names are read
		}))
	}
	return all
}

func put(name, content string) error {
	if strings.HasSuffix(name, "/") {
		return os.MkdirAll(name, 0o755)
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	if target, ok := strings.CutPrefix(content, "->"); ok {
		return os.Symlink(target, name)
	}
	return os.WriteFile(name, []byte(content), 0o644)
}

// A snapshot is what lies in the places: by path the mode of a file and its content, or
// where a link leads.
type snapshot map[string]string

// aFolder is how a folder stands in a snapshot.
const aFolder = "drwxr-xr-x "

func takeSnapshot() snapshot {
	s := snapshot{}
	for _, place := range places {
		_ = filepath.WalkDir(place, func(at string, d fs.DirEntry, err error) error {
			if err == nil && at != place {
				s[at] = describe(at, d)
			}
			return nil // what cannot be read is seen by its absence
		})
	}
	return s
}

func describe(at string, d fs.DirEntry) string {
	info, err := d.Info()
	if err != nil {
		return "gone"
	}
	switch text := info.Mode().String() + " "; {
	case d.Type().IsRegular():
		data, err := os.ReadFile(at)
		if err != nil {
			return text + "unreadable"
		}
		return text + string(data)
	case d.Type()&fs.ModeSymlink != 0:
		target, _ := os.Readlink(at)
		return text + target
	default:
		return text
	}
}
