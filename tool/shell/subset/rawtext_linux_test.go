package subset

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/assent-dev/assent/internal/rounds"
)

// unread says which program or file of a result was not read, or "".
func unread(commands []Entry, r result) string {
	for _, argv := range r.Started {
		if !slices.ContainsFunc(commands, func(c Entry) bool { return mayStart(c.Words, argv) }) {
			return fmt.Sprintf("started %q", argv)
		}
	}
	for _, file := range r.Files {
		if !slices.ContainsFunc(commands, func(c Entry) bool { return mayMake(c, file) }) {
			return fmt.Sprintf("made %q", file)
		}
	}
	return ""
}

// runners are builtins that start the program that follows.
var runners = []string{"command", "exec", "builtin"}

func mayStart(words []Word, argv []string) bool {
	if matches(words, argv, true) {
		return true
	}
	return len(words) > 1 && words[0].Known && slices.Contains(runners, words[0].Text) && mayStart(words[1:], argv) ||
		len(words) > 1 && strings.HasPrefix(words[0].Text, "-") && mayStart(words[1:], argv)
}

// matches compares the words of a command with what was started. An unknown word may have
// become any number of words.
func matches(words []Word, argv []string, name bool) bool {
	if len(words) == 0 {
		return len(argv) == 0
	}
	if words[0].Known {
		text := words[0].Text
		if name {
			text = path.Base(text)
		}
		return len(argv) > 0 && argv[0] == text && matches(words[1:], argv[1:], false)
	}
	for n := 0; n <= len(argv); n++ {
		if matches(words[1:], argv[n:], name && n == 0) {
			return true
		}
	}
	return false
}

func mayMake(c Entry, file string) bool {
	return slices.ContainsFunc(c.Redirs, func(redir Redirect) bool {
		return strings.Contains(redir.Op, ">") && (!redir.Target.Known || path.Base(redir.Target.Text) == path.Base(file))
	})
}

// ofValues reports whether what happens in a text depends on values, about which the reader
// says nothing: a file that is sourced, or a command whose name is an expansion.
func ofValues(commands []Entry) bool {
	return slices.ContainsFunc(commands, func(c Entry) bool {
		return len(c.Words) > 1 && (!c.Words[0].Known || c.Words[0].Text == "." || c.Words[0].Text == "source")
	})
}

// tries runs a text in every shell for which it is read, and reports what was not read.
func tries(tb testing.TB, b *box, text string, status int, count *counts) string {
	for _, shell := range shells {
		commands, err := Read(text, shell)
		if err != nil {
			count.outside.Add(1)
			continue
		}
		r := b.run(tb, trial{Shell: shell.String(), Text: text, Status: status})
		count.ran.Add(1)
		count.started.Add(int64(len(r.Started)))
		if r.Late {
			count.late.Add(1)
		}
		if what := unread(commands, r); what != "" {
			if ofValues(commands) {
				count.values.Add(1)
				continue
			}
			return fmt.Sprintf("%v %s without reading it\ntext: %q\nread:\n%s", shell, what, text, listed(commands))
		}
	}
	return ""
}

type counts struct{ texts, outside, ran, started, late, values atomic.Int64 }

func (c *counts) String() string {
	return fmt.Sprintf("%d texts, %d times outside the subset, %d runs, %d programs started, %d runs killed after %v, %d explained by values",
		c.texts.Load(), c.outside.Load(), c.ran.Load(), c.started.Load(), c.late.Load(), trialTime, c.values.Load())
}

// TestRawText mutates texts and runs those that are read in the real shells: a program that
// starts without having been read is a failure. ASSENT_FUZZ_TIME says for how long.
func TestRawText(t *testing.T) {
	duration := 3 * time.Second
	if s := os.Getenv("ASSENT_FUZZ_TIME"); s != "" {
		var err error
		if duration, err = time.ParseDuration(s); err != nil {
			t.Fatal(err)
		}
	}
	seed := uint64(1) // a change is tried, and not the dice
	if os.Getenv("ASSENT_FUZZ_TIME") != "" {
		seed = rounds.Seed()
	}
	t.Logf("seed %d, shells %v", seed, shells)
	texts := append(slices.Clone(tricks), corpus(t)...)
	var count counts
	var group sync.WaitGroup
	stop := make(chan struct{})
	found := make(chan string, 100)
	for worker := range 2 {
		b := newBox(t)
		group.Go(func() {
			r := rand.New(rand.NewPCG(seed, uint64(worker)))
			for {
				select {
				case <-stop:
					return
				default:
				}
				text := mutated(r, texts)
				count.texts.Add(1)
				if what := tries(t, b, text, status(r, text), &count); what != "" {
					select {
					case found <- what:
					default:
						return
					}
				}
			}
		})
	}
	time.AfterFunc(duration, func() { close(stop) })
	group.Wait()
	close(found)
	for what := range found {
		t.Error(what)
	}
	t.Log(&count)
	if count.started.Load() < 50 {
		t.Error("hardly any program was started: the test tests nothing")
	}
}

