package toolbox_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/approval/approvaltest"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/shell"
)

const runningPolicy = `
sandbox: {paths: {.: {root: TOP/proj, mode: rw, approval: {read: allow, write: allow, delete: allow}}}}
shell:
  default: {approval: ask}
  rules:
    - {pattern: touch, approval: deny}
    - {pattern: cat, approval: allow}
`

// positions are texts in which a program that is denied starts where no reading can see it:
// its name is made while the command runs. Each would then make the file "after".
var positions = map[string]string{
	"plain":                "$(printf 'to%s' uch) M; echo > after",
	"pipeline":             "echo x | $(printf 'to%s' uch) M | cat; echo > after",
	"substitution":         "echo \"$($(printf 'to%s' uch) M; echo > after)\"; echo > after",
	"background":           "$(printf 'to%s' uch) M & wait; echo > after",
	"process substitution": "cat <($(printf 'to%s' uch) M; echo > after); echo > after",
	"here-document":        "cat <<E\n$($(printf 'to%s' uch) M)\nE\necho > after",
	"function":             "f() { \"$@\"; }; f $(printf 'to%s' uch) M; echo > after",
	"loop":                 "for c in $(printf 'to%s' uch); do $c M; echo > after; done; echo > after",
	"trap":                 "trap \"$(printf 'to%s' uch) M; echo > after\" EXIT; exit 0",
	"eval":                 "eval \"$(printf 'to%s' uch) M; echo > after\"; echo > after",
	"source":               ". ./lib.sh; echo > after",
	"inner shell":          "bash -c \"$(printf 'to%s' uch) M; echo > after\"; echo > after",
	"inner document":       "sh <<E\n$(printf 'to%s' uch) M\necho > after\nE\necho > after",
	"script without #!":    "./plain; echo > after",
	"condition":            "if $(printf 'to%s' uch) M; then echo > after; else echo > after; fi; echo > after",
	"arithmetic":           "x='a[$($(printf to%s uch) M; echo > after)]'; echo $((x)); echo > after",
	"hash":                 "hash -p \"$(printf /usr/bin/to%s uch)\" ls; ls M; echo > after",
	"exported function":    "f() { $(printf 'to%s' uch) M; echo > after; }; export -f f; bash -c f; echo > after",
	"variable before":      "A=1 $(printf 'to%s' uch) M; echo > after",
	"link":                 "ln -s \"$(printf /usr/bin/to%s uch)\" ls; ./ls M; echo > after",
	"another name":         "(exec -a ls $(printf 'to%s' uch) M); echo > after",
}

// A deny holds wherever a program starts, and ends the whole command: no branch has an effect
// after it.
func TestDeniedWhileItRuns(t *testing.T) {
	for name, text := range positions {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, runningPolicy)
			w.write("proj/lib.sh", "$(printf 'to%s' uch) M\necho > after\n")
			w.write("proj/plain", "$(printf 'to%s' uch) M\necho > after\n")
			must(t, os.Chmod(w.top+"/proj/plain", 0o755))
			r := w.call(policy.ModeAsk, yes(""), "shell", map[string]any{"command": text})
			got, ok := r.Value.(shell.Result)
			if !ok || got.Stopped == "" || !strings.Contains(got.Stopped, "touch") {
				t.Errorf("%q: %+v, %s", text, r.Value, r.Text)
			}
			for _, file := range []string{"M", "after"} {
				if _, err := os.Lstat(filepath.Join(w.top, "proj", file)); err == nil {
					t.Errorf("%q made %s", text, file)
				}
			}
			if kinds := w.kinds(); !slices.Contains(kinds, approval.EventUnexpected) {
				t.Errorf("the log has %v", kinds)
			}
		})
	}
}

func (w *world) kinds() []approval.EventKind {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []approval.EventKind
	for _, e := range w.events {
		out = append(out, e.Kind)
	}
	return out
}

