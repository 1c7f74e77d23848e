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
		nested     bool
		want       []string
		plain      []string // besides, where git is not hardened
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
		{name: "partial clone", text: "git blame a", settings: []Setting{set("remote.o.promisor", "true"), set("remote.o.url", "ext::x")}, want: []string{"remote.o.promisor"}},
		{name: "partial clone extension", text: "git cat-file -p HEAD", settings: []Setting{set("extensions.partialclone", "o")}, want: []string{"extensions.partialclone"}},
		{name: "partial clone archive", text: "git archive HEAD", settings: []Setting{set("remote.o.promisor", "true")}, want: []string{"remote.o.promisor"}},
		{name: "partial clone grep", text: "git grep x HEAD", settings: []Setting{set("remote.o.promisor", "true")}, want: []string{"remote.o.promisor"}},
		{name: "partial clone hardened", text: "git log -p", settings: []Setting{set("remote.o.promisor", "true")}, plain: []string{"remote.o.promisor"}},
		{name: "tar", text: "git archive --format=foo HEAD", settings: []Setting{set("tar.foo.command", "./x")}, want: []string{"tar.foo.command"}},
		{name: "signature by setting", text: "git log", settings: []Setting{set("format.pretty", "%G?"), set("gpg.program", "./x")}, want: []string{"gpg.program"}},
		{name: "signature by name", text: "git shortlog", settings: []Setting{set("gpg.program", "./x")}, want: []string{"gpg.program"}},
		{name: "remerge", text: "git log --remerge-diff", settings: []Setting{set("merge.x.driver", "./x")}, want: []string{"merge.x.driver"}},
		{name: "remerge by setting", text: "git show", settings: []Setting{set("log.diffmerges", "remerge"), set("merge.x.driver", "./x")}, want: []string{"merge.x.driver"}},
		{name: "no remerge", text: "git log", settings: []Setting{set("merge.x.driver", "./x")}},
		{name: "man", text: "git help log", settings: []Setting{set("man.x.cmd", "./x")}, want: []string{"man.x.cmd"}},
		{name: "submodules describe", text: "git describe --dirty", nested: true, want: []string{"the settings of its submodules"}},
		{name: "submodules diff-index", text: "git diff-index HEAD", nested: true, want: []string{"the settings of its submodules"}},
		{name: "submodules grep", text: "git grep --recurse-submodules x", nested: true, want: []string{"the settings of its submodules"}},
		{name: "submodules grep by setting", text: "git grep x", nested: true, settings: []Setting{set("submodule.recurse", "true")}, want: []string{"the settings of its submodules"}},
		{name: "submodules passed by", text: "git grep x; git status; git describe", nested: true, plain: []string{"the settings of its submodules"}},
		{name: "submodules behind options", text: "git -c color.ui=false --literal-pathspecs diff", nested: true, plain: []string{"the settings of its submodules"}},
		{name: "submodules that a log passes by", text: "git log -p; git show", nested: true},
		{name: "submodules of a log", text: "git log -p --submodule=diff", nested: true, plain: []string{"the settings of its submodules"}},
		{name: "submodules of a log by setting", text: "git show", nested: true, settings: []Setting{set("diff.submodule", "diff")}, plain: []string{"the settings of its submodules"}},
		{name: "a log reads attributes", text: "git log -Sone", settings: []Setting{set("core.fsmonitor", "./x")}, plain: []string{"core.fsmonitor"}},
		{name: "alternate refs", text: "git log --alternate-refs", settings: []Setting{set("core.alternaterefscommand", "./x")}, want: []string{"core.alternaterefscommand"}},
		{name: "alternate refs of others", text: "git rev-list --alternate-refs --all", settings: []Setting{set("core.alternaterefscommand", "./x")}, want: []string{"core.alternaterefscommand"}},
		{name: "no alternate refs", text: "git log", settings: []Setting{set("core.alternaterefscommand", "./x")}},
		{name: "attributes read the index", text: "git check-attr -a x; git check-ignore x", settings: []Setting{set("core.fsmonitor", "./x")}, want: []string{"core.fsmonitor", "core.fsmonitor"}},
		{name: "a file of the index", text: "git rev-parse :x", settings: []Setting{set("core.fsmonitor", "./x")}, want: []string{"core.fsmonitor"}},
		{name: "smudge to look at", text: "git cat-file --filters HEAD:x", settings: []Setting{set("filter.x.smudge", "./x")}, want: []string{"filter.x.smudge"}},
		{name: "hook of a linked work tree", text: "git -C tree describe --dirty; git -C tree commit -m x", files: []string{"/w/tree/", "/w/tree/.git", "/linked/hooks/", "/linked/hooks/post-index-change"}, want: []string{"hook post-index-change", "hook post-index-change"}},
		{name: "no hook of a linked work tree", text: "git -C tree commit -m x", files: []string{"/w/tree/", "/w/tree/.git", "/w/.git/hooks/pre-commit"}},
		{name: "another repository", text: "git --git-dir=/x status", want: []string{"--git-dir"}},
		{name: "unknown folder", text: `cd "$X"; git status`, want: []string{"the configuration of a repository that is not known"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			world := project(append(repository, tt.files...)...)
			world.settings, world.nested = tt.settings, tt.nested
			script, err := Read(tt.text, "/w", world)
			if err != nil {
				t.Fatal(err)
			}
			var got, plain []string
			for _, p := range script.Parts {
				got, plain = append(got, p.GitRuns...), append(plain, p.GitPlain...)
			}
			if !slices.Equal(plain, tt.plain) {
				t.Errorf("%s: plain git also runs %q, want %q", tt.text, plain, tt.plain)
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

// Where a repository leads is read, as a file is that a word names.
func TestGitReaches(t *testing.T) {
	world := project("/w/.git/", "/w/.git/HEAD")
	world.reaches = []string{"/elsewhere/objects"}
	script, err := Read("git status", "/w", world)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := described(script.Parts), "run git status\nread /elsewhere/objects"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	world.settings = []Setting{{Key: "core.worktree", Value: "/elsewhere", Repository: true}}
	if script, err = Read("git checkout main", "/w", world); err != nil {
		t.Fatal(err)
	}
	for _, p := range script.Parts {
		if p.Kind == Touches && p.Path == "/w" {
			t.Errorf("a work tree elsewhere is taken for the folder of the repository: %+v", p)
		}
	}
}
