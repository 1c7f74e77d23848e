package policy

import "testing"

func TestPathPatterns(t *testing.T) {
	for _, c := range []struct {
		pattern string
		path    string
		want    bool
	}{
		{"notes/a.md", "notes/a.md", true},
		{"notes/a.md", "./notes//x/../a.md", true},
		{"./notes//a.md", "notes/a.md", true},
		{"notes/../a.md", "a.md", true},
		{"notes/**", "notes/a/b.md", true},
		{"notes/**", "notes", true},
		{"notes/**", "notesx/a.md", false},
		{"notes/", "notes/a/b.md", true},
		{"secret*/**", "secret", true},
		{"**/secret*/**", "a/secret", true},
		{"**/secret*/**", "a/secrets/b", true},
		{"**/secret*/**", "a/secre", false},
		{"notes/*", "notes/a/b.md", false},
		{"notes/*", "notes/a.md", true},
		{"**/.env.*", ".env.local", true},
		{"**/.env.*", "a/b/.env.local", true},
		{"**/.env.*", "a/.environment", false},
		{"notes/{a,b}.md", "notes/b.md", true},
		{"notes/{a,b}.md", "notes/c.md", false},
		{"notes/?.md", "notes/é.md", true},
		{"notes/[a-c].md", "notes/b.md", true},
		{"notes/[!a-c].md", "notes/b.md", false},
		{`notes/\[id\].md`, "notes/[id].md", true},
		{`notes/\[id\].md`, "notes/i.md", false},
		{`notes/\*`, "notes/a", false},
		{`a\\b`, `a\b`, true},
		{"notes/A.md", "notes/a.md", false},
		{"*", "a/b/c", true}, {"**", "/a", true}, {"/**", "/a/b", true}, {"/**", "a/b", false},
		{"a b, c(d).md", "a b, c(d).md", true},
	} {
		act := Act{Name: ActWriteFile, Target: PathTarget(c.path)}
		if got := allows(t, "write_file("+c.pattern+")", act); got != c.want {
			t.Errorf("allow %s on %s: %v, want %v", c.pattern, c.path, got, c.want)
		}
		if got := denies(t, "write_file("+c.pattern+")", act) == MatchYes; got != c.want {
			t.Errorf("deny %s on %s: %v, want %v", c.pattern, c.path, got, c.want)
		}
	}
}

// A path outside the roots has only an absolute name: an allow must name it so.
func TestARelativeAllowDoesNotReachOutsideTheRoots(t *testing.T) {
	outside := Act{Name: ActWriteFile, Target: PathTarget("/etc/a.md")}
	for pattern, want := range map[string]bool{"**/*.md": false, "./**": false, "/etc/*.md": true, "{x,/etc/*}": true} {
		if got := allows(t, "write_file("+pattern+")", outside); got != want {
			t.Errorf("allow %s: %v, want %v", pattern, got, want)
		}
		if got := denies(t, "write_file("+pattern+")", outside); got != MatchYes {
			t.Errorf("deny %s: %v", pattern, got)
		}
	}
}

func TestPathSpellings(t *testing.T) {
	link := LinkTarget([]string{"notes/link", "/h/notes/link"}, []string{"private/key", "/h/private/key"})
	for _, c := range []struct {
		pattern string
		allow   bool
		deny    Match
	}{
		{"notes/**", false, MatchYes},
		{"private/**", false, MatchYes},
		{"/h/private/**", false, MatchYes},
		{"/h/notes/link", false, MatchYes},
		{"{notes,private}/**", true, MatchYes},
		{"/h/**", true, MatchYes},
		{"{notes/**,/h/private/*}", true, MatchYes},
		{"other/**", false, MatchNo},
	} {
		act := Act{Name: ActReadFile, Target: link}
		if got := allows(t, "read_file("+c.pattern+")", act); got != c.allow {
			t.Errorf("allow %s on a link: %v, want %v", c.pattern, got, c.allow)
		}
		if got := denies(t, "read_file("+c.pattern+")", act); got != c.deny {
			t.Errorf("deny %s on a link: %v, want %v", c.pattern, got, c.deny)
		}
	}
	unknown := Act{Name: ActReadFile, Target: UnknownTarget(KindPath)}
	if allows(t, "read_file(**)", unknown) || allows(t, "read_file", unknown) || denies(t, "read_file(x)", unknown) != MatchPossibly || denies(t, "read_file", unknown) != MatchYes {
		t.Error("an unknown path is allowed, or a deny is sure about it")
	}
}

// TestPathsAnsweredByName: redirections, secrets and paths outside the roots.
func TestPathsAnsweredByName(t *testing.T) {
	inside := Act{Name: ActWriteFile, Target: PathTarget("out/log.txt", "/h/out/log.txt"), ByName: true}
	outside := Act{Name: ActWriteFile, Target: PathTarget("/etc/x.txt"), ByName: true}
	for _, c := range []struct {
		pattern string
		in, out bool
	}{
		{"write_file", false, false},
		{"*", false, false},
		{"write_file(*)", false, false},
		{"write_file(**)", false, false},
		{"write_file(**/*.txt)", true, false},
		{"write_file(./**)", true, false},
		{"write_file(out/*)", true, false},
		{"write_file(/**)", true, true},
		{"write_file(/etc/*)", false, true},
	} {
		if got := allows(t, c.pattern, inside); got != c.in {
			t.Errorf("allow %s on a redirection: %v, want %v", c.pattern, got, c.in)
		}
		if got := allows(t, c.pattern, outside); got != c.out {
			t.Errorf("allow %s outside the roots: %v, want %v", c.pattern, got, c.out)
		}
	}
}

func TestSharedFiles(t *testing.T) {
	act := Act{Name: ActShareFile, Target: PathTarget("notes/a, b.md").SharedWith("helper")}
	for pattern, want := range map[string]bool{
		"share_file(notes/**)":                true,
		"share_file(notes/**, helper)":        true,
		"share_file(notes/a, b.md, h*)":       true,
		"share_file(notes/a, b.md)":           false, // the worker would be b.md
		"share_file(notes/**, other)":         false,
		"share_file(other/**, helper)":        false,
		"share_file(**, helper)":              true,
		"share_file(*, helper)":               true,
		"share_file":                          true,
		"read_file(notes/**)":                 false,
		"share_file(notes/a, b.md, helper x)": false,
	} {
		if got := allows(t, pattern, act); got != want {
			t.Errorf("allow %s: %v, want %v", pattern, got, want)
		}
		if got := denies(t, pattern, act) == MatchYes; got != want {
			t.Errorf("deny %s: %v, want %v", pattern, got, want)
		}
	}
}
