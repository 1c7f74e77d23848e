package policy

import (
	"testing"
	"time"
)

func pathAct(spellings ...string) Act {
	return Act{Name: ActWriteFile, Target: PathTarget(spellings...), Verdict: VerdictAsk}
}

func commandAct(prefix int, list ...string) Act {
	return Act{Name: ActShell, Dir: "/h", Prefix: prefix, Target: words(list...), Verdict: VerdictAsk}
}

func urlAct(t *testing.T, method, url string) Act {
	return Act{Name: ActHTTPRequest, Target: mustURL(t, method, url), Verdict: VerdictAsk}
}

// covered asks a set with the one grant.
func covered(g Grant, act Act) bool {
	g.Effect = EffectAllow
	return NewGrantSet([]Grant{g}).allowed(callOf(act), &act, 0, testNow) != nil
}

func met(g Grant, act Act) Match {
	g.Effect = EffectDeny
	_, meets := NewGrantSet([]Grant{g}).denied(callOf(act), &act, testNow)
	return meets
}

func TestGrantReach(t *testing.T) {
	note := pathAct("notes/a.md", "/h/notes/a.md")
	push := commandAct(2, "git", "push", "origin")
	get := urlAct(t, "GET", "https://a.b/x?y=1")
	mail := Act{Name: "send", Target: ArgumentsTarget([]byte(`{"to":"a"}`))}
	share := Act{Name: ActShareFile, Target: PathTarget("notes/a.md").SharedWith("w")}
	link := Act{Name: ActWriteFile, Target: LinkTarget([]string{"notes/l"}, []string{"private/k"})}
	unknown := commandAct(2, "git", "push", "?")
	for _, c := range []struct {
		name  string
		given Act
		reach Reach
		act   Act
		allow bool
		deny  Match
	}{
		{"same file", note, ReachExact, pathAct("notes/./a.md", "/h/notes//a.md"), true, MatchYes},
		{"the zero reach is exact", note, "", pathAct("notes/b.md", "/h/notes/b.md"), false, MatchNo},
		{"sibling", note, ReachExact, pathAct("notes/b.md", "/h/notes/b.md"), false, MatchNo},
		{"the same file in one spelling", note, ReachExact, pathAct("/h/notes/a.md"), false, MatchYes},
		{"folder", note, ReachPrefix, pathAct("notes/x/b.md", "/h/notes/x/b.md"), true, MatchYes},
		{"folder with the same start", note, ReachPrefix, pathAct("notesx/b.md", "/h/notesx/b.md"), false, MatchNo},
		{"parent folder", note, ReachPrefix, pathAct("b.md", "/h/b.md"), false, MatchNo},
		{"link out of the folder", note, ReachPrefix, link, false, MatchYes},
		{"link into what is denied", pathAct("private/k"), ReachExact, link, false, MatchYes},
		{"link into a folder that is denied", pathAct("private/other"), ReachPrefix, link, false, MatchYes},
		{"root folder, outside", pathAct("a.md"), ReachPrefix, pathAct("/etc/x"), false, MatchNo},
		{"root folder, above", pathAct("a.md"), ReachPrefix, pathAct("../x"), false, MatchNo},
		{"root folder, below", pathAct("a.md"), ReachPrefix, pathAct("d/x"), true, MatchYes},
		{"whole tool", note, ReachTool, pathAct("/etc/x"), true, MatchYes},
		{"another tool", note, ReachTool, Act{Name: ActDeleteFile, Target: PathTarget("notes/a.md")}, false, MatchNo},
		{"name in another case", note, ReachTool, Act{Name: "Write_File", Target: PathTarget("notes/a.md")}, false, MatchNo},
		{"a connector's tool of that name", note, ReachTool, Act{Connector: "c", Name: ActWriteFile, Target: PathTarget("notes/a.md")}, false, MatchNo},
		{"same command", push, ReachExact, push, true, MatchYes},
		{"longer command", push, ReachExact, commandAct(2, "git", "push", "origin", "-f"), false, MatchNo},
		{"command prefix", push, ReachPrefix, commandAct(2, "git", "push", "-f"), true, MatchYes},
		{"not that prefix", push, ReachPrefix, commandAct(2, "git", "status"), false, MatchNo},
		{"no prefix to remember", commandAct(0, "git", "push"), ReachPrefix, commandAct(0, "git", "push", "-f"), false, MatchYes},
		{"denied through a path and options", push, ReachPrefix, commandAct(2, "/bin/git", "-C", "/x", "push"), false, MatchYes},
		{"unknown words", push, ReachTool, unknown, false, MatchYes},
		{"unknown words, prefix", push, ReachPrefix, unknown, false, MatchYes},
		{"unknown subcommand", push, ReachPrefix, commandAct(2, "git", "?"), false, MatchPossibly},
		{"same unknown words", unknown, ReachExact, unknown, false, MatchPossibly},
		{"unknown path", note, ReachExact, Act{Name: ActWriteFile, Target: UnknownTarget(KindPath)}, false, MatchPossibly},
		{"unknown path, tool", note, ReachTool, Act{Name: ActWriteFile, Target: UnknownTarget(KindPath)}, false, MatchYes},
		{"same URL", get, ReachExact, urlAct(t, "get", "HTTPS://A.b:443/x?y=1"), true, MatchYes},
		{"another query", get, ReachExact, urlAct(t, "GET", "https://a.b/x?y=2"), false, MatchNo},
		{"host", get, ReachPrefix, urlAct(t, "GET", "https://a.b/z"), true, MatchYes},
		{"another method", get, ReachPrefix, urlAct(t, "POST", "https://a.b/z"), false, MatchNo},
		{"another port", get, ReachPrefix, urlAct(t, "GET", "https://a.b:8443/z"), false, MatchNo},
		{"another host", get, ReachPrefix, urlAct(t, "GET", "https://x.a.b/z"), false, MatchNo},
		{"same arguments", mail, ReachExact, mail, true, MatchYes},
		{"other arguments", mail, ReachExact, Act{Name: "send", Target: ArgumentsTarget([]byte(`{"to":"b"}`))}, false, MatchNo},
		{"no folder of arguments", mail, ReachPrefix, Act{Name: "send", Target: ArgumentsTarget([]byte(`{"to":"b"}`))}, false, MatchNo},
		{"shared with another", share, ReachPrefix, Act{Name: ActShareFile, Target: PathTarget("notes/a.md").SharedWith("v")}, false, MatchNo},
		{"shared with the same", share, ReachPrefix, Act{Name: ActShareFile, Target: PathTarget("notes/b.md").SharedWith("w")}, true, MatchYes},
		{"no target at all", Act{Name: "x"}, ReachExact, Act{Name: "x"}, false, MatchNo},
	} {
		g := Grant{Act: c.given, Reach: c.reach}
		if got := covered(g, c.act); got != c.allow {
			t.Errorf("%s: a grant covers %s: %v, want %v", c.name, c.act, got, c.allow)
		}
		if got := met(g, c.act); got != c.deny {
			t.Errorf("%s: a denial meets %s: %v, want %v", c.name, c.act, got, c.deny)
		}
	}
}

