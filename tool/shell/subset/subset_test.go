package subset

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
)

// listed shows what was read, an entry a line.
func listed(commands []Entry) string {
	var b strings.Builder
	for _, c := range commands {
		if c.Before != "" {
			fmt.Fprintf(&b, "{%s} ", c.Before)
		}
		for _, a := range c.Assigns {
			fmt.Fprintf(&b, "%s%s=<%s> ", a.Name, map[bool]string{true: "+"}[a.Append], a.Value.Shape)
		}
		for _, w := range c.Words {
			fmt.Fprintf(&b, "<%s> ", w.Shape)
		}
		for _, redir := range c.Redirs {
			fmt.Fprintf(&b, "%s%s<%s>%q ", redir.Fd, redir.Op, redir.Target.Shape, redir.Body)
		}
		b.WriteString("\n")
	}
	return strings.ReplaceAll(strings.TrimRight(b.String(), " \n"), " \n", "\n")
}

func TestRead(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"git status", "<git> <status>"},
		{`echo "a b" 'c' d\ e f"g"'h'`, `<echo> <\"a b> <\"c> <d e> <f\"g\"h>`},
		{`echo "\$x \a" '' ""`, `<echo> <\"\$x \\a> <\"> <\">`},
		{"ls *.go '*.go' ~ a~ ~/x", `<ls> <*.go> <\"\*.go> <~> <a\~> <~/x>`},
		{`echo $x "$x" ${x} ${x:-a b} "${x%.*}" $? $1 "$@"`, `<echo> <${x}> <\""${x}> <${x}> <${x:-a b}> <\""${x%.*}> <${?}> <${1}> <\""${@}>`},
		{"A=1 B='x y' make C=d", `A=<1> B=<\"x y> <make> <C=d>`},
		{"x=$(git rev-parse HEAD); echo $x", "x=<$()>\n{$(} <git> <rev-parse> <HEAD>\n{) ;} <echo> <${x}>"},
		{"a && b || c; d & e | f", "<a>\n{&&} <b>\n{||} <c>\n{;} <d>\n{&} <e>\n{|} <f>"},
		{"a &", "<a>\n{&}"},
		{"a 2>&1 >f >>g <h 2>/dev/null", `<a> 2>&<1>"" ><f>"" >><g>"" <<h>"" 2></dev/null>""`},
		{"a &> f", `<a> &><f>""`},
		{"cat > f <<'E'\n$x\n`y`\nE\nb", "<cat> ><f>\"\" <<<\\\"E>\"$x\\n`y`\\n\"\n{;} <b>"},
		{"cat <<-\\E\n\ta\n\tE", `<cat> <<-<E>"a\n"`},
		{"cat <<E\nplain\nE", `<cat> <<<E>"plain\n"`},
		{"(cd x; a) > f", "{(} <cd> <x>\n{;} <a>\n{)} ><f>\"\""},
		{"{ a; b\n} | c", "{{} <a>\n{;} <b>\n{} |} <c>"},
		{"for x in a *.b; do c $x; done < f", "{for x in} <a> <*.b>\n{do} <c> <${x}>\n{done} <<f>\"\""},
		{"if a; then b; elif c\nthen d; else e; fi", "{if} <a>\n{then} <b>\n{elif} <c>\n{then} <d>\n{else} <e>\n{fi}"},
		{"while ! a; do b; done", "{while !} <a>\n{do} <b>\n{done}"},
		{"# one\na # two\n\n# three\nb", "<a>\n{;} <b>"},
		{"a \\\n  b", "<a> <b>"},
		{`git commit -m "$(cat <<'EOF'` + "\nit's (done\nEOF\n)\"", "<git> <commit> <-m> <\\\"\"$()>\n{$(} <cat> <<<\\\"EOF>\"it's (done\\n\"\n{)}"},
		{"eval 'a b' \"c\"", "<eval> <\\\"a b> <\\\"c>\n{eval} <a> <b> <c>\n{end}"},
		{"trap 'rm -f x' EXIT", "<trap> <\\\"rm -f x> <EXIT>\n{trap} <rm> <-f> <x>\n{end}"},
		{"f() { a; }; f", "{f() {} <a>\n{} ;} <f>"},
		{"case $x in a|*.b) c;; *) ;; esac", "{case} <${x}>\n{in} <a> <*.b>\n{)} <c>\n{;;} <*>\n{) ;; esac}"},
		{"[[ -f a && $x == b* ]]", "{[[} <-f> <a> <&&> <${x}> <==> <b*>\n{]]}"},
		{"diff <(a) <(b)", "<diff> <<()> <<()>\n{<(} <a>\n{) <(} <b>\n{)}"},
		{"i=$((i + 1))", "i=<$((i+1))>"},
		{"echo a{b,c} {} x{1..3}", "<echo> <a{b,c}> <{}> <x{1..3}>"},
		{"export A=\"$b\" C", "<export> <A=\\\"\"${b}> <C>"},
	} {
		got, err := Read(tt.text, Bash)
		if err != nil {
			t.Errorf("%q: %v", tt.text, err)
			continue
		}
		if listed(got) != tt.want {
			t.Errorf("%q\ngot  %q\nwant %q", tt.text, listed(got), tt.want)
		}
	}
}

