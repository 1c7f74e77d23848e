package policy

import (
	"slices"
	"testing"
)

func connectAct(host, port, domain string) Act {
	return Act{Name: ActConnect, Target: HostTarget(host, port), ByName: true, Known: true, Verdict: VerdictAsk, Domain: domain}
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
	if !slices.Equal(reaches, []Reach{ReachExact, ReachDomain}) ||
		!slices.Equal(rules, []string{"allow connect(registry.example.org:443)", "allow connect(*.example.org:443)"}) {
		t.Errorf("%q %q", reaches, rules)
	}
	for name, acts := range map[string][]Act{
		"no domain":       {connectAct("example.org", "443", "")},
		"no known port":   {connectAct("a.example.org", "", "*.example.org")},
		"more than hosts": {commandAct(1, "curl", "x"), connectAct("a.example.org", "443", "*.example.org")},
	} {
		for _, o := range offersFor(acts...) {
			if o.Reach == ReachDomain {
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
		{"a rule for the host", Policy{Rules: rule("allow connect(registry.example.org:443)")}, asked, StateAutoApproved},
		{"a rule for another port", Policy{Rules: rule("allow connect(registry.example.org:8443)")}, asked, StatePending},
		{"a rule without a port", Policy{Rules: rule("allow connect(registry.example.org)")}, asked, StatePending},
		{"a rule for every port", Policy{Rules: rule("allow connect(registry.example.org:*)")}, asked, StateAutoApproved},
		{"a rule for the domain", Policy{Rules: rule("allow connect(*.example.org:443)")}, asked, StateAutoApproved},
		{"the domain itself", Policy{Rules: rule("allow connect(*.example.org:443)")}, connectAct("example.org", "443", ""), StatePending},
		{"a bare rule", Policy{Rules: rule("allow connect")}, asked, StatePending},
		{"a deny of the domain", Policy{Rules: rule("deny connect(*.example.org)")}, asked, StateAutoDenied},
		{"a grant for the host", Policy{Grants: grant(EffectAllow, ReachExact)}, asked, StateSessionApproved},
		{"a grant for another host", Policy{Grants: grant(EffectAllow, ReachExact)}, connectAct("b.example.org", "443", ""), StatePending},
		{"a grant for the domain", Policy{Grants: grant(EffectAllow, ReachDomain)}, connectAct("b.example.org", "443", ""), StateSessionApproved},
		{"below the domain", Policy{Grants: grant(EffectAllow, ReachDomain)}, connectAct("c.b.example.org", "443", ""), StateSessionApproved},
		{"another port of the domain", Policy{Grants: grant(EffectAllow, ReachDomain)}, connectAct("b.example.org", "80", ""), StatePending},
		{"what only ends alike", Policy{Grants: grant(EffectAllow, ReachDomain)}, connectAct("evilexample.org", "443", ""), StatePending},
		{"a request to the domain", Policy{Grants: grant(EffectAllow, ReachDomain)}, Act{Name: ActConnect, Target: Target{Kind: KindURL, URL: URLParts{Scheme: "https", Host: "b.example.org", Port: "443"}}, Verdict: VerdictAsk}, StatePending},
		{"a denial of the domain", Policy{Grants: grant(EffectDeny, ReachDomain)}, connectAct("b.example.org", "443", ""), StateAutoDenied},
	} {
		call := &Call{Session: "s", Tool: ActConnect}
		if got := c.policy.Judge(Question{Call: call, Acts: []Act{c.act}}).State; got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	if g := (Grant{Effect: EffectAllow, Act: asked, Reach: ReachDomain}); g.String() != "allow connect(*.example.org:443)" {
		t.Error(g.String())
	}
}
