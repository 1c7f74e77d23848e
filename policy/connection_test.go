package policy

import (
	"slices"
	"testing"
)

func connectAct(host, port, domain string) Act {
	return Act{Name: Connect, Target: HostTarget(host, port), ByName: true, Known: true, Verdict: Ask, Domain: domain}
}

// A yes to a connection can be kept for its host and port, or for the hosts of its domain.
func TestConnectionOffers(t *testing.T) {
	a := connectAct("registry.example.org", "443", "*.example.org")
	offered := offersFor(a)
	var reaches []Reach
	var rules []string
	for _, o := range offered {
		reaches, rules = append(reaches, o.Reach), append(rules, o.Allow...)
	}
	if !slices.Equal(reaches, []Reach{Exact, DomainReach}) ||
		!slices.Equal(rules, []string{"allow connect(registry.example.org:443)", "allow connect(*.example.org:443)"}) {
		t.Errorf("%q %q", reaches, rules)
	}
	for name, acts := range map[string][]Act{
		"no domain":       {connectAct("example.org", "443", "")},
		"no known port":   {connectAct("a.example.org", "", "*.example.org")},
		"more than hosts": {commandAct(1, "curl", "x"), connectAct("a.example.org", "443", "*.example.org")},
	} {
		for _, o := range offersFor(acts...) {
			if o.Reach == DomainReach {
				t.Errorf("%s: %q", name, o.Allow)
			}
		}
	}
}

// What is remembered about connections answers those that it names, and no others.
func TestConnectionsRemembered(t *testing.T) {
	asked := connectAct("registry.example.org", "443", "*.example.org")
	rule := func(text string) *RuleSet {
		r, err := ParseRule(text)
		if err != nil {
			t.Fatal(err)
		}
		set, err := CompileRules([]Rule{r})
		if err != nil {
			t.Fatal(err)
		}
		return set
	}
	grant := func(e Effect, reach Reach) *GrantSet {
		return NewGrantSet([]Grant{{ID: "g", Session: "s", Effect: e, Act: asked, Reach: reach}})
	}
	for _, c := range []struct {
		name   string
		policy Policy
		act    Act
		want   State
	}{
		{"a rule for the host", Policy{Rules: rule("allow connect(registry.example.org:443)")}, asked, AutoApproved},
		{"a rule for another port", Policy{Rules: rule("allow connect(registry.example.org:8443)")}, asked, Pending},
		{"a rule without a port", Policy{Rules: rule("allow connect(registry.example.org)")}, asked, Pending},
		{"a rule for every port", Policy{Rules: rule("allow connect(registry.example.org:*)")}, asked, AutoApproved},
		{"a rule for the domain", Policy{Rules: rule("allow connect(*.example.org:443)")}, asked, AutoApproved},
		{"the domain itself", Policy{Rules: rule("allow connect(*.example.org:443)")}, connectAct("example.org", "443", ""), Pending},
		{"a bare rule", Policy{Rules: rule("allow connect")}, asked, Pending},
		{"a deny of the domain", Policy{Rules: rule("deny connect(*.example.org)")}, asked, AutoDenied},
		{"a grant for the host", Policy{Grants: grant(Allow, Exact)}, asked, SessionApproved},
		{"a grant for another host", Policy{Grants: grant(Allow, Exact)}, connectAct("b.example.org", "443", ""), Pending},
		{"a grant for the domain", Policy{Grants: grant(Allow, DomainReach)}, connectAct("b.example.org", "443", ""), SessionApproved},
		{"below the domain", Policy{Grants: grant(Allow, DomainReach)}, connectAct("c.b.example.org", "443", ""), SessionApproved},
		{"another port of the domain", Policy{Grants: grant(Allow, DomainReach)}, connectAct("b.example.org", "80", ""), Pending},
		{"what only ends alike", Policy{Grants: grant(Allow, DomainReach)}, connectAct("evilexample.org", "443", ""), Pending},
		{"a request to the domain", Policy{Grants: grant(Allow, DomainReach)}, Act{Name: Connect, Target: Target{Kind: URL, URL: URLParts{Scheme: "https", Host: "b.example.org", Port: "443"}}, Verdict: Ask}, Pending},
		{"a denial of the domain", Policy{Grants: grant(Deny, DomainReach)}, connectAct("b.example.org", "443", ""), AutoDenied},
	} {
		call := &Call{Session: "s", Tool: Connect}
		if got := c.policy.Judge(Question{Call: call, Acts: []Act{c.act}}).State; got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	if g := (Grant{Effect: Allow, Act: asked, Reach: DomainReach}); g.String() != "allow connect(*.example.org:443)" {
		t.Error(g.String())
	}
}
