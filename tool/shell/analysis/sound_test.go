package analysis

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/assent-dev/assent/tool/shell/programs"
)

// A writer makes random scripts that end.
type writer struct {
	*rand.Rand
	loops int
}

func (w *writer) of(choices ...string) string { return choices[w.IntN(len(choices))] }

func (w *writer) name() string { return w.of("A", "B", "C") }

func (w *writer) word() string {
	return w.of("x", "y", "'p q'", "$A", `"$A"`, "$B", `"$B"`, "${C}z", `"$1"`, "$2", `"$@"`, "$i", "{m,n}", "$PWD", "~", `"${L[@]}"`, `"$@x"`, `"${L[@]}z"`, "${A:-d}", "${B:=e}", "$((N))", "*", "${A%x}", "$(pwd)", "$(args sub)", "$#")
}

func (w *writer) list(depth int) string {
	var all []string
	for range 1 + w.IntN(3) {
		all = append(all, w.stmt(depth))
	}
	return strings.Join(all, w.of("; ", "\n", "; "))
}

// stmt writes one statement.
func (w *writer) stmt(depth int) string {
	if depth <= 0 || w.IntN(5) < 2 {
		return w.simple()
	}
	body := func() string { return w.list(depth - 1) }
	switch w.IntN(17) {
	case 0:
		return "if " + w.test() + "; then " + body() + "; else " + body() + "; fi"
	case 1:
		return "for i in " + w.of("1 2", "$A", "a b c", `"$@"`, "*", "x") + "; do " + body() + "; done"
	case 2:
		w.loops++
		n := fmt.Sprintf("n%d", w.loops)
		return n + "=; while [ ${#" + n + "} -lt 2 ]; do " + n + "+=x; " + body() + "; done"
	case 3:
		return "(" + body() + ")"
	case 4:
		return w.test() + " && { " + body() + "; }"
	case 5:
		return w.test() + " || { " + body() + "; }"
	case 6:
		return w.of("f", "g") + "() { " + w.of("", "local A; ", "local B=l; ") + body() + "; }"
	case 7:
		return "case " + w.of("$A", "x", "$B") + " in x) " + body() + w.of(" ;; ", " ;& ", " ;;& ") + "*) " + body() + " ;; esac"
	case 8:
		return "{ " + body() + "; }"
	case 9:
		return "{ " + body() + "; } | { " + body() + "; }"
	case 10:
		return "eval '" + strings.ReplaceAll(body(), "'", `'\''`) + "'"
	case 11:
		return "for i in 1 2; do " + body() + "; " + w.test() + " && " + w.of("break", "continue") + "; " + body() + "; done"
	case 12:
		return "cd " + w.of("d", "..", "d/e", "nowhere", "link", "link/..", `"$A"`, ".", "~", "-P link", "-") + w.of("; ", " && ", " || ") + w.simple()
	case 13:
		return "for ((N = 0; N < 2; N++)); do " + body() + "; done"
	case 14:
		return "trap '" + w.of("A=t", "B=$A", "cd d", "args trap $A") + "' " + w.of("DEBUG", "EXIT")
	case 15:
		return w.of("f", "g") + "() { " + body() + "; " + w.test() + " && return; " + body() + "; }; " + w.of("f", "g a b")
	}
	return "bash -c '" + w.of("args $A", `args "$1" $0`, "cd d; args x", "A=q; args $A") + "' " + w.of("", "u v")
}

func (w *writer) test() string {
	return w.of("true", "false", "[ \"$A\" = x ]", "[[ $B == y ]]", "cd d", "! true", "test -d d", "[ $# -gt 0 ]")
}

