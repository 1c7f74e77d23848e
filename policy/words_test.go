package policy

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// In these tables the word ? is unknown.
func TestCommandPatterns(t *testing.T) {
	for _, c := range []struct {
		pattern, command string
		allow            bool
		deny             Meets
	}{
		{"git", "git", true, Yes},
		{"git", "git push -f", true, Yes},
		{"git", "gitx", false, No},
		{"git", "git-foo", false, No},
		{"rm", "rmdir x", false, No},
		{"ls", "/tmp/evil/ls", false, Yes},
		{"/bin/ls", "/bin/ls", true, Yes},
		{"ls *", "ls -la", true, Yes},
		{"ls *", "ls", true, Yes},
		{"ls", "LS", false, No},
		{"git push", "git push origin", true, Yes},
		{"git push", "git pushx", false, No},
		{"git push", "git", false, No},
		{"git push", "/usr/bin/git push", false, Yes},
		{"git push", "git -C /x push", false, Yes},
		{"git push", "git -c a=b --no-pager push", false, Yes},
		{"git push", "git --git-dir /x --work-tree /y push", false, Yes},
		{"git push", "git stash push", false, No},
		{"git push", "git log push", false, No},
		{"git push", "git log -- push", false, No},
		{"git push", "git commit -m push", false, No},
		{"git reset --hard", "git reset --hard", true, Yes},
		{"git reset --hard", "git reset HEAD~1 --hard", false, Yes},
		{"git reset --hard", "git --hard reset", false, Yes},
		{"git reset --hard", "git reset --har", false, Yes},
		{"git reset --hard", "git reset --hard=x", false, Yes},
		{"git reset --hard", "git reset --hardly", false, No},
		{"git reset --hard", "git reset --", false, No},
		{"git reset --hard", "git reset --soft", false, No},
		{"curl --output=x", "curl --out=x", false, Yes},
		{"curl --output=x", "curl --output=y", false, No},
		{"curl --output=x", "curl --output x", false, Yes},
		{"rm -rf", "rm -rf /", true, Yes},
		{"rm -rf", "rm -r -f /", false, Yes},
		{"rm -rf", "rm -fr /", false, Yes},
		{"rm -rf", "rm / -vrf", false, Yes},
		{"rm -r -f", "rm -rf /", false, Yes},
		{"rm -rf", "rm -r /", false, No},
		{"rm -rf", "rm --rf", false, No},
		{"find -delete", "find . -name x -delete", false, Yes},
		{"= npm test", "npm test", true, Yes},
		{"= npm test", "npm test x", false, No},
		{"= npm test", "npm", false, No},
		{"= npm test", "/bin/npm test", false, Yes},
		{"echo 'a b'", "echo a_b", false, No},
		{"? ?", "git push", false, No},
		// Unknown words.
		{"git push", "? push", false, Possibly},
		{"git push", "git ?", false, Possibly},
		{"git push", "git ? push", false, Possibly},
		{"git push", "git push ?", false, Yes},
		{"git push", "git -C ? push", false, Yes},
		{"git push", "git -C ?", false, Possibly},
		{"git push", "git status ?", false, No},
		{"git push", "ls ?", false, No},
		{"git", "git ?", false, Yes},
		{"git reset --hard", "git reset ?", false, Possibly},
		{"git reset --hard", "git reset --hard ?", false, Yes},
		{"git reset --hard", "git log ?", false, No},
		{"= npm test", "npm ?", false, Possibly},
		{"= npm test", "npm test ?", false, Possibly},
		{"= npm test", "npm ? test", false, Possibly},
		{"= npm test", "npm run ?", false, No},
		{"*", "?", false, Yes},
		{"*", "git push", true, Yes},
	} {
		act := Act{Name: Shell, Target: words(strings.Fields(c.command)...)}
		if got := allows(t, "shell("+c.pattern+")", act); got != c.allow {
			t.Errorf("allow %s on %s: %v, want %v", c.pattern, c.command, got, c.allow)
		}
		if got := denies(t, "shell("+c.pattern+")", act); got != c.deny {
			t.Errorf("deny %s on %s: %v, want %v", c.pattern, c.command, got, c.deny)
		}
	}
}

func TestUnreadableCodeMayMeetEveryDeny(t *testing.T) {
	target := words("bash", "-c", "?")
	target.Unknown = true
	act := Act{Name: Shell, Target: target}
	for _, pattern := range []string{"shell(git push)", "shell(= git push)", "shell(bash x)"} {
		if got := denies(t, pattern, act); got != Possibly {
			t.Errorf("deny %s on code that cannot be read: %v, want Possibly", pattern, got)
		}
	}
	if allows(t, "shell", act) || allows(t, "shell(*)", act) || allows(t, "shell(bash)", act) {
		t.Error("code that cannot be read is allowed")
	}
}

func TestSplitWords(t *testing.T) {
	for text, want := range map[string][]string{
		`git  push`:               {"git", "push"},
		`echo 'a b' "c d" e\ f`:   {"echo", "a b", "c d", "e f"},
		`a'b'"c"\d`:               {"abcd"},
		`'' ""`:                   {"", ""},
		`"a\"b\\c\$d\e"`:          {`a"b\c$d\e`},
		`'a\'`:                    {`a\`},
		`'it'\''s' '*' '$x;|&()'`: {"it's", "*", "$x;|&()"},
		" \t ":                    nil,
	} {
		got, err := splitWords(text)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("splitWords(%s): %v (-want +got):\n%s", text, err, diff)
		}
	}
	for text, want := range map[string]error{
		`'a`: errQuote, `"a`: errQuote, `"a\"`: errQuote, `a\`: errTrailing, "a;b": errOperator, "a $b": errOperator,
		"`a`": errOperator, "a > b": errOperator, "a & b": errOperator, "a*": errStar,
	} {
		if got, err := splitWords(text); !errors.Is(err, want) {
			t.Errorf("splitWords(%s) = %q, %v; want %v", text, got, err, want)
		}
	}
}

func TestJoinedWordsAreReadAgain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(rapid.OneOf(genWord, rapid.String()), 1, 5).Draw(t, "words")
		text := joinWords(CommandTarget(list...).Words)
		got, err := splitWords(text)
		if diff := cmp.Diff(list, got); diff != "" || err != nil {
			t.Fatalf("%q reads as %q, %v", text, got, err)
		}
	})
}
