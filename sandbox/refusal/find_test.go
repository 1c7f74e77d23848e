package refusal_test

import (
	"strings"
	"testing"

	"github.com/assent-dev/assent/sandbox"
	"github.com/assent-dev/assent/sandbox/refusal"
)

var profile = sandbox.Profile{
	Roots: []sandbox.Root{
		{Path: "/p", Mode: sandbox.ModeReadWrite, Guarded: true},
		{Path: "/docs", Mode: sandbox.ModeReadOnly},
		{Path: "/one/file", Mode: sandbox.ModeReadWrite},
	},
	Protected: []sandbox.Entry{{Path: "/p/state", Source: "assent's state"}},
	Masked:    []sandbox.Entry{{Path: "/p/.env"}},
}

func facts(f refusal.Facts) refusal.Facts {
	f.Dir, f.Private = "/p", []string{"/tmp", "/home/u"}
	f.Exists = func(path string) bool { return !strings.Contains(path, "missing") && path != "/one/file/." }
	f.Shared = func(path string) bool { return strings.HasPrefix(path, "/usr/") }
	if f.Exit == 0 {
		f.Exit = 1
	}
	return f
}

func TestFind(t *testing.T) {
	read := func(path string) []refusal.Named { return []refusal.Named{{Path: path}} }
	write := func(path string) []refusal.Named { return []refusal.Named{{Path: path, Write: true}} }
	for name, tt := range map[string]struct {
		facts refusal.Facts
		want  string // "" for nothing
	}{
		"the word sandbox":              {refusal.Facts{Output: "sandbox: permission denied, operation not permitted"}, ""},
		"a path of its own":             {refusal.Facts{Named: write("/p/a"), Output: "/p/a: Permission denied"}, ""},
		"a file that is nowhere":        {refusal.Facts{Named: read("/x/missing"), Output: "/x/missing: No such file"}, ""},
		"a system's file":               {refusal.Facts{Named: read("/usr/lib/x"), Output: "/usr/lib/x: bad"}, ""},
		"private and its own":           {refusal.Facts{Named: write("/tmp/a"), Output: "/tmp/a: No space left on device"}, ""},
		"named and mentioned":           {refusal.Facts{Named: read("/x/a"), Output: "cat: /x/a: No such file"}, "sandbox (certain): /x/a exists"},
		"only named":                    {refusal.Facts{Named: read("/x/a"), Output: "it failed"}, "sandbox (likely): /x/a exists"},
		"only mentioned":                {refusal.Facts{Output: "open '/x/a': nothing"}, "sandbox (likely): /x/a exists"},
		"a write outside":               {refusal.Facts{Named: write("/x/a"), Output: "/x/a: Read-only file system"}, "sandbox (certain): writing /x/a"},
		"a write to a read-only root":   {refusal.Facts{Named: write("/docs/a"), Output: "docs/a: Read-only"}, "sandbox (likely): writing /docs/a"},
		"by a name in the folder":       {refusal.Facts{Named: write("/p/state/a"), Output: "state/a: Read-only"}, "sandbox (certain): writing /p/state/a was refused: it is protected (assent's state)"},
		"hidden":                        {refusal.Facts{Named: read("/p/.env"), Output: ".env: Permission denied"}, "sandbox (certain): /p/.env is hidden"},
		"git":                           {refusal.Facts{GitWrites: true}, "sandbox (certain): the repository"},
		"the repository, by its words":  {refusal.Facts{Output: "'.git/index.lock': Read-only file system"}, "sandbox (likely): writing /p/.git/index.lock"},
		"the network, known and said":   {refusal.Facts{Connects: true, Output: "Could not resolve host: x"}, "sandbox (certain): the network is off"},
		"the network, by its words":     {refusal.Facts{Output: "dial tcp: lookup x: no such host"}, "sandbox (likely): the network is off"},
		"a folder of the private home":  {refusal.Facts{Named: write("/home/u/.cache/x"), Output: "/home/u/.cache/x: No such file"}, "sandbox (certain): writing /home/u/.cache/x"},
		"a file of the private home":    {refusal.Facts{Named: read("/home/u/.npmrc"), Output: "/home/u/.npmrc: No such file"}, "sandbox (certain): /home/u/.npmrc exists"},
		"a hidden file removed":         {refusal.Facts{Named: write("/p/.env"), Output: "rm: cannot remove '.env': Device or resource busy"}, "sandbox (certain): removing or renaming /p/.env was refused"},
		"a folder with one renamed":     {refusal.Facts{Output: "mv: cannot move '/p' to '/q': Device or resource busy"}, "sandbox (likely): removing or renaming /p was refused"},
		"a root that is a file removed": {refusal.Facts{Named: write("/one/file"), Output: "rm: cannot remove '/one/file': Device or resource busy"}, "sandbox (certain): writing /one was refused"},
		"something else that is busy":   {refusal.Facts{Output: "umount: /p/missing.d: Device or resource busy"}, ""},
		"a message that ends in a stop": {refusal.Facts{Output: "cannot read /x/a."}, "sandbox (likely): /x/a exists"},
	} {
		t.Run(name, func(t *testing.T) {
			got := refusal.Find(profile, facts(tt.facts))
			switch {
			case tt.want == "" && len(got) > 0:
				t.Errorf("got %v", got)
			case tt.want != "" && (len(got) == 0 || !strings.HasPrefix(got[0].String(), tt.want)):
				t.Errorf("got %v, want %s", got, tt.want)
			}
		})
	}
}

