package toolbox_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/assent-dev/assent/tool/shell"
)

// A git that runs without a question is the hardened one. Where another git would run, since
// nothing foresaw it or the PATH does not lead to the hardened one, the repository's
// programs count.
func TestAPlainGitIsJudgedAsOne(t *testing.T) {
	const policy = `
sandbox: {paths: {.: {root: TOP/proj, mode: rw, approval: allow}}}
shell: {default: {approval: ask}, presets: [readonly], judge: running}
`
	const hostile = `set -e
cd "$1"; git init -q; git init -q sub; cd sub; echo a > f; git add f; git -c user.name=a -c user.email=a@b commit -qm x
cd ..; git add sub 2>/dev/null; git -c user.name=a -c user.email=a@b commit -qm x
printf '#!/bin/sh\n> "$(dirname "$0")/M"\n' > fsm; chmod +x fsm; git -C sub config core.fsmonitor "$PWD/fsm"`
	w := newWorld(t, policy)
	if out, err := exec.Command("bash", "-c", hostile, "bash", w.top+"/proj").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	w.box = w.open(policy, nil)
	for text, runs := range map[string]bool{
		"git status": true, "git status | cat": true, "timeout 5 git status": true, "x=$(echo --short); git status $x": true,
		"x=$(echo git); $x status":                                 false,
		"git log; $(echo git) status":                              true,
		"git log; env -i git status":                               false,
		"git log; env -u PATH git status":                          false,
		"git log; x=$(echo env -i git status); $x":                 false,
		"git log; x=$(echo PATH); unset $x; /usr/bin/env git log":  false,
		"git log; (unset PATH; /usr/bin/timeout 5 git status)":     false,
		"git log; command -p git status":                           false,
		"git log; x=$(echo /usr/bin/env git status); (exec -c $x)": false,
	} {
		r := w.shell(text)
		got, ok := r.Value.(shell.Result)
		if ran := ok && got.Stopped == ""; ran != runs {
			t.Errorf("%s: %+v %s", text, r.Value, strings.TrimSpace(r.Text))
		}
		if err := os.Remove(w.top + "/proj/M"); err == nil {
			t.Errorf("%s: the submodule's monitor ran", text)
		}
	}
}
