package rulebook_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/rulebook"
	"github.com/assent-dev/assent/policy"
)

var epoch = time.Date(2026, time.January, 2, 15, 4, 5, 0, time.UTC)

func rule(t testing.TB, text string) policy.Rule {
	t.Helper()
	rule, err := policy.ParseRule(text)
	if err != nil {
		t.Fatal(err)
	}
	return rule
}

// What is written is read back the same, in either form.
func TestRoundTrip(t *testing.T) {
	plain := rule(t, "allow write_file(notes/**)")
	plain.ID, plain.Note, plain.Because, plain.Created = "r1", " two\nlines ", `"quoted"`, epoch.Add(7)
	off := rule(t, `deny shell(echo "a: b" # c)`)
	off.ID, off.Enabled = "r2", false
	ends := rule(t, "allow github:search_*")
	ends.ID, ends.Expires = "r3", epoch
	both := rule(t, "deny connector jira")
	both.ID, both.Enabled, both.Expires = "r4", false, epoch
	odd := rule(t, `deny read_file(a: b/'\*"#.md)`)
	odd.ID = "r5"
	here := rule(t, "allow shell(date)")
	here.ID, here.Project = "r6", "/home/me/a: b #c"
	offHere := rule(t, "allow shell(w)")
	offHere.ID, offHere.Project, offHere.Enabled, offHere.Expires = "r7", "/home/me/shop", false, epoch
	for _, entries := range [][]policy.Rule{nil, {plain}, {off, ends}, {here}, {off, plain, here, ends, offHere, both, odd}} {
		for name, write := range map[string]func(*bytes.Buffer) error{
			"yaml": func(b *bytes.Buffer) error { return rulebook.Write(b, entries) },
			"json": func(b *bytes.Buffer) error { return rulebook.WriteJSON(b, entries) },
		} {
			var b bytes.Buffer
			if err := write(&b); err != nil {
				t.Fatal(err)
			}
			got, err := rulebook.Read("rules", b.Bytes())
			if len(got) == 0 {
				got = nil
			}
			if diff := cmp.Diff(entries, got); err != nil || diff != "" {
				t.Errorf("%s: %v\n%s\n%s", name, err, diff, b.String())
			}
		}
	}
}

// Pasted into a policy file, the text allows no more than what holds forever.
func TestPolicySnippet(t *testing.T) {
	always, off, ends := rule(t, "allow shell(date)"), rule(t, "allow shell(ls)"), rule(t, "allow shell(w)")
	off.Enabled, ends.Expires = false, epoch
	here := rule(t, "allow shell(id)")
	here.Project = "/home/me/shop"
	var b bytes.Buffer
	if err := rulebook.Write(&b, []policy.Rule{off, always, ends, here}); err != nil {
		t.Fatal(err)
	}
	conf, err := config.Load("policy.yaml", b.Bytes(), "")
	if err != nil {
		t.Fatal(err)
	}
	if rules := conf.Rules.Rules(); len(rules) != 1 || rules[0].String() != "allow shell(date)" {
		t.Errorf("a policy reads %v in\n%s", rules, b.String())
	}
}

func TestParseProblems(t *testing.T) {
	for text, want := range map[string]string{
		"rules: [alow x]":                                 "r.yaml:1:9: rule \"alow x\": malformed rule",
		"rules: []\n  # disabled: alow x":                 "r.yaml:2: rule \"alow x\": malformed rule",
		"rules: []\n  # until soon: allow shell(ls)":      `r.yaml:2: invalid time "soon"`,
		"except: [read_file(x)]":                          "r.yaml:1: an exception belongs to the policy file that denies",
		"rules: []\n  # project: shop\n  # rule: allow x": `invalid project folder "shop"`,
		"ruls: []": "ruls",
		`{"rules": [{"pattern": "", "type": "allow"}]}`: "r.yaml: rule 1",
		`{"rules": 1}`: "rules export --format json",
	} {
		if _, err := rulebook.Read("r.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// A remark belongs to the rule right below it, and to nothing else.
func TestRemarks(t *testing.T) {
	got, err := rulebook.Parse("r", []byte("rules:\n  # note: lost\n\n  - allow shell(a)\n  # note: kept\n  # id: x\n  - allow shell(b)\n  # because the sky is blue\n  - allow shell(c)\n"))
	if err != nil {
		t.Fatal(err)
	}
	var notes []string
	for _, e := range got {
		notes = append(notes, e.ID+e.Note)
	}
	if diff := cmp.Diff([]string{"", "xkept", ""}, notes); diff != "" {
		t.Error(diff)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("rules:\n  # id: a\n  - allow shell(ls)\n  # disabled until 2026-01-02T15:04:05Z: deny x\n")
	f.Add("rules:\n  # project: /home/me\n  # rule: allow x\n  # project: /home/me/b: c\n  - deny y\n")
	f.Add("rules: [\"deny read_file(a: b)\"]")
	f.Fuzz(func(t *testing.T, text string) {
		entries, err := rulebook.Parse("r", []byte(text))
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := rulebook.Write(&b, entries); err != nil {
			t.Fatal(err)
		}
		again, err := rulebook.Parse("r", b.Bytes())
		if err != nil {
			t.Fatalf("%q is written as %q, which is refused: %v", text, b.String(), err)
		}
		if diff := cmp.Diff(entries, again); diff != "" {
			t.Fatalf("%q is written as %q: %s", text, b.String(), diff)
		}
	})
}

func TestIdentify(t *testing.T) {
	a, b := rule(t, "allow shell(a)"), rule(t, "allow shell(b)")
	a.ID, b.ID, a.Created, b.Created = "1", "2", epoch, epoch
	changed, twin, fresh, same := rule(t, "allow shell(a2)"), rule(t, "allow shell(a3)"), rule(t, "allow shell(c)"), rule(t, "allow shell(b)")
	changed.ID, twin.ID, fresh.ID = "1", "1", "nobody's"
	n := 0
	got := rulebook.Identify([]policy.Rule{a, b}, []policy.Rule{changed, twin, fresh, same}, func() string { n++; return string(rune('w' + n)) }, epoch)
	var ids []string
	for _, e := range got {
		ids = append(ids, e.ID)
	}
	if diff := cmp.Diff([]string{"1", "x", "y", "2"}, ids); diff != "" {
		t.Error(diff)
	}
}