// A redirection to a file that is denied ends the command as well, before the file is
// changed.
func TestDeniedFileWhileItRuns(t *testing.T) {
	w := newWorld(t, runningPolicy+"rules: [deny write_file(./kept)]\n")
	w.write("proj/kept", "as it was\n")
	r := w.call(policy.ModeAsk, yes(""), "shell", map[string]any{"command": `f=$(printf 'ke%s' pt); echo x > "$f"; echo > after`})
	if got, ok := r.Value.(shell.Result); !ok || got.Stopped == "" {
		t.Errorf("%+v, %s", r.Value, r.Text)
	}
	if text, err := os.ReadFile(w.top + "/proj/kept"); err != nil || string(text) != "as it was\n" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := os.Lstat(w.top + "/proj/after"); err == nil {
		t.Error("it went on")
	}
}

// A file that was opened to be read is not written by its descriptor without a judgement:
// /dev/fd/N opens it once more.
func TestADescriptorGainsNothing(t *testing.T) {
	conf := strings.Replace(runningPolicy, "write: allow", "write: ask", 1)
	conf = strings.Replace(conf, "default: {approval: ask}", "default: {approval: by_effect}\n  judge: running", 1)
	for _, text := range []string{
		`exec 3<kept; f=$(echo /dev/fd/3); echo x > "$f"`,
		`f=$(echo /dev/stdin); echo x > "$f" < kept; { echo x > "$f"; } < kept`,
		`exec 3<kept; f=$(echo /dev/fd/3); echo x >> "$f"`,
		`exec 3<kept; f=$(echo /dev/fd/3); exec 4<> "$f"; echo x >&4`,
		// A program that is started with the name of a descriptor opens it once more too.
		`exec 3<kept; f=$(echo /dev/fd/3); echo x | tee "$f"; cat kept`,
		`exec 33<kept; f=$(echo /dev/fd/33); echo x | tee "$f"; cat kept`,
		`exec 3<kept; f=$(echo /proc/self/fd/3); echo x | tee "$f"; cat kept`,
		`f=$(echo /dev/stdout); { echo x | tee "$f"; } 1<kept; cat kept`,
	} {
		w := newWorld(t, conf)
		w.write("proj/kept", "as it was\n")
		r := w.shell(text)
		if got, ok := r.Value.(shell.Result); !ok && !strings.Contains(r.Text, "DENIED") || ok && got.Stopped == "" {
			t.Errorf("%q: %+v, %s", text, r.Value, r.Text)
		}
		if kept, err := os.ReadFile(w.top + "/proj/kept"); err != nil || string(kept) != "as it was\n" {
			t.Errorf("%q: %q, %v", text, kept, err)
		}
	}
	w := newWorld(t, conf)
	w.write("proj/kept", "as it was\n")
	r := w.shell(`exec 3<kept; cat /dev/fd/3; f=$(echo /dev/fd/3); cat < "$f"; cat <<< "$f" > "$(echo /dev/stdout)"; exec 3<&-; cat <(cat kept) <(cat kept) | tee "$(echo /dev/fd/2)" > /dev/null`)
	if got, ok := r.Value.(shell.Result); !ok || got.Stopped != "" || got.Stdout != "as it was\nas it was\n/dev/fd/3\n" || got.Stderr != "as it was\nas it was\n" {
		t.Errorf("%+v, %s", r.Value, r.Text)
	}
}

// A text that another program hands to a real shell is free only if the second reader reads
// what the parser reads: that shell asks nobody. What our shell interprets in place of one
// needs no second reader.
func TestTextsForRealShells(t *testing.T) {
	conf := strings.Replace(runningPolicy, "default: {approval: ask}", "default: {approval: by_effect}\n  presets: [readonly]", 1)
	split := "$'cat <<E\\n\\\\\\nE\\ntouch M\\nE\\n'" // bash joins the line to the delimiter
	span := "$'cat <<E\\n${x:-\\nE\\ntouch M\\n}\\nE\\n'"
	for text, runs := range map[string]bool{
		"timeout 5 bash -c " + split: false, "timeout 5 bash -c " + span: false, "env bash -c " + split: false,
		"find . -maxdepth 0 -exec bash -c " + split + " \\;": false, "bash --posix -c " + split: false,
		"timeout 5 bash -c \"bash -c " + split + "\"": false,
		"bash -c " + split:                            true, "bash -euo pipefail -c " + split: true, "bash -v -c " + split: true,
		"timeout 5 bash -c 'cat kept; for i in 1 2; do echo $i; done'": true,
	} {
		w := newWorld(t, conf)
		w.write("proj/kept", "as it was\n")
		r := w.shell(text)
		if got, ok := r.Value.(shell.Result); (ok && got.Stopped == "") != runs {
			t.Errorf("%q: %+v, %s", text, r.Value, r.Text)
		}
		if _, err := os.Lstat(w.top + "/proj/M"); err == nil {
			t.Errorf("%q made M", text)
		}
	}
}

