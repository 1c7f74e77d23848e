package rulebook_test

import (
	"slices"
	"testing"
	"time"

	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/rulebook"
	"github.com/assent-dev/assent/policy"
)

func TestWide(t *testing.T) {
	t.Setenv("HOME", "/home/me")
	for text, wide := range map[string]bool{
		"allow shell": true, "allow shell(*)": true, "allow shell(**)": true, "allow *": true, "allow sh*": true, "allow *(x)": true,
		"allow shell(bash)": true, "allow shell(/usr/bin/python3.11)": true, "allow shell(env)": true, "allow shell(sudo ls)": true,
		"allow shell(xargs rm)": true, "allow shell(nice)": true, "allow shell(node)": true, "allow shell(npx)": true, "allow shell(make)": true,
		"allow shell(X=1 perl -e)": true, "allow shell(eval)": true, `allow shell("bash" -c)`: true, "allow shell(docker)": true,
		"allow write_file": true, "allow write_file(**)": true, "allow delete_file(/**)": true, "allow connector github": true, "allow write_file({**,a})": true,
		"allow SHELL": true, "allow shell(/bin/sh -c)": true, "allow shell(ssh host)": true, "allow shell(ssh host uptime)": true, "allow shell(rsh host)": true,
		"allow shell(uvx)": true, "allow github:*": true, "allow delete_file": true, "allow write_*": true, "allow write_file({a,**})": true, "allow write_file(?*)": true,
		"allow edit_file": true, "allow move_file": true, "allow copy_file": true, "allow make_dir": true, "allow Edit_File(**)": true, "allow e*t_file": true,
		"allow write_file(/home/me/**)": true, "allow write_file(/home/me/.*)": true, "allow edit_file(/home/**)": true,
		"allow write_file(/etc/**)": true, "allow delete_file(/[a-z]*/**)": true, "allow *_file(/home/me/**)": true,
		"allow write_file(/home/me/.bashrc)": false, "allow write_file(/home/me/src/**)": false, "allow write_file(/tmp/**)": false,
		"allow read_file(/home/me/**)": false, "deny write_file(/home/me/**)": false, "allow write_file(/home/me/*.md)": false,
		"allow shell(frobnicate *)": true, "allow shell(./deploy.sh *)": true, "allow shell(frobnicate push *)": true,

		"allow shell(git status)": false, "allow shell(= bash x.sh)": false, "allow shell(npm test)": false, "allow shell(docker ps)": false,
		"allow write_file(notes/**)": false, "allow read_file": false, "allow github:search_*": false, "deny shell": false, "deny *": false,
		"allow list_files": false, "allow search_files": false, "allow file_info": false, "allow edit_file(notes/**)": false, "allow github:edit_file": false,
		"allow github:shell": false, "allow shell(ls *)": false,
		"allow shell(npm test *)": false, "allow send_email": false, "allow shell(shellcheck)": false,
		"allow shell(frobnicate)": false, "allow shell(= frobnicate x)": false, "allow shell(frobnicate push)": false,
	} {
		if got := rulebook.Wide(rule(t, text)) != ""; got != wide {
			t.Errorf("%s: wide %v, want %v", text, got, wide)
		}
	}
}

func TestAdvise(t *testing.T) {
	for _, c := range []struct {
		rule, kept string
		want       rulebook.Concern // empty for none
	}{
		{"allow shell(git status -s)", "allow shell(git status)", rulebook.Hidden},
		{"allow shell(git)", "allow shell(git status)", rulebook.Hides},
		{"allow shell(git status)", "allow shell(git log)", ""},
		{"allow shell(git push)", "deny shell(git)", rulebook.Hidden},
		{"allow shell(git)", "deny shell(git push)", rulebook.Contradicts},
		{"deny shell(git push)", "allow shell(git)", rulebook.Contradicts},
		{"deny shell(git)", "allow shell(git push)", rulebook.Contradicts},
		{"deny shell(git push)", "deny shell(git)", rulebook.Hidden},
		{"allow shell(= git push)", "allow shell(git push)", rulebook.Hidden},
		{"allow shell(git push)", "allow shell(= git push)", rulebook.Hides},
		{"allow write_file(notes/*.md)", "allow write_file(notes/**)", rulebook.Hidden},
		{"allow write_file(notes/**)", "allow write_file(notes/*)", rulebook.Hides},
		{"allow write_file(notes/**)", "allow write_file(drafts/**)", ""},
		{"allow write_file(notes/a.md)", "allow read_file(notes/**)", ""},
		{"allow write_file(notes/**)", "allow write_file", rulebook.Hidden},
		{"allow write_file(notes/**)", "deny write_file(notes/private/**)", rulebook.Contradicts},
		{"allow github:search_issues", "allow github:search_*", rulebook.Hidden},
		{"allow github:search_*", "deny connector github", rulebook.Hidden},
		{"deny connector github", "allow github:search_*", rulebook.Contradicts},
		{"allow http_request(GET https://example.com/api/**)", "allow http_request(GET https://example.com/**)", rulebook.Hidden},
		{"allow http_request(GET https://example.com/**)", "allow http_request(GET https://example.org/**)", ""},
		{"allow worker_call(scribe)", "deny worker_call(*)", rulebook.Hidden},
	} {
		advice := rulebook.Advise([]policy.Rule{rule(t, c.kept)}, rule(t, c.rule), nil, 0, epoch)
		switch {
		case c.want == "" && len(advice) > 0:
			t.Errorf("%s beside %s: %v", c.rule, c.kept, advice)
		case c.want != "" && (len(advice) != 1 || advice[0].Concern != c.want):
			t.Errorf("%s beside %s: %+v, want %s", c.rule, c.kept, advice, c.want)
		}
	}
}