func TestGrantHoldsInItsExactFolder(t *testing.T) {
	push := commandAct(2, "git", "push")
	below := push
	below.Dir = "/h/sub"
	for _, reach := range []Reach{ReachExact, ReachPrefix, ReachTool} {
		g := Grant{Act: push, Reach: reach}
		if !covered(g, push) || covered(g, below) {
			t.Errorf("%s: a grant for a command does not hold in just its folder", reach)
		}
		if met(g, below) != MatchYes {
			t.Errorf("%s: a denial does not hold in every folder", reach)
		}
	}
}

func TestToolGrantDoesNotAnswerWhatIsAnsweredByName(t *testing.T) {
	act := pathAct("out/log")
	act.ByName = true
	if covered(Grant{Act: act, Reach: ReachTool}, act) {
		t.Error("the reach of a tool answers a redirection")
	}
	if !covered(Grant{Act: act, Reach: ReachExact}, act) || !covered(Grant{Act: act, Reach: ReachPrefix}, act) {
		t.Error("a grant by name does not answer a redirection")
	}
}

func TestGrantBinding(t *testing.T) {
	act := Act{Connector: "c", Name: "send", Target: TextTarget("x")}
	call := Call{Connector: "c", Tool: "send", Session: "s", Workers: []string{"a", "b"}, Definition: DigestOf([]byte("v1"))}
	grant := Grant{Session: "s", Workers: []string{"a", "b"}, Effect: EffectAllow, Act: act, Definition: call.Definition}
	for name, c := range map[string]struct {
		grant      func(*Grant)
		call       func(*Call)
		want, deny bool
	}{
		"the same":              {want: true, deny: true},
		"another session":       {call: func(c *Call) { c.Session = "S" }},
		"no session":            {call: func(c *Call) { c.Session = "" }},
		"a child":               {call: func(c *Call) { c.Workers = []string{"a", "b", "c"} }, deny: true},
		"the parent":            {call: func(c *Call) { c.Workers = []string{"a"} }, deny: true},
		"a sibling":             {call: func(c *Call) { c.Workers = []string{"a", "x"} }, deny: true},
		"a child, shared":       {grant: func(g *Grant) { g.Shared = true }, call: func(c *Call) { c.Workers = []string{"a", "b", "c", "d"} }, want: true, deny: true},
		"the same, shared":      {grant: func(g *Grant) { g.Shared = true }, want: true, deny: true},
		"the parent, shared":    {grant: func(g *Grant) { g.Shared = true }, call: func(c *Call) { c.Workers = []string{"a"} }, deny: true},
		"a nephew, shared":      {grant: func(g *Grant) { g.Shared = true }, call: func(c *Call) { c.Workers = []string{"a", "x", "c"} }, deny: true},
		"another definition":    {call: func(c *Call) { c.Definition = DigestOf([]byte("v2")) }, deny: true},
		"expires later":         {grant: func(g *Grant) { g.Expires = testNow.Add(time.Second) }, want: true, deny: true},
		"expires now":           {grant: func(g *Grant) { g.Expires = testNow }},
		"an effect of its own":  {grant: func(g *Grant) { g.Effect = "" }, deny: true},
		"a built-in definition": {grant: func(g *Grant) { g.Definition = Digest{} }, deny: true},
	} {
		g, k := grant, call
		if c.grant != nil {
			c.grant(&g)
		}
		if c.call != nil {
			c.call(&k)
		}
		if got := NewGrantSet([]Grant{g}).allowed(&k, &act, 0, testNow) != nil; got != c.want {
			t.Errorf("%s: the grant holds: %v", name, got)
		}
		g.Effect = EffectDeny
		if _, meets := NewGrantSet([]Grant{g}).denied(&k, &act, testNow); (meets == MatchYes) != c.deny {
			t.Errorf("%s: the denial holds: %v", name, meets)
		}
	}
}

func TestGrantText(t *testing.T) {
	for want, g := range map[string]Grant{
		"allow write_file(notes/a.md)": {Effect: EffectAllow, Act: pathAct("notes/a.md")},
		"allow write_file(notes/**)":   {Effect: EffectAllow, Act: pathAct("notes/a.md"), Reach: ReachPrefix},
		"deny write_file":              {Effect: EffectDeny, Act: pathAct("notes/a.md"), Reach: ReachTool},
		"allow shell(git push)":        {Effect: EffectAllow, Act: commandAct(2, "git", "push", "x"), Reach: ReachPrefix},
		"allow shell(= git push x)":    {Effect: EffectAllow, Act: commandAct(2, "git", "push", "x")},
		"deny c:send()":                {Effect: EffectDeny, Act: Act{Connector: "c", Name: "send", Target: TextTarget("")}},
	} {
		if got := g.String(); got != want {
			t.Errorf("String() = %q, want %q", got, want)
		}
	}
}
