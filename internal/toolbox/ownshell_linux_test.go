package toolbox_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/assent-dev/assent/internal/rounds"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool/shell"
	"github.com/assent-dev/assent/tool/shell/analysis"
)

const blindPolicy = `
sandbox: {paths: {.: {root: TOP/proj, mode: rw, approval: {read: allow, write: allow, delete: allow}}}}
shell:
  default: {approval: allow}
rules: [deny shell(touch), deny write_file(./M), deny write_file(./kept)]
`

// blind is a reading that sees nothing: whatever the text does, only the judgement of the
// running command is in its way.
func blind(text, dir string, world analysis.World) (*analysis.Script, error) {
	script, err := analysis.Read(text, dir, world)
	if err != nil {
		return nil, err
	}
	nothing, err := analysis.Read(":", dir, world)
	if err != nil {
		return nil, err
	}
	script.Parts, script.Odd, script.Files = nothing.Parts, "", nil
	return script, nil
}

// hidden are texts in which bash, or a reading that was too clever, found another command
// than the parser: they ran a program that was denied.
var hidden = []string{
	"echo a #b\\\ntouch M", "echo a \\\r\ntouch M", "x=(a)#; touch M", "declare x=(a)#; touch M", "x+=(a)#; touch M", "(\\\n(echo '$(touch M)'))", "echo `echo ' `;touch M;`'`",
	"echo $(case a in a) :;; esac); touch M", "echo $(: &); touch M", "bash -c 'echo $(: &); touch M'", "eval 'echo $(: &); touch M'", "echo \"$`touch M`\"",
	"cat <<E\n\\\nE\ntouch M\nE", "cat <<E\n${x:-\nE\ntouch M\n}\nE", "cat <((cat <<E\n$(touch M)\nE\n))",
	"let x||touch M", "let x|touch M", "let 'x||1' && touch M", "let x; touch M",
	"x='a[$(touch M)]'; while false; do x=1; done; echo $((x))", "x=touch; { x=echo; } <nope; $x M", "x=touch; declare -p x=echo; $x M",
	"x='a[$(touch M)]'; let x=1 y=$((x))", "set -- 'a[$(touch M)]'; echo $(($@))", "f() { local x=echo; }; x=touch; f; $x M", "x=touch; f() { declare -g x=echo; return; }; $x M",
	"x=touch; for x in; do :; done; $x M", "x=touch; until true; do x=echo; done; $x M", "x=touch; while true; do break; x=echo; done; $x M",
	"echo x > kept", "f=ke; echo x > ${f}pt", "exec 3>kept", "echo x >| kept", ": &> kept", "echo x >> kept", "printf x | tee -a kept", "cp /dev/null kept", "eval 'echo > kept'",
	"hash -p /usr/bin/touch ls; ls M", "(exec -a ls touch M)", "command touch M", "env touch M", "xargs touch <<< M", "find . -maxdepth 0 -exec touch M ';'",
	"printf -v x %s touch; $x M", "read x <<< touch; $x M", "mapfile -t x <<< touch; $x M", "${x:=touch} M", "x=(touch M); \"${x[@]}\"", "trap 'touch M' EXIT", "trap 'touch M' ERR; false",
	"coproc touch M", "select x in a; do touch M; break; done <<< 1", "PS4='$(touch M)'; set -x; :", "x='$(touch M)'; echo \"${x@P}\"", "[[ -v 'a[$(touch M)]' ]]", "test -v 'a[$(touch M)]'",
	"source /dev/stdin <<< 'touch M'", ". <(echo touch M)", "echo 'touch M' | bash", "bash <<< 'touch M'", "sh -c 'touch M'", "bash -ec 'touch M'", "echo $(<<E cat\n$(touch M)\nE\n)",
	"ln -s /usr/bin/touch t; ./t M", "PATH=$PWD:$PATH; ln -s /usr/bin/touch ls; ls M", "alias ls='touch M'; shopt -s expand_aliases\nls", "ls() { touch M; }; ls",
	"ls() { touch M; }; export -f ls; bash -c ls", "BASH_ENV=<(echo touch M) bash -c :", "ENV=x sh -c 'touch M'", "touch M & wait", "coproc { touch M; }; wait", "time touch M", "! touch M", "nohup touch M", "timeout 5 touch M",
}

// Each of them is stopped while it runs, however little the reading sees.
func TestHiddenTextsAreStoppedWhileTheyRun(t *testing.T) {
	w := newBlind(t)
	w.control()
	for _, text := range hidden {
		if why := w.tries(text); why != "" {
			t.Errorf("%q: %s", text, why)
		}
	}
}

func newBlind(t testing.TB) *world {
	t.Helper()
	w := newWorld(t, "sandbox: {paths: {.: {root: TOP/proj, mode: rw}}}")
	w.read, w.without.Wall = blind, true
	w.box = w.open(blindPolicy, nil)
	return w
}

