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
		deny             Match
	}{
		{"git", "git", true, MatchYes},
		{"git", "git push -f", true, MatchYes},
		{"git", "gitx", false, MatchNo},
		{"git", "git-foo", false, MatchNo},
		{"rm", "rmdir x", false, MatchNo},
		{"ls", "/tmp/evil/ls", false, MatchYes},
		{"/bin/ls", "/bin/ls", true, MatchYes},
		{"ls *", "ls -la", true, MatchYes},
		{"ls *", "ls", true, MatchYes},
		{"ls", "LS", false, MatchNo},
		{"git push", "git push origin", true, MatchYes},
		{"git push", "git pushx", false, MatchNo},
		{"git push", "git", false, MatchNo},
		{"git push", "/usr/bin/git push", false, MatchYes},
		{"git push", "git -C /x push", false, MatchYes},
		{"git push", "git -c a=b --no-pager push", false, MatchYes},
		{"git push", "git --git-dir /x --work-tree /y push", false, MatchYes},
		{"git push", "git stash push", false, MatchNo},
		{"git push", "git log push", false, MatchNo},
		{"git push", "git log -- push", false, MatchNo},
		{"git push", "git commit -m push", false, MatchNo},
		{"git reset --hard", "git reset --hard", true, MatchYes},
		{"git reset --hard", "git reset HEAD~1 --hard", false, MatchYes},
		{"git reset --hard", "git --hard reset", false, MatchYes},
		{"git reset --hard", "git reset --har", false, MatchYes},
		{"git reset --hard", "git reset --hard=x", false, MatchYes},
		{"git reset --hard", "git reset --hardly", false, MatchNo},
		{"git reset --hard", "git reset --", false, MatchNo},
		{"git reset --hard", "git reset --soft", false, MatchNo},
		{"curl --output=x", "curl --out=x", false, MatchYes},
		{"curl --output=x", "curl --output=y", false, MatchNo},
		{"curl --output=x", "curl --output x", false, MatchYes},
		{"rm -rf", "rm -rf /", true, MatchYes},
		{"rm -rf", "rm -r -f /", false, MatchYes},
		{"rm -rf", "rm -fr /", false, MatchYes},
		{"rm -rf", "rm / -vrf", false, MatchYes},
		{"rm -r -f", "rm -rf /", false, MatchYes},
		{"rm -rf", "rm -r /", false, MatchNo},
		{"rm -rf", "rm --rf", false, MatchNo},
		{"find -delete", "find . -name x -delete", false, MatchYes},
		{"= npm test", "npm test", true, MatchYes},
		{"= npm test", "npm test x", false, MatchNo},
		{"= npm test", "npm", false, MatchNo},
		{"= npm test", "/bin/npm test", false, MatchYes},
		{"echo 'a b'", "echo a_b", false, MatchNo},
		{"? ?", "git push", false, MatchNo},
		// Unknown words.
		{"git push", "? push", false, MatchPossibly},
		{"git push", "git ?", false, MatchPossibly},
		{"git push", "git ? push", false, MatchPossibly},
		{"git push", "git push ?", false, MatchYes},
		{"git push", "git -C ? push", false, MatchYes},
		{"git push", "git -C ?", false, MatchPossibly},
		{"git push", "git status ?", false, MatchNo},
		{"git push", "ls ?", false, MatchNo},
		{"git", "git ?", false, MatchYes},
		{"git reset --hard", "git reset ?", false, MatchPossibly},
		{"git reset --hard", "git reset --hard ?", false, MatchYes},
		{"git reset --hard", "git log ?", false, MatchNo},
		{"= npm test", "npm ?", false, MatchPossibly},
		{"= npm test", "npm test ?", false, MatchPossibly},
		{"= npm test", "npm ? test", false, MatchPossibly},
		{"= npm test", "npm run ?", false, MatchNo},
		{"*", "?", false, MatchYes},
		{"*", "git push", true, MatchYes},
	} {
		act := Act{Name: ActShell, Target: words(strings.Fields(c.command)...)}
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
	act := Act{Name: ActShell, Target: target}
	for _, pattern := range []string{"shell(git push)", "shell(= git push)", "shell(bash x)"} {
		if got := denies(t, pattern, act); got != MatchPossibly {
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