func TestKnown(t *testing.T) {
	got, err := Read(`a 'b c'"d"\e $x ~ *.c {x,y} {} [ ]`, Bash)
	if err != nil {
		t.Fatal(err)
	}
	want := []Word{{Known: true, Text: "a"}, {Known: true, Text: "b cde"}, {}, {}, {}, {}, {Known: true, Text: "{}"}, {Known: true, Text: "["}, {Known: true, Text: "]"}}
	for i, w := range got[0].Words {
		if w.Known != want[i].Known || w.Text != want[i].Text {
			t.Errorf("word %s: known %v, text %q; want %v, %q", w.Raw, w.Known, w.Text, want[i].Known, want[i].Text)
		}
	}
	if got[0].Words[1].Raw != `'b c'"d"\e` {
		t.Errorf("raw %q", got[0].Words[1].Raw)
	}
}

// TestOutside: what leaves the subset is named, with its line. A text without a shell is outside
// for all of them.
func TestOutside(t *testing.T) {
	all := []Shell{Bash, Dash, Zsh}
	for _, tt := range []struct {
		text, construct string
		line            int
		shells          []Shell
	}{
		{"", "nothing where a command is needed", 1, all},
		{"echo a #b\\\ntouch M", "a comment that ends in a backslash", 1, all},
		{"echo a \\\r\ntouch M", "control character U+000D", 1, all},
		{"a\nb \x01", "control character U+0001", 2, all},
		{"x=(a)#; touch M", "an array", 1, all},
		{"a\nb\nx+=(a)", "an array", 3, []Shell{Bash, Zsh}},
		{"(\\\n(echo))", "a continued line without a blank", 1, all},
		{"((x))", "((", 1, all},
		{"echo `a`", "a backquote", 1, all},
		{"echo \"`a`\"", "a backquote", 1, all},
		{"echo \"$`a`\"", "$`", 1, all},
		{"echo $(case a in a) :;; esac)", "case inside $(…)", 1, all},
		{"cat <<E\n$x\nE", "a here-document with expansions", 2, all},
		{"cat <<E\n\\\nE\ntouch M\nE", "a here-document with expansions", 2, all},
		{"cat <<'E'F\na\nEF", "delimiter is quoted in part", 1, all},
		{"cat <<'E'\na", "without its end E", 2, all},
		{"cat <<'E'", "without its end E", 1, all},
		{"a |# b\nc", "a # that may begin a comment", 1, all},
		{"a && # b\nc", "a # that may begin a comment", 1, all},
		{"a;# b\nc", "a # that may begin a comment", 1, all},
		{"(# b\nc)", "a # that may begin a comment", 1, all},
		{"cat <((cat <<'E'\nE\n))", "<((", 1, []Shell{Bash, Zsh}},
		{"x=$(cat <<'E'\nE\na; b)", "a here-document beside other commands", 3, all},
		{"let x||touch M", "the command let", 1, all},
		{"declare -p x=a", "the command declare", 1, all},
		{"functions[echo]='touch M'", "an assignment to an element", 1, all},
		{"hash cat=/usr/bin/touch; cat M", "hash with a name", 1, all},
		{"alias a=b", "the command alias", 1, all},
		{"'alias' a=b", "the command alias", 1, all},
		{"command eval a", "command eval", 1, all},
		{"command e$x a", "command e$x", 1, all},
		{"$x eval a", "eval after an expansion", 1, all},
		{"eval \"$x\"", "eval of text that is not literal", 1, all},
		{"trap \"$x\" EXIT", "trap of text that is not literal", 1, all},
		{"eval 'a `b`'", "a backquote", 1, all},
		{"=touch M", "=", 1, all},
		{"a =touch", "=command", 1, []Shell{Zsh}},
		{"a \"\"=touch", "a = that zsh may expand", 1, []Shell{Zsh}},
		{"a $x=touch", "a = that zsh may expand", 1, []Shell{Zsh}},
		{"a {b,=touch}", "a = that zsh may expand", 1, []Shell{Zsh}},
		{"x==touch", "=command", 1, []Shell{Zsh}},
		{"x=a:=touch", "a = that zsh may expand", 1, []Shell{Zsh}},
		{"a ${x:-=touch}", "a = that zsh may expand", 1, []Shell{Zsh}},
		{"export x==touch", "a = that zsh may expand", 1, []Shell{Zsh}},
		{"a ''~/b", "a ~ that zsh may expand", 1, []Shell{Zsh}},
		{"x=$(cat <<'E'\nE; touch M)\nE\n)", "begins with its end E", 2, all},
		{"{touch M}", "begins with {", 1, all},
		{"echo $=x", "$=", 1, all},
		{"echo $'a'", "$'", 1, all},
		{"echo $\"a\"", `$"`, 1, all},
		{"echo $[1]", "$[", 1, all},
		{"echo ${!x}", "${ without a plain name", 1, all},
		{"echo ${x@P}", "${x@", 1, all},
		{"echo $((x[0]))", "$((…))", 1, all},
		{"echo @(a|b)", "a parenthesis in or after a word", 1, all},
		{"function f { a; }", "function", 1, all},
		{"select x in a; do b; done", "select", 1, all},
		{"coproc a", "coproc", 1, all},
		{"for ((;;)); do a; done", "for without a plain name", 1, all},
		{"a |& b", "|&", 1, all},
		{"a >| b", ">|", 1, all},
		{"a <> b", "<>", 1, all},
		{"a 10> b", "right after a digit", 1, all},
		{"a {x}> b", "right after a digit or brace", 1, all},
		{"set -k", "set -k", 1, all},
		{"set -o posix", "set -o", 1, all},
		{"shopt -s extglob", "shopt extglob", 1, all},
		{"PS4='$(a)'", "the variable PS4", 1, all},
		{"for PS4 in a; do b; done", "the variable PS4", 1, all},
		{"unset 'a[$(b)]'", "unset of an element", 1, all},
		{"echo \u00a0", "U+00A0", 1, all},
		{"echo $10", "$10", 1, all},
		{"a 'b", "an unclosed '", 1, all},
		{"a \"b", `an unclosed "`, 1, all},
		{"(a", "a missing )", 1, all},
		{"a)", "an unexpected )", 1, all},
		{"if a; then b", "a missing fi", 1, all},
		{"fi", "an unexpected fi", 1, all},
		{"a && ;b", "nothing where a command", 1, all},
		{"a &> f", "dash does not know", 1, []Shell{Dash}},
		{"a {b,c}", "dash does not know", 1, []Shell{Dash}},
		{"[[ a ]]", "dash does not know", 1, []Shell{Dash}},
		{"x+=1", "dash does not know", 1, []Shell{Dash}},
		{"a <<< b", "dash does not know", 1, []Shell{Dash}},
		{"path=a", "the variable path of zsh", 1, []Shell{Zsh}},
		{"> f", "zsh starts a program", 1, []Shell{Zsh}},
		{"echo $x[1]", "an element for zsh", 1, []Shell{Zsh}},
		{"echo $xé", "a letter behind it", 1, []Shell{Zsh}},
		{"echo ~x", "a named folder of zsh", 1, []Shell{Zsh}},
		{"a > f | b", "a redirection beside a pipe", 1, []Shell{Zsh}},
		{"a | b < f", "a redirection beside a pipe", 1, []Shell{Zsh}},
		{"a\neval 'b\n`c`'", "a backquote", 3, all},
		{"x='a b'\necho $x", "an unquoted $x", 2, []Shell{Zsh}},
		{"for x in '*'; do a $x; done", "an unquoted $x", 1, []Shell{Zsh}},
		{"set -- 'a b'; c $1", "an unquoted $1", 1, []Shell{Zsh}},
		{"cd a b", "cd with two folders", 1, []Shell{Zsh}},
		{"setopt x", "the command setopt", 1, []Shell{Zsh}},
		{"é=1 a", "a command name with =", 1, all},
		{"2=a b", "a command name with =", 1, all},
		{"(time a)", "time inside", 1, []Shell{Bash, Zsh}},
		{"time while a; do b; done", "time without a command", 1, []Shell{Bash, Zsh}},
		{"- a", "the modifier -", 1, []Shell{Zsh}},
		{strings.Repeat("(", 300) + "a" + strings.Repeat(")", 300), "((", 1, all},
		{strings.Repeat("( ", 300) + "a" + strings.Repeat(" )", 300), "inside each other", 1, all},
		{strings.Repeat("$(", 2000), "inside each other", 1, all},
		{strings.Repeat("a", 65<<10), "more than 65536 bytes", 1, all},
	} {
		for _, shell := range tt.shells {
			_, err := Read(tt.text, shell)
			var outside *Outside
			if !errors.As(err, &outside) || !strings.Contains(outside.Construct, tt.construct) || outside.Line != tt.line {
				t.Errorf("%.80q in %v: got %v, want %q in line %d", tt.text, shell, err, tt.construct, tt.line)
			}
		}
		if len(tt.shells) == 1 && tt.shells[0] != Bash {
			if _, err := Read(tt.text, Bash); err != nil && tt.text != "setopt x" {
				t.Errorf("%q in bash: %v", tt.text, err)
			}
		}
	}
	if _, err := Read("a", 0); err == nil {
		t.Error("a text for no shell was read")
	}
}

