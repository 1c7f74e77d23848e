package member_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/team/link"
	"github.com/assent-dev/assent/internal/team/member"
)

// Something else in place of a file holds nobody, and lets nothing run: every call of every agent looks at them.
func TestAttack_SomethingElseInPlaceOfAFile(t *testing.T) {
	things := map[string]func(s *scene, name string){
		"a pipe": func(s *scene, name string) { s.must(syscall.Mkfifo(name, 0o600)) },
		"a pipe that somebody writes to": func(s *scene, name string) {
			s.must(syscall.Mkfifo(name, 0o600))
			f, err := os.OpenFile(name, os.O_RDWR, 0)
			s.must(err)
			s.t.Cleanup(func() { f.Close() })
		},
		"a folder":          func(s *scene, name string) { s.must(os.Mkdir(name, 0o700)) },
		"a link to nothing": func(s *scene, name string) { s.must(os.Symlink(name+".gone", name)) },
		"a link to itself":  func(s *scene, name string) { s.must(os.Symlink(name, name)) },
		"a device":          func(s *scene, name string) { s.must(os.Symlink("/dev/zero", name)) },
		"a terminal":        func(s *scene, name string) { s.must(os.Symlink("/dev/tty", name)) },
	}
	for thing, put := range things {
		for _, file := range []string{"bundle", "seen", "machine.json"} {
			s := newScene(t)
			s.join()
			s.must(s.save(s.bundle(7)))
			name := filepath.Join(member.Folder(s.state), file)
			s.must(os.Remove(name))
			put(s, name)
			r := request("codex", "kubectl", "delete", "x")
			within(t, thing+" as "+file, func() {
				if routing, err := s.Route(r); err == nil {
					t.Errorf("%s as %s: it is asked: %+v", thing, file, routing)
				}
				if _, err := s.People(); err == nil && file != "machine.json" {
					t.Errorf("%s as %s: somebody can vote", thing, file)
				}
				if _, fresh := s.Policy(); fresh && file != "machine.json" {
					t.Errorf("%s as %s: its policy allows", thing, file)
				}
				// The newest bundle comes again.
				if err := s.save(s.bundle(8)); (err == nil) != (file == "machine.json" || file == "bundle" && thing != "a folder" ||
					file == "seen" && thing == "a link to nothing") {
					t.Errorf("%s as %s: a newer bundle: %v", thing, file, err)
				}
			})
		}
		for _, file := range []string{"lock", "bridge.lock", "bridge.log", "cursor", "sent", "shipped", "status.json"} {
			s := newScene(t)
			s.join()
			s.must(s.save(s.bundle(7)))
			name := filepath.Join(member.Folder(s.state), file)
			_ = os.Remove(name)
			put(s, name)
			within(t, thing+" as "+file, func() {
				_ = link.Wake(s.state, "/bin/true")
				_, _, _ = link.ReadStatus(s.state), link.Cursor(s.state), link.Sent(s.state)
				_, _ = link.Shipped(s.state)
				_ = s.save(s.bundle(8))
				if need, err := s.Need(request("codex", "kubectl", "delete", "x")); err == nil && (need.Here || need.Proof != approval.StrengthDevice) {
					t.Errorf("%s as %s: %+v", thing, file, need)
				}
			})
		}
	}
}

func within(t *testing.T, what string, do func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); do() }()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatalf("%s: it is waited for", what)
	}
}
