package auditview

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/assent-dev/assent/store"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/audit"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
)

// A Story is all that is kept of one call.
type Story struct {
	Records []approval.Record `json:"records"`
	// Request and View are what the person was asked and shown, if that was kept.
	Request *approval.Request `json:"request,omitempty"`
	View    *present.View     `json:"view,omitempty"`
}

// Print writes the story for a person.
func (s Story) Print(w io.Writer) error {
	p := &page{}
	for i := range s.Records {
		if i > 0 {
			p.line("")
		}
		p.record(&s.Records[i])
	}
	if s.View != nil {
		p.view(s.View)
	}
	_, err := io.WriteString(w, p.String())
	return err
}

// A page is text that is made safe line by line.
type page struct{ strings.Builder }

func (p *page) line(text string) {
	p.WriteString(strings.TrimRight(present.SafeLine(text), " ") + "\n")
}

// fact writes a name and a value, if there is one.
func (p *page) fact(name, value string) {
	if value != "" {
		p.line(pad(name, 12) + value)
	}
}

func (p *page) record(r *approval.Record) {
	e := &r.Event
	p.line(fmt.Sprintf("Record %d: %s", r.Seq, what(e)))
	p.fact("event", string(e.Kind)+" "+moment(e.At))
	p.fact("answer", answer(r))
	p.fact("stage", string(e.Stage))
	p.fact("by", who(e))
	p.list("voted", votes(e))
	p.fact("sponsor", e.Sponsor)
	p.fact("basis", e.Basis)
	p.fact("rule", e.Rule)
	p.fact("grant", e.Grant)
	p.fact("why", e.Why)
	p.fact("note", e.Note)
	p.fact("remembered", string(e.Remembered))
	p.fact("choice", e.Choice)
	p.fact("asked", moment(e.Requested))
	p.fact("answered", moment(e.Decided))
	if e.Duration > 0 {
		p.fact("took", e.Duration.Round(time.Millisecond).String())
	}
	if e.Kind == approval.EventConnected {
		p.fact("host", e.Host)
		p.fact("port", e.Port)
		p.fact("program", e.Program)
		p.fact("sent", fmt.Sprintf("%d bytes", e.Sent))
		p.fact("received", fmt.Sprintf("%d bytes", e.Received))
	}
	p.fact("error", e.Error)
	p.fact("session", e.Session)
	p.fact("project", e.Project)
	p.fact("folder", e.Folder)
	p.fact("workers", strings.Join(e.Workers, " > "))
	p.fact("call", e.CallID)
	p.fact("request", e.Request)
	p.fact("arguments", string(e.Arguments))
	p.fact("before", string(e.Original))
	p.digests(r)
	p.list("acts", e.Acts)
	p.list("ran", e.Ran)
	if len(e.Trace) > 0 {
		p.line("How it was decided:")
		for i, step := range e.Trace {
			p.line(fmt.Sprintf("  %d. %s", i+1, step))
		}
	}
}

// list writes values below each other; the name stands before the first.
func (p *page) list(name string, values []string) {
	for _, v := range values {
		p.fact(name, "  "+v)
		name = ""
	}
}

func (p *page) digests(r *approval.Record) {
	for _, d := range []struct {
		name   string
		digest policy.Digest
	}{
		{"digest", r.ArgumentsDigest}, {"digest was", r.OriginalDigest}, {"fingerprint", r.Fingerprint},
		{"hash", r.Hash}, {"previous", r.Prev},
	} {
		if !d.digest.IsZero() {
			p.fact(d.name, d.digest.String())
		}
	}
}

// who says who or what answered; nothing where nobody had to.
func who(e *approval.Event) string {
	if e.By == (policy.Who{}) {
		return ""
	}
	return e.By.String()
}

// votes says who voted, with what.
func votes(e *approval.Event) []string {
	out := make([]string, len(e.Votes))
	for i, v := range e.Votes {
		out[i] = fmt.Sprintf("%s (%s), with a %s %s", v.Name, v.Person, v.Strength, v.Proof.Credential)
		if v.Note != "" {
			out[i] += ": " + v.Note
		}
	}
	return out
}

// view writes what the person was shown.
func (p *page) view(v *present.View) {
	p.text("What was shown:", v.Content)
	if v.Original != "" {
		p.text("What was written:", v.Original)
	}
}

// text writes lines below a title.
func (p *page) text(title, lines string) {
	p.line(title)
	for line := range strings.Lines(lines) {
		p.line("  " + strings.TrimSuffix(line, "\n"))
	}
}

func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format("2006-01-02 15:04:05.000")
}

// StoryOf collects what is kept of one call.
func StoryOf(ctx context.Context, s *store.Store, id string) (Story, error) {
	var out Story
	if seq, err := strconv.ParseInt(id, 10, 64); err == nil {
		r, err := s.RecordAt(ctx, seq)
		if err == nil {
			out.Records = []approval.Record{r}
		} else if !errors.Is(err, audit.ErrNoRecord) {
			return out, err
		}
	}
	if len(out.Records) == 0 {
		for r, err := range s.RecordsOf(ctx, id) {
			if err != nil {
				return out, err
			}
			out.Records = append(out.Records, r)
		}
	}
	if len(out.Records) == 0 {
		return out, fmt.Errorf("record %q: %w; 'assent audit list' prints the numbers", id, audit.ErrNoRecord)
	}
	return out, addView(ctx, s, &out)
}

// addView finds what the person was shown, if that is kept.
func addView(ctx context.Context, s *store.Store, story *Story) error {
	request := story.Records[len(story.Records)-1].Request
	if request == "" {
		return nil
	}
	posted, err := s.Posted(ctx, request)
	if errors.Is(err, approval.ErrUnknownRequest) {
		return nil // it was asked in its own process only
	}
	if err != nil {
		return err
	}
	story.Request = posted.Request
	view, err := posted.Request.View(ctx)
	story.View = &view
	return err
}
