package roots_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/assent-dev/assent/tool/roots"
)

// BenchmarkResolveHost is what each operand of a shell command costs, for paths
// of four elements: to find out what it is, and what it takes to write there.
func BenchmarkResolveHost(b *testing.B) {
	dir, err := os.MkdirTemp("/tmp", "roots")
	must(b, err)
	b.Cleanup(func() { os.RemoveAll(dir) })
	for _, name := range []string{"root/a.go", "else/a.go"} {
		must(b, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		must(b, os.WriteFile(filepath.Join(dir, name), nil, 0o644))
	}
	set, err := roots.New(roots.Options{Home: dir + "/home", Protected: []string{dir + "/home/.config/assent"}}, rw(".", dir+"/root"))
	must(b, err)
	b.Cleanup(func() { set.Close() })
	for _, name := range []string{"root/a.go", "else/a.go", "none/a.go"} {
		abs := filepath.Join(dir, name)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				p, _, err := set.ResolveHost(abs)
				must(b, err)
				p.Act(roots.AccessWrite)
			}
		})
	}
	b.Run("four times lstat", func(b *testing.B) {
		for b.Loop() {
			for range 4 {
				if _, err := os.Lstat(dir); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}
