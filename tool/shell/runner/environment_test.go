package runner_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/assent-dev/assent/tool/shell/runner"
)

func TestEnvironmentIsAList(t *testing.T) {
	own := []string{
		"PATH=/usr/bin::.:bin:/bin", "HOME=/h", "LANG=de_DE.UTF-8", "TZ=UTC", "SECRET=x", "LC_ALL=C", "NODE_ENV=test", "LD_PRELOAD=/x",
		"GIT_DIR=/x", "GIT_AUTHOR_NAME=A", "PAGER=less", "ASSENT_CALL=old", "BASH_FUNC_ls%%=() { :; }", "PWD=/x", "broken",
	}
	names := []string{"NODE_ENV", "LD_PRELOAD", "GIT_DIR", "GIT_AUTHOR_NAME", "PAGER", "ASSENT_CALL", "BASH_FUNC_ls%%", "UNSET", "PWD"}
	want := []string{
		"GIT_AUTHOR_NAME=A", "GIT_OPTIONAL_LOCKS=0", "GIT_PAGER=cat", "GIT_TERMINAL_PROMPT=0", "HOME=/h", "LANG=de_DE.UTF-8", "NODE_ENV=test",
		"PAGER=cat", "PATH=/usr/bin:/bin", "TERM=dumb", "TZ=UTC",
	}
	env := runner.NewEnvironment(own, names)
	if got := env.Entries(); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	c := command(t, "env")
	c.Env = env
	got := strings.Fields(run(t, c).Stdout.Text)
	got = slices.DeleteFunc(got, func(e string) bool {
		return strings.HasPrefix(e, "_=") || e == "SHLVL=0" || e == "SHLVL=1" // bash's own
	})
	slices.Sort(got)
	if len(got) != len(want)+2 || !strings.HasPrefix(got[0], "ASSENT_CALL=c1.") || !slices.Contains(got, "PWD="+c.Dir) {
		t.Fatalf("the command has %q", got)
	}
	for _, entry := range want {
		if !slices.Contains(got, entry) {
			t.Errorf("the command has no %q", entry)
		}
	}
}

func TestEnvironmentDefaults(t *testing.T) {
	got := runner.NewEnvironment(nil, nil)
	if names := got.Names(); !slices.Equal(names, []string{"GIT_OPTIONAL_LOCKS", "GIT_PAGER", "GIT_TERMINAL_PROMPT", "HOME", "PAGER", "PATH", "TERM"}) {
		t.Errorf("names %q", names)
	}
	if first := got.First("/shim").Entries(); !slices.Contains(first, "PATH=/shim:/usr/local/bin:/usr/bin:/bin") {
		t.Errorf("%q", first)
	}
	if slices.Contains(got.Entries(), "PATH=/shim:/usr/local/bin:/usr/bin:/bin") {
		t.Error("First changed the original")
	}
}

// In another character set bash would see other characters than were judged.
func TestLocalesAreReadable(t *testing.T) {
	for value, want := range map[string]string{
		"C": "C", "": "", "POSIX": "POSIX", "en_US.UTF-8": "en_US.UTF-8", "de_DE.utf8@euro": "de_DE.utf8@euro", "C.UTF-8": "C.UTF-8",
		"ja_JP.SJIS": "C.UTF-8", "zh_CN.GBK": "C.UTF-8", "de_DE": "C.UTF-8", "de_DE@euro": "C.UTF-8", "x": "C.UTF-8",
	} {
		for _, name := range []string{"LANG", "LC_ALL", "LC_CTYPE"} {
			env := runner.NewEnvironment([]string{name + "=" + value}, []string{"LC_ALL", "LC_CTYPE"})
			if !slices.Contains(env.Entries(), name+"="+want) {
				t.Errorf("%s=%s becomes %q, want %q", name, value, env.Entries(), want)
			}
		}
	}
}

func TestMayPass(t *testing.T) {
	for name, want := range map[string]bool{
		"NODE_ENV": true, "CI": true, "PATH": true, "LC_ALL": true, "_x": true, "a1": true, "GIT_COMMITTER_DATE": true,
		"": false, "1a": false, "a-b": false, "a=b": false, "LD_PRELOAD": false, "LD_LIBRARY_PATH": false, "DYLD_INSERT_LIBRARIES": false,
		"BASH_ENV": false, "ENV": false, "IFS": false, "GIT_SSH_COMMAND": false, "GIT_CONFIG_COUNT": false, "ASSENT_CALL": false, "é": false,
	} {
		if got := runner.MayPass(name); got != want {
			t.Errorf("MayPass(%q) = %v", name, got)
		}
	}
}
