package rulebook_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/assent-dev/assent/approval/approvaltest"
	"github.com/assent-dev/assent/internal/rulebook"
	"github.com/assent-dev/assent/policy"
)

func command(prefix int, text string) policy.Act {
	return policy.Act{Name: policy.ActShell, Target: policy.CommandTarget(strings.Fields(text)...), Verdict: policy.VerdictAsk, Known: true, Prefix: prefix}
}

func file(name, path string) policy.Act {
	return policy.Act{Name: name, Target: policy.PathTarget(path, "/home/"+path), Verdict: policy.VerdictAsk, Known: true}
}

func request(t *testing.T, url string) policy.Act {
	t.Helper()
	target, err := policy.URLTarget("GET", url)
	if err != nil {
		t.Fatal(err)
	}
	return policy.Act{Name: policy.ActHTTPRequest, Target: target, Verdict: policy.VerdictAsk, Known: true}
}

func approved(acts ...policy.Act) rulebook.Case { return answered(policy.StateApproved, acts...) }

func answered(s policy.State, acts ...policy.Act) rulebook.Case {
	return rulebook.Case{Call: policy.Call{Tool: acts[0].Name, Session: "s"}, Acts: acts, State: s, Asked: true}
}

func times(n int, c rulebook.Case) []rulebook.Case { return slices.Repeat([]rulebook.Case{c}, n) }

// rules are the suggested rules, best first.
func rules(cases ...[]rulebook.Case) []string {
	var out []string
	for _, s := range rulebook.Suggest(slices.Concat(cases...), rulebook.SuggestOptions{Now: now}) {
		out = append(out, strings.Join(s.Rules, " + "))
	}
	return out
}

func each(acts ...policy.Act) []rulebook.Case {
	var out []rulebook.Case
	for _, a := range acts {
		out = append(out, approved(a))
	}
	return out
}

