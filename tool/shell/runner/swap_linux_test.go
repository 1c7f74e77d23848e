package runner_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/assent-dev/assent/tool/shell/wire"
)

// What was judged is what is used: links and files that are exchanged while the judge thinks
// lead nowhere else.
func TestWhatWasJudgedIsUsed(t *testing.T) {
	for name, tt := range map[string]struct {
		text  string
		kind  wire.Kind
		real  string // that the judge is told, below the folder
		swap  func(dir string) error
		reads map[string]string // what files have afterwards
		says  string
	}{
		"a link to another file": {
			"echo x > link", wire.Open, "old", relink("link", "kept"), map[string]string{"kept": "kept\n", "old": "x\n"}, "",
		},
		"a folder on the way": {
			"echo x > way/file", wire.Open, "one/file", relink("way", "two"), map[string]string{"one/file": "x\n", "two/file": "two\n"}, "",
		},
		"a link where a new file was": {
			"echo x > new; true", wire.Open, "new", relink("new", "kept"), map[string]string{"kept": "kept\n"}, "",
		},
		"a link that led nowhere": {
			"echo x > nowhere", wire.Open, "later", relink("nowhere", "kept"), map[string]string{"kept": "kept\n", "later": "x\n"}, "",
		},
		"a file that is read": {
			"cat < link", wire.Open, "old", relink("link", "kept"), nil, "old\n",
		},
		"a program": {
			"./program started", wire.Start, "", relink("program", "/usr/bin/false"), nil, "started\n",
		},
		"a folder of programs": {
			"way/prog started", wire.Start, "one/prog", relink("way", "two"), nil, "started\n",
		},
		"the folder itself": {
			"cd one; echo x > file", wire.Open, "one/file", func(dir string) error {
				if err := os.Rename(dir+"/one", dir+"/three"); err != nil {
					return err
				}
				return os.Symlink("two", dir+"/one")
			}, map[string]string{"three/file": "x\n", "two/file": "two\n"}, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := command(t, tt.text)
			must(t, os.Mkdir(c.Dir+"/one", 0o755))
			must(t, os.Mkdir(c.Dir+"/two", 0o755))
			for file, text := range map[string]string{"kept": "kept\n", "old": "old\n", "one/file": "one\n", "two/file": "two\n"} {
				must(t, os.WriteFile(filepath.Join(c.Dir, file), []byte(text), 0o644))
			}
			echo, err := os.ReadFile("/usr/bin/echo")
			must(t, err)
			must(t, os.WriteFile(c.Dir+"/one/prog", echo, 0o755))
			fails, err := os.ReadFile("/usr/bin/false")
			must(t, err)
			must(t, os.WriteFile(c.Dir+"/two/prog", fails, 0o755))
			for link, to := range map[string]string{"link": "old", "way": "one", "nowhere": "later", "program": "/usr/bin/echo"} {
				must(t, os.Symlink(to, filepath.Join(c.Dir, link)))
			}
			swapped := false
			c.Judge = func(_ context.Context, act wire.Act, _ func() func()) wire.Answer {
				if act.Kind == tt.kind && !swapped {
					swapped = true
					if tt.real != "" && act.Real != filepath.Join(c.Dir, tt.real) {
						t.Errorf("the judge is told %s", act.Real)
					}
					must(t, tt.swap(c.Dir))
				}
				return wire.Answer{Verdict: wire.Go}
			}
			r := run(t, c)
			if !swapped || tt.says != "" && r.Stdout.Text != tt.says {
				t.Errorf("%+v", r)
			}
			for file, want := range tt.reads {
				if text, err := os.ReadFile(filepath.Join(c.Dir, file)); err != nil || string(text) != want {
					t.Errorf("%s is %q, %v", file, text, err)
				}
			}
		})
	}
}

// relink replaces a link, or puts one where nothing is.
func relink(name, to string) func(string) error {
	return func(dir string) error {
		if err := os.Symlink(to, dir+"/swap"); err != nil {
			return err
		}
		return os.Rename(dir+"/swap", filepath.Join(dir, name))
	}
}
