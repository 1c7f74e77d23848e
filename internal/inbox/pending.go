package inbox

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
)

// Waiting is what waits in a store, and for whom.
type Waiting struct {
	Requests []*approval.Request
	Runs     map[string]string // the ids of saved runs, by session
}

// ReadWaiting reads what waits.
func ReadWaiting(ctx context.Context, s Store) (*Waiting, error) {
	w := &Waiting{Requests: []*approval.Request{}, Runs: map[string]string{}}
	open, err := s.Open(ctx, "")
	if err != nil {
		return nil, err
	}
	for _, p := range open {
		w.Requests = append(w.Requests, p.Request)
	}
	runs, err := s.Runs(ctx)
	if err != nil {
		return nil, err
	}
	for _, r := range runs {
		w.Runs[r.Session] = r.ID
	}
	return w, nil
}

// Print prints what waits, and the runs that could go on.
func (w *Waiting) Print(out io.Writer) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	if len(w.Requests) > 0 {
		fmt.Fprintln(t, "ID\tAGENT\tFOLDER\tBRANCH\tSESSION\tRUN\tSINCE\tWORKER\tTOOL\tWHAT")
	} else {
		fmt.Fprintln(t, "Nothing waits for an answer.")
	}
	ready := maps.Clone(w.Runs)
	for _, r := range w.Requests {
		delete(ready, r.Call.Session)
		row := []string{r.ID}
		for _, text := range []string{
			r.Origin.Agent, r.Origin.Folder, r.Origin.Branch, r.Call.Session, w.Runs[r.Call.Session],
			r.Created.Local().Format(time.DateTime), strings.Join(r.Call.Workers, " › "),
			r.Call.Name(), r.Summary,
		} {
			row = append(row, present.SafeLine(text))
		}
		fmt.Fprintln(t, strings.Join(row, "\t"))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	// These wait for nothing: all is answered, or their program was ended.
	for _, run := range slices.Sorted(maps.Values(ready)) {
		_, err := fmt.Fprintf(out, "Run %s has all its answers. Unless it is running already, continue it: "+
			"assent resume %s\n", run, run)
		if err != nil {
			return err
		}
	}
	return nil
}

// leastOfID is how much of an id is needed: with less, an answer could go to a question that
// came after the one that was meant.
const leastOfID = 6

// Find finds an open request by its id or the beginning of it.
func (w *Waiting) Find(id string) (*approval.Request, error) {
	var found *approval.Request
	for _, r := range w.Requests {
		switch {
		case r.ID == id:
			return r, nil
		case !strings.HasPrefix(strings.ToUpper(r.ID), strings.ToUpper(id)) || id == "":
		case len(id) < leastOfID:
			return nil, fmt.Errorf("%q is too short for an id; use at least %d characters", id, leastOfID)
		case found != nil:
			return nil, fmt.Errorf("more than one request begins with %q; use more characters of the id", id)
		default:
			found = r
		}
	}
	if found == nil {
		return nil, fmt.Errorf("request %q: %w; 'assent pending' lists those that wait", id, approval.ErrUnknownRequest)
	}
	return found, nil
}

// Show prints all that an answer is about.
func Show(ctx context.Context, w io.Writer, r *approval.Request) error {
	view, err := r.View(ctx)
	if err != nil {
		return fmt.Errorf("request %s cannot be shown, so it cannot be approved: %w", r.ID, err)
	}
	fmt.Fprintf(w, "%s  %s · %s\n", r.ID, present.SafeLine(r.Call.Name()), present.SafeLine(r.Summary))
	for _, part := range []struct{ name, value string }{
		{"agent", r.Origin.Agent}, {"folder", r.Origin.Folder}, {"branch", r.Origin.Branch}, {"session", r.Call.Session},
	} {
		if part.value != "" {
			fmt.Fprintf(w, "%s: %s\n", part.name, present.SafeLine(part.value))
		}
	}
	if len(r.Call.Workers) > 0 {
		fmt.Fprintf(w, "worker: %s\n", present.SafeLine(strings.Join(r.Call.Workers, " › ")))
	}
	since := r.Created.Local().Format(time.DateTime)
	fmt.Fprintf(w, "asks because: %s\nsince: %s\nfingerprint: %s\n", present.SafeLine(r.Why), since, r.Fingerprint)
	for _, i := range r.Open {
		fmt.Fprintf(w, "act: %s\n", present.SafeLine(r.Acts[i].String()))
	}
	for _, fact := range view.Facts {
		fmt.Fprintf(w, "%s: %s\n", present.SafeLine(fact.Name()), present.SafeLine(fact.Value()))
	}
	// What the agent wrote stands to the right of what assent says, so that no line of it looks like another request.
	content := strings.TrimSuffix(strings.ReplaceAll(present.Safe(view.Content), "\t", "    "), "\n")
	_, err = fmt.Fprintf(w, "\n  %s\n", strings.ReplaceAll(content, "\n", "\n  "))
	return err
}