func TestFind(t *testing.T) {
	caused := file(policy.ActDeleteFile, "notes/a.md")
	caused.Cause = 1
	outside := file(policy.ActWriteFile, "notes/out.txt")
	outside.ByName = true
	secret, unread, person, away := file(policy.ActReadFile, "notes/.env"), command(1, "frob"), command(1, "ls"), command(1, "ls")
	secret.Secret, unread.Known, person.PersonOnly, away.Away = true, false, true, true
	for name, c := range map[string]struct {
		cases []rulebook.Case
		want  []string
	}{
		"exactly":            {times(3, approved(command(2, "git push origin"))), []string{"allow shell(= git push origin)"}},
		"too seldom":         {times(2, approved(command(2, "git push origin"))), nil},
		"common words":       {each(command(2, "git log -1"), command(2, "git log -2"), command(2, "git log")), []string{"allow shell(git log)"}},
		"longer words":       {each(command(2, "git push origin a"), command(2, "git push origin b"), command(2, "git push origin c")), []string{"allow shell(git push origin)"}},
		"never a program":    {each(command(2, "git log"), command(2, "git push"), command(2, "git pull")), nil},
		"interpreter":        {times(9, approved(command(1, "python3 x.py"))), nil},
		"wrapper":            {times(9, approved(command(1, "sudo ls"))), nil},
		"no prefix":          {times(9, approved(command(0, "frob x"))), nil},
		"not understood":     {times(9, approved(unread)), nil},
		"person only":        {times(9, approved(person)), nil},
		"away":               {times(9, approved(away)), nil},
		"secret":             {times(9, approved(secret)), nil},
		"files of a suffix":  {each(file("write_file", "notes/a.md"), file("write_file", "notes/b.md"), file("write_file", "notes/c.md")), []string{"allow write_file(notes/*.md)"}},
		"files of a folder":  {each(file("write_file", "notes/a.md"), file("write_file", "notes/b.txt"), file("write_file", "notes/c")), []string{"allow write_file(notes/*)"}},
		"folders of a root":  {each(file("write_file", "notes/a/a.md"), file("write_file", "notes/b/b.md"), file("write_file", "notes/c.md")), []string{"allow write_file(notes/**/*.md)"}},
		"several roots":      {each(file("write_file", "a/a.md"), file("write_file", "b/b.md"), file("write_file", "c/c.md")), nil},
		"top of a root":      {each(file("write_file", "a"), file("write_file", "b"), file("write_file", "c")), nil},
		"strange names":      {times(3, approved(file("write_file", "notes/[x]*.md"))), []string{`allow write_file(notes/\[x\]\*.md)`}},
		"pages":              {each(request(t, "https://a.example/v1/x"), request(t, "https://a.example/v1/y"), request(t, "https://a.example/v1/z/q")), []string{"allow http_request(GET https://a.example/v1/**)"}},
		"deletes exactly":    {append(times(3, approved(command(1, "rm notes/a.md"), caused)), each(command(1, "rm notes/b.md"))...), []string{"allow shell(= rm notes/a.md)"}},
		"deletes no others":  {[]rulebook.Case{approved(command(1, "rm a"), caused), approved(command(1, "rm b"), caused), approved(command(1, "rm c"), caused)}, nil},
		"by name":            {times(3, approved(command(1, "ls"), outside)), []string{"allow shell(= ls) + allow write_file(notes/out.txt)"}},
		"several acts":       {times(3, approved(command(2, "git add x"), command(2, "git commit"))), []string{"allow shell(= git add x) + allow shell(= git commit)"}},
		"denied in the same": {append(each(file("write_file", "p/a.md"), file("write_file", "p/b.md"), file("write_file", "p/c.md")), answered(policy.StateDenied, file("write_file", "p/d.md"))), nil},
		"denied before":      {append(times(5, approved(command(2, "git push"))), answered(policy.StateDismissed, command(2, "git push"))), nil},
		"wider is not worth": {append(times(3, approved(command(2, "git log"))), approved(command(2, "git log -1"))), []string{"allow shell(= git log)"}},
	} {
		if diff := cmp.Diff(c.want, rules(c.cases)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// A suggestion is for the project that all its calls are of.
func TestASuggestionIsForItsProject(t *testing.T) {
	in := func(project string) rulebook.Case {
		c := approved(command(2, "git push origin"))
		c.Call.Project = project
		return c
	}
	for want, cases := range map[string][]rulebook.Case{
		"/a": {in("/a"), in("/a"), in("/a")}, "": {in("/a"), in("/a"), in("/b")},
	} {
		found := rulebook.Suggest(cases, rulebook.SuggestOptions{Now: now})
		if len(found) != 1 || found[0].Project != want {
			t.Errorf("%+v, want one for %q", found, want)
		}
	}
}

// What is kept answers already, and what a deny holds is not suggested.
func TestFindBesideRules(t *testing.T) {
	for _, text := range []string{"allow shell(git push)", "deny shell(git)"} {
		conf := policy.Policy{Rules: approvaltest.Rules(t, text)}
		found := rulebook.Suggest(times(5, approved(command(2, "git push"))), rulebook.SuggestOptions{Policy: conf, Now: now})
		if len(found) > 0 {
			t.Errorf("beside %s: %v", text, found)
		}
	}
}

// Whatever was decided: no suggestion lets through what was refused, each answers as many
// prompts as it says, and none is wide.
func TestNeverWorse(t *testing.T) {
	words := []string{"git", "log", "push", "ls", "-a", "bash", "rm", "npm", "test"}
	rapid.Check(t, func(t *rapid.T) {
		anyAct := rapid.Custom(func(t *rapid.T) policy.Act {
			if rapid.Bool().Draw(t, "file") {
				return file(rapid.SampledFrom([]string{"write_file", "delete_file"}).Draw(t, "name"),
					fmt.Sprintf("%s/%s.%s", rapid.SampledFrom([]string{"a", "a/b", "c"}).Draw(t, "dir"), rapid.StringMatching("[xyz]").Draw(t, "base"), rapid.SampledFrom([]string{"md", "go"}).Draw(t, "ext")))
			}
			text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 1, 4).Draw(t, "words"), " ")
			// The same command has the same prefix wherever it stands.
			return command(min(len(text)%3, len(strings.Fields(text))), text)
		})
		anyCase := rapid.Custom(func(t *rapid.T) rulebook.Case {
			state := rapid.SampledFrom([]policy.State{policy.StateApproved, policy.StateApproved, policy.StateApproved, policy.StateDenied, policy.StateDismissed}).Draw(t, "state")
			return answered(state, rapid.SliceOfN(anyAct, 1, 2).Draw(t, "acts")...)
		})
		cases := rapid.SliceOfN(anyCase, 0, 60).Draw(t, "cases")
		for _, s := range rulebook.Suggest(cases, rulebook.SuggestOptions{Min: 2, Now: now}) {
			check(t, cases, s)
		}
	})
}

func check(t *rapid.T, cases []rulebook.Case, s rulebook.Suggestion) {
	var parsed []policy.Rule
	for _, text := range s.Rules {
		rule, err := policy.ParseRule(text)
		if err != nil || rulebook.Wide(rule) != "" {
			t.Fatalf("%s: %v, %s", text, err, rulebook.Wide(rule))
		}
		parsed = append(parsed, rule)
	}
	set, err := policy.CompileRules(parsed)
	if err != nil {
		t.Fatal(err)
	}
	comparison := rulebook.Compare(nil, policy.Policy{Rules: set}, now)
	for _, c := range cases {
		comparison.Add(c)
	}
	if r := comparison.Report(); r.Findings > 0 || r.PromptsBefore-r.PromptsAfter != s.Saves || s.Saves < 2 {
		t.Fatalf("%v saves %d, says the trial %+v", s.Rules, s.Saves, r)
	}
}
