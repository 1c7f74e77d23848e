package analysis

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/assent-dev/assent/internal/rounds"
	"github.com/assent-dev/assent/tool/shell/programs"
	"github.com/assent-dev/assent/tool/shell/subset"
)

// A valuer writes texts that assign values in odd places, and use them where they decide what
// runs or which file is written. Capital letters in its patterns stand for something else.
type valuer struct{ *rand.Rand }

var valuePatterns = map[byte][]string{
	'N': {"x", "x", "x", "x", "x", "y"},
	'B': {"mark", "'a[$(mark)]'", "secret"},
	'G': {"echo", "1", "out", "echo", "1", "out", "V"},
	'V': {"G", "G", "G", "G", "G", "mark", "mark", "mark", "echo", "echo", "'a[$(mark)]'", "'a[$(mark)]'", "1", "1", "08", "secret", "secret", "secret", "out", "$N", `"$N"`, "", "'mark M'", "$((1+1))", "$1", "x", "nope"},
	'R': {"", "", "", " < nope", " > nope/a", " 2> /dev/null", " <&7", " > out", " <<< a", " >&-"},
	'C': {"true", "false", "! true", "[ -n \"$N\" ]", "[[ $N == mark ]]", "cd d", "test -e M", "N=V", "((N))", "read N <<< V", "f"},
	'I': {"", "1", "1 2", "$N", "mark echo", `"$@"`, "*"},
	'J': {":", ":", "C && break", "C && continue", "C && return", ":", ":", "shift"},
	'S': {"A", "A", "A", "U", "U", "A; A", "A\nU", "W", "A; U", "J"},
	'A': {"N=V", "N=V", "N=V", "N=V", "N=G", "N=G", "N=G", "N=G", "N=G", "N=G", "N=V y=$x", "declare N=V", "export N=V", "export N=V y=$x", "declare -p N=V", "typeset -x N=V", "declare -g N=V", "readonly N=V", "local N=V", "N+=V", "read N <<< V", "printf -v N %s V",
		"mapfile -t N <<< V", ": ${N:=V}", ": ${N=V}", "unset N", "N=V f", "N=V true", "N=V :", "let N=1", "let N=1 y=$((x))", "((N=1))", "((N++))", ": $((N=1))", "for N in I; do S; done", "for N in V V; do S; J; done", "set -- V V", "shift", "eval 'N=V'", "N=(V V)",
		"N[0]=V", "N[-5]=V", "a=(['N']=V)", "a=(['N=1']=V)", "a=([N]=V)", "declare -i N", "declare -l N=MARK", "declare -n y=x", "trap 'N=V' DEBUG", "trap 'N=V' EXIT", "trap f ERR", "getopts ab N", "echo $((1/0))", "echo $((N/0))", "echo ${N:0:-9}", "N=V < nope", "f() { A; }", "f() { S; J; S; }R", "g() { f; A; }",
		"local N", "declare -A N", "export N", "readonly N", "IFS=V", "unset -f f", "f", "f V", "g R", "set -a", "cd d", "{ A; }R", "exec 7< nope", "command declare N=V", "builtin export N=V", "\\declare N=V", "true", "UID=3", "hash -r", ". ./nope", "wait", "time N=V", "! N=V"},
	'W': {"{ S; }R", "(S)R", "if C; then S; else S; fiR", "while C; do S; break; doneR", "n=; while [ ${#n} -lt 2 ]; do n+=x; S; doneR", "for i in I; do S; J; S; doneR", "until true; do S; done", "C && S", "C || S", "{ S; } | { S; }", "{ S; } & wait", "f() { S; J; S; }R; f R", "eval 'S'", "bash -c 'S'",
		"case a in V) S ;; *) S ;; esac", "case a in a) S ;& b) S ;; esac", ": $(S)", "! { S; }", "time { S; }", "for ((N=0;N<2;N++)); do S; done", "for N in I; do U; J; doneR", "cat <(S)", "f() { S; }; N=V f V", "if N=V; then S; fi", "while read -r N; do S; done <<< V", "f() (S)"},
	'U': {"$N M", "$N M", "$N M", "echo $((N))", "echo > $N", "echo > $N", `"$N" M`, "echo $((N))", "((N))", "[[ $N -eq 1 ]]", "[[ N -eq 1 ]]", "echo > $N", `echo > "$N"`, "${N:-mark} M", "${N-echo} M", "${N:+mark} M", "$1 M", `"$@" M`, "echo $(($1))", "echo $(($@))", "echo ${a[N]}", "f M", "a[$N]=1", "a[N]=1", "echo ${N:N}", "${N[0]} M", `"${N[@]}" M`,
		`[ -v "$N" ]`, "$x$y M", `printf -v "$N" a`, `unset "$N"`, `declare "$N=1"`, `trap "$N" EXIT`, `eval "$N M"`, "$N", "command $N M", "bash -c '$N M'", "bash -c '$0 M' $N", "let N", "let \"y=$N\"", "echo >> $1", "f $N M", "echo ${N@P}", "test $N -eq 1", "for i in $N; do $i M; done", "${N/a/b} M", "${N%x} M", "cd $N; echo > secret", "env $N M"},
}