// More words than a program can be started with are refused as the system would, without a
// judgement; of many words only the beginning is told and recorded.
func TestManyWordsWhileItRuns(t *testing.T) {
	w := newWorld(t, runningPolicy)
	r := w.call(policy.ModeAsk, yes(""), "shell", map[string]any{"command": "x=$(seq 1 400000); cat $x; echo $?"})
	if got, ok := r.Value.(shell.Result); !ok || got.Stdout != "126\n" || !strings.Contains(got.Stderr, "Argument list too long") {
		t.Errorf("%+v, %s", r.Value, cutText(r.Text))
	}
	r = w.call(policy.ModeAsk, approvaltest.Script(approvaltest.Yes, approvaltest.No), "shell", map[string]any{"command": "$(echo wc; seq 1 50000)"})
	if got, ok := r.Value.(shell.Result); !ok || !strings.HasPrefix(got.Stopped, "wc 1 2 3") || len(got.Stopped) > 5000 {
		t.Errorf("%s", cutText(r.Text))
	}
	for _, e := range w.events {
		if len(e.Why) > 5000 {
			t.Errorf("%s keeps %d bytes", e.Kind, len(e.Why))
		}
	}
}

func cutText(text string) string { return text[:min(len(text), 500)] }

// What the reading did not foresee is a question of its own, which names what has run.
func TestUnforeseenIsAsked(t *testing.T) {
	w := newWorld(t, runningPolicy)
	w.write("proj/lib.sh", "wc -l lib.sh\n")
	person := approvaltest.Script(approvaltest.Yes, approvaltest.Yes)
	r := w.call(policy.ModeAsk, person, "shell", map[string]any{"command": "cat lib.sh; . ./lib.sh; head -c 3 lib.sh"})
	got, ok := r.Value.(shell.Result)
	if !ok || got.Stdout != "wc -l lib.sh\n1 lib.sh\nwc " || got.Stopped != "" {
		t.Fatalf("%+v, %s", r.Value, r.Text)
	}
	asked := person.Asked()
	if len(asked) != 2 {
		t.Fatalf("%d questions", len(asked))
	}
	if !strings.Contains(asked[1].Summary, "wc -l lib.sh") || asked[1].Call.ID != "1.1" {
		t.Errorf("%+v", asked[1])
	}
	v, err := asked[1].View(context.Background())
	must(t, err)
	if facts := fmt.Sprint(v.Facts); !strings.Contains(facts, "cat lib.sh") {
		t.Errorf("%s", facts)
	}
	var ran []string
	for _, e := range w.events {
		if e.Kind == approval.EventEnded && e.CallID == "1" {
			ran = e.Ran
		}
	}
	if want := []string{"cat lib.sh", "wc -l lib.sh", "head -c 3 lib.sh"}; !slices.Equal(ran, want) {
		t.Errorf("ran %q", ran)
	}
}