// tries runs a text in a clean project and says what it did that is denied.
func (w *world) tries(text string) string {
	w.t.Helper()
	entries, err := os.ReadDir(w.top + "/proj") // the folder itself must stay: it is a root
	must(w.t, err)
	for _, e := range entries {
		must(w.t, os.RemoveAll(filepath.Join(w.top, "proj", e.Name())))
	}
	w.write("proj/kept", "as it was\n")
	w.write("proj/a", "a\n")
	r := w.call(policy.ModeApproveAll, nil, "shell", map[string]any{"command": text, "timeout": 5})
	made, _ := filepath.Glob(w.top + "/proj/M")
	var kept []byte
	kept, err = os.ReadFile(w.top + "/proj/kept")
	switch {
	case len(made) > 0:
		return fmt.Sprintf("touch ran and made %v; %s", made, r.Text)
	case err != nil || string(kept) != "as it was\n":
		return fmt.Sprintf("kept is %q, %v; %s", kept, err, r.Text)
	}
	got, ran := r.Value.(shell.Result)
	if ran {
		w.ran++
	}
	if got.Stopped != "" {
		w.stopped++
	}
	if strings.Contains(got.Stderr, "panic: ") || strings.Contains(got.Stderr, "goroutine ") {
		return got.Stderr
	}
	return ""
}

// control is a text that does something which is allowed: otherwise nothing was tried.
func (w *world) control() {
	w.t.Helper()
	if why := w.tries("echo x > made; cat made"); why != "" {
		w.t.Fatal(why)
	}
	if text, err := os.ReadFile(w.top + "/proj/made"); err != nil || string(text) != "x\n" {
		w.t.Fatalf("an ordinary command does not run: %q, %v", text, err)
	}
}

// TestOwnShell changes texts byte by byte and runs what comes out in our shell, with a reading
// that sees nothing: a program that is denied must not run, and a file that is denied must
// stay as it is. ASSENT_FUZZ_TIME says for how long.
func TestOwnShell(t *testing.T) {
	duration, seed := 3*time.Second, uint64(1)
	if s := os.Getenv("ASSENT_FUZZ_TIME"); s != "" {
		var err error
		duration, err = time.ParseDuration(s)
		must(t, err)
		seed = rounds.Seed()
	}
	seeds := append(slices.Clone(hidden), realCommands(t)...)
	t.Logf("seed %d", seed)
	deadline := time.Now().Add(duration)
	var wg sync.WaitGroup
	var worlds []*world
	counts := make([]int, 2)
	for i := range counts {
		w := newBlind(t)
		w.control()
		worlds = append(worlds, w)
		wg.Go(func() {
			dice := rand.New(rand.NewPCG(seed, uint64(i)))
			for time.Now().Before(deadline) && !t.Failed() {
				text := mutated(dice, seeds)
				counts[i]++
				if why := w.tries(text); why != "" {
					t.Errorf("%q: %s", text, why)
				}
			}
		})
	}
	wg.Wait()
	t.Logf("%d texts, %d ran, %d of them were stopped", counts[0]+counts[1], worlds[0].ran+worlds[1].ran, worlds[0].stopped+worlds[1].stopped)
}

// realCommands are commands as agents write them, with the marker in place of some programs.
func realCommands(t testing.TB) []string {
	t.Helper()
	data, err := os.ReadFile("../../tool/shell/testdata/commands.jsonl")
	must(t, err)
	var out []string
	for line := range strings.Lines(string(data)) {
		var c struct {
			Command string `json:"command"`
		}
		must(t, json.Unmarshal([]byte(line), &c))
		if len(c.Command) > 0 && len(c.Command) < 200 {
			out = append(out, c.Command)
		}
	}
	return out
}

// pieces are what shells read in special ways.
var pieces = []string{
	"touch M", "$(touch M)", "`touch M`", "<(touch M)", "; touch M", "\ntouch M\n", "|touch M", "&touch M&", "$x", "${x}", "\"", "'", "\\", "\n", "\\\n", " #", "<<E\n", "\nE\n", "<<'E'\n", "(", ")", "((", "))", "{ ", "; }",
	"[[ ", " ]]", "$((", "eval ", "bash -c '", "x=", "x=touch;", "a[$(touch M)]", "${x:-", "}", "let ", "for x in ", "; do ", "; done", "case a in a) ", ";; esac", "> kept", ">>kept", "exec 3>", "$'", "\\x6d", "~", "*", "?", "!", "trap '", "' EXIT", "&&", "||", "2>&1", "\t", "\r", "\x00", "é",
}

// mutated makes a text out of others, as text.
func mutated(dice *rand.Rand, seeds []string) string {
	text := seeds[dice.IntN(len(seeds))]
	for range 1 + dice.IntN(5) {
		at := dice.IntN(len(text) + 1)
		switch dice.IntN(5) {
		case 0, 1:
			text = text[:at] + pieces[dice.IntN(len(pieces))] + text[at:]
		case 2: // the rest of another
			other := seeds[dice.IntN(len(seeds))]
			text = text[:at] + other[dice.IntN(len(other)+1):]
		case 3:
			end := at + dice.IntN(min(8, len(text)-at)+1)
			text = text[:at] + text[end:]
		case 4: // a program becomes the marker
			if fields := strings.Fields(text); len(fields) > 0 {
				text = strings.Replace(text, fields[dice.IntN(len(fields))], "touch M", 1)
			}
		}
	}
	return text
}
