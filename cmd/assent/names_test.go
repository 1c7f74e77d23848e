package main

import (
	"cmp"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/trust"
)

// TestHookProgramWithTwoNamesForTheProject has the program that agents start judge calls
// under a trusted policy that calls the project by a name of its own, beside the root that
// every hook adds for the agent's folder.
func TestHookProgramWithTwoNamesForTheProject(t *testing.T) {
	program := filepath.Join(t.TempDir(), "assent-hook")
	build := exec.Command("go", "build", "-buildvcs=false", "-o", program, "../assent-hook")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	const ask, allow, deny = "ask", "allow", "deny"
	read := func(path string) [2]string { return [2]string{"Read", `{"file_path":"$TOP/` + path + `"}`} }
	write := func(path string) [2]string {
		return [2]string{"Write", `{"file_path":"$TOP/` + path + `","content":"x"}`}
	}
	bash := func(command string) [2]string { return [2]string{"Bash", `{"command":"` + command + `"}`} }
	for name, c := range map[string]struct {
		policy string
		dir    string // of the agent; default project; with a ! the policy is not trusted
		want   map[[2]string]string
	}{
		"its own name": {"sandbox: {paths: {p: {root: .}}}\nrules: [deny read_file(p/secret.txt), deny read_file(other.txt)]\n", "", map[[2]string]string{
			read("project/a.txt"): allow, write("project/a.txt"): ask, write("project/new/b.txt"): ask, bash("ls"): allow, bash("cat a.txt"): allow,
			read("project/secret.txt"): deny, read("project/other.txt"): deny, bash("cat secret.txt"): deny, bash("cat other.txt"): deny,
			read("link/secret.txt"): deny, read("elsewhere/c.txt"): ask, bash("touch a.txt"): ask,
		}},
		"through a link": {"sandbox: {paths: {p: {root: ../link}}}\nrules: [deny read_file(p/secret.txt), deny read_file(other.txt)]\n", "", map[[2]string]string{
			read("project/a.txt"): allow, write("project/a.txt"): ask, read("project/secret.txt"): deny, read("link/other.txt"): deny, read("link/a.txt"): allow,
		}},
		"three names": {"sandbox: {paths: {p: {root: .}, q: {root: ./, approval: {delete: deny}}, r: {root: ../link, approval: {read: ask}}}}\nrules: ['deny write_file(q/**/*.txt)']\n", "", map[[2]string]string{
			read("project/a.txt"): ask, write("project/a.txt"): deny, write("project/a.md"): ask, bash("rm a.md"): deny,
		}},
		"free": {"sandbox: {paths: {p: {root: ., mode: rw, approval: {write: allow}}}}\nrules: [deny write_file(a.txt)]\n", "", map[[2]string]string{
			write("project/b.txt"): allow, write("project/a.txt"): deny,
		}},
		"read-only": {"sandbox: {paths: {p: {root: ., mode: ro}}}\n", "", map[[2]string]string{
			read("project/a.txt"): allow, write("project/a.txt"): deny,
		}},
		"a folder whose name a root has taken": {"sandbox: {paths: {'.': {root: ., mode: rw}, docs: {root: ../elsewhere, approval: {read: deny}}}}\nrules: [allow write_file(docs/**)]\n", "project/docs", map[[2]string]string{
			bash("cat c.txt"): allow, read("project/docs/c.txt"): allow, write("project/docs/c.txt"): ask, bash("cat ../../elsewhere/c.txt"): deny, read("elsewhere/c.txt"): deny,
		}},
		"and the other way round": {"sandbox: {paths: {'.': {root: ., approval: {read: deny}}, docs: {root: ../elsewhere}}}\n", "project/docs", map[[2]string]string{
			bash("cat c.txt"): deny, read("project/docs/c.txt"): deny, read("elsewhere/c.txt"): allow,
		}},
		"a folder that is not there yet": {"sandbox: {paths: {p: {root: .}, out: {root: ./out, mode: rw, approval: {write: allow, delete: deny}}, o: {root: ./out, mode: rw, approval: {write: allow}}, no: {root: ./none}}}\nrules: [deny write_file(o/secret.txt)]\n", "", map[[2]string]string{
			bash("ls"): allow, write("project/out/a.txt"): allow, write("project/out/secret.txt"): deny, bash("rm out/a.txt"): deny, write("project/none/a.txt"): deny, write("project/a.txt"): ask,
		}},
		"not trusted": {"sandbox: {paths: {p: {root: ., mode: rw, approval: {write: allow}}}}\nrules: [deny read_file(p/secret.txt), allow write_file(p/**)]\n", "!", map[[2]string]string{
			read("project/a.txt"): allow, read("project/secret.txt"): deny, bash("cat secret.txt"): deny, write("project/a.txt"): ask,
		}},
		"not trusted, in a subfolder": {"sandbox: {paths: {'.': {root: .}}}\nrules: [deny write_file(a.txt)]\n", "!project/sub", map[[2]string]string{
			write("project/a.txt"): deny, bash("touch ../a.txt"): deny, write("project/sub/c.txt"): ask, write("project/sub/a.txt"): deny,
		}},
		"in a subfolder": {"sandbox: {paths: {p: {root: ., approval: {read: ask, delete: deny}}}}\nrules: [deny read_file(sub/d.txt), deny write_file(p/sub/d.txt)]\n", "project/sub", map[[2]string]string{
			read("project/sub/c.txt"): ask, bash("rm c.txt"): deny, write("project/sub/d.txt"): deny, write("project/sub/c.txt"): ask,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			top, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			for file, text := range map[string]string{
				"project/.assent/policy.yaml": c.policy, "project/a.txt": "a\n", "project/a.md": "a\n", "project/secret.txt": "s\n", "project/other.txt": "o\n",
				"project/sub/c.txt": "c\n", "project/sub/d.txt": "d\n", "elsewhere/c.txt": "c\n", "project/docs/c.txt": "c\n",
			} {
				put(t, filepath.Join(top, file), text)
			}
			if err := os.Symlink("project", top+"/link"); err != nil {
				t.Fatal(err)
			}
			agent, untrusted := strings.CutPrefix(c.dir, "!")
			if !untrusted {
				trustFile(t, top+"/project/.assent/policy.yaml", top+"/state/assent")
			}
			dir := filepath.Join(top, cmp.Or(agent, "project"))
			for call, want := range c.want {
				event := `{"session_id":"s","cwd":"` + dir + `","hook_event_name":"PreToolUse","permission_mode":"default","tool_use_id":"t","tool_name":"` +
					call[0] + `","tool_input":` + strings.ReplaceAll(call[1], "$TOP", top) + `}`
				hook := exec.Command(program, "claude-code")
				hook.Dir, hook.Stdin = dir, strings.NewReader(event)
				hook.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + top + "/home", "XDG_STATE_HOME=" + top + "/state", "XDG_CONFIG_HOME=" + top + "/config"}
				out, err := hook.Output()
				var answer struct {
					HookSpecificOutput struct{ PermissionDecision, PermissionDecisionReason string }
				}
				if err == nil {
					err = json.Unmarshal(out, &answer)
				}
				if got := answer.HookSpecificOutput; err != nil || got.PermissionDecision != want {
					t.Errorf("%v: %q (%s), want %s: %v", call, got.PermissionDecision, got.PermissionDecisionReason, want, err)
				}
			}
		})
	}
}

func put(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// trustFile trusts a policy as it is, as 'assent trust' does.
func trustFile(t *testing.T, file, state string) {
	t.Helper()
	f, err := config.Read(file, config.PolicyFile)
	if err != nil {
		t.Fatal(err)
	}
	b, err := trust.Of(f)
	if err == nil {
		err = trust.Folder(filepath.Join(state, "trust")).Put(t.Context(), trust.Record{Path: b.Path, Parts: b.Parts})
	}
	if err != nil {
		t.Fatal(err)
	}
}