// A no to such a question ends the command, and the result lists what ran.
func TestUnforeseenIsRefused(t *testing.T) {
	w := newWorld(t, runningPolicy)
	w.write("proj/lib.sh", "wc -l lib.sh\necho > after\n")
	r := w.call(policy.ModeAsk, approvaltest.Script(approvaltest.Yes, approvaltest.No), "shell", map[string]any{"command": "cat lib.sh; . ./lib.sh; echo > after"})
	got, ok := r.Value.(shell.Result)
	if !ok || got.Stopped == "" || !slices.Equal(got.Ran, []string{"cat lib.sh"}) {
		t.Fatalf("%+v, %s", r.Value, r.Text)
	}
	if _, err := os.Lstat(w.top + "/proj/after"); err == nil {
		t.Error("it went on")
	}
	if r.Err != nil {
		t.Error(r.Err)
	}

}

// What was approved with the call asks no second time, whatever its unknown words turn out
// to be, as long as nothing forbids or guards it.
func TestApprovedOnceIsEnough(t *testing.T) {
	for _, text := range []string{
		"for f in *.txt; do head -c 1 $f; done", "rm *.txt", "x=$(cat a.txt); wc -c \"$x\"", "head -c 1 a.txt b.txt > out",
		"find . -name '*.txt' | xargs head -c 1", "f() { head -c 1 \"$1\"; }; f a.txt; f b.txt", "A=1 env | head -c 1; export B=2; head -c 1 a.txt",
		"cd sub && head -c 1 c.txt", "mkdir -p n && cp a.txt n/ && head -c 1 n/a.txt", "bash -c 'head -c 1 a.txt'", "bash <<'E'\nhead -c 1 a.txt\nE\n",
		"ls *.txt | while read f; do head -c 1 \"$f\"; done", "sort a.txt | head -c 1 & wait", "python3 -c 'print(1)' | head -c 1",
		"diff <(sort a.txt) <(sort b.txt)", "echo $(head -c 1 a.txt)", "git init -q r && cd r && git status", "tee n1 n2 < a.txt", "head -c 1 < *.txt; true",
	} {
		w := newWorld(t, runningPolicy)
		w.write("proj/a.txt", "a.txt")
		w.write("proj/b.txt", "b")
		w.write("proj/sub/c.txt", "c")
		person := approvaltest.Script(approvaltest.Yes)
		r := w.call(policy.ModeAsk, person, "shell", map[string]any{"command": text})
		if got, ok := r.Value.(shell.Result); !ok || got.Stopped != "" || len(person.Asked()) != 1 {
			t.Errorf("%s: %+v, %s; %d questions", text, r.Value, r.Text, len(person.Asked()))
			for _, q := range person.Asked()[min(1, len(person.Asked())):] {
				t.Logf("asked: %s (%s)", q.Summary, q.Why)
			}
		}
	}
}

// A question that nobody answers ends the command when it was held long enough. The question
// stays, and its yes holds once, for the same command.
func TestHeldQuestion(t *testing.T) {
	w := newWorld(t, strings.Replace(runningPolicy, "shell:\n", "shell:\n  hold: 200ms\n", 1))
	w.write("proj/lib.sh", "wc -l lib.sh\n")
	var mu sync.Mutex
	asked, answer := 0, make(chan struct{})
	person := approval.ApproverFunc(func(_ context.Context, r *approval.Request) (approval.Decision, error) {
		mu.Lock()
		asked++
		n := asked
		mu.Unlock()
		if n == 2 {
			<-answer // long after the command has ended
		}
		return r.Approve(""), nil
	})
	g := w.gate(policy.ModeAsk, person)
	text := "cat lib.sh; . ./lib.sh; echo end"
	got := shellCall(t, g, "1", text)
	if !strings.Contains(got.Stopped, "nobody answered") || strings.Contains(got.Stdout, "end") {
		t.Fatalf("%+v", got)
	}
	close(answer)
	questions := func(id string) int {
		mu.Lock()
		before := asked
		mu.Unlock()
		if got := shellCall(t, g, id, text); !strings.HasSuffix(got.Stdout, "1 lib.sh\nend\n") {
			t.Fatalf("%+v", got)
		}
		mu.Lock()
		defer mu.Unlock()
		return asked - before
	}
	// The answer is taken in the background: until then both are asked, the command and what it does.
	for deadline := time.Now().Add(time.Minute); questions("2") != 1; {
		if time.Now().After(deadline) {
			t.Fatal("the late answer is never taken")
		}
	}
	if n := questions("3"); n != 2 {
		t.Errorf("the late answer held more than once: %d questions", n)
	}
}

