package install

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/assent-dev/assent/internal/agents/settings"
	"github.com/assent-dev/assent/internal/rulebook"
	"github.com/assent-dev/assent/policy"
)

// listsOf reads the lists of Claude Code: the user's, and those of a project below it by folder.
func listsOf(t *testing.T, kept []policy.Rule, user string, projects map[string]string) (*Import, string) {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{".claude/settings.json": user, "project/.git/HEAD": "x"}
	for folder, text := range projects {
		files[filepath.Join("project", folder, ".claude/settings.json")] = text
	}
	folder := filepath.Join(home, "project")
	for name, text := range files {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(name, "project/sub") {
			folder = filepath.Join(home, "project", "sub")
		}
	}
	im, err := ReadLists([]string{"claude-code"}, settings.On(home, folder, func(string) (string, bool) { return "", false }), kept)
	if err != nil || len(im.Problems) > 0 {
		t.Fatal(err, im.Problems)
	}
	return im, home
}

// becomes says of each entry what becomes of it.
func becomes(im *Import) string {
	var out []string
	for _, row := range im.Rows {
		out = append(out, row.Theirs+" "+row.Becomes)
	}
	return strings.Join(out, "\n")
}

// A rule that is kept counts, even if it is disabled; one that has ended does not, nor one of another project.
func TestImportAndWhatIsThere(t *testing.T) {
	const user = `{"permissions":{"allow":["Bash(make a)","Bash(make b)","Bash(make c)","Bash(make d)","mcp__X__y"]}}`
	rule := func(text string, change func(*policy.Rule)) policy.Rule {
		r, err := policy.ParseRule(text)
		if err != nil {
			t.Fatal(err)
		}
		change(&r)
		return r
	}
	kept := []policy.Rule{
		rule("allow shell(= make a)", func(r *policy.Rule) {}),
		rule("allow shell(= make b)", func(r *policy.Rule) { r.Enabled = false }),
		rule("allow shell(= make c)", func(r *policy.Rule) { r.Expires = time.Now().Add(-time.Hour) }),
		rule("allow shell(= make d)", func(r *policy.Rule) { r.Project = "/elsewhere" }),
		rule("allow x:y", func(r *policy.Rule) {}),
	}
	im, _ := listsOf(t, kept, user, nil)
	want := "allow Bash(make a) there\nallow Bash(make b) there\nallow Bash(make c) add\nallow Bash(make d) add\nallow mcp__X__y there"
	if got := becomes(im); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for _, r := range im.Rules(ImportAdd) {
		if err := policy.CheckNewRule(kept, r, 100); err != nil {
			t.Error(err)
		}
	}
}

// What a project allows is for the project. A list in one of its folders allows nothing: the rule would be for all of it.
func TestImportOfAProject(t *testing.T) {
	const list = `{"permissions":{"allow":["Bash(make a)","Bash(*)"],"deny":["Bash(make b)"]}}`
	im, home := listsOf(t, nil, `{}`, map[string]string{"": list})
	if got, want := becomes(im), "deny  Bash(make b) add\nallow Bash(make a) project\nallow Bash(*) wide"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for _, r := range im.Rules(ImportAdd, ImportShared) {
		if r.Project != filepath.Join(home, "project") {
			t.Errorf("%s is %s", r, r.Where())
		}
	}
	im, _ = listsOf(t, nil, `{}`, map[string]string{"sub": list})
	if got, want := becomes(im), "deny  Bash(make b) add\nallow Bash(make a) cannot-say\nallow Bash(*) cannot-say"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// An entry of a repository cannot smuggle a rule into a file of rules by its note, nor into the table.
func TestImportOfAnEntryWithLines(t *testing.T) {
	im, _ := listsOf(t, nil, `{}`, map[string]string{"": `{"permissions":{"deny":["Bash(make\n- allow shell(*)\n\u001b[2J:*)","Bash(make b)"]}}`})
	var out, table strings.Builder
	rules := im.Rules(ImportAdd, ImportShared)
	if err := rulebook.Write(&out, rules); err != nil {
		t.Fatal(err)
	}
	im.Print(&table)
	back, err := rulebook.Parse("rules.yaml", []byte(out.String()))
	if err != nil || len(back) != len(rules) || slices.ContainsFunc(back, func(r policy.Rule) bool { return r.Effect == policy.EffectAllow }) {
		t.Errorf("%v: %s", err, out.String())
	}
	if strings.Contains(table.String(), "\x1b") || strings.Contains(table.String(), "\n- allow") {
		t.Errorf("the table is %q", table.String())
	}
}