func TestNothingIsSaidOfASuccess(t *testing.T) {
	f := facts(refusal.Facts{Named: []refusal.Named{{Path: "/x/a"}}, Output: "/x/a: Read-only file system", GitWrites: true})
	f.Exit = 0
	if got := refusal.Find(profile, f); got != nil {
		t.Errorf("got %v", got)
	}
}

func TestWiden(t *testing.T) {
	for _, tt := range []struct {
		refusal refusal.Refusal
		can     bool
		line    string
	}{
		{refusal.Refusal{Kind: refusal.Read, Path: "/x/a"}, true, `sandbox: {extra: {read: ["/x/a"]}}`},
		{refusal.Refusal{Kind: refusal.Write, Path: "/docs"}, true, `sandbox: {extra: {write: ["/docs"]}}`},
		{refusal.Refusal{Kind: refusal.Network}, true, "sandbox: {network: true}"},
		{refusal.Refusal{Kind: refusal.Git}, false, "sandbox: {git_write: true}"},
		{refusal.Refusal{Kind: refusal.Write, Path: "/p/state", Fixed: true}, false, ""},
		{refusal.Refusal{Kind: refusal.Write, Path: "/"}, false, `sandbox: {extra: {write: ["/"]}}`},
	} {
		wider, can := tt.refusal.Widen(profile)
		if can != tt.can || tt.refusal.Allows() != tt.line {
			t.Errorf("%+v: %v, %s", tt.refusal, can, tt.refusal.Allows())
		}
		if can && tt.refusal.Path != "" && wider.At(tt.refusal.Path) == sandbox.ModeHidden {
			t.Errorf("%+v gives nothing", tt.refusal)
		}
		if profile.At("/docs") != sandbox.ModeReadOnly || len(profile.Roots) != 3 {
			t.Fatal("the profile itself was changed")
		}
	}
}

// Whatever a command prints, nothing panics, and what is said names no line break.
func FuzzExplain(f *testing.F) {
	f.Add("cat: /x/a: No such file\n'/p/.git/x': Read-only file system")
	f.Fuzz(func(t *testing.T, output string) {
		for _, r := range refusal.Find(profile, facts(refusal.Facts{Output: output})) {
			if strings.ContainsAny(r.String(), "\n\r\x00") {
				t.Errorf("%q", r.String())
			}
		}
	})
}