// The limit of time stands still while a person is asked.
func TestTimeStandsStill(t *testing.T) {
	w := newWorld(t, runningPolicy)
	w.write("proj/lib.sh", "wc -l lib.sh\n")
	n := 0
	g := w.gate(policy.ModeAsk, approval.ApproverFunc(func(_ context.Context, r *approval.Request) (approval.Decision, error) {
		if n++; n == 2 {
			<-time.After(5500 * time.Millisecond)
		}
		return r.Approve(""), nil
	}))
	data, err := json.Marshal(map[string]any{"command": ". ./lib.sh", "timeout": 5})
	must(t, err)
	r := tool.Call(t.Context(), g, policy.Call{ID: "1", Tool: "shell", Arguments: data})
	if got, ok := r.Value.(shell.Result); !ok || got.TimedOut || got.Stdout != "1 lib.sh\n" {
		t.Errorf("%+v %v", r.Value, r.Err)
	}
}

func (w *world) gate(mode policy.Mode, person approval.Approver) *tool.Gate {
	w.t.Helper()
	g, err := tool.Guard(approval.Config{Mode: mode, Approver: person, Recorder: w, Session: "s", Policy: w.box.Policy.Rules}, w.box.Tools...)
	must(w.t, err)
	w.t.Cleanup(g.Close)
	return g
}

func shellCall(t *testing.T, g *tool.Gate, id, text string) shell.Result {
	t.Helper()
	data, err := json.Marshal(map[string]any{"command": text})
	must(t, err)
	r := tool.Call(t.Context(), g, policy.Call{ID: id, Tool: "shell", Arguments: data})
	got, ok := r.Value.(shell.Result)
	if !ok {
		t.Fatalf("%+v %v", r.Value, r.Err)
	}
	return got
}

// A program that kills, stops or looks into the shell that started it gains nothing.
func TestTheShellAgainstItsChildren(t *testing.T) {
	for name, text := range map[string]string{
		"killed": `python3 -c 'import os, time; os.kill(os.getppid(), 9); time.sleep(.5)'; echo > after`,
		// Its threads stop one after another, so the child gives them a moment.
		"stopped": `python3 -c 'import os, time; os.kill(os.getppid(), 19); time.sleep(.5)'; echo > after`,
	} {
		w := newWorld(t, runningPolicy)
		r := w.call(policy.ModeAsk, yes(""), "shell", map[string]any{"command": text, "timeout": 2})
		if _, err := os.Lstat(w.top + "/proj/after"); err == nil {
			t.Errorf("%s: it went on: %+v %v", name, r.Value, r.Err)
		}
	}
	w := newWorld(t, runningPolicy)
	look := `import os, glob
p = os.getppid()
for f in ["mem", "environ", "fd", "maps"]:
    try:
        print(f, os.listdir(f"/proc/{p}/{f}") if f == "fd" else open(f"/proc/{p}/{f}", "rb").read(1))
    except OSError as e:
        print(f, "no")
print(sorted(os.listdir("/proc/self/fd")))`
	w.write("proj/look.py", look)
	if os.Geteuid() != 0 { // root inside the sandbox is root of its own processes
		r := w.call(policy.ModeAsk, yes(""), "shell", map[string]any{"command": "python3 look.py"})
		if got, _ := r.Value.(shell.Result); !strings.HasPrefix(got.Stdout, "mem no\nenviron no\nfd no\nmaps no\n") {
			t.Errorf("%+v", got)
		}
	}
}

// What only bash has is run by bash, as code that cannot be read: a deny may be met, so that
// only a person allows it.
func TestWhatOnlyBashHas(t *testing.T) {
	w := newWorld(t, runningPolicy)
	text := "coproc cat; echo $COPROC_PID > /dev/null; echo done"
	if r := w.call(policy.ModeApproveAll, nil, "shell", map[string]any{"command": text}); r.Err == nil {
		t.Errorf("approve-all ran it: %+v", r.Value)
	}
	r := w.call(policy.ModeAsk, yes(""), "shell", map[string]any{"command": text})
	if got, ok := r.Value.(shell.Result); !ok || got.Stdout != "done\n" {
		t.Errorf("%+v %v", r.Value, r.Err)
	}
}

