package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestUnreached(t *testing.T) {
	for text, folders := range map[string]map[string]bool{ // whether something is said, by the folders' names
		"deny read_file(secret/**)":     {"": false, ".": false, "notes": true, "secret": false, "notes secret": false},
		"deny read_file(notes/x)":       {"notes": false},
		"deny read_file(**/.env)":       {"notes": false},
		"deny read_file(/etc/**)":       {"notes": false},
		"deny read_file(*.env)":         {"": true, ".": true},
		"deny read_file(n*/x)":          {"notes": false},
		"deny read_file":                {"notes": false},
		"allow read_file(secret/**)":    {"notes": false}, // it asks
		"deny shell(secret)":            {"notes": false},
		"deny connector secret":         {"notes": false},
		"deny write_file(./notes/a.md)": {"notes": false},
	} {
		rule, err := ParseRule(text)
		if err != nil {
			t.Fatal(err)
		}
		for names, want := range folders {
			if said := Unreached(rule, strings.Fields(names)); (said != "") != want {
				t.Errorf("%s with folders %q: %q", text, names, said)
			}
		}
	}
}

// Rules, exceptions and examples of a file are read with this user's home folder.
func TestAFileMayNameTheHomeFolder(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", home)
	if err := os.Symlink(home, filepath.Join(home, "link")); err != nil {
		t.Fatal(err)
	}
	const file = "rules:\n  - deny read_file(~/.ssh/**)\n  - deny write_file($HOME/link/x)\n  - deny shell(cat ${HOME}/y)\n" +
		"except:\n  - read_file(~/.ssh/known_hosts)\nexpect:\n  read_file(~/.ssh/id): deny\n  write_file($HOME/a): ask\n"
	p, err := Load("policy.yaml", []byte(file), home)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range p.Rules.Rules() {
		got = append(got, r.String())
	}
	for _, e := range p.Expect {
		got = append(got, string(e.Args))
	}
	want := strings.ReplaceAll("deny read_file(HOME/.ssh/**)|deny write_file(HOME/x)|deny shell(cat HOME/y)|"+
		`except read_file(HOME/.ssh/known_hosts)|{"path":"HOME/.ssh/id"}|{"content":"example\n","path":"HOME/a"}`, "HOME", home)
	if text := strings.Join(got, "|"); text != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
	for _, bad := range []string{"deny read_file(~root/x)", "deny read_file(../x)", "deny read_file($X/y)", "deny read_file({~/a,b})"} {
		if _, err := Load("policy.yaml", []byte("rules: [\""+bad+"\"]\n"), home); err == nil || !strings.Contains(err.Error(), "write") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}
