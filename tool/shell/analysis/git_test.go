package analysis

import (
	"slices"
	"testing"
)

func TestGit(t *testing.T) {
	repository := []string{"/w/.git/", "/w/.git/HEAD", "/w/.git/hooks/"}
	set := func(key, value string) Setting { return Setting{Key: key, Value: value, Repository: true} }
	for _, tt := range []struct {
		name, text string
		files      []string
		settings   []Setting
		want       []string
	}{
		{name: "clean", text: "git status"},
		{name: "fsmonitor", text: "git status", settings: []Setting{set("core.fsmonitor", "./x")}, want: []string{"core.fsmonitor"}},
		{name: "fsmonitor off", text: "git status", settings: []Setting{set("core.fsmonitor", "false")}},
		{name: "fsmonitor elsewhere", text: "git rev-parse HEAD", settings: []Setting{set("core.fsmonitor", "./x")}},
		{name: "the person's own", text: "git status", settings: []Setting{{Key: "core.fsmonitor", Value: "./x"}}},
		{name: "filter", text: "git diff", settings: []Setting{set("filter.x.clean", "./x"), set("filter.x.smudge", "./y")}, want: []string{"filter.x.clean"}},
		{name: "smudge", text: "git checkout main", settings: []Setting{set("filter.x.smudge", "./y")}, want: []string{"filter.x.smudge"}},
		{name: "textconv", text: "git log -p", settings: []Setting{set("diff.a.b.textconv", "./x")}, want: []string{"diff.a.b.textconv"}},
		{name: "external", text: "git -C . diff", settings: []Setting{set("diff.external", "./x")}, want: []string{"diff.external"}},
		{name: "gpg", text: "git log --format=%G?", settings: []Setting{set("gpg.program", "./x")}, want: []string{"gpg.program"}},
		{name: "no gpg", text: "git log --oneline", settings: []Setting{set("gpg.program", "./x")}},
		{name: "pager", text: "git log", settings: []Setting{set("core.pager", "./x")}, want: []string{"core.pager"}},
		{name: "ssh", text: "git fetch", settings: []Setting{set("core.sshcommand", "./x"), set("credential.helper", "./y")}, want: []string{"core.sshcommand", "credential.helper"}},
		{name: "editor", text: "git commit", settings: []Setting{set("core.editor", "./x")}, want: []string{"core.editor"}},
		{name: "hook", text: "git commit -m x", files: []string{"/w/.git/hooks/pre-commit", "/w/.git/hooks/pre-push.sample"}, want: []string{"hook pre-commit"}},
		{name: "hook of the index", text: "git status", files: []string{"/w/.git/hooks/pre-commit", "/w/.git/hooks/post-index-change"}, want: []string{"hook post-index-change"}},
		{name: "hooks path", text: "git commit -m x", files: []string{"/w/h/", "/w/h/pre-commit"}, settings: []Setting{set("core.hookspath", "h")}, want: []string{"core.hookspath", "hook pre-commit"}},
		{name: "alias that runs", text: "git st", settings: []Setting{set("alias.st", "!touch X")}, want: []string{"alias.st"}},
		{name: "on the line", text: "git -c core.fsmonitor=./x status", want: []string{"core.fsmonitor"}},
		{name: "another repository", text: "git --git-dir=/x status", want: []string{"--git-dir"}},
		{name: "unknown folder", text: `cd "$X"; git status`, want: []string{"the configuration of a repository that is not known"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			world := project(append(repository, tt.files...)...)
			world.settings = tt.settings
			script, err := Read(tt.text, "/w", world)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, p := range script.Parts {
				got = append(got, p.GitRuns...)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("%s: git runs %q, want %q", tt.text, got, tt.want)
			}
		})
	}
}

func TestGitConfigUnreadable(t *testing.T) {
	world := project("/w/.git/", "/w/.git/HEAD")
	world.noGit = true
	script, err := Read("git status", "/w", world)
	if err != nil {
		t.Fatal(err)
	}
	if p := script.Parts[0]; len(p.GitRuns) != 1 || p.Why == "" {
		t.Errorf("a configuration that cannot be read is not noticed: %+v", p)
	}
}

func TestGitAlias(t *testing.T) {
	world := project("/w/.git/", "/w/.git/HEAD")
	world.settings = []Setting{{Key: "alias.wipe", Value: "clean -fd"}, {Key: "alias.sh", Value: "!rm -rf build"}}
	for text, want := range map[string]string{
		"git wipe": "run git wipe\nrun git clean -fd",
		"git sh":   "run git sh\nrun rm -rf build\ndelete /w/build [/w/build/x.o]",
	} {
		script, err := Read(text, "/w", world)
		if err != nil {
			t.Fatal(err)
		}
		if got := described(script.Parts); len(got) < len(want) || got[:len(want)] != want {
			t.Errorf("%s:\n%s\nwant\n%s", text, got, want)
		}
	}
}
