package bwrap

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/assent-dev/assent/sandbox"
)

// What is not as it was planned is seen before a command runs.
func TestTheSandboxIsLookedAt(t *testing.T) {
	r, root := newRunner(t), project(t)
	for _, name := range []string{"ro", "plain", "masked"} {
		if err := os.Mkdir(filepath.Join(root, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	c := command(root, "echo there; read line")
	c.Profile.Roots = append(c.Profile.Roots, sandbox.Root{Path: root + "/ro", Mode: sandbox.ModeReadOnly})
	c.Profile.Masked = []sandbox.Entry{{Path: root + "/masked"}}
	in, out, other := pipes(t)
	c.Stdin, c.Stdout = in, out
	started, err := r.Start(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	other.await(t, "there")
	p := started.(*process)
	pid := pidOf(t, p)
	if err := p.setup.verify(pid); err != nil {
		t.Errorf("as planned: %v", err)
	}
	for words, change := range map[string]func(*standing){
		"is writable":         func(s *standing) { s.layer.Mode = sandbox.ModeReadOnly },
		"is another file":     func(s *standing) { s.file[1]++ },
		"is not mounted":      func(s *standing) { s.layer.Path += "/plain" },
		"cannot be looked at": func(s *standing) { s.layer.Path += "/none" },
	} {
		l := setup{standing: []standing{{}}}
		for _, s := range p.setup.standing {
			if s.layer.Path == root {
				l.standing[0] = s
			}
		}
		change(&l.standing[0])
		if err := l.verify(pid); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("want %q: %v", words, err)
		}
	}
	other.say(t, "\n")
	if _, err := started.Wait(); err != nil {
		t.Error(err)
	}
}
