package soundness

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
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
	"/w/home/.ssh/id_rsa":    "secret\n",
	"/w/home/.profile":       "\n",
	"/w/home/notes.txt":      "home\n",
	"/w/outside/secret.txt":  "outside\n",
	"/w/outside/deep/it.txt": "outside\n",
}

// restore makes everything as it was. The places themselves stay, since policies have
// them open.
func restore() error {
	for _, place := range places {
		if err := os.MkdirAll(place, 0o755); err != nil {
			return err
		}
		if err := os.Chmod(place, 0o755); err != nil {
			return err
		}
		if err := clear(place); err != nil {
			return err
		}
	}
	for name, content := range pristine {
		if err := put(name, content); err != nil {
			return err
		}
	}
	return nil
}

// clear removes what lies in a folder, also where a command forbade it.
func clear(folder string) error {
	entries, err := os.ReadDir(folder)
	for _, e := range entries {
		name := filepath.Join(folder, e.Name())
		if os.RemoveAll(name) == nil {
			continue
		}
		_ = filepath.WalkDir(name, func(at string, d fs.DirEntry, _ error) error {
			if d != nil && d.IsDir() {
				_ = os.Chmod(at, 0o755)
			}
			return nil
		})
		err = errors.Join(err, os.RemoveAll(name))
	}
	return err
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

// A snapshot is what lies in the places: for a file its content, for a folder or link
// what it is.
type snapshot map[string]string

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