// status is that of all programs in a text, such that a loop ends if that is possible.
func status(r *rand.Rand, text string) int {
	switch {
	case strings.Contains(text, "while"):
		return 1
	case strings.Contains(text, "until"):
		return 0
	}
	return r.IntN(2)
}

// FuzzRawText does the same with the mutations of the fuzzer.
func FuzzRawText(f *testing.F) {
	for _, text := range tricks {
		f.Add(text)
	}
	for i, text := range corpus(f) {
		if i%25 == 0 {
			f.Add(text)
		}
	}
	var start sync.Once
	var b *box
	var count counts
	f.Fuzz(func(t *testing.T, text string) {
		start.Do(func() { b = newBox(t) })
		if what := tries(t, b, text, len(text)%2, &count); what != "" {
			t.Error(what)
		}
	})
}

// fragments are what mutations insert: everything that means something to a shell, and calls
// of the program M.
var fragments = strings.Split("M x¦;M x¦; M x;¦\nM x\n¦\nM x¦$(M x)¦\"$(M x)\"¦'$(M x)'¦`M x`¦'`M x`'¦&& M x¦|| M x¦| M x¦& M x¦(M x)¦( M x )¦{ M x; }¦"+
	"if M x; then M y; fi¦while M x; do M y; done¦until M x; do M y; done¦for i in a b; do M $i; done¦case a in a) M x;; esac¦case x in *) M y;;esac¦[[ -f a ]]¦[[ $x == M ]]¦"+
	"f() { M x; }¦f() { M x; }; f¦x=1¦x='M x'¦x=\"$(M x)\"¦x=M¦$x¦${x}¦\"$x\"¦${x:-M}¦${x:-$(M x)}¦${x%M}¦${#x}¦$((x+1))¦$((1))¦$?¦$#¦$@¦\"$@\"¦$1¦$!¦$$¦$-¦$0¦${1:-M}¦"+
	"<<'E'\n$(M x)\nE\n¦<<E\nM x\nE\n¦cat <<'E'\nM x\nE\n¦cat <<-'E'\n\tM x\n\tE\n¦\nE\n¦E¦<<¦<<-¦<<'E'¦<<\"E\"¦<<\\E¦<<< M¦<<<¦> f¦>> f¦< a.txt¦2>&1¦>&2¦&> f¦2>/dev/null¦<(M x)¦>(M x)¦>| f¦<>¦"+
	"'¦\"¦`¦|\\\n¦\\\r\n¦\r¦\n¦\t¦ ¦  ¦;¦;;¦&¦&&¦(¦)¦((¦))¦{¦}¦{ ¦; }¦[¦]¦[[¦]]¦$¦$(¦${¦$((¦$'¦$\"¦#¦# M x\n¦ # M x¦ #¦#\\\n¦!¦! ¦~¦~M¦=¦=M¦==¦*¦?¦.¦..¦{a,b}¦{1..3}¦{M,x}¦,¦:¦%¦^¦@¦+¦-¦--¦/¦"+
	"if ¦then ¦else ¦elif ¦fi¦for ¦in ¦do ¦done¦while ¦until ¦case ¦esac¦function ¦select ¦time ¦coproc ¦eval ¦eval 'M x'¦eval \"M x\"¦trap 'M x' EXIT¦trap 'M x' 0¦. ./a.txt¦source a.txt¦"+
	"alias M=x¦alias x=M\nx¦let ¦let x¦declare ¦export x=1¦export ¦readonly ¦local ¦typeset ¦set -- ¦set -e¦set -x;¦set -¦shopt -s extglob\n¦hash ¦exec ¦exec M x¦command ¦command M x¦builtin ¦noglob ¦- M¦"+
	"read x¦unset ¦printf ¦printf -v ¦test ¦[ ¦echo ¦echo a¦cat ¦touch ¦true¦false¦true; ¦false || ¦: ¦cd d && ¦return¦break¦exit¦shift¦wait¦+=¦x+=1¦x=(¦x=(a)¦x[0]=1¦@(¦!(¦*(¦+(¦?(¦\u00e9¦\u00a0¦\u2028¦"+
	"functions[x]=¦aliases[x]=¦path=¦repeat 2 ¦foreach ¦end¦$=x¦$~x¦$^x¦$+x¦${(f)x}¦$x[1]¦=cat¦*(.)¦\"\"¦''¦a''b¦\\'¦\\\"¦\\$¦\\`¦\\|\"\\\n\"¦'\\\n'¦\"$\\\n(M x)\"¦$\\\n(M x)¦&\\\n& M x¦\\\n# M x\n", "¦")

