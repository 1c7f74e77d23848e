package analysis

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// shellIn runs a text with the real bash in a folder, as the tool would.
func shellIn(t *testing.T, dir, text string) string {
	t.Helper()
	return shellWith(dir, text, "PATH="+os.Getenv("PATH"), "HOME=/home/u", "LANG=C.UTF-8", "TERM=dumb", "PWD="+dir)
}

func shellWith(dir, text string, env ...string) string {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", "--", text)
	var out bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.WaitDelay = dir, env, &out, time.Second
	_ = cmd.Run() // that it fails is often the point
	return out.String()
}

// hidden are texts whose `touch FLAG` bash runs, while the parser does not see it.
var hidden = []string{
	"echo \"$\\\n(touch FLAG)\"",
	"cat <<EOF\n$\\\n(touch FLAG)\nEOF",
	"echo ${x:-\"$\\\n(touch FLAG)\"}",
	"echo a # comment \\\ntouch FLAG",
	"# comment \\\ntouch FLAG",
	"echo a\r# b\ntouch FLAG",
	"echo a \\\r\ntouch FLAG",
	"echo \r#; touch FLAG",
	"x=(a b)#; touch FLAG",
	"shopt -s extglob\necho @($(touch FLAG)|b)",
	"[[ x == @($(touch FLAG)|b) ]]",
	"case x in @($(touch FLAG)|b)) ;; esac",
}

// TestHidden: what bash does with the canonical text is among the parts, whatever it
// would have done with the original.
func TestHidden(t *testing.T) {
	fired := 0
	for _, text := range hidden {
		raw := t.TempDir()
		shellIn(t, raw, text)
		if touched(raw) {
			fired++
		}
		script, err := Read(text, "/w", project())
		if err != nil {
			continue // refused
		}
		if !script.Text.Printed() {
			continue // only its tree may run
		}
		dir := t.TempDir()
		shellIn(t, dir, script.Text.String())
		if touched(dir) && !mayTouch(script.Parts) {
			t.Errorf("%q runs touch as %q, but the parts are\n%s", text, script.Text, described(script.Parts))
		}
	}
	if fired < 6 {
		t.Errorf("only %d of the texts run touch in bash: they test nothing", fired)
	}
}

func touched(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "FLAG"))
	return err == nil
}

func mayTouch(parts []Part) bool {
	return slices.ContainsFunc(parts, func(p Part) bool {
		return p.Opaque || p.Kind == Runs && (!p.Words[0].Known || p.Words[0].Text == "touch")
	})
}

// unfit are texts that would not end, or name files outside the folder.
var unfit = regexp.MustCompile(`rm|/|\(\(|while|until|select`)

