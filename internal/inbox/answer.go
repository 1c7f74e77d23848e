package inbox

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/present"
)

// Remembering says what is kept of an answer: nothing, or for how long and how far.
type Remembering struct {
	Session, Always bool
	ProjectCode     bool // for all code of this project
	Domain          bool // for all hosts of the domain
}

// Apply has a decision about a request remembered so. It fails where the request does not offer it.
func (k Remembering) Apply(r *approval.Request, d approval.Decision) (approval.Decision, error) {
	offers := func(reach approval.Reach) bool {
		return slices.ContainsFunc(r.Offers, func(o approval.Offer) bool { return o.Reach == reach })
	}
	switch {
	case k.Session:
		d = d.ForSession(approval.Exact)
	case k.Always:
		d = d.Always()
	}
	switch {
	case k.ProjectCode && !offers(approval.Project):
		return d, fmt.Errorf("%s does not run code of this project as it is; leave --project-code out", r.ID)
	case k.ProjectCode:
		d.Remember.Reach = approval.Project
	case k.Domain && !offers(approval.DomainReach):
		return d, fmt.Errorf("%s is not about one host of a domain alone; leave --domain out", r.ID)
	case k.Domain:
		d.Remember.Reach = approval.DomainReach
	}
	return d, nil
}

// PrintAnswer tells what was answered, and what is kept of it.
func PrintAnswer(out io.Writer, r *approval.Request, d approval.Decision) {
	name, summary := present.SafeLine(r.Call.Name()), present.SafeLine(r.Summary)
	fmt.Fprintf(out, "%s: %s · %s\n", d.Settled().State, name, summary)
	for _, kept := range kept(r, d) {
		fmt.Fprintln(out, "kept:", present.SafeLine(kept))
	}
	for _, warning := range warnings(r, d) {
		fmt.Fprintln(out, present.SafeLine(warning))
	}
}

// kept is what an answer is remembered as.
func kept(r *approval.Request, d approval.Decision) []string {
	for _, o := range r.Offers {
		switch {
		case o.Reach != cmp.Or(d.Remember.Reach, approval.Exact) || d.Remember.Keep == approval.KeepNone:
		case d.Remember.Keep == approval.KeepSession:
			return []string{"for the session, " + strings.Join(rulesOf(o, d), ", ")}
		default:
			return rulesOf(o, d)
		}
	}
	return nil
}

// warnings are what to know about a yes that is remembered.
func warnings(r *approval.Request, d approval.Decision) []string {
	for _, o := range r.Offers {
		remembered := d.Remember.Keep != approval.KeepNone && d.Answer == approval.Approve
		if remembered && o.Reach == cmp.Or(d.Remember.Reach, approval.Exact) {
			return o.Warn
		}
	}
	return nil
}

func rulesOf(o approval.Offer, d approval.Decision) []string {
	if d.Answer == approval.Approve {
		return o.Allow
	}
	return o.Deny
}