// A rule of one project says nothing about those of another, and less than one for everywhere.
func TestAdviseProjects(t *testing.T) {
	in := func(project, text string) policy.Rule {
		r := rule(t, text)
		r.Project = project
		return r
	}
	for _, c := range []struct {
		rule, kept policy.Rule
		want       rulebook.Concern
	}{
		{in("/a", "allow shell(git status)"), in("/b", "allow shell(git status)"), ""},
		{in("/a", "allow shell(git status)"), in("", "allow shell(git status)"), rulebook.Hidden},
		{in("", "allow shell(git status)"), in("/a", "allow shell(git status)"), rulebook.Hides},
		{in("", "allow shell(git status)"), in("/a", "allow shell(git)"), ""},
		{in("/a", "allow shell(git status)"), in("/b", "deny shell(git)"), ""},
		{in("", "allow shell(git status)"), in("/b", "deny shell(git)"), rulebook.Contradicts},
		{in("/a", "allow shell(git status)"), in("", "deny shell(git)"), rulebook.Hidden},
	} {
		advice := rulebook.Advise([]policy.Rule{c.kept}, c.rule, nil, 0, epoch)
		if got := len(advice); c.want == "" && got > 0 || c.want != "" && (got != 1 || advice[0].Concern != c.want) {
			t.Errorf("%s %s beside %s %s: %+v, want %q", c.rule, c.rule.Where(), c.kept, c.kept.Where(), advice, c.want)
		}
	}
}

// Rules that do not hold are not compared with.
func TestAdviseOnlyActive(t *testing.T) {
	off, ended := rule(t, "deny shell(git)"), rule(t, "deny shell(git push)")
	off.Enabled, ended.Expires = false, epoch
	if advice := rulebook.Advise([]policy.Rule{off, ended}, rule(t, "allow shell(git push)"), nil, 0, epoch); len(advice) > 0 {
		t.Error(advice)
	}
}

func TestAdviseManyTools(t *testing.T) {
	known := append(config.BuiltinTools(), "github:search_issues", "github:search_code")
	for text, want := range map[string]int{
		"allow *_file(notes/**)": 7, "deny github:*": 2, "deny connector github": 2, "allow shell(ls)": 0, "deny *": len(known), "deny search_*": 3,
	} {
		advice := rulebook.Advise(nil, rule(t, text), known, 1, epoch)
		got := 0
		if i := slices.IndexFunc(advice, func(a rulebook.Advice) bool { return a.Concern == rulebook.ManyTools }); i >= 0 {
			got = len(advice[i].Tools)
		}
		if got != want {
			t.Errorf("%s: about %d tools, want %d: %v", text, got, want, advice)
		}
	}
}

func TestAdvisePort(t *testing.T) {
	for text, want := range map[string]bool{
		"allow connect(a.example)": true, "allow connect([::1])": true, "allow connect(a.example:443)": false, "allow connect(a.example:*)": false, "allow connect([::1]:443)": false,
		"deny connect(a.example)": false, "allow http_request(https://a.example/)": false, "allow connect(**)": false,
	} {
		advice := rulebook.Advise(nil, rule(t, text), nil, 9, epoch)
		if got := slices.ContainsFunc(advice, func(a rulebook.Advice) bool { return a.Concern == rulebook.NoPort }); got != want {
			t.Errorf("%s: %v", text, advice)
		}
	}
	for text, want := range map[string]bool{"allow connect(*:443)": true, "allow connect(*.com:443)": true, "allow connect(*.example.com:443)": false, "allow connect(a.example:443)": false,
		"allow http_request(GET *)": true, "allow http_request(GET https://*/**)": true, "allow http_request(GET https://*.com/**)": true,
		"allow http_request(GET https://go.dev/**)": false, "allow http_request(https://*.go.dev/**)": false} {
		if got := rulebook.Wide(rule(t, text)) != ""; got != want {
			t.Errorf("%s is wide: %v", text, got)
		}
	}
}

func TestCheckName(t *testing.T) {
	for text, want := range map[string]string{
		"deny writ_file(x)": "error", "deny SHELL(ls)": "", "deny my_tool": "warning", "deny seen": "", "deny github:x": "", "deny connector shel": "", "deny *_file": "",
	} {
		warning, err := rulebook.CheckName(rule(t, text), []string{"seen"})
		got := map[bool]string{true: "warning"}[warning != ""]
		if err != nil {
			got = "error"
		}
		if got != want {
			t.Errorf("%s: %q (%q, %v), want %q", text, got, warning, err, want)
		}
	}
}

func TestConnects(t *testing.T) {
	for text, want := range map[string]bool{
		"allow shell(npm install)": true, "allow shell(npm install *)": true, "allow shell(git push)": true, "allow shell(= yarn)": true,
		"allow shell(curl https://a.example/x)": true, "allow shell(pip install x)": true, "allow shell(ssh a.example)": true,
		"allow shell(npm)": false, "allow shell(yarn)": false, "allow shell(curl)": false, "allow shell": false, "allow shell(git log)": false,
		"deny shell(npm install)": false, "allow write_file(npm install)": false, "allow connector npm": false, "allow shell(npm *)": false,
	} {
		if got := rulebook.Connects(rule(t, text)); (got != "") != want {
			t.Errorf("%s: it says %q", text, got)
		}
	}
	now := time.Now()
	npm, install := rule(t, "allow shell(npm)"), rule(t, "allow shell(npm install)")
	for _, a := range append(rulebook.Advise([]policy.Rule{npm}, install, nil, 3, now), rulebook.Advise([]policy.Rule{install}, npm, nil, 3, now)...) {
		t.Errorf("only one of them is about connections, and it is said that %s", a.Text)
	}
}
