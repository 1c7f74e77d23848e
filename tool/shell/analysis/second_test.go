package analysis

import (
	"bufio"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"

	"github.com/assent-dev/assent/tool/shell/subset"
)

// TestSecondReading: everyday texts stand, and what the parser is known to misread does not.
func TestSecondReading(t *testing.T) {
	for _, text := range []string{
		"git status", "go test ./... 2>&1 | tail -40", "cd web && npm test", "sed -n '1,120p' a.go", "A=1 B='x y' make -j4",
		"x=$(git rev-parse HEAD) && echo \"$x ${x:-none} ${x%.*} ${#x} $((n + 1))\"", "cat > f <<'EOF'\n$x `y` \\\nEOF\ncat f",
		"git commit -m \"$(cat <<'EOF'\nit's (done)\n\n- \"a\"\nEOF\n)\"", "for f in *.go; do echo \"$f\"; done < list > out", "( cd x; ls ) &> log",
		"if [ -f a ]; then b; elif c; then d; else e; fi", "while read -r x; do echo \"$x\"; done < f", "# first\nls \\\n  -la # last\n", "{ a; b; } 2>&1 | c &",
		"find . -name '*.go' -exec wc -l {} +", "echo a\\ b \"c\\\"d\" 'e'\\''f' ~/x *.{go,md} \\$x \"\\$x\" \"a\\b\"", "trap 'rm -f \"$t\"' EXIT; eval 'a; b'",
		"f() { echo \"$1\"; }; f a", "case $x in a|b*) c;; *) d;; esac", "[[ -f a && $x == b* ]] && c", "diff <(a; b) <(c)", "time ls", "read a <<< \"$b\"",
		"bash -c 'echo $x' _ y", "timeout 5 sh -c 'a && b'", "sh -s a <<'E'\nb\nE", "export A=1 B=\"$c\"; ! a", "echo \"${x/a/b} ${x//\\//.} ${x:0:3} ${x^^} ${PIPESTATUS[0]}\"", "cat <<-'E'\n\ta\n\tE\nb",
	} {
		if why := SecondReading(text, subset.Bash); why != "" {
			t.Errorf("%q: %s", text, why)
		}
	}
	for _, text := range append([]string{
		"echo a #b\\\ntouch M", "echo a \\\r\ntouch M", "x=(a)#; touch M", "declare x=(a)#; touch M", "x+=(a)#; touch M", "(\\\n(echo '$(touch M)'))",
		"echo `echo ' `;touch M;`'`", "echo $(case a in a) :;; esac); touch M", "bash -c 'echo $(case a in a) :;; esac); touch M'", "eval 'x=(a)#; touch M'", "echo \"$`touch M`\"",
		"cat <<E\n\\\nE\ntouch M\nE", "cat <<E\n${x:-\nE\ntouch M\n}\nE", "cat <((cat <<E\ntouch M\nE\n))", "let x||touch M", "let x && touch M",
		"echo $(echo 'a'#; touch M\n)", "(echo \"$x\"#; touch M\n)", "functions[echo]='touch M'; echo a", "x=$(cat <<'E'\nEtouch M)\nE\n)", "git commit -m \"$(cat <<'EOF'\nEOF touch M)\" #\nEOF\n)\"", "sh -c 'x=(a)'", "env A=1 bash -c -- 'let x||touch M'", "bash <<'E'\nlet x||touch M\nE", "bash -o pipefail -c 'let x||touch M'", "bash <<< 'let x||touch M'", "xargs -n1 /bin/bash -ec 'let x||touch M'", "sh -s a <<'E'\nx=(a)\nE", "echo 'unclosed",
	}, hidden...) {
		if why := SecondReading(text, subset.Bash); why == "" {
			t.Errorf("%q stands", text)
		}
	}
	if why := SecondReading("ls\necho `a`", subset.Bash); why != "line 2: a backquote" {
		t.Errorf("got the reason %q", why)
	}
	if why := SecondReading("a &> b", subset.Dash); !strings.Contains(why, "dash") {
		t.Errorf("got the reason %q", why)
	}
}

