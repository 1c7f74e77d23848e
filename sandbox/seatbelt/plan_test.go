package seatbelt

import (
	"fmt"
	"strings"
	"testing"

	"github.com/assent-dev/assent/internal/golden"
	"github.com/assent-dev/assent/sandbox"
	"github.com/assent-dev/assent/sandbox/launch"
)

const odd = `/Users/u/we ird $(touch pwn)") (allow default) ("`

// layout is a project with everything in it that changes a profile.
func layout() launch.Layout {
	return launch.Layout{
		Roots: []launch.Place{
			{Path: "/Users/u/proj/docs/scratch", Mode: sandbox.ModeReadWrite, Kind: launch.KindFolder},
			{Path: "/Users/u/proj", Mode: sandbox.ModeReadWrite, Kind: launch.KindFolder},
			{Path: "/Users/u/proj/docs", Mode: sandbox.ModeReadOnly, Kind: launch.KindFolder},
			{Path: "/private/tmp/one.txt", Mode: sandbox.ModeReadWrite, Kind: launch.KindFile},
			{Path: odd, Mode: sandbox.ModeReadOnly, Kind: launch.KindFolder},
		},
		Protected: []launch.Place{
			{Path: "/Users/u/proj/.assent", Kind: launch.KindAbsent}, {Path: "/Users/u/proj/.git", Kind: launch.KindFolder},
			{Path: "/Users/u/proj/sub/repo/.git", Kind: launch.KindFile},
		},
		Masked:  []launch.Place{{Path: "/Users/u/proj/.env", Kind: launch.KindFile}},
		Sockets: []launch.Place{{Path: "/private/var/run/x.sock", Kind: launch.KindFile}},
	}
}

func TestWhatAProfileMeans(t *testing.T) {
	e, err := evaluate(Plan(layout(), sandbox.Network{}))
	if err != nil {
		t.Fatal(err)
	}
	const read, write, remove = "file-read-data", "file-write-data", "file-write-unlink"
	for _, tt := range []struct {
		operation, path string
		want            bool
	}{
		{read, "/Users/u/proj/a", true}, {write, "/Users/u/proj/a", true}, {remove, "/Users/u/proj/a", true},
		{"file-write-create", "/Users/u/proj/new", true},
		{read, "/Users/u/proj/docs/a", true}, {write, "/Users/u/proj/docs/a", false},
		{write, "/Users/u/proj/docs/scratch/a", true}, {write, "/Users/u/proj/docs2/a", true},
		{read, "/Users/u/proj/.git/config", true}, {write, "/Users/u/proj/.git/config", false},
		{"file-write-create", "/Users/u/proj/.git", false}, {"file-write-create", "/Users/u/proj/.assent", false},
		{"file-write-create", "/Users/u/proj/.assent/rules.json", false}, {write, "/Users/u/proj/sub/repo/.git", false},
		// What leads to a protected path cannot be renamed away.
		{remove, "/Users/u/proj/sub", false}, {remove, "/Users/u/proj/sub/repo", false}, {remove, "/Users/u/proj", false},
		{remove, "/Users/u/proj/docs", false}, {remove, "/Users/u/proj/sub/other", true},
		{read, "/Users/u/proj/.env", false}, {write, "/Users/u/proj/.env", false},
		{read, "/private/tmp/one.txt", true}, {write, "/private/tmp/one.txt", true}, {write, "/private/tmp/one.txt2", false},
		{read, "/Users/u/.ssh/id_rsa", false}, {write, "/Users/u/.zshrc", false}, {read, "/private/etc/master.passwd", false},
		{"file-read-metadata", "/Users/u", true}, {"file-read-metadata", "/Users/u/.ssh", false},
		{read, odd + "/a", true}, {write, odd + "/a", false},
		{"network-outbound", "/private/var/run/x.sock", true}, {"network-outbound", "/private/var/run/docker.sock", false},
		{"network-outbound", "*:443", false}, {"network-bind", "*:80", false},
		{"process-exec", "/bin/ls", true}, {"file-write-setugid", "/Users/u/proj/a", false},
		{"appleevent-send", "", false}, {"lsopen", "", false}, {"mach-register", "", false}, {"file-mount", "", false},
	} {
		if got := e.allows(tt.operation, tt.path); got != tt.want {
			t.Errorf("%s %s: %v", tt.operation, tt.path, got)
		}
	}
}

func TestNetwork(t *testing.T) {
	p := Plan(layout(), sandbox.Network{On: true})
	e, err := evaluate(p)
	if err != nil {
		t.Fatal(err)
	}
	if !e.allows("network-outbound", "*:443") || e.allows("network-outbound", "/private/var/run/docker.sock") || !e.allows("network-outbound", "/private/var/run/x.sock") {
		t.Error("the network is not what it should be")
	}
	for _, off := range []sandbox.Network{{}, {Domains: []string{"example.org"}}} {
		if strings.Contains(Plan(layout(), off).Text, "trustd") {
			t.Error("what checks certificates is there without a network")
		}
	}
}

// The text has no path in it: it is the same for every project of the same shape.
func TestPathsAreParameters(t *testing.T) {
	text := Plan(layout(), sandbox.Network{}).Text
	for _, path := range []string{"/Users", "pwn", "one.txt", "x.sock"} {
		if strings.Contains(text, path) {
			t.Errorf("%q is in the text", path)
		}
	}
	argv := Argv(Plan(layout(), sandbox.Network{}), []string{"-D", "x=y"})
	if argv[0] != Program || argv[len(argv)-3] != "--" {
		t.Errorf("%q", argv)
	}
}

// TestGolden holds the text as it is. ASSENT_UPDATE=1 rewrites it.
func TestGolden(t *testing.T) {
	for name, net := range map[string]sandbox.Network{"off": {}, "on": {On: true}} {
		p := Plan(layout(), net)
		got := p.Text + "\n; Parameters:\n"
		for _, param := range p.Params {
			got += fmt.Sprintf("; %s=%s\n", param.Name, param.Path)
		}
		golden.Check(t, "testdata/network-"+name+".sbpl", got)
	}
}
