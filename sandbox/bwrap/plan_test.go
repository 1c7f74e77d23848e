package bwrap

import (
	"fmt"
	"strings"
	"testing"

	"github.com/assent-dev/assent/internal/golden"
	"github.com/assent-dev/assent/sandbox"
	"github.com/assent-dev/assent/sandbox/launch"
)

// layout is a project with everything in it that changes a plan.
func layout() launch.Layout {
	return launch.Layout{
		Roots: []launch.Place{
			{Path: "/home/u/proj", Mode: sandbox.ModeReadWrite, Kind: launch.KindFolder},
			{Path: "/home/u/proj/docs", Mode: sandbox.ModeReadOnly, Kind: launch.KindFolder},
			{Path: "/data/one.txt", Mode: sandbox.ModeReadWrite, Kind: launch.KindFile},
		},
		Protected: []launch.Place{
			{Path: "/home/u/proj/.assent", Kind: launch.KindAbsent}, {Path: "/home/u/proj/.git", Kind: launch.KindFolder},
			{Path: "/home/u/proj/sub/repo/.git", Kind: launch.KindFile},
		},
		Masked: []launch.Place{
			{Path: "/home/u/proj/.env", Kind: launch.KindFile}, {Path: "/home/u/proj/docs/private", Kind: launch.KindFolder},
		},
		Sockets: []launch.Place{{Path: "/run/x.sock", Kind: launch.KindFile}},
		System: []launch.Link{
			{Path: "/usr", Source: "/usr"}, {Path: "/bin", Target: "usr/bin"}, {Path: "/etc/resolv.conf", Source: "/run/resolve/stub.conf", Small: true},
			{Path: "/etc/ssl/certs", Source: "/etc/ssl/certs"},
		},
	}
}

func request() Request {
	return Request{
		Layout: layout(), Limits: sandbox.Limits{Tmp: 1 << 20, FileSize: 1 << 30, OpenFiles: 1024},
		Argv: []string{"make", "we ird $(touch pwn)"}, Dir: "/home/u/proj",
		Env: []string{"HOME=/home/u", "PATH=/usr/bin:/bin", "X=a b\n"},
	}
}

func everywhere(string) bool { return true }

// lines has an option and its values on a line.
func lines(options []string) string {
	var b strings.Builder
	for _, o := range options {
		if strings.HasPrefix(o, "--") && b.Len() > 0 {
			b.WriteString("\n")
		} else if b.Len() > 0 {
			b.WriteString(" ")
		}
		b.WriteString(strings.ReplaceAll(o, "\n", "\\n"))
	}
	return b.String() + "\n"
}

// TestGolden holds the arguments as they are. ASSENT_UPDATE=1 rewrites them.
func TestGolden(t *testing.T) {
	byFD, network, empty, staged, byName := request(), request(), request(), request(), request()
	byFD.ByFD, byFD.Root = true, true
	network.Network.On = true
	empty.Layout = launch.Layout{}
	staged.Network.ByName, staged.Staged = true, true
	byName.Network.ByName = true
	for name, r := range map[string]Request{"paths": request(), "descriptors": byFD, "network": network, "empty": empty, "staged": staged} {
		args := Plan(r, everywhere)
		got := lines(args.Options) + "\nopen: " + fmt.Sprint(args.Open) + "\ncommand:\n" + strings.Join(args.Command, "\n") + "\n"
		golden.Check(t, "testdata/"+name+".txt", got)
	}
	// Without a stage, network by name is none.
	if got, want := lines(Plan(byName, everywhere).Options), lines(Plan(request(), everywhere).Options); got != want {
		t.Errorf("by name, but not on a stage:\n%s", got)
	}
}

func TestHome(t *testing.T) {
	for home, want := range map[string]string{
		"/home/u": "/home/u", "/tmp/h": "/tmp/h", "": "/tmp", "/": "/tmp", "/usr/home": "/tmp", "/proc/1/root": "/tmp",
		"relative": "/tmp", "/home/../etc": "/tmp", "/etc": "/tmp", "/home/u/proj/h": "/home/u/proj/h",
	} {
		r := request()
		r.Env = []string{"HOME=" + home}
		options := strings.Join(Plan(r, everywhere).Options, " ")
		if !strings.HasSuffix(options, "--setenv HOME "+want+" --chdir /home/u/proj") {
			t.Errorf("HOME=%s: …%s", home, options[len(options)-80:])
		}
		private := strings.Contains(options, "--perms 0700 --size 1048576 --tmpfs "+want+" ")
		if private != (want == "/home/u" || want == "/tmp/h") {
			t.Errorf("HOME=%s: private is %v", home, private)
		}
	}
}

// Parents are mounted before their children, and the root is closed after all of them.
func TestOrder(t *testing.T) {
	options := lines(Plan(request(), everywhere).Options)
	last := -1
	for _, line := range []string{
		"--ro-bind /usr /usr", "--proc /proc", "--ro-bind /proc/sys /proc/sys", "--dev /dev", "--tmpfs /tmp", "--tmpfs /home/u",
		"--bind /home/u/proj /home/u/proj", "--ro-bind /home/u/proj/.git /home/u/proj/.git", "--bind /home/u/proj/sub /home/u/proj/sub",
		"--bind /home/u/proj/sub/repo /home/u/proj/sub/repo", "--ro-bind /home/u/proj/sub/repo/.git /home/u/proj/sub/repo/.git",
		"--remount-ro /\n", "--chdir",
	} {
		at := strings.Index(options, line)
		if at <= last {
			t.Errorf("%q is at %d, after %d", line, at, last)
		}
		last = at
	}
}

func TestDiagnose(t *testing.T) {
	for _, tt := range []struct {
		said   string
		facts  Facts
		cause  string
		remedy string
	}{
		{"bwrap: setting up uid map: Permission denied\n", Facts{AppArmor: true}, "AppArmor", "bwrap-userns-restrict"},
		{"bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted", Facts{AppArmor: true}, "AppArmor", "bwrap-userns-restrict"},
		{"bwrap: Creating new namespace failed: No space left on device", Facts{NoNamespaces: true}, "switched off", "user.max_user_namespaces"},
		{"bwrap: No permissions to create a new namespace, likely because", Facts{Container: true}, "container", "seccomp=unconfined"},
		{"bwrap: Can't mount proc on /newroot/proc: Operation not permitted", Facts{Container: true}, "/proc", "systempaths=unconfined"},
		{"bwrap: setting up uid map: Permission denied", Facts{}, "user namespace", "kernel's log"},
		{"bwrap: prctl(PR_SET_SECCOMP): Invalid argument", Facts{}, "filter", "CONFIG_SECCOMP_FILTER"},
		{"first line\nbwrap: something else", Facts{}, "could not set up", "what it said"},
	} {
		p := Diagnose(tt.said, tt.facts)
		if !strings.Contains(p.Cause, tt.cause) || !strings.Contains(p.Remedy, tt.remedy) {
			t.Errorf("%q: %+v", tt.said, p)
		}
		if strings.Contains(p.Detail, "\n") || p.Detail == "" {
			t.Errorf("detail %q", p.Detail)
		}
	}
}

func TestVersions(t *testing.T) {
	for version, want := range map[string]bool{"0.8.0": true, "0.11.0": true, "1.0": true, "0.12": true, "0.7.9": false, "0.6.1": false, "": false, "x.y": false} {
		if recent(version) != want {
			t.Errorf("%q: %v", version, !want)
		}
	}
}