// With judge: running, what is known only when a command runs is judged then, and a command
// begins without a question.
func TestJudgedAsItRuns(t *testing.T) {
	w := newWorld(t, strings.Replace(runningPolicy, "shell:\n", "shell:\n  judge: running\n  presets: [readonly]\n", 1))
	w.write("proj/a.txt", "a.txt")
	for text, want := range map[string]string{
		"for f in $(echo a.txt); do cat $f; done":   "a.txt",
		"x=$(cat a.txt); cat \"$x\"":                "a.txt",
		"c=$(echo cat); $c a.txt":                   "a.txt",
		"eval \"$(echo cat) a.txt\"":                "a.txt",
		"f=$(echo out); echo x > \"$f\"; cat out":   "x\n",
		"bash -c \"$(echo cat) a.txt\"":             "a.txt",
		"f() { \"$@\"; }; f $(echo cat) a.txt":      "a.txt",
		"cat $(printf '%s\\n' a.txt) | cat && cat ": "a.txt",
		"find . -name 'a.*' | xargs cat":            "a.txt",
		"find . -name 'a.*' -print0 | xargs -0 cat": "a.txt",
		"find . -name 'a.*' -exec cat {} +":         "a.txt",
		"echo a.txt > /tmp/x; cat /tmp/x":           "a.txt\n",
	} {
		r := w.shell(text) // strict: nobody is asked
		if got, ok := r.Value.(shell.Result); !ok || got.Stdout != want || got.Stopped != "" {
			t.Errorf("%s: %+v %v", text, r.Value, r.Err)
		}
	}
	for _, text := range []string{
		"c=$(echo install); $c a.txt M", "eval \"$(echo install) a.txt M\"", "c=$(echo truncate); $c -s 0 a.txt", "cat a.txt | xargs cat", "f=$(echo /etc/passwd); cat $f", "rm $(echo a.txt)",
		"python3 a.txt", "f=$(echo M); > \"/etc/$f\"",
	} {
		r := w.shell(text)
		if got, ok := r.Value.(shell.Result); ok && got.Stopped == "" {
			t.Errorf("%s ran: %+v", text, got)
		}
	}
	if text, err := os.ReadFile(w.top + "/proj/a.txt"); err != nil || string(text) != "a.txt" {
		t.Errorf("%q %v", text, err)
	}
}

// A yes to words that were not known does not cover what nobody would have expected: flags that
// do more than the program is for, secrets, files and folders outside of the roots.
func TestUnknownWordsCoverLittle(t *testing.T) {
	for _, text := range []string{
		"sort $(echo -o b.txt) a.txt", "git $(echo -c core.pager=x log)", "head $(echo /etc/hostname)", "head -c 1 $(echo .env)", "cd $(echo /etc); head -c 1 hostname",
		"echo x > $(echo /etc/assent-outside)", "echo x > $(echo .env)", "rm -r $(echo /etc/assent-outside)", "find $(echo . -exec rm a.txt ';')", "tee $(echo /etc/x) < a.txt",
	} {
		w := newWorld(t, strings.ReplaceAll(runningPolicy, "default: {approval: ask}", "default: {approval: ask}\n  presets: [readonly]"))
		w.write("proj/a.txt", "a\n")
		w.write("proj/.env", "KEY=1\n")
		person := approvaltest.Script(approvaltest.Yes, approvaltest.No)
		r := w.call(policy.ModeAsk, person, "shell", map[string]any{"command": text})
		if got, ok := r.Value.(shell.Result); !ok || got.Stopped == "" || len(person.Asked()) != 2 {
			t.Errorf("%s: %+v, %s; %d questions", text, r.Value, r.Text, len(person.Asked()))
		}
	}
}