// TestReadingsDiffer: whatever differs between two texts is found when one is read by the
// second reader and the other by the parser.
func TestReadingsDiffer(t *testing.T) {
	for _, pair := range [][2]string{
		{"a", "b"}, {"a", "a b"}, {"a b", "a 'b c'"}, {"a; b", "a && b"}, {"a; b", "a & b"}, {"a && b", "a || b"}, {"a | b", "a || b"}, {"a", "a &"}, {"a", "! a"},
		{"a; b", "a"}, {"a", "a; b"}, {"(a)", "{ a; }"}, {"(a); b", "(a; b)"}, {"a > f", "a >> f"}, {"a > f", "a > g"}, {"a > f", "a 2> f"}, {"a > f", "a < f"}, {"(a) > f", "(a > f)"},
		{"x=1 a", "x=1; a"}, {"x=1", "x=2"}, {"x=1", "y=1"}, {"x=1", "x+=1"}, {"x=1 a", "a x=1"}, {"a $x", "a \"$x\""}, {"a $x", "a '$x'"}, {"a $x", "a $y"}, {"a $x", "a ${x:-y}"}, {"a ${x:-y}", "a ${x:-z}"},
		{"a ${x:-y}", "a ${x-y}"}, {"a ${x%y}", "a ${x%%y}"}, {"a ${x}", "a ${#x}"}, {"a *", "a '*'"}, {"a ~", "a '~'"}, {"a {b,c}", "a '{b,c}'"}, {"a \"\"", "a"}, {"a $x\"\"", "a $x"}, {"a $(b)", "a $(c)"}, {"a $(b; c)", "a $(b); c"},
		{"a \"$(b)\"", "a $(b)"}, {"a $(b)", "a; b"}, {"cat <<'E'\na\nE", "cat <<'E'\nb\nE"}, {"cat <<'E'\na\nE\nb", "cat <<'E'\na\nb\nE"}, {"if a; then b; fi", "if b; then a; fi"}, {"if a; then b; fi", "while a; do b; done"},
		{"while a; do b; done", "until a; do b; done"}, {"if a; then b; else c; fi", "if a; then b; elif c; then d; fi"}, {"if a; then b; fi; c", "if a; then b; c; fi"}, {"for x in a; do b; done", "for y in a; do b; done"},
		{"for x in a; do b; done", "for x in a c; do b; done"}, {"for x in a; do b; done > f", "for x in a; do b > f; done"}, {"f() { a; }", "f() { b; }"}, {"f() { a; }", "g() { a; }"}, {"case a in b) c;; esac", "case a in c) c;; esac"},
		{"case a in b) c;; esac", "case a in b) d;; esac"}, {"case a in b) c;; esac", "case b in b) c;; esac"}, {"case a in b) c;; d) e;; esac", "case a in b|d) c;; esac"}, {"[[ a == b ]]", "[[ a != b ]]"}, {"[[ -f a ]]", "[[ -d a ]]"},
		{"[[ a && b ]]", "[[ a || b ]]"}, {"a <(b)", "a $(b)"}, {"a <(b)", "a <(c)"}, {"eval 'a'", "eval 'b'"}, {"eval 'a; b'", "eval 'a && b'"}, {"trap 'a' EXIT", "trap 'b' EXIT"}, {"time a", "a"}, {"a $((x+1))", "a $((x+2))"},
		{"export A=1", "export A=2"}, {"export A=1", "readonly A=1"}, {"export A=$b", "export A='$b'"}, {"a ${x/b/c}", "a ${x//b/c}"}, {"a ${x/b/c}", "a ${x/b/d}"}, {"a ${x:0:1}", "a ${x:0:2}"}, {"a ${x^^}", "a ${x,,}"}, {"a ${x[0]}", "a ${x[1]}"},
		{"a b", "x=(b)"}, {"a", "let x"}, {"a", "((x))"}, {"a", "coproc a"}, {"a", "select x in a; do b; done"}, {"a", "declare x[0]=1"}, {"a $x", "a ${!x}"}, {"a $(b)", "a `b`"}, {"a 'b'", "a $'b'"}, {"a \"b\"", "a $\"b\""}, {"a b", "a @(b)"},
	} {
		read, err := subset.Read(pair[0], subset.Bash)
		if err != nil {
			t.Errorf("%q: %v", pair[0], err)
			continue
		}
		same, err := syntax.NewParser().Parse(strings.NewReader(pair[0]), "")
		if err != nil {
			t.Fatalf("%q: %v", pair[0], err)
		}
		other, err := syntax.NewParser().Parse(strings.NewReader(pair[1]), "")
		if err != nil {
			t.Fatalf("%q: %v", pair[1], err)
		}
		if diff := compareReadings(read, flattened(pair[0], same)); diff != "" {
			t.Errorf("%q differs from itself: %s", pair[0], diff)
		}
		if compareReadings(read, flattened(pair[1], other)) == "" {
			t.Errorf("%q is the same as %q", pair[0], pair[1])
		}
	}
}

// TestSecondReadingOfCommands: at most 2 % of what agents and people write needs a person for
// its spelling.
func TestSecondReadingOfCommands(t *testing.T) {
	texts := realistic(t)
	for _, shell := range []subset.Shell{subset.Bash, subset.Dash, subset.Zsh} {
		var reasons []string
		for _, text := range texts {
			if why := SecondReading(text, shell); why != "" {
				reasons = append(reasons, why)
			}
		}
		t.Logf("%v: %d of %d are outside:\n  %s", shell, len(reasons), len(texts), strings.Join(reasons, "\n  "))
		if shell == subset.Bash && len(reasons)*50 > len(texts) {
			t.Errorf("more than 2 %% are outside")
		}
	}
}

// realistic are the commands of testdata/commands.jsonl.
func realistic(tb testing.TB) []string {
	f, err := os.Open("../testdata/commands.jsonl")
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	var texts []string
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var c struct{ Command string }
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			tb.Fatal(err)
		}
		texts = append(texts, c.Command)
	}
	if len(texts) == 0 || lines.Err() != nil {
		tb.Fatalf("no commands: %v", lines.Err())
	}
	return texts
}

// FuzzSecondReading: every text is either read alike or has a reason that is about the text.
func FuzzSecondReading(f *testing.F) {
	for i, text := range append(realistic(f), append(spellings, hidden...)...) {
		if i%20 == 0 {
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, shell := range []subset.Shell{subset.Bash, subset.Dash, subset.Zsh} {
			if why := SecondReading(text, shell); strings.Contains(why, "internal error") {
				t.Errorf("%v: %s", shell, why)
			}
		}
	})
}

func BenchmarkSecondReading(b *testing.B) {
	texts := realistic(b)
	for i := 0; b.Loop(); i++ {
		SecondReading(texts[i%len(texts)], subset.Bash)
	}
}