// wrappers are what texts are put into.
var wrappers = []string{"( %s )", "(%s)", "{ %s; }", "{ %s\n}", "echo \"$(%s)\"", "x=$(%s)", "x=$( %s )", "if %s; then M t; else M e; fi", "if M a; then %s\nfi", "for i in 1 2; do %s; done",
	"while %s; do M w; done", "until %s; do M w; break; done", "eval '%s'", "trap '%s' EXIT", "%s &", "! %s", "%s | M p", "M p | %s", "%s && M t", "%s || M e", "cat <<'E'\n%s\nE\nM x",
	"cat <(%s)", "f() { %s; }; f", "f() {\n%s\n}\nf a", "case a in a) %s;; *) M o;; esac", "x=1 %s", "M <<< \"%s\"", "echo '%s'", "echo \"%s\"", "# %s\nM x", "time %s", "%s # M x", "%s > f", "2>&1 %s", "[[ -n \"$(%s)\" ]] && M x",
	"echo a \\\n  %s", "echo ${x:-%s}", "echo $(cat <<'E'\n%s\nE\n)"}

// tricks are texts that one reader or another has misread.
var tricks = []string{
	"echo a #b\\\nM x", "# b\\\nM x", "echo a \\\r\nM x", "x=(a)#; M x", "declare x=(a)#; M x", "x+=(a)#; M x", "(\\\n(echo '$(M x)'))", "echo `echo ' `;M x;`'`",
	"echo $(case a in a) :;; esac); M x", "echo $(: &); M x", "bash -c 'echo $(: &); M x'", "eval 'echo $(: &); M x'", "echo \"$`M x`\"", "for i in 1 2; do echo 1 & done; M x", "(M x &); M y",
	"cat <<E\n\\\nE\nM x\nE", "cat <<E\n${x:-\nE\nM x\n}\nE", "cat <((cat <<E\nM x\nE\n))", "let x||M x", "let x&&M x", "let x|M x", "let x&M x", "let x>M",
	"x='a[$(M x)]'; while false; do x=1; done; echo $((x))", "x=M; { x=echo; } <nope; $x M", "declare -p x=echo", "set -- 'a[$(M x)]'; echo $(($@))", "functions[echo]='M x'; echo a", "hash cat=/tmp/bin/M; cat M",
	"aliases[echo]='M x'; eval 'echo a'", "=M x", "{M x}", "x='M x'; $=x", "echo \"$\\\n(M x)\"", "cat <<EOF\n$\\\n(M x)\nEOF", "echo ${x:-\"$\\\n(M x)\"}", "echo a\r# b\nM x", "echo \r#; M x",
	"shopt -s extglob\necho @($(M x)|b)", "[[ x == @($(M x)|b) ]]", "case x in @($(M x)|b)) ;; esac", "echo $'\\'; M x; #'", "alias e='M x'\ne", "PS4='$(M x)'; set -x; :", "x='$(M x)'; echo ${x@P}",
	"> f; < f", "NULLCMD=M; > f", "cat <<'E' \"\nM x\nE\n\"", "cat <<'E' $(\nM x\nE\n)\nE", "cat <<'E'; echo \"a\nM x\nE\nb\"", "echo a > f | M x", "echo <1-3>M", "echo $x[$(M x)]", "f() { M x; } > f; f", "f() ( M x ); f",
	"trap 'M x' EXIT; exit 3", "trap -- 'M x' EXIT", "trap 'M x' DEBUG; echo a", "eval -- M x", "command eval 'M x'", "builtin eval 'M x'", "exec M x", "command -p M x", "time M x", "time -p M x", "! M x", "! ! M x",
	"if M a; then M b; elif M c; then M d; else M e; fi", "while M a; do M b; break; done", "case \"$(M x)\" in a|b) M y ;; *) M z ;; esac", "[[ -f a.txt && $(M x) == y ]] || M z", "M a{b,c} d", "M ~ ~/x a=~ x:~", "M '*' *.txt [ab]* \\*",
	"M <<'E' | M y\nbody\nE", "M <<'A' <<'B'\none\nA\ntwo\nB\nM x", "x=1 y=\"a b\" M \"$x\" $y", "M ${x:-a b} \"${x:-a b}\" ${#x} ${x%.*} \"${x##*/}\"", "M $((1+2)) \"$((x * 3))\"", "M 'it'\"'\"'s' a\\ b \"a\\\"b\" \"\\$x\" \"\\a\"",
	"M a & M b; wait; M c", "{ M a; M b; } | { M c; }", "(cd d && M a); M b", "M a && { M b || M c; }", "for x in a 'b c' *.txt; do M \"$x\"; done < a.txt", "while read -r x; do M \"$x\"; done < a.txt", "M a \\\n  b \\\n  | M c", "M x # comment 'quote", "# it's\nM x",
	"set -euo pipefail\nM a\nM b | M c", "M \"$(M \"$(M a)\")\" $(M b; M c)", "M <(M a) <(M b)", "M {} \\;", "M @{u} HEAD@{0} a{b}c", "M a=b --c=d -e=~/f", "export A=1 B=\"$(M x)\"; M $A", "f() { M \"$1\"; }; f a; f 'b c'",
}

