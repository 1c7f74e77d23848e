package terminal

import (
	"strings"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
)

// A command that runs the project's code offers one answer for all of it, and says which rule
// that is.
func TestOfferOfProjectCode(t *testing.T) {
	r := &approval.Request{
		Acts: []policy.Act{{Name: policy.ActShell, Target: policy.CommandTarget("make"), Project: "/home/me/proj"}}, Open: []int{0},
		Offers: []policy.Offer{
			{Reach: policy.ReachExact, Allow: []string{"allow shell(= make)"}, Acts: []int{0}},
			{Reach: policy.ReachProject, Allow: []string{"allow project_code(/home/me/proj)"}, Acts: []int{0}},
		},
	}
	var text strings.Builder
	for _, row := range offerRows(r, policy.EffectAllow, 1, 80) {
		for _, span := range row {
			text.WriteString(span.text)
		}
		text.WriteString("\n")
	}
	for _, want := range []string{"▸ 2 run this project's own code (tests, builds, scripts)", "allow project_code(/home/me/proj)"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in:\n%s", want, text.String())
		}
	}
}

// A connection offers its own host and port, and the hosts of its domain.
func TestOfferOfADomain(t *testing.T) {
	r := &approval.Request{
		Acts: []policy.Act{{Name: policy.ActConnect, Target: policy.HostTarget("registry.example.org", "443"), ByName: true, Domain: "*.example.org"}}, Open: []int{0},
		Offers: []policy.Offer{
			{Reach: policy.ReachExact, Allow: []string{"allow connect(registry.example.org:443)"}, Acts: []int{0}},
			{Reach: policy.ReachDomain, Allow: []string{"allow connect(*.example.org:443)"}, Acts: []int{0}},
		},
	}
	var text strings.Builder
	for _, row := range offerRows(r, policy.EffectAllow, 0, 80) {
		for _, span := range row {
			text.WriteString(span.text)
		}
		text.WriteString("\n")
	}
	for _, want := range []string{"▸ 1 exactly this", "allow connect(registry.example.org:443)", "2 all hosts of this domain, on this port", "allow connect(*.example.org:443)"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in:\n%s", want, text.String())
		}
	}
}
