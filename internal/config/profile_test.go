package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/assent-dev/assent/sandbox"
)

// setting is a machine on which every path is what it says.
func setting() Setting {
	return Setting{
		Own:  []sandbox.Entry{{Path: "/home/u/.local/state/assent", Source: "assent's state"}},
		Home: "/home/u", CacheFolder: "/home/u/.cache/assent", Env: []string{"CI"}, Limits: sandbox.Limits{OpenFiles: 9},
		Resolve: func(p string) (string, error) { return strings.ReplaceAll(filepath.Clean(p), "/link", "/real"), nil },
	}
}

func derive(t *testing.T, text string) sandbox.Profile {
	t.Helper()
	p, err := load(t, text).Profile(setting())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// rootLines has a line for each root.
func rootLines(p sandbox.Profile) []string {
	var out []string
	for _, r := range p.Roots {
		out = append(out, fmt.Sprint(r.Mode, " ", r.Path, " ", r.Guarded, " ", r.Source))
	}
	return out
}

func TestAProfileFollowsFromTheRoots(t *testing.T) {
	p := derive(t, `
sandbox:
  paths:
    a: {root: ./link, mode: rw}
    b: {root: /data}
    c: {root: /asks, mode: rw, approval: ask}
    d: {root: /nochange, mode: rw, approval: {write: deny, delete: deny}}
    e: {root: /onlydelete, mode: rw, approval: {write: deny}}
    f: {root: /base/real/hidden, approval: {read: deny}}
  network: true
  git_write: true
`)
	want := []string{
		"rw /asks true policy.yaml:6", "rw /base/real true policy.yaml:4", "ro /data true policy.yaml:5",
		"ro /nochange true policy.yaml:7", "rw /onlydelete true policy.yaml:8",
	}
	if diff := cmp.Diff(want, rootLines(p)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]sandbox.Entry{{Path: "/base/real/hidden", Source: "policy.yaml:9"}}, p.Masked); diff != "" {
		t.Error(diff)
	}
	if !p.Network.On || p.Network.Source != "policy.yaml:10" || !p.GitWrite || p.GitSource != "policy.yaml:11" {
		t.Errorf("%+v", p)
	}
	if diff := cmp.Diff([]sandbox.Entry{{Path: "/home/u/.local/state/assent", Source: "assent's state"}}, p.Protected); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"CI", "HOME", "LANG", "PATH", "TERM", "TZ"}, p.Env.Pass); diff != "" {
		t.Error(diff)
	}
}

func TestAnEmptyPolicyReachesNothing(t *testing.T) {
	p := derive(t, "")
	if len(p.Roots) != 0 || p.Network.On || p.GitWrite || len(p.Sockets) != 0 {
		t.Errorf("%+v", p)
	}
}

func TestExtra(t *testing.T) {
	p := derive(t, `
sandbox:
  paths:
    a: {root: /data, mode: ro}
  extra:
    read: [~/go, /opt/tools]
    write: [scratch, /data]
    unix_sockets: [/run/x.sock]
    caches: [go]
  network: {allow: [Docs.example.org, "*.example.com"]}
`)
	want := []string{
		"rw /base/scratch true policy.yaml:7", "ro /data true policy.yaml:4", "rw /home/u/.cache/assent/go false policy.yaml:9",
		"ro /home/u/go true policy.yaml:6", "ro /opt/tools true policy.yaml:6",
	}
	if diff := cmp.Diff(want, rootLines(p)); diff != "" {
		t.Error(diff)
	}
	if p.Env.Set["GOCACHE"] != "/home/u/.cache/assent/go/build" || p.Env.Set["GOMODCACHE"] == "" {
		t.Errorf("%v", p.Env.Set)
	}
	if diff := cmp.Diff([]sandbox.Entry{{Path: "/run/x.sock", Source: "policy.yaml:8"}}, p.Sockets); diff != "" {
		t.Error(diff)
	}
	if p.Network.On || !cmp.Equal(p.Network.Domains, []string{"*.example.com", "docs.example.org"}) {
		t.Errorf("%+v", p.Network)
	}
}