func (w *writer) simple() string {
	switch w.IntN(14) {
	case 0, 1:
		return w.name() + "=" + w.of("x", "y", "'p q'", "$A", "$B$C", `"$1"`, "", "d", "$(args in)", "~")
	case 2:
		return w.name() + "+=" + w.of("x", "$B")
	case 3:
		return "export " + w.name() + "=" + w.of("x", "k")
	case 4:
		return w.of("unset ", "read ") + w.name() + " <<< r"
	case 5:
		return w.of("set -- a 'b c'", "shift", "set -- $A")
	case 6:
		return w.of("f", "g", "f x", `g "$A" z`)
	case 7:
		return "L=(" + w.word() + " " + w.of("s", "$A") + ")"
	case 8:
		return w.name() + "=pre args " + w.word()
	case 9:
		return w.of("unset -f f", "local A=l", "readonly C", "printf -v A v", "((N++))", "declare B=d2", "IFS=:", "A=w env args $A", "command args $A", "pushd d", "pushd ..", "popd", "cd -", "dirs -c", "declare -l B", "declare -i N", "declare -A M")
	}
	return "args " + w.word() + " " + w.word()
}

// TestSound: every call that bash makes, with its words and in its folder, is among the
// parts, whatever the script did to its variables before.
func TestSound(t *testing.T) {
	bin := t.TempDir()
	spy := "#!/bin/sh\nline=$(printf '%s\\037' \"$(pwd -P)\" \"$@\")\nprintf '%s\\n' \"$line\" >> \"$SPY\"\n"
	if err := os.WriteFile(filepath.Join(bin, "args"), []byte(spy), 0o700); err != nil {
		t.Fatal(err)
	}
	w := &writer{Rand: rand.New(rand.NewPCG(5, 5))}
	calls := 0
	for range 250 {
		calls += soundCase(t, bin, "A=x; B=y; C=d; N=0; i=k; L=(l); set -- one two; "+w.list(3))
	}
	if calls < 300 {
		t.Errorf("only %d calls were made: they test too little", calls)
	}
}

// soundCase runs one script, and returns how many calls were checked.
func soundCase(t *testing.T, bin, text string) int {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	must(t, os.MkdirAll(dir+"/d/e", 0o700))
	must(t, os.Symlink("d/e", dir+"/link"))
	world := newTree(dir+"/", dir+"/d/", dir+"/d/e/", dir+"/link -> "+dir+"/d/e")
	script, err := Read(text, dir, world)
	if err != nil || slices.ContainsFunc(script.Parts, func(p Part) bool { return p.Opaque }) {
		return 0 // refused, or said to be unknown
	}
	log := filepath.Join(bin, "log")
	must(t, os.WriteFile(log, nil, 0o600))
	shellWith(dir, script.Text.String(), "PATH="+bin+":"+os.Getenv("PATH"), "SPY="+log, "HOME=/home/u", "LANG=C.UTF-8", "PWD="+dir, "FUNCNEST=20")
	made, err := os.ReadFile(log)
	must(t, err)
	n := 0
	for _, line := range strings.Split(strings.TrimSuffix(string(made), "\n"), "\n") {
		call := strings.Split(strings.TrimSuffix(line, "\037"), "\037")
		if line == "" {
			continue
		}
		n++
		if !listed(script.Parts, call[0], call[1:], world) {
			t.Errorf("bash calls args%q in %s, which is not among the parts of\n%s\n\n%s", call[1:], strings.TrimPrefix(call[0], dir), script.Text, described(script.Parts))
			break
		}
	}
	return n
}

// listed reports whether a part stands for the call.
func listed(parts []Part, dir string, args []string, world World) bool {
	for _, p := range parts {
		if p.Kind != Runs {
			continue
		}
		words := p.Words
		if words[0].Known && words[0].Text != "args" {
			continue
		}
		if real, _ := world.Look(p.Dir); p.Dir != "" && real != dir {
			continue
		}
		if fits(words[1:], args) {
			return true
		}
	}
	return false
}

// fits reports whether words may stand for the arguments.
func fits(words []programs.Word, args []string) bool {
	if len(words) == 0 {
		return len(args) == 0
	}
	w := words[0]
	if w.Many {
		for n := range len(args) + 1 {
			if fits(words[1:], args[n:]) {
				return true
			}
		}
		return false
	}
	if len(args) == 0 || w.Known && w.Text != args[0] || !strings.HasPrefix(args[0], w.Begin) {
		return false
	}
	return fits(words[1:], args[1:])
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
