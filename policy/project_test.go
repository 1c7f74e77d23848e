package policy

import (
	"errors"
	"testing"
)

func TestARuleOfAProjectHoldsThereOnly(t *testing.T) {
	opaque := Act{Name: ActShell, Target: words("python"), Opaque: true}
	plain := Act{Name: "send", Target: TextTarget("x"), Verdict: VerdictAsk}
	for _, c := range []struct {
		rule, project string
		here          bool
	}{
		{"", "/home/ann/shop", true}, {"", "", true}, {"/home/ann/shop", "/home/ann/shop", true},
		{"/home/ann/shop", "/home/ann/blog", false}, {"/home/ann/shop", "", false},
		{"/home/ann/shop", "/home/ann/shop/sub", false}, {"/home/ann/shop", "/work", false}, {"/home/ann/shop", "/home/ann/shopping", false},
		{"/home/ann/shop", "/WORK/shop", false},
	} {
		for _, text := range []string{"send", "send(x)", "s*"} {
			allow, deny := mustRule(t, "allow "+text), mustRule(t, "deny "+text)
			allow.Project, deny.Project = c.rule, c.rule
			call := Call{Tool: "send", Project: c.project}
			q := Question{Call: &call, Acts: []Act{plain}, Now: testNow}
			if got := (Policy{Rules: compile(t, allow)}).Judge(q).State; (got == StateAutoApproved) != c.here {
				t.Errorf("allow %s of %q in %q: %v", text, c.rule, c.project, got)
			}
			if got := (Policy{Fixed: compile(t, deny)}).Judge(q).State; (got == StateAutoDenied) != c.here {
				t.Errorf("deny %s of %q in %q: %v", text, c.rule, c.project, got)
			}
			if m, _ := (Policy{Rules: compile(t, deny)}).Denies(call, plain, testNow); (m == MatchYes) != c.here {
				t.Errorf("Denies %s of %q in %q: %v", text, c.rule, c.project, m)
			}
		}
		secret := mustRule(t, "deny read_file(secret)")
		secret.Project = c.rule
		call := Call{Tool: ActShell, Project: c.project}
		if m, _ := (Policy{Rules: compile(t, secret)}).Denies(call, opaque, testNow); (m == MatchPossibly) != c.here {
			t.Errorf("unreadable code, deny of %q in %q: %v", c.rule, c.project, m)
		}
		if got := len(RulesIn([]Rule{secret}, c.project)) == 1; got != c.here {
			t.Errorf("RulesIn %q of %q: %v", c.project, c.rule, got)
		}
	}
}

func TestTheProjectOfARuleIsAnAbsolutePath(t *testing.T) {
	for project, want := range map[string]bool{
		"": true, "/": true, "/home/ann/shop": true, "/home/ann/my shop": true,
		"shop": false, "/home/ann/shop/": false, "/home/ann/../shop": false, "~/shop": false, "/a\nb": false, "/a\xff": false,
	} {
		r := mustRule(t, "allow send")
		r.Project = project
		if err := r.Validate(); (err == nil) != want || err != nil && !errors.Is(err, ErrMalformedRule) {
			t.Errorf("project %q: %v", project, err)
		}
	}
}
