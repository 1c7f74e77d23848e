package analysis

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/assent-dev/assent/tool/shell/subset"
)

// fill repeats a text up to the longest that is read, with something before and after.
func fill(before, text, after string) string {
	return before + strings.Repeat(text, (maxLength-len(before)-len(after))/len(text)) + after
}

// hostile are texts of 64 KiB each that were made to take long, or to grow.
func hostile() map[string]string {
	doubled := func(first, format string, n int) string {
		text := first
		for i := range n {
			text += fmt.Sprintf(format, i+1, i)
		}
		return text
	}
	numbered := func(format string) string {
		var b strings.Builder
		for i := 0; b.Len() < maxLength-100; i++ {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	kilo := strings.Repeat("a", 1000)
	deep := func(open, inner, end string, n int) string {
		return strings.Repeat(open, n) + inner + strings.Repeat(end, n)
	}
	return map[string]string{
		"plain":                 fill("", "true; ", "true"),
		"short commands":        fill("", "a;", "a"),
		"lines":                 fill("", "cat src/a.go\n", "ls"),
		"pipes":                 fill("", "a|", "a"),
		"and":                   fill("", "a&&", "a"),
		"words":                 fill("cat ", "a ", "a"),
		"words of echo":         fill("echo ", "a ", "a"),
		"words of a program":    fill("nosuch ", "-a ", "a"),
		"words of git":          fill("git log ", "a ", "a"),
		"words of find":         fill("find . ", "-o -name a ", ""),
		"words of env":          fill("", "env ", "a"),
		"words of xargs":        fill("", "xargs ", "a"),
		"flags of tar":          fill("tar ", "-a ", "a"),
		"assignments":           fill("", "x=1;", "ls"),
		"many variables":        numbered("x%d=1;"),
		"chain of variables":    doubled("x0=a;", "x%d=$x%d;", 4500) + "echo $x1",
		"doubling":              doubled("x0=aaaaaaaa;", "x%[1]d=$x%[2]d$x%[2]d;", 2000) + "echo $x40 $x2000",
		"doubling itself":       fill("x=a;", "x=$x$x;", "echo $x"),
		"doubling arrays":       doubled("x0=(a b);", "x%[1]d=(\"${x%[2]d[@]}\" \"${x%[2]d[@]}\");", 1000) + "echo \"${x1000[@]}\"",
		"doubling parameters":   fill("set -- a;", "set -- \"$@\" \"$@\";", "echo \"$@\""),
		"doubling functions":    numbered("f%[1]d() { f%[1]d1 \"$@\" \"$@\"; f%[1]d2 \"$@\" \"$@\"; };") + "f0 a",
		"functions":             doubled("f0() { ls; };", "f%[1]d() { f%[2]d; f%[2]d; };", 1800) + "f1800",
		"arguments":             fill("f() { f2 \"$@\" \"$@\"; }; f2() { f3 \"$@\" \"$@\"; }; f3() { echo \"$@\"; };", "f a b c;", ""),
		"long value":            "x=" + strings.Repeat("a", 30000) + ";" + fill("", "echo $x;", "")[:30000],
		"words of a value":      "x='" + strings.Repeat("a ", 15000) + "';" + fill("", "cat $x;", "")[:30000],
		"values in quotes":      "x=" + strings.Repeat("a", 30000) + ";" + fill("", "cat \"$x$x$x$x\";", "")[:30000],
		"loop over words":       fill("for x in ", "a ", "; do cat $x; done"),
		"loop over braces":      "for a in {1..250}; do for b in {1..250}; do for c in {1..250}; do cat $a$b$c; done; done; done",
		"loop over much":        "for i in {1..250}; do echo '" + strings.Repeat("a", 60000) + "'; done",
		"loop over scripts":     "for i in {1..250}; do bash -c '" + strings.Repeat("ls;", 20000) + "'; done",
		"loop over evals":       "for i in {1..250}; do eval '" + strings.Repeat("ls;", 20000) + "'; done",
		"loop over new evals":   "for i in {1..250}; do eval \"echo $i; " + strings.Repeat("ls;", 20000) + "\"; done",
		"many evals":            fill("", "eval eval eval eval a;", ""),
		"evals":                 fill("", "eval ", "x"),
		"braces":                fill("echo ", "{1..255} ", ""),
		"nested braces":         "echo " + strings.Repeat("{a,b}", 200),
		"braces in braces":      "echo " + deep("{a,", "b", "}", 100),
		"braces and a value":    "echo {1..250}" + strings.Repeat("a", 60000),
		"braces and a variable": "x=" + strings.Repeat("a", 60000) + "; echo {1..250}$x{1..250}",
		"globs":                 fill("cat ", "*/*/* ", ""),
		"long glob":             "cat " + strings.Repeat("[ab]", 15000),
		"stars":                 "cat " + strings.Repeat("*a", 30000),
		"long path":             "cat " + strings.Repeat("src/../", 9000) + "a",
		"long paths":            fill("cat ", strings.Repeat("src/../", 500)+"a ", ""),
		"glob paths":            fill("cat ", strings.Repeat("src/../", 200)+"* ", ""),
		"paths of a value":      "x=" + strings.Repeat("src/../", 570) + ";" + fill("", "cat $x $x $x;", "")[:50000],
		"here-documents":        fill("", "cat <<E\n$x\nE\n", ""),
		"long here-document":    fill("cat <<E\n", "$x `ls` ${y:-a}\n", "E\n"),
		"here-document of sh":   fill("bash <<'E'\n", "ls\n", "E\n"),
		"substitutions":         fill("", "x=$(ls); ", ""),
		"deep substitutions":    deep("$(", "x", ")", 240),
		"deep braces":           deep("{ ", "ls", ";}", 240),
		"deep arithmetic":       "echo $((" + deep("(", "x", ")", 240) + "))",
		"wide arithmetic":       fill("echo $((", "x+", "1))"),
		"deep quotes":           deep("\"$(echo ", "x", ")\"", 100),
		"deep parameters":       deep("${x:-", "x", "}", 240),
		"deep functions":        numbered("f%d() { ls; };"),
		"conditions":            fill("", "if a; then b; fi;", ""),
		"cases":                 fill("case x in ", "a) ls;; ", "esac"),
		"case patterns":         fill("case x in ", "a|", "a) ls;; esac"),
		"tests":                 fill("[[ ", "a == b && ", "a ]]"),
		"redirections":          fill("ls ", "> a ", ""),
		"redirections to more":  fill("", "> a; ", ""),
		"links":                 fill("", "ln -s a b;cat b/c;", ""),
		"moves":                 fill("", "mv a b;", ""),
		"copies":                fill("cp -r ", "src ", "build"),
		"scripts":               fill("", ">a;./b;nosuch;", ""),
		"declared":              fill("", "declare -i x;x=1;", ""),
		"declared apart":        numbered("declare -i x%[1]d;x%[1]d=1;"),
		"facts":                 numbered("echo $x%[1]d;x%[1]d=$x%[1]d1;"),
		"late facts":            numbered("echo $x%[1]d;") + ";" + "x1=2;x1=3",
		"git":                   fill("", "git status;", ""),
		"aliases":               fill("", "git nosuch;", ""),
		"cd":                    fill("", "cd src;cd ..;", ""),
		"pushd":                 fill("", "pushd src;", ""),
		"folders":               fill("", "cd a||cd b;", "ls"),
		"traps":                 fill("", "trap 'ls' EXIT;", ""),
		"traps of text":         "trap '" + strings.Repeat("x=1;", 15000) + "' DEBUG; " + kilo,
		"comments":              fill("", "# a\n", "ls"),
		"line ends":             fill("ls", "\n", "ls"),
		"quotes":                fill("echo ", "'a'\"b\"", ""),
		"backslashes":           fill("echo ", "\\a", ""),
		"not printed":           fill("", "echo $(: &);", "ls"),
		"not stable":            fill("", "case a in a) b & esac;", "ls"),
		"background":            fill("", "a & ", "a"),
		"coprocesses":           fill("", "coproc a { ls; };", ""),
		"sed":                   "sed '" + strings.Repeat("s/a/b/;", 9000) + "'",
		"awk":                   "awk '" + strings.Repeat("{print}", 9000) + "'",
		"awk slashes":           "awk '" + strings.Repeat("a/b/", 15000) + "'",
		"find":                  fill("find . ", "-exec ls {} \\; ", ""),
		"jq":                    "jq '" + strings.Repeat(".a|", 20000) + ".'",
	}
}

// TestHostileTexts: no text of 64 KiB takes long to read, or much memory. How long is measured
// by what it takes to parse and print a plain text of the same length, so that a slow machine
// is not a fault; 100 milliseconds are fine on any.
func TestHostileTexts(t *testing.T) {
	world := project()
	unit := fastest(func() { canonical(hostile()["plain"]) })
	for name, text := range hostile() {
		if len(text) > maxLength {
			t.Errorf("%s has %d bytes", name, len(text))
		}
		var script *Script
		var err error
		took := fastest(func() { script, err = Read(text, "/w", world) })
		if err != nil && !strings.Contains(err.Error(), "nested") && !strings.Contains(err.Error(), "parsed") {
			t.Errorf("%s: %v", name, err)
		}
		second := fastest(func() { SecondReading(text, subset.Bash) })
		if limit := max(100*time.Millisecond, 30*unit); took > limit || second > limit {
			t.Errorf("%s takes %v to read, and %v to read again; a plain text takes %v to parse", name, took, second, unit)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		Read(text, "/w", world)
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 128<<20 {
			t.Errorf("%s allocates %d MiB", name, used>>20)
		}
		if script != nil {
			checkKept(t, name, script)
		}
	}
}

// checkKept: what is kept of a script is bounded, and where something was left out only a
// person can allow it.
func checkKept(t *testing.T, name string, script *Script) {
	t.Helper()
	kept := 0
	for _, p := range script.Parts {
		kept += len(p.Path) + len(p.Operand.Text)
		for _, w := range p.Words {
			kept += len(w.Text)
		}
	}
	if len(script.Parts) > maxParts || kept > maxKept {
		t.Errorf("%s: %d parts with %d bytes", name, len(script.Parts), kept)
	}
}

// fastest is the shortest time that f takes.
func fastest(f func()) time.Duration {
	best := time.Hour
	for range 3 {
		began := time.Now()
		f()
		if best = min(best, time.Since(began)); best < 20*time.Millisecond {
			break
		}
	}
	return best
}