// text writes a statement of a kind.
func (v valuer) text(kind byte, depth int) string {
	if depth <= 0 && (kind == 'S' || kind == 'W') {
		kind = "AU"[v.IntN(2)]
	}
	list := valuePatterns[kind]
	pattern := list[v.IntN(len(list))]
	if depth <= 0 && strings.ContainsAny(pattern, "SW") && kind != 'V' {
		pattern = "N=V"
	}
	var b strings.Builder
	for i := range len(pattern) {
		c := pattern[i]
		alone := (i == 0 || !isNameByte(pattern[i-1])) && (i+1 == len(pattern) || !isNameByte(pattern[i+1]))
		after := c == 'R' && i > 0
		if valuePatterns[c] != nil && (alone || after) {
			text := v.text(c, depth-1)
			if i > 0 && strings.HasSuffix(pattern[:i], "'") {
				text = strings.ReplaceAll(text, "'", `'\''`)
			}
			b.WriteString(text)
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}

// program writes a text: half of them give a variable something bad, then perhaps something
// good, and use it.
func (v valuer) program() string {
	between := func() string { return pick(v.Rand, []string{"; ", "; ", "\n"}) }
	if v.IntN(2) == 0 {
		text := "x=" + v.text('B', 1) + between() + v.text("SAWWWW"[v.IntN(6)], 1+v.IntN(2)) + between()
		if v.IntN(4) == 0 {
			text += v.text('A', 1) + between()
		}
		return text + pick(v.Rand, []string{"$x M", "echo $((x))", "echo > $x", "echo $((y))", "$y M", "${x-mark} M"})
	}
	var b strings.Builder
	for i := range 2 + v.IntN(5) {
		if i > 0 {
			b.WriteString(pick(v.Rand, []string{"; ", "; ", "; ", "\n", "\n", " && ", " || "}))
		}
		b.WriteString(v.text("SSSAUW"[v.IntN(6)], 3))
	}
	text := b.String() + pick(v.Rand, []string{"; ", "\n"}) + v.text('U', 2)
	if v.IntN(4) == 0 {
		text = mutated(v.Rand, text)
	}
	return text
}

// outOfReach are texts that might reach what is outside of the folder.
var outOfReach = regexp.MustCompile(`/[^d0ab)}; ]|//|\.\.|kill|~|/dev/[^n]`)

// TestRawValues runs texts that use values in real bash, those that the second reader reads as
// they stand and the others in their canonical form: the marker starts, or a file is written,
// only if a part says so. ASSENT_FUZZ_TIME says for how long.
func TestRawValues(t *testing.T) {
	seed, until, most := uint64(1), time.Now().Add(time.Hour), 500
	if s := os.Getenv("ASSENT_FUZZ_TIME"); s != "" {
		d, err := time.ParseDuration(s)
		must(t, err)
		seed, until, most = rounds.Seed(), time.Now().Add(d), 1<<60
	}
	v := valuer{rand.New(rand.NewPCG(seed, 5))}
	bin := t.TempDir()
	for _, name := range []string{"cat", "bash", "env"} {
		found, err := exec.LookPath(name)
		must(t, err)
		must(t, os.Symlink(found, filepath.Join(bin, name)))
	}
	mark := filepath.Join(bin, "marked")
	must(t, os.WriteFile(filepath.Join(bin, "mark"), []byte("#!/bin/sh\n: > "+mark+"\n"), 0o700))
	texts, ran, raw, marked, wrote := 0, 0, 0, 0, 0
	for ; texts < most && time.Now().Before(until); texts++ {
		text := v.program()
		if outOfReach.MatchString(strings.ReplaceAll(text, "/dev/null", "")) {
			continue
		}
		dir := filepath.Join(bin, "w")
		must(t, os.RemoveAll(dir))
		must(t, os.MkdirAll(filepath.Join(dir, "d"), 0o700))
		script, err := Read(text, dir, newTree(dir+"/", dir+"/d/"))
		if err != nil {
			continue
		}
		running := script.Text.String()
		switch {
		case SecondReading(text, subset.Bash) == "":
			running = text
			raw++
		case !script.Text.Printed():
			continue
		}
		ran++
		os.Remove(mark)
		runMarked(dir, bin, running)
		_, notMarked := os.Stat(mark)
		_, notWritten := os.Stat(filepath.Join(dir, "secret"))
		if notMarked == nil {
			marked++
		}
		if notWritten == nil {
			wrote++
		}
		if notMarked == nil && !says(script.Parts, func(p Part) bool { return p.Kind == Runs && path.Base(p.Words[0].Text) == "mark" }) {
			t.Errorf("%q starts the marker as %q, but the parts are\n%s", text, running, described(script.Parts))
		}
		if notWritten == nil && !says(script.Parts, func(p Part) bool {
			return p.Kind == Touches && p.Access == programs.Write && (p.Path == "" || p.Many || path.Base(p.Path) == "secret")
		}) {
			t.Errorf("%q writes the file as %q, but the parts are\n%s", text, running, described(script.Parts))
		}
	}
	t.Logf("%d texts, %d runs, %d of them as they stand, %d with the marker, %d with the file", texts, ran, raw, marked, wrote)
	if marked == 0 || wrote == 0 {
		t.Error("nothing was marked, or written: it tests nothing")
	}
}

// says reports whether a part says it, or that anything may happen.
func says(parts []Part, is func(Part) bool) bool {
	return slices.ContainsFunc(parts, func(p Part) bool { return p.Opaque || is(p) })
}

// runMarked runs a text where nothing but its own folder can be written.
func runMarked(dir, bin, text string) {
	cmd := exec.Command("bwrap", "--unshare-all", "--die-with-parent", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp",
		"--bind", bin, bin, "--chdir", dir, "bash", "-c", "--", text)
	cmd.Dir, cmd.Env = dir, []string{"PATH=" + bin, "HOME=" + dir, "PWD=" + dir, "LANG=C.UTF-8", "FUNCNEST=20"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if cmd.Start() != nil {
		return
	}
	timer := time.AfterFunc(time.Second/2, func() { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	defer timer.Stop()
	cmd.Wait() // that it fails is often the point
	syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
}
