package approval

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
)

// A Request is a question, ready to be shown. It carries all that an approver
// needs, so that no approver knows a tool. Its fields are not to be changed.
type Request struct {
	ID          string        `json:"id"`
	Batch       string        `json:"batch"`
	Call        policy.Call   `json:"call"`
	Fingerprint policy.Digest `json:"fingerprint"`
	// Definition is that of the tool as it is now.
	Definition policy.Digest `json:"definition,omitzero"`
	// SharesName says that one of the program's own tools has the same name.
	SharesName bool   `json:"shares_name,omitempty"`
	Summary    string `json:"summary"`
	// Why says why it asks.
	Why string `json:"why"`
	// Acts are all acts of the call; Open are the indices of those that need
	// an answer.
	Acts []policy.Act `json:"acts"`
	Open []int        `json:"open"`
	// PersonOnly says that nothing remembered and no mode may answer.
	PersonOnly bool `json:"person_only,omitempty"`
	// Offers are the ways in which an answer can be remembered; with NoSession
	// or NoAlways not so long.
	Offers    []policy.Offer `json:"offers,omitempty"`
	NoSession bool           `json:"no_session,omitempty"`
	NoAlways  bool           `json:"no_always,omitempty"`
	// Once says that a yes is kept for the session, for exactly these acts.
	Once    bool     `json:"once,omitempty"`
	Choices []Choice `json:"choices,omitempty"`
	Edit    Editable `json:"edit,omitzero"`
	// YesOrNo says that the call can neither be changed nor answered in its place.
	YesOrNo bool         `json:"yes_or_no,omitempty"`
	Trace   policy.Trace `json:"trace"`
	Created time.Time    `json:"created"`
	// Origin says where it comes from.
	Origin Origin `json:"origin,omitzero"`
	// Routing says who decides, for a gate that has joined a team; nil on a machine of one person.
	Routing *Routing `json:"routing,omitempty"`

	view *lazyView
	held func() []string
	done chan struct{}
	wait *Wait
}

// Held says, in lines, what the system holds the call to if it runs; nil if nothing more is known.
func (r *Request) Held() []string {
	if r.held == nil {
		return nil
	}
	return r.held()
}

// Wait is the call that runs and waits for the answer in this process; nil if there is none.
func (r *Request) Wait() *Wait { return r.wait }

// A lazyView builds a view when it is first looked at, once.
type lazyView struct {
	build func(context.Context) (present.View, error)

	mu   sync.Mutex
	done bool
	view present.View
}

func (l *lazyView) get(ctx context.Context) (present.View, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.done {
		return l.view, nil
	}
	view, err := l.build(ctx)
	if err == nil {
		err = view.Validate()
	}
	if err != nil {
		return present.View{}, err
	}
	l.view, l.done = view, true
	return view, nil
}

// View returns what the person is to be shown. It is built when it is first
// asked for. A request whose view cannot be built must not be approved.
func (r *Request) View(ctx context.Context) (present.View, error) { return r.view.get(ctx) }

// Done is closed when the request needs no answer any more.
func (r *Request) Done() <-chan struct{} { return r.done }

// MarshalJSON writes the request with its view, which is built now if nobody
// has looked yet: a request that leaves its process carries its view.
func (r *Request) MarshalJSON() ([]byte, error) {
	view, err := r.View(context.Background())
	if err != nil {
		// Whoever reads it sees that it cannot be shown; nothing else is lost.
		view = present.View{Kind: present.KindText, Content: "This cannot be shown: " + strings.ToValidUTF8(err.Error(), "?")}
	}
	type plain Request
	return json.Marshal(struct {
		*plain
		View present.View `json:"view"`
		Held []string     `json:"held,omitempty"`
	}{(*plain)(r), view, r.Held()})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (r *Request) UnmarshalJSON(data []byte) error {
	type plain Request
	in := struct {
		*plain
		View present.View `json:"view"`
		Held []string     `json:"held"`
	}{plain: (*plain)(r)}
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	if in.View.IsZero() {
		return errors.New("request: it has no view")
	}
	r.view = &lazyView{done: true, view: in.View}
	r.held = func() []string { return in.Held }
	r.done = make(chan struct{})
	return nil
}

// Approve returns the decision that lets exactly this call run, once.
func (r *Request) Approve(note string) Decision { return r.decision(AnswerApprove, note) }

// Deny returns the decision that refuses the call; the note reaches the model.
func (r *Request) Deny(note string) Decision { return r.decision(AnswerDeny, note) }

// Dismiss returns the decision that closes the question without an answer.
func (r *Request) Dismiss() Decision { return r.decision(AnswerDismiss, "") }

// Respond returns the decision that gives the tool's result in its place.
func (r *Request) Respond(result string) Decision {
	d := r.decision(AnswerRespond, "")
	d.Result = result
	return d
}

// Change returns the decision that replaces the arguments. The changed call is
// judged from the start and, if it asks, shown again.
func (r *Request) Change(arguments json.RawMessage, note string) Decision {
	d := r.decision(AnswerApprove, note)
	d.Arguments = arguments
	return d
}

func (r *Request) decision(answer Answer, note string) Decision {
	return Decision{Request: r.ID, Fingerprint: r.Fingerprint, Answer: answer, Note: note}
}

// ForSession returns d as an answer that is kept for the session.
func (d Decision) ForSession(reach policy.Reach) Decision {
	d.Remember.Keep, d.Remember.Reach = KeepSession, reach
	return d
}

// Always returns d as an answer that is kept as rules; without rules, as those
// that the request offers for exactly these acts.
func (d Decision) Always(rules ...string) Decision {
	d.Remember.Keep, d.Remember.Rules = KeepAlways, rules
	return d
}

// argumentsView shows the arguments of a call as structured data.
func argumentsView(call *policy.Call) func(context.Context) (present.View, error) {
	return func(context.Context) (present.View, error) {
		text, err := indentJSON(call.Arguments)
		return present.View{Kind: present.KindStructured, Content: text, Language: "json"}, err
	}
}

// maxIndent is how deep JSON is laid out: each further level would be written
// with more blanks than anybody can read.
const maxIndent = 32

// indentJSON lays data out in lines. It changes white space only.
func indentJSON(data json.RawMessage) (string, error) {
	if depthOf(data) > maxIndent {
		return string(data), nil
	}
	var b bytes.Buffer
	err := json.Indent(&b, data, "", "  ")
	return b.String(), err
}

// depthOf returns how deep canonical JSON is nested.
func depthOf(data []byte) (deepest int) {
	depth, quoted := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
			deepest = max(deepest, depth)
		case c == '}' || c == ']':
			depth--
		}
	}
	return deepest
}
