package approval

import (
	"context"
	"time"

	"github.com/assent-dev/assent/internal/digest"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
)

// A Preparer says what a call would do, without doing any of it. Tools
// implement it; an error means that the call cannot be understood, and nobody
// is asked.
type Preparer interface {
	Prepare(ctx context.Context, call policy.Call) (Proposal, error)
}

// A TurnPreparer prepares the calls of one turn on top of each other: what a
// later call would do is said, and bound to, as if the earlier ones had run.
// Turn returns the context in which the calls of one review are prepared.
type TurnPreparer interface {
	Preparer
	Turn(ctx context.Context) context.Context
}

// A Proposal is what a call would do, ready to be judged.
type Proposal struct {
	// Definition is the digest of the tool's definition as it is now.
	Definition policy.Digest
	// Arguments is the digest of the arguments that the proposal was made from.
	Arguments policy.Digest
	// SharesName says that a connector's tool has the name of one of the
	// program's own. An allow for the bare name is for the program's own.
	SharesName bool
	// Acts are what the call would do. A call without acts is refused.
	Acts []policy.Act
	// Summary is one line for the person, such as "Create notes/a.md (12 bytes,
	// 1 line)".
	Summary string
	// View builds what the person is shown. It is called only when somebody is
	// about to look. Nil means the arguments as structured data.
	View func(context.Context) (present.View, error)
	// State is the digest of what the view is built from, such as the file
	// before a diff. If it is another when the call runs, it is asked again.
	State policy.Digest
	// Dir is the working directory, Env the names of the environment variables
	// that are passed on, Profile the digest of the sandbox profile.
	Dir     string
	Env     []string
	Profile policy.Digest
	// Held says, in lines, what the system holds the call to; nil if nothing more is known.
	// It is called only when somebody asks.
	Held func() []string
	// Once makes a yes a grant for exactly these acts in this session.
	Once bool
	// NoSession and NoAlways exclude answers that are remembered so long.
	NoSession bool
	NoAlways  bool
	// Choices are further answers that the tool understands.
	Choices []Choice
	// Edit names the argument that may be edited as text.
	Edit Editable
	// YesOrNo says that it can neither be changed nor answered in its place.
	YesOrNo bool
	// Wait is the call that runs and waits for the answer; nil if the answer is about a call
	// that has not begun.
	Wait *Wait
}

// A Choice is a further answer that a request offers, as data, so that no
// approver needs to know the tool.
type Choice struct {
	ID    string `json:"id"`
	Label string `json:"label"`
}

// Editable names the argument that an editor opens, and the suffix of its file.
type Editable struct {
	Argument string `json:"argument"`
	Suffix   string `json:"suffix,omitempty"`
}

// fingerprint covers everything that an answer is bound to. A decision answers
// one fingerprint.
func fingerprint(call *policy.Call, p *Proposal) policy.Digest {
	h := digest.NewFields("assent call 1")
	h.Text(call.Connector)
	h.Text(call.Tool)
	h.Digest(p.Definition)
	h.Bytes(call.Arguments)
	h.Text(call.Session)
	h.Texts(call.Workers)
	h.Text(p.Dir)
	h.Texts(p.Env)
	h.Digest(p.Profile)
	h.Digest(p.State)
	h.Digest(p.Arguments)
	h.Count(len(p.Choices))
	for _, c := range p.Choices {
		h.Texts([]string{c.ID, c.Label})
	}
	h.Count(len(p.Acts))
	for i := range p.Acts {
		hashAct(h, &p.Acts[i])
	}
	return h.Sum()
}

// hashAct covers what the person was told the call would do.
func hashAct(h *digest.Fields, a *policy.Act) {
	h.Text(a.Name)
	h.Text(a.Connector)
	h.Text(string(a.Target.Kind))
	h.Texts(a.Target.Written)
	h.Texts(a.Target.Resolved)
	h.Count(len(a.Target.Words))
	for _, w := range a.Target.Words {
		h.Text(w.Text)
		h.Flag(w.Unknown)
		h.Flag(w.Spelled)
		h.Flag(w.Plain)
	}
	h.Texts(a.Target.Flags)
	h.Flag(a.Target.Loose)
	u := a.Target.URL
	h.Texts([]string{u.Method, u.Scheme, u.Host, u.Port, u.Path, u.Query})
	h.Text(a.Target.Text)
	h.Text(a.Target.To)
	h.Flag(a.Target.Unknown)
	h.Text(a.Dir)
	h.Flag(a.PersonOnly)
	h.Flag(a.Away)
	h.Flag(a.Opaque)
	if a.Project != "" { // as below
		h.Text("\x00project")
		h.Text(a.Project)
	}
	if a.Later { // later than the saved form: without it a fingerprint is what it was
		h.Text("\x00later")
	}
	if a.Own != 0 { // likewise
		h.Text("\x00own")
		h.Count(a.Own)
	}
}

// Question returns what a policy is asked about the call.
func (p *Proposal) Question(call *policy.Call, now time.Time) policy.Question {
	return policy.Question{Call: call, Acts: p.Acts, Definition: p.Definition, SharesName: p.SharesName, Now: now}
}