// TestHiddenMutated does the same with spellings that were changed at random. Bash finds only
// harmless programs.
func TestHiddenMutated(t *testing.T) {
	bin := t.TempDir()
	for _, name := range []string{"touch", "cat", "ls", "true", "bash", "sh", "env", "nice", "timeout", "nohup", "stdbuf", "setsid", "dash"} {
		if found, err := exec.LookPath(name); err == nil {
			if err := os.Symlink(found, filepath.Join(bin, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	r := rand.New(rand.NewPCG(9, 9))
	ran := 0
	for range 400 {
		text := strings.ReplaceAll(pick(r, spellings), "rm -rf build", "touch FLAG")
		text = mutated(r, text)
		if unfit.MatchString(text) {
			continue
		}
		script, err := Read(text, "/w", project())
		if err != nil || mayTouch(script.Parts) || !script.Text.Printed() {
			continue
		}
		ran++
		dir := t.TempDir()
		shellWith(dir, script.Text.String(), "PATH="+bin, "HOME="+dir)
		if touched(dir) {
			t.Errorf("%q runs touch as %q, but the parts are\n%s", text, script.Text, described(script.Parts))
		}
	}
	if ran == 0 {
		t.Error("nothing was run")
	}
}

// snippets are what the generated commands are made of.
var (
	values = []string{`a`, `'b c'`, `"d"`, `e\ f`, `$'g\th'`, `$'\x41'`, `"$X"`, `$X`, `$Y`, `"$Y"`, `${X}z`, `{1,2}`, `x{a..c}y`, `"{1,2}"`, `~`, `~/q`, `a~`, `""`, `''`,
		`$Z`, `"$Z"`, `"a$Z"`, `\$X`, `"\$X"`, `'$X'`, `a=~/b`, `--a=~`, `${X:-n}`, `"${Y-m}"`, `$"k"`, `[`, `a[`, `\*`, `"*"`, `a\` + "\n" + `b`, `"a\` + "\n" + `b"`, `$((1+1))`, `$#`, `{a}`, `{a,b`, `a,b}`,
		`"x y"$Y'z'`, `$Y$Y`, `"$Y"$Y`, `{$X,b}`, `{"$Y",$Y}`, `"${A[@]}"`, `${A[1]}`, `$A`, `\\`, `"\\"`, `"\a"`, `'\'`, `#x`, `a#b`, `!`, `-n`, `$'\''`, `$'a\\b'`, `"'"`, `'"'`, `%`, `@`, `:~`, `x:~`}
	assigns  = []string{`X=1`, `X="v w"`, `Y='p  q'`, `Y=$X`, `Z=`, `Z="$X"`, `A=(m "n o")`, `X=$Y$Y`, `Y+=s`, `X=~`, `Y=~/t`, `X='*'`, `Z=$'\n'`, `X="a\b"`, `Y=\ `}
	wrappers = []string{"%s", "if true; then %s; fi", "{ %s; }", "(%s)", "true && %s", "for i in 1 2; do %s; done", "f() { %s; }; f a b", "eval %q", "case a in a) %s ;; esac"}
)

func pick(r *rand.Rand, from []string) string { return from[r.IntN(len(from))] }

// generated is a random command that calls `args` with random words.
func generated(r *rand.Rand) string {
	var b strings.Builder
	for range r.IntN(4) {
		b.WriteString(pick(r, assigns) + pick(r, []string{"; ", "\n", " && "}))
	}
	b.WriteString("args")
	for range 1 + r.IntN(4) {
		b.WriteString(" " + pick(r, values))
	}
	text := b.String()
	if wrap := pick(r, wrappers); wrap != "eval %q" {
		return strings.Replace(wrap, "%s", text, 1)
	}
	return "eval '" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// TestArguments: where all words of a command are known, bash hands it exactly those.
func TestArguments(t *testing.T) {
	const prelude = `args() { printf '<%s>' "$@"; echo; }; `
	r := rand.New(rand.NewPCG(14, 4))
	dir := t.TempDir()
	certain := 0
	for range 700 {
		text := generated(r)
		script, err := Read(text, dir, newTree(dir+"/"))
		if err != nil {
			continue
		}
		want, ok := knownCalls(script.Parts)
		if !ok {
			continue
		}
		certain++
		if got := shellIn(t, dir, prelude+script.Text.String()); got != want {
			t.Errorf("%q\ncanonical %q\nbash  %q\nparts %q", text, script.Text, got, want)
		}
	}
	if certain < 200 {
		t.Errorf("only %d commands were known: they test too little", certain)
	}
}

// knownCalls is what the calls of args would print, if all of it is known.
func knownCalls(parts []Part) (string, bool) {
	var b strings.Builder
	for _, p := range parts {
		if p.Opaque {
			return "", false
		}
		if p.Kind != Runs || p.Words[0].Text != "args" {
			continue
		}
		for _, word := range p.Words[1:] {
			if !word.Known {
				return "", false
			}
			b.WriteString("<" + word.Text + ">")
		}
		if len(p.Words) == 1 {
			b.WriteString("<>")
		}
		b.WriteString("\n")
	}
	return b.String(), true
}

// TestValid: what we read, bash reads too; where it does not, we ask.
func TestValid(t *testing.T) {
	r := rand.New(rand.NewPCG(18, 7))
	texts := append(slices.Clone(spellings), hidden...)
	for range 300 {
		texts = append(texts, mutated(r, pick(r, spellings)))
	}
	for _, text := range texts {
		script, err := Read(text, "/w", project())
		if err != nil || script.Odd != "" || mayTouch(script.Parts) || !script.Text.Printed() {
			continue
		}
		cmd := exec.Command("bash", "-n", "-c", "--", script.Text.String())
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%q is read as %q, which bash refuses: %s", text, script.Text, out)
		}
	}
}

// mutated changes a text in a random place.
func mutated(r *rand.Rand, text string) string {
	extra := []string{"'", `"`, "`", "$(", ")", "{", "}", ";", "&", "|", "\n", "\\\n", "#", " ", "$", "(", "[[", "]]", "<<EOF\n", "EOF", ">", "!", "((", "if ", "fi", "do ", "done", "=", "*", "~"}
	for range 1 + r.IntN(3) {
		i := r.IntN(len(text) + 1)
		switch r.IntN(3) {
		case 0:
			text = text[:i] + pick(r, extra) + text[i:]
		case 1:
			j := min(i+1+r.IntN(4), len(text))
			text = text[:i] + text[j:]
		default:
			j := r.IntN(len(text) + 1)
			text = text[:i] + text[min(i, j):max(i, j)] + text[i:]
		}
	}
	return text
}