func TestSandboxKeysThatAreWrong(t *testing.T) {
	for text, want := range map[string]string{
		"network: maybe":                "sandbox.network must be true or false",
		"network: {allow: x}":           "must be a list",
		"network: {alow: []}":           `did you mean "allow"?`,
		"network: {allow: [http://x/]}": "write docs.example.org",
		"network: {allow: ['*']}":       "write docs.example.org",
		"network: {allow: ['']}":        "write docs.example.org",
		"network: {deny: [a b]}":        "sandbox.network.deny",
		"network: {deny: ['a:70000']}":  "the port must be a number between 1 and 65535",
		"network: {allow: ['127.1']}":   "write docs.example.org",
		"require_os_sandbox: 1":         "must be true or false",
		"git_write: 'yes'":              "must be true or false",
		"extra: {reed: []}":             `did you mean "read"?`,
		"extra: {read: ['']}":           "a path is empty",
		"extra: {caches: [golang]}":     `unknown cache "golang"`,
		"extra: {unix_sockets: {a: b}}": "must be a list",
		"git_rite: true":                `did you mean "git_write"?`,
		"extra: {write: [[/a]]}":        "must be text",
	} {
		_, err := Load("policy.yaml", []byte("sandbox:\n  "+text+"\n"), "/base")
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "policy.yaml:2:") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestARootThatCannotBeResolvedIsNamed(t *testing.T) {
	s := setting()
	s.Resolve = func(string) (string, error) { return "", errors.New("permission denied") }
	_, err := load(t, "sandbox:\n  paths:\n    a: {root: /x}\n").Profile(s)
	if err == nil || err.Error() != "policy.yaml:3: permission denied" {
		t.Error(err)
	}
	if _, err := load(t, "sandbox:\n  paths:\n    a: {root: /}\n").Profile(setting()); err == nil {
		t.Error("everything was handed over")
	}
}

func TestToolsOfTheHome(t *testing.T) {
	derive := func(text string) sandbox.Profile {
		t.Helper()
		policy, err := Load("policy.yaml", []byte(text), "/base")
		if err != nil {
			t.Fatal(err)
		}
		p, err := policy.Profile(Setting{
			Home: "/home/u", CacheFolder: "/cache", Resolve: func(p string) (string, error) { return p, nil },
			Tools: func(sandbox.Network) HomeTools {
				return HomeTools{
					Read: []sandbox.Entry{{Path: "/home/u/.nvm"}, {Path: "/home/u/proj/x"}}, Masked: []sandbox.Entry{{Path: "/home/u/.nvm/.git"}},
					Files: []sandbox.HomeFile{{Path: "/home/u/.npmrc", Text: "a"}}, Env: map[string]string{"GOPROXY": "p"},
				}
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	const roots = "sandbox: {paths: {a: {root: /home/u/proj, mode: rw}}"
	p := derive(roots + ", home: tools}\n")
	for path, want := range map[string]sandbox.Mode{
		"/home/u/.nvm/x": sandbox.ModeReadOnly, "/home/u/.nvm/.git/config": sandbox.ModeHidden, "/home/u/proj/x": sandbox.ModeReadWrite, "/home/u/.ssh": sandbox.ModeHidden,
	} {
		if got := p.At(path); got != want {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
	}
	own := p.Env.Set["GOMODCACHE"]
	if p.Env.Set["GOPROXY"] != "p" || p.At(own) != sandbox.ModeReadWrite || !strings.HasPrefix(own, "/cache/of-") || len(p.Files) != 1 {
		t.Errorf("%+v", p)
	}
	if other := derive("sandbox: {paths: {a: {root: /home/u/other, mode: rw}}, home: tools}\n").Env.Set["GOMODCACHE"]; other == own {
		t.Errorf("two projects share %s", own)
	}
	for _, same := range []string{roots + "}\n", roots + ", home: private}\n"} {
		if p := derive(same); p.At("/home/u/.nvm") != sandbox.ModeHidden || len(p.Files)+len(p.Env.Set) > 0 {
			t.Errorf("%s: %+v", same, p)
		}
	}
}
