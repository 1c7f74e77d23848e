package system_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/assent-dev/assent/tool/shell/system"
)

func BenchmarkLook(b *testing.B) {
	dir := tree(b, "a/b/c/file", "a/b/c/link -> file")
	b.Run("first=deep", func(b *testing.B) {
		for b.Loop() {
			system.New(dir, nil).Look(dir + "/a/b/c/file")
		}
	})
	names := make([]string, 1000)
	for i := range names {
		names[i] = fmt.Sprint(dir, "/a/b/c/", i)
	}
	b.Run("next=beside", func(b *testing.B) {
		var w *system.World
		for i := 0; b.Loop(); i++ {
			if i%len(names) == 0 {
				w = system.New(dir, nil)
			}
			w.Look(names[i%len(names)])
		}
	})
	b.Run("again", func(b *testing.B) {
		w := system.New(dir, nil)
		for b.Loop() {
			w.Look(dir + "/a/b/c/link")
		}
	})
}

func BenchmarkProgram(b *testing.B) {
	env := []string{"PATH=" + os.Getenv("PATH")}
	for b.Loop() {
		system.New("/", env).Program("git")
	}
}

func BenchmarkGitConfig(b *testing.B) {
	dir, home := repository(b, "[core]\nbare = false\n[remote \"origin\"]\nurl = x\nfetch = y\n[branch \"main\"]\nremote = origin\nmerge = refs/heads/main\n")
	put(b, home+"/.gitconfig", "[user]\nname = A\nemail = b@example.com\n[alias]\nst = status\n")
	env := environment(home)
	for made := time.Now(); time.Since(made) < 3*time.Second; { // until the files are old enough to be remembered
		system.New(dir, env).GitConfig(dir)
	}
	b.Run("world=new", func(b *testing.B) {
		for b.Loop() {
			system.New(dir, env).GitConfig(dir)
		}
	})
	b.Run("world=same", func(b *testing.B) {
		w := system.New(dir, env)
		for b.Loop() {
			w.GitConfig(dir)
		}
	})
}