// mutated is a text that was changed at random.
func mutated(r *rand.Rand, texts []string) string {
	text := pick(r, texts)
	switch r.IntN(6) {
	case 0:
		text = pick(r, tricks)
	case 1:
		text = pick(r, fragments) + pick(r, []string{" ", "", "\n", "; "}) + pick(r, fragments)
	case 2, 3:
		text = composed(r, 3)
		if r.IntN(3) == 0 {
			return text
		}
	case 4: // bash prints what it reads there, and runs that
		text = strings.Replace(pick(r, []string{"x=$(%s)", "M \"$(%s\n)\"", "M <(%s)"}), "%s", composed(r, 3), 1)
		if r.IntN(3) > 0 {
			return text
		}
	}
	for range 1 + r.IntN(4) {
		if len(text) > 2000 {
			text = text[:2000]
		}
		i, j := r.IntN(len(text)+1), r.IntN(len(text)+1)
		if r.IntN(2) == 0 { // at the border of a token
			i, j = border(text, i), border(text, j)
		}
		i, j = min(i, j), max(i, j)
		switch r.IntN(10) {
		case 0, 1, 2, 3:
			text = text[:i] + pick(r, fragments) + text[i:]
		case 4:
			text = text[:i] + text[min(j, i+1+r.IntN(8)):]
		case 5:
			text = text[:j] + text[i:j] + text[j:]
		case 6:
			text = strings.Replace(pick(r, wrappers), "%s", text, 1)
		case 7:
			text = text[:i] + pick(r, fragments) + text[min(j, i+1+r.IntN(8)):]
		case 8:
			text += pick(r, []string{"\n", "; ", " ", " && ", " | "}) + pick(r, texts)
		case 9:
			if i < len(text) {
				text = text[:i] + string(pick(r, strings.Split(" \t\n'\"\\$;&|<>(){}[]#~=*?!`-_aM1", ""))) + text[i+1:]
			}
		}
	}
	return text
}

// composed puts simple commands into each other.
func composed(r *rand.Rand, deep int) string {
	if deep == 0 || r.IntN(5) == 0 {
		text := "M"
		for range r.IntN(4) {
			text += pick(r, []string{" ", " ", "  ", "\t", " \\\n", ""}) + pick(r, words)
		}
		return text
	}
	if r.IntN(3) == 0 {
		return composed(r, deep-1) + pick(r, []string{"; ", "\n", " && ", " || ", " | ", " & ", ";", "&&", "|", "&", "\n\n", " \\\n| "}) + composed(r, deep-1)
	}
	return strings.Replace(pick(r, wrappers), "%s", composed(r, deep-1), 1)
}

// words are those of composed commands.
var words = []string{"a", "'b c'", "\"d\"", "e\\ f", "$x", "\"$x\"", "${x:-y}", "$(M s)", "\"$(M s)\"", "*.txt", "~", "{a,b}", "{}", "\\$x", "'$x'", "\"\\$x\"", "a=b", "--c=d", "-e", "#", "a#b", "[", "]", "!", "=", "==", "%", "@", "x:y",
	"> f", "2>&1", "< a.txt", ">> f", "<<'E'\nbody $(M b)\nE\n", "<<< w", "<(M p)", "$((1+x))", "$?", "$#", "\"$@\"", "${x%.*}", "${#x}", "if", "done", "}", "in", "do", "esac", "then", "''", "\"\"", "$", "\"$\"", "\"a$\"", "\"it's\"", "'say \"x\"'", "é", "0", "2", "&> f", "2> f", "\\\\", "\"\\\\\"", "\"\\\"\""}

// border moves a place to where a token begins.
func border(text string, i int) int {
	for i > 0 && i < len(text) && !strings.ContainsRune(" \t\n;&|<>()'\"$", rune(text[i])) {
		i--
	}
	return i
}

func pick(r *rand.Rand, from []string) string { return from[r.IntN(len(from))] }