// Remembering says what is kept of an answer: nothing, or for how long and how far.
type Remembering struct {
	Session, Always bool
	ProjectCode     bool // for all code of this project
	Domain          bool // for all hosts of the domain
	Everywhere      bool // with Always: in every project
}

// Apply has a decision about a request remembered so. It fails where the request does not offer it.
func (k Remembering) Apply(r *approval.Request, d approval.Decision) (approval.Decision, error) {
	offers := func(reach policy.Reach) bool {
		return slices.ContainsFunc(r.Offers, func(o policy.Offer) bool { return o.Reach == reach })
	}
	switch {
	case k.Session:
		d = d.ForSession(policy.ReachExact)
	case k.Always:
		d = d.Always()
		d.Remember.Everywhere = k.Everywhere
	}
	switch {
	case k.ProjectCode && !offers(policy.ReachProject):
		return d, fmt.Errorf("request %s is not only about code of this project; omit --project-code", r.ID)
	case k.ProjectCode:
		d.Remember.Reach = policy.ReachProject
	case k.Domain && !offers(policy.ReachDomain):
		return d, fmt.Errorf("request %s is not only about one host of a domain; omit --domain", r.ID)
	case k.Domain:
		d.Remember.Reach = policy.ReachDomain
	}
	return d, nil
}

// PrintAnswer tells what was answered, and what is kept of it.
func PrintAnswer(out io.Writer, r *approval.Request, d approval.Decision) {
	name, summary := present.SafeLine(r.Call.Name()), present.SafeLine(r.Summary)
	fmt.Fprintf(out, "%s: %s · %s\n", d.Settled().State, name, summary)
	for _, kept := range Kept(r, d) {
		fmt.Fprintf(out, "saved when the answer is taken: %s\n", present.SafeLine(kept))
	}
	for _, warning := range warnings(r, d) {
		fmt.Fprintln(out, present.SafeLine(warning))
	}
}

// Kept is what an answer is remembered as.
func Kept(r *approval.Request, d approval.Decision) []string {
	for _, o := range r.Offers {
		switch {
		case o.Reach != cmp.Or(d.Remember.Reach, policy.ReachExact) || d.Remember.Keep == approval.KeepNone:
		case d.Remember.Keep == approval.KeepSession:
			return []string{"for the session, " + strings.Join(rulesOf(o, d), ", ")}
		default:
			out := slices.Clone(rulesOf(o, d))
			for i := range out {
				out[i] += " (" + d.Remember.Where(r) + ")"
			}
			return out
		}
	}
	return nil
}

// warnings are what to know about a yes that is remembered.
func warnings(r *approval.Request, d approval.Decision) []string {
	for _, o := range r.Offers {
		remembered := d.Remember.Keep != approval.KeepNone && d.Answer == approval.AnswerApprove
		if remembered && o.Reach == cmp.Or(d.Remember.Reach, policy.ReachExact) {
			return o.Warn
		}
	}
	return nil
}

func rulesOf(o policy.Offer, d approval.Decision) []string {
	if d.Answer == approval.AnswerApprove {
		return o.Allow
	}
	return o.Deny
}
