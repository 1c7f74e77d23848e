package admin

import (
	"strings"
	"testing"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/proof"
	"github.com/assent-dev/assent/internal/team/bundle"
)

var day = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)

// someBundle is a bundle of a small team.
func someBundle() *bundle.Bundle {
	return &bundle.Bundle{
		Version: 1, Tenant: "acme", Serial: 7, Issued: day, Expires: day.AddDate(0, 1, 0), MaxAge: bundle.Duration(24 * time.Hour),
		Stale: bundle.StaleAsk, Editors: []string{"p_ann"}, Policy: "rules:\n  - deny shell(git push)\n",
		Deciders: []bundle.Decider{{Acts: []string{"shell(kubectl delete *)"}, Need: []bundle.From{{From: "sre", Count: 2}},
			Not: []string{"sponsor"}, Proof: approval.StrengthPasskey, Escalate: []bundle.Escalation{{After: bundle.Duration(5 * time.Minute), To: "oncall"}},
			Expires: bundle.Duration(time.Hour)}},
		People: []bundle.Person{
			{ID: "p_ann", Name: "Ann", Groups: []string{"sre"}, Credentials: []bundle.Credential{
				{ID: "c_1", Kind: proof.KindPasskey, Public: []byte("one"), RP: "assent.example.org", Since: day}}},
			{ID: "p_bob", Name: "Bob", Groups: []string{"sre", "oncall"}},
		},
		Machines:   []bundle.Machine{{ID: "g_1", Public: []byte("machine"), Host: "laptop", Sponsor: "p_ann"}},
		Checkpoint: "acme-log+1+x", Server: "https://assent.example.org",
	}
}

func printed(t *testing.T, d Diff) string {
	t.Helper()
	var b strings.Builder
	if err := d.Print(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestCompare(t *testing.T) {
	t.Parallel()
	before, after := someBundle(), someBundle()
	after.Serial, after.Issued, after.Expires = 8, day.AddDate(0, 0, 1), day.AddDate(0, 1, 1)
	if d := Compare(before, after); !d.IsZero() {
		t.Errorf("%+v", d)
	}
	after.Policy = "rules:\n  - deny shell(git push --force)\n"
	after.MaxAge = bundle.Duration(48 * time.Hour)
	after.Deciders[0].Need[0].Count = 1
	after.People[0].Credentials[0].Public = []byte("another") // under the old id
	after.People[1].Groups = []string{"oncall"}
	after.People = append(after.People, bundle.Person{ID: "p_eve", Name: "Eve\x1b[2J"})
	after.Machines[0].Agents = []bundle.Agent{{Name: "claude-code", Sponsor: "p_bob"}}
	want := `From serial 7 to 8:
  --- a/policy
  +++ b/policy
  @@ -1,2 +1,2 @@
   rules:
  -  - deny shell(git push)
  +  - deny shell(git push --force)
settings:
  ~ max_age 48h, was 24h
deciders:
  - shell(kubectl delete *): 2 of sre; not sponsor; proof passkey; after 5m also oncall; denied after 1h
  + shell(kubectl delete *): 1 of sre; not sponsor; proof passkey; after 5m also oncall; denied after 1h
people:
  + p_eve (Eve\x1b[2J)
groups:
  - p_bob in sre
credentials:
  ~ passkey c_1 of p_ann, key ae448ac86c4e8e4dec64, since 2026-11-01T00:00:00Z, for assent.example.org, was: passkey c_1 of p_ann, key 7692c3ad3540bb803c02, since 2026-11-01T00:00:00Z, for assent.example.org
machines:
  ~ g_1 (laptop), key bc020a35b7f9cb1382e7, sponsor p_ann, claude-code by p_bob, was: g_1 (laptop), key bc020a35b7f9cb1382e7, sponsor p_ann
`
	if got := printed(t, Compare(before, after)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	first := printed(t, Compare(nil, before))
	for _, words := range []string{"The first bundle, serial 7:", "+  - deny shell(git push)", "+ p_ann (Ann)", "+ stale ask", "+ p_bob in oncall"} {
		if !strings.Contains(first, words) {
			t.Errorf("%q is not in\n%s", words, first)
		}
	}
}
