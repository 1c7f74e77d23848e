package hosts

import (
	"testing"

	"github.com/assent-dev/assent/approval"
)

func TestConnect(t *testing.T) {
	listed := Policy{Allow: []string{"docs.example.org", "*.packages.example"}, Source: "policy.yaml:3"}
	for _, c := range []struct {
		name       string
		policy     Policy
		host, port string
		tls        bool
		want       approval.Verdict
	}{
		{"the zero policy is off", Policy{}, "docs.example.org", "443", true, approval.Block},
		{"off for what is unknown too", Policy{}, "", "", false, approval.Block},
		{"on asks", Policy{On: true}, "docs.example.org", "443", true, approval.Ask},
		{"listed is free", listed, "docs.example.org", "443", true, approval.Free},
		{"case and a final dot do not matter", listed, "Docs.Example.org.", "443", true, approval.Free},
		{"listed without tls asks", listed, "docs.example.org", "443", false, approval.Ask},
		{"another port asks", listed, "docs.example.org", "8443", true, approval.Ask},
		{"a longer name is another", listed, "docs.example.org.evil.example", "443", true, approval.Ask},
		{"below a star", listed, "a.b.packages.example", "443", true, approval.Free},
		{"the star is not the name itself", listed, "packages.example", "443", true, approval.Ask},
		{"nor what ends alike", listed, "evilpackages.example", "443", true, approval.Ask},
		{"unknown asks", listed, "", "", true, approval.Ask},
		{"a foreign script asks", listed, "docs.exаmple.org", "443", true, approval.Ask},
	} {
		act := c.policy.Connect(c.host, c.port, c.tls)
		if act.Verdict != c.want || !act.ByName || act.Why == "" {
			t.Errorf("%s: %s, by name %v, why %q", c.name, act.Verdict, act.ByName, act.Why)
		}
	}
}

func TestValidate(t *testing.T) {
	if err := (Policy{Allow: []string{"a.example", "*.b.example", "10.0.0.1"}}).Validate(); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{"", "*", "a*.example", "*.*.example", "https://a.example", "a.example:443", "a b"} {
		if (Policy{Allow: []string{bad}}).Validate() == nil {
			t.Errorf("host %q is taken", bad)
		}
	}
}
