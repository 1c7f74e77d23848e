package analysis

import (
	"testing"

	"github.com/assent-dev/assent/tool/shell/subset"
)

// TestRawTexts: a text that an agent hands to its own bash, and that starts touch there, is
// read so, or the second reader leaves it to a person.
func TestRawTexts(t *testing.T) {
	for _, text := range []string{
		// What the parser reads differently.
		"echo a #b\\\ntouch FLAG", "#b\\\ntouch FLAG", "echo a # \\\\\\\ntouch FLAG", "if true; then # x\\\ntouch FLAG\nfi", "echo $(: #b\\\ntouch FLAG)", "echo a \\\r\ntouch FLAG", "echo \\\r\n#; touch FLAG", "x=(a)#; touch FLAG", "x=(a)#\ntouch FLAG",
		"x+=(a)#; touch FLAG", "declare x=(a)#; touch FLAG", "export x=(a)#; touch FLAG", "x=()#; touch FLAG", "x=([0]=a)#; touch FLAG", "readonly x=(a)#; touch FLAG", "y=1 x=(a)#; touch FLAG",
		"(\\\n(echo '$(touch FLAG)'); touch FLAG)", "echo `echo ' `;touch FLAG;`'`", "echo `: \\`touch FLAG\\``", "echo \"`touch FLAG`\"", "echo \"`echo \"$(touch FLAG)\"`\"",
		// What the printer makes another program of.
		"echo $(case a in a) :;; esac); touch FLAG", "echo $(: &); touch FLAG", "bash -c 'echo $(: &); touch FLAG'", "eval 'echo $(: &); touch FLAG'", "echo \"$`touch FLAG`\"", "x=$(case a in a) echo touch;; esac); $x FLAG", "for i in 1; do : & done; touch FLAG", "(: &); touch FLAG",
		"echo $(if true; then : & fi); touch FLAG", "case a in a) : & esac; touch FLAG", "echo `: &`; touch FLAG", "cat <(: &); touch FLAG", "bash -c 'case a in a) :;; esac; touch FLAG'", "sh -c 'echo $(: &); touch FLAG'",
		// Here-documents.
		"cat <<E\n\\\nE\ntouch FLAG\nE", "cat <<E\na\\\nE\nE\ntouch FLAG", "cat <<E\n${x:-\nE\ntouch FLAG\n}\nE", "cat <<E\n$(touch FLAG)\nE", "cat <<E\n`touch FLAG`\nE", "cat <<-E\n\t\\\nE\ntouch FLAG\nE", "cat <<E$(\nE$(\ntouch FLAG", "cat <<\"E\"F\n$(x)\nEF\ntouch FLAG", "cat <<E; touch FLAG\n'\nE",
		"cat <<A <<B\na\nA\nb\nB\ntouch FLAG", "cat <<E | cat\n${x-$(touch FLAG)}\nE", "cat <<''\n\ntouch FLAG", "bash <<E\ntouch FLAG\nE", "bash <<'E'\nlet x||touch FLAG\nE",
		// let.
		"let x||touch FLAG", "let x || touch FLAG", "let x=0||touch FLAG", "let 1&&touch FLAG", "let 1 && touch FLAG", "let x|touch FLAG", "let x & touch FLAG", "let x&touch FLAG", "let x=1;touch FLAG", "let 'x=1'||: ; touch FLAG", "let x > FLAG; touch FLAG", "command let x || touch FLAG", "eval 'let x||touch FLAG'", "bash -c 'let x||touch FLAG'",
		"let x<<E\n1\nE\ntouch FLAG", "let \"x=a[\\$(touch FLAG)]\"", "let x=a['$(touch FLAG)']", "if let x || touch FLAG; then :; fi",
		// What ends a line or begins a comment.
		"echo a;#b\ntouch FLAG", "echo a#b; touch FLAG", "echo a\\#b; touch FLAG", "echo 'a\n#'; touch FLAG", "echo ${x#a}; touch FLAG", "echo $#; touch FLAG", "echo $((2#1)); touch FLAG", "[[ a == a ]] #\\\ntouch FLAG",
	} {
		dir := t.TempDir()
		shellIn(t, dir, text)
		if !touched(dir) {
			continue // this version of bash does not run it
		}
		outside := SecondReading(text, subset.Bash)
		if script, err := Read(text, "/w", project()); outside == "" && err == nil && !mayTouch(script.Parts) {
			t.Errorf("%q runs touch, but the parts are\n%s", text, described(script.Parts))
		}
	}
}

// TestLet: an operator that is also one of the shell's own ends the command in bash, and not in
// the tree: then nobody but a person allows it.
func TestLet(t *testing.T) {
	for _, text := range []string{"let x||touch M", "let x && touch M", "let x|touch M", "let x<M", "let 'x=1' y>2", "let x<<2", "let (x||y)"} {
		if script, err := Read(text, "/w", project()); err == nil && !mayTouch(script.Parts) {
			t.Errorf("%q is read as\n%s", text, described(script.Parts))
		}
	}
	readable(t, "let x=1", "let x++", "let x+=2 y=x*3", "let x=1; ls", "i=1; let i=i+1")
}
