package policy

import (
	"testing"
	"time"
)

func pathAct(spellings ...string) Act {
	return Act{Name: WriteFile, Target: PathTarget(spellings...), Verdict: Ask}
}

func commandAct(prefix int, list ...string) Act {
	return Act{Name: Shell, Dir: "/h", Prefix: prefix, Target: words(list...), Verdict: Ask}
}

func urlAct(t *testing.T, method, url string) Act {
	return Act{Name: HTTPRequest, Target: mustURL(t, method, url), Verdict: Ask}
}

// covered asks a set with the one grant.
func covered(g Grant, act Act) bool {
	g.Effect = Allow
	return NewGrantSet([]Grant{g}).allowed(callOf(act), &act, 0, testNow) != nil
}

func met(g Grant, act Act) Meets {
	g.Effect = Deny
	_, meets := NewGrantSet([]Grant{g}).denied(callOf(act), &act, testNow)
	return meets
}

func TestGrantReach(t *testing.T) {
	note := pathAct("notes/a.md", "/h/notes/a.md")
	push := commandAct(2, "git", "push", "origin")
	get := urlAct(t, "GET", "https://a.b/x?y=1")
	mail := Act{Name: "send", Target: ArgumentsTarget([]byte(`{"to":"a"}`))}
	share := Act{Name: ShareFile, Target: PathTarget("notes/a.md").SharedWith("w")}
	link := Act{Name: WriteFile, Target: LinkTarget([]string{"notes/l"}, []string{"private/k"})}
	unknown := commandAct(2, "git", "push", "?")
	for _, c := range []struct {
		name  string
		given Act
		reach Reach
		act   Act
		allow bool
		deny  Meets
	}{
		{"same file", note, Exact, pathAct("notes/./a.md", "/h/notes//a.md"), true, Yes},
		{"the zero reach is exact", note, "", pathAct("notes/b.md", "/h/notes/b.md"), false, No},
		{"sibling", note, Exact, pathAct("notes/b.md", "/h/notes/b.md"), false, No},
		{"the same file in one spelling", note, Exact, pathAct("/h/notes/a.md"), false, Yes},
		{"folder", note, Prefix, pathAct("notes/x/b.md", "/h/notes/x/b.md"), true, Yes},
		{"folder with the same start", note, Prefix, pathAct("notesx/b.md", "/h/notesx/b.md"), false, No},
		{"parent folder", note, Prefix, pathAct("b.md", "/h/b.md"), false, No},
		{"link out of the folder", note, Prefix, link, false, Yes},
		{"link into what is denied", pathAct("private/k"), Exact, link, false, Yes},
		{"link into a folder that is denied", pathAct("private/other"), Prefix, link, false, Yes},
		{"root folder, outside", pathAct("a.md"), Prefix, pathAct("/etc/x"), false, No},
		{"root folder, above", pathAct("a.md"), Prefix, pathAct("../x"), false, No},
		{"root folder, below", pathAct("a.md"), Prefix, pathAct("d/x"), true, Yes},
		{"whole tool", note, Tool, pathAct("/etc/x"), true, Yes},
		{"another tool", note, Tool, Act{Name: DeleteFile, Target: PathTarget("notes/a.md")}, false, No},
		{"name in another case", note, Tool, Act{Name: "Write_File", Target: PathTarget("notes/a.md")}, false, No},
		{"a connector's tool of that name", note, Tool, Act{Connector: "c", Name: WriteFile, Target: PathTarget("notes/a.md")}, false, No},
		{"same command", push, Exact, push, true, Yes},
		{"longer command", push, Exact, commandAct(2, "git", "push", "origin", "-f"), false, No},
		{"command prefix", push, Prefix, commandAct(2, "git", "push", "-f"), true, Yes},
		{"not that prefix", push, Prefix, commandAct(2, "git", "status"), false, No},
		{"no prefix to remember", commandAct(0, "git", "push"), Prefix, commandAct(0, "git", "push", "-f"), false, Yes},
		{"denied through a path and options", push, Prefix, commandAct(2, "/bin/git", "-C", "/x", "push"), false, Yes},
		{"unknown words", push, Tool, unknown, false, Yes},
		{"unknown words, prefix", push, Prefix, unknown, false, Yes},
		{"unknown subcommand", push, Prefix, commandAct(2, "git", "?"), false, Possibly},
		{"same unknown words", unknown, Exact, unknown, false, Possibly},
		{"unknown path", note, Exact, Act{Name: WriteFile, Target: UnknownTarget(Path)}, false, Possibly},
		{"unknown path, tool", note, Tool, Act{Name: WriteFile, Target: UnknownTarget(Path)}, false, Yes},
		{"same URL", get, Exact, urlAct(t, "get", "HTTPS://A.b:443/x?y=1"), true, Yes},
		{"another query", get, Exact, urlAct(t, "GET", "https://a.b/x?y=2"), false, No},
		{"host", get, Prefix, urlAct(t, "GET", "https://a.b/z"), true, Yes},
		{"another method", get, Prefix, urlAct(t, "POST", "https://a.b/z"), false, No},
		{"another port", get, Prefix, urlAct(t, "GET", "https://a.b:8443/z"), false, No},
		{"another host", get, Prefix, urlAct(t, "GET", "https://x.a.b/z"), false, No},
		{"same arguments", mail, Exact, mail, true, Yes},
		{"other arguments", mail, Exact, Act{Name: "send", Target: ArgumentsTarget([]byte(`{"to":"b"}`))}, false, No},
		{"no folder of arguments", mail, Prefix, Act{Name: "send", Target: ArgumentsTarget([]byte(`{"to":"b"}`))}, false, No},
		{"shared with another", share, Prefix, Act{Name: ShareFile, Target: PathTarget("notes/a.md").SharedWith("v")}, false, No},
		{"shared with the same", share, Prefix, Act{Name: ShareFile, Target: PathTarget("notes/b.md").SharedWith("w")}, true, Yes},
		{"no target at all", Act{Name: "x"}, Exact, Act{Name: "x"}, false, No},
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
	for _, reach := range []Reach{Exact, Prefix, Tool} {
		g := Grant{Act: push, Reach: reach}
		if !covered(g, push) || covered(g, below) {
			t.Errorf("%s: a grant for a command does not hold in just its folder", reach)
		}
		if met(g, below) != Yes {
			t.Errorf("%s: a denial does not hold in every folder", reach)
		}
	}
}

func TestToolGrantDoesNotAnswerWhatIsAnsweredByName(t *testing.T) {
	act := pathAct("out/log")
	act.ByName = true
	if covered(Grant{Act: act, Reach: Tool}, act) {
		t.Error("the reach of a tool answers a redirection")
	}
	if !covered(Grant{Act: act, Reach: Exact}, act) || !covered(Grant{Act: act, Reach: Prefix}, act) {
		t.Error("a grant by name does not answer a redirection")
	}
}

func TestGrantBinding(t *testing.T) {
	act := Act{Connector: "c", Name: "send", Target: TextTarget("x")}
	call := Call{Connector: "c", Tool: "send", Session: "s", Workers: []string{"a", "b"}, Definition: DigestOf([]byte("v1"))}
	grant := Grant{Session: "s", Workers: []string{"a", "b"}, Effect: Allow, Act: act, Definition: call.Definition}
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
		g.Effect = Deny
		if _, meets := NewGrantSet([]Grant{g}).denied(&k, &act, testNow); (meets == Yes) != c.deny {
			t.Errorf("%s: the denial holds: %v", name, meets)
		}
	}
}

func TestGrantText(t *testing.T) {
	for want, g := range map[string]Grant{
		"allow write_file(notes/a.md)": {Effect: Allow, Act: pathAct("notes/a.md")},
		"allow write_file(notes/**)":   {Effect: Allow, Act: pathAct("notes/a.md"), Reach: Prefix},
		"deny write_file":              {Effect: Deny, Act: pathAct("notes/a.md"), Reach: Tool},
		"allow shell(git push)":        {Effect: Allow, Act: commandAct(2, "git", "push", "x"), Reach: Prefix},
		"allow shell(= git push x)":    {Effect: Allow, Act: commandAct(2, "git", "push", "x")},
		"deny c:send()":                {Effect: Deny, Act: Act{Connector: "c", Name: "send", Target: TextTarget("")}},
	} {
		if got := g.String(); got != want {
			t.Errorf("String() = %q, want %q", got, want)
		}
	}
}
