package landlock

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/assent-dev/assent/internal/reexec"
	"github.com/assent-dev/assent/sandbox"
	"github.com/assent-dev/assent/sandbox/launch"
)

// The test program is also the copy that restricts itself.
func TestMain(m *testing.M) {
	reexec.Main(map[string]reexec.Role{
		"apply": reexec.Exits(func([]string) int {
			fmt.Fprintln(os.Stderr, Apply())
			return 125
		}),
	})
	os.Exit(m.Run())
}

func folder(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// try runs a script with a readable folder and one to cache in.
func try(t *testing.T, read, write, script string, change func(*sandbox.Profile)) (sandbox.Exit, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var out bytes.Buffer
	p := sandbox.Profile{Roots: []sandbox.Root{{Path: read, Mode: sandbox.ModeReadOnly, Guarded: true}, {Path: write, Mode: sandbox.ModeReadWrite}}}
	if change != nil {
		change(&p)
	}
	exit, err := sandbox.Run(ctx, New(reexec.Argv("apply")), sandbox.Command{
		Argv: []string{"sh", "-c", script}, Dir: read, Env: []string{"PATH=/usr/bin:/bin", "HOME=/root"}, Stdout: &out, Stderr: &out, Profile: p,
	})
	if err != nil {
		t.Fatal(err)
	}
	return exit, out.String()
}

func TestWhatItHolds(t *testing.T) {
	read, write, outside := folder(t), folder(t), folder(t)
	for _, dir := range []string{read, outside} {
		if err := os.WriteFile(filepath.Join(dir, "file"), []byte("content\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	port := l.Addr().(*net.TCPAddr).Port
	connect := fmt.Sprintf("/usr/bin/python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", %d))'", port)
	for script, works := range map[string]bool{
		"cat file":                 true,
		"echo x > " + write + "/a": true,
		"mkdir " + write + "/d && mv " + write + "/d " + write + "/e": true,
		"echo x > file":                false,
		"echo x > new":                 false,
		"rm file":                      false,
		"cat " + outside + "/file":     false,
		"echo x > " + outside + "/new": false,
		"ln -s " + outside + " " + write + "/l && cat " + write + "/l/file": false,
		"cat /etc/shadow":               false,
		"echo x > /tmp/assent-landlock": false,
		"cat /proc/1/environ":           false,
		connect:                         false,
		"/usr/bin/python3 -c 'import socket; socket.socket(socket.AF_UNIX)'": false,
		"unshare -Ur true":  false,
		"strace true":       false,
		"exec 3<>/dev/tty":  false,
		"test -n \"$HOME\"": false,
	} {
		exit, out := try(t, read, write, script, nil)
		if (exit.Code == 0) != works {
			t.Errorf("%s: %+v, want success: %v\n%s", script, exit, works, out)
		}
	}
	on := func(p *sandbox.Profile) { p.Network.On = true }
	if exit, out := try(t, read, write, connect, on); exit.Code != 0 {
		t.Errorf("with the network on: %+v\n%s", exit, out)
	}
}

func TestLimits(t *testing.T) {
	read, write := folder(t), folder(t)
	small := func(p *sandbox.Profile) { p.Limits = sandbox.Limits{FileSize: 1000, OpenFiles: 20} }
	short := func(p *sandbox.Profile) { p.Limits.Time = time.Second }
	if exit, _ := try(t, read, write, "head -c 5000 /dev/zero > "+write+"/big", small); exit.Ended != sandbox.EndingSize {
		t.Errorf("a large file: %+v", exit)
	}
	if exit, _ := try(t, read, write, "trap '' TERM; sleep 300; sleep 300", short); exit.Ended != sandbox.EndingTime {
		t.Errorf("a long time: %+v", exit)
	}
	if exit, out := try(t, read, write, "sleep 300 & exit 4", nil); exit.Code != 4 || !strings.HasPrefix(exit.Left, "1 process left") {
		t.Errorf("a process in the background: %+v %s", exit, out)
	}
	if exit, out := try(t, read, write, "ulimit -n", small); out != "20\n" {
		t.Errorf("open files: %+v %s", exit, out)
	}
}

func TestProfilesThatItCannotHoldAreRefused(t *testing.T) {
	dir := folder(t)
	root := func(path string, mode sandbox.Mode, guarded bool) sandbox.Root {
		return sandbox.Root{Path: path, Mode: mode, Guarded: guarded, Source: "policy.yaml:3"}
	}
	entry := []sandbox.Entry{{Path: dir + "/x", Source: "policy.yaml:4"}}
	for words, p := range map[string]sandbox.Profile{
		"protecting .git":   {Roots: []sandbox.Root{root(dir, sandbox.ModeReadWrite, true)}},
		"read-only inside":  {Roots: []sandbox.Root{root(dir, sandbox.ModeReadWrite, false), root(dir+"/x", sandbox.ModeReadOnly, false)}},
		"protecting " + dir: {Roots: []sandbox.Root{root(dir, sandbox.ModeReadWrite, false)}, Protected: entry},
		"hiding":            {Roots: []sandbox.Root{root(dir, sandbox.ModeReadOnly, true)}, Masked: entry},
		"unix socket":       {Sockets: entry},
	} {
		_, err := New(reexec.Argv("apply")).Start(t.Context(), sandbox.Command{Argv: []string{"touch", dir + "/ran"}, Dir: dir, Profile: p})
		if !errors.Is(err, sandbox.ErrNotHeld) || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: %v", words, err)
		}
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Error("it ran")
	}
}

func TestPlan(t *testing.T) {
	layout := launch.Layout{
		Roots: []launch.Place{
			{Path: "/ro", Mode: sandbox.ModeReadOnly, Kind: launch.KindFolder}, {Path: "/rw", Mode: sandbox.ModeReadWrite, Kind: launch.KindFolder},
			{Path: "/f", Mode: sandbox.ModeReadWrite, Kind: launch.KindFile}, {Path: "/g", Mode: sandbox.ModeReadOnly, Kind: launch.KindFile},
		},
		System: []launch.Link{{Path: "/usr", Source: "/usr"}, {Path: "/bin", Target: "usr/bin"}, {Path: "/etc/hosts", Source: "/etc/hosts"}},
	}
	c := sandbox.Command{Argv: []string{"a"}, Env: []string{"B=c"}, Profile: sandbox.Profile{Limits: sandbox.Limits{OpenFiles: 9}}}
	want := Plan{
		ReadFolders: []string{"/usr", "/ro"}, ReadFiles: []string{"/etc/hosts", "/g"}, WriteFolders: []string{"/rw"},
		WriteFiles: append(append([]string{}, devices...), "/f"), Limits: map[string]uint64{"core": 0, "open files": 9}, Argv: c.Argv, Env: c.Env,
	}
	if diff := cmp.Diff(want, NewPlan(layout, c, func(p string) bool { return p == "/usr" })); diff != "" {
		t.Error(diff)
	}
}