// corpus are the commands of agents and people.
func corpus(tb testing.TB) []string {
	f, err := os.Open("../testdata/commands.jsonl")
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	var texts []string
	seen, runs := make(map[string]bool), 0
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var c struct {
			ID, Kind, Command string
			Runs              bool
		}
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			tb.Fatal(err)
		}
		texts = append(texts, c.Command)
		if want := fmt.Sprintf("C%04d", len(texts)); c.ID != want || c.Kind == "" || seen[c.Command] {
			tb.Fatalf("line %d of the commands: want the id %s, a kind, and a new command: %+v", len(texts), want, c)
		}
		seen[c.Command] = true
		if c.Runs {
			runs++
		}
	}
	if err := lines.Err(); err != nil {
		tb.Fatal(err)
	}
	if len(texts) != 2000 || runs < 1200 {
		tb.Fatalf("%d commands of which %d run; want 2000 and at least 1200", len(texts), runs)
	}
	return texts
}

// TestCommands: at most 2 % of what agents and people write for bash is outside, and little
// more for the others.
func TestCommands(t *testing.T) {
	texts := corpus(t)
	for _, shell := range []Shell{Bash, Dash, Zsh} {
		constructs := make(map[string]int)
		n := 0
		for _, text := range texts {
			if _, err := Read(text, shell); err != nil {
				n++
				constructs[err.(*Outside).Construct]++
			}
		}
		t.Logf("%v: %d of %d outside: %v", shell, n, len(texts), constructs)
		if most := map[Shell]int{Bash: 40, Dash: 60, Zsh: 60}[shell]; n > most {
			t.Errorf("%v: %d commands are outside, more than %d", shell, n, most)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	texts := corpus(b)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		_, _ = Read(texts[i%len(texts)], Bash)
	}
}
