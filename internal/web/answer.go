package web

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/proof"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
)

// An answerBody is an answer to a request.
type answerBody struct {
	Answer      string            `json:"answer" enum:"approve,deny,respond"`
	Fingerprint string            `json:"fingerprint" doc:"that of the request as it was shown"`
	Note        string            `json:"note,omitempty" maxLength:"20000" doc:"reaches the model"`
	Result      string            `json:"result,omitempty" maxLength:"1000000" doc:"with respond: the tool's result in your words"`
	Choice      string            `json:"choice,omitempty"`
	Arguments   json.RawMessage   `json:"arguments,omitempty" doc:"with approve: other arguments; the changed call is asked again"`
	Stop        bool              `json:"stop,omitempty" doc:"end the run, if it is no yes"`
	Remember    approval.Remember `json:"remember,omitempty" doc:"what the answer means for later calls"`
	Proof       *approval.Proof   `json:"proof,omitempty" doc:"the signature of a person's browser over the statement of this answer"`
}

type answerInput struct {
	ID    string `path:"id" maxLength:"200"`
	Match string `header:"If-Match" doc:"the ETag of the request as it was shown"`
	Key   string `header:"Idempotency-Key" minLength:"8" maxLength:"200" required:"true"`
	Body  answerBody
}

type answerOutput struct {
	Body answerResult
}

// An answerResult says what became of an answer.
type answerResult struct {
	Request string `json:"request"`
	State   string `json:"state" enum:"answered" doc:"who asked takes it now"`
	Answer  string `json:"answer" doc:"the digest of the answer; take-back wants it"`
}

func (s *Server) answer(ctx context.Context, in *answerInput) (*answerOutput, error) {
	who := callerOf(ctx)
	if !who.may(proof.RightDeny) {
		return nil, huma.Error403Forbidden("this token has no right to deny, and none can approve")
	}
	text, err := json.Marshal(in)
	if err != nil {
		return nil, huma.Error422UnprocessableEntity("the answer cannot be read", err)
	}
	return s.answers.once(who.key+"/"+who.holder+"/"+in.Key, sha256.Sum256(text), s.cfg.Clock(), func() (*answerOutput, error) {
		return s.give(ctx, who, in)
	})
}

// give checks the answer and hands it to whoever asked.
func (s *Server) give(ctx context.Context, who caller, in *answerInput) (*answerOutput, error) {
	d, err := in.decision(s.cfg.Who, who)
	if err != nil {
		return nil, err
	}
	out := &answerOutput{answerResult{in.ID, "answered", d.Digest().String()}}
	r, err := s.find(in.ID)
	if err != nil {
		if s.given(ctx, &d) { // by an earlier try, of which the browser did not hear
			return out, nil
		}
		return nil, err
	}
	if tag := etag(r, s.cfg.Desk.About(ctx, r).Problem); in.Match != "" && in.Match != tag && in.Match != etag(r, "") {
		return nil, fail(approval.ErrWrongCall)
	}
	if who.person() {
		if err := s.proven(ctx, who, r, &d); err != nil {
			return nil, fail(err)
		}
	}
	d.At = s.cfg.Clock()
	out.Body.Answer = d.Digest().String()
	if err := s.cfg.Desk.Resolve(ctx, d); err != nil {
		if s.given(ctx, &d) {
			return out, nil
		}
		return nil, fail(err)
	}
	s.feed.look(ctx)
	return out, nil
}

// proven checks what the gate will check again, so that the person hears of it now.
func (s *Server) proven(ctx context.Context, who caller, r *approval.Request, d *approval.Decision) error {
	if err := r.CheckProof(ctx, *d, s.cfg.Clock()); err != nil {
		return err
	}
	if d.Proof.Credential != who.key {
		return errors.Join(approval.ErrUnproven, errors.New("another key signed the answer than the call"))
	}
	d.Proof.Public = who.public
	return proof.Verifier(s.cfg.Book.Key)(ctx, *d.Proof, s.cfg.Clock())
}

// given reports whether a request has ended with this very answer.
func (s *Server) given(ctx context.Context, d *approval.Decision) bool {
	p, err := s.cfg.Desk.Posted(ctx, d.Request)
	if err != nil || p.Settled == nil || p.Settled.Decision == nil {
		return false
	}
	other := p.Settled.Decision
	return other.Digest() == d.Digest() || other.Proof != nil && d.Proof != nil && other.Proof.Statement == d.Proof.Statement
}

// decision is the answer as the gate takes it.
func (in *answerInput) decision(person policy.Who, who caller) (approval.Decision, error) {
	b := &in.Body
	fingerprint, err := parseDigest(b.Fingerprint)
	if err != nil {
		return approval.Decision{}, huma.Error422UnprocessableEntity("fingerprint: " + err.Error())
	}
	d := approval.Decision{
		Request: in.ID, Fingerprint: fingerprint, Answer: approval.Answer(b.Answer), Note: b.Note, Result: b.Result,
		Choice: b.Choice, Arguments: b.Arguments, Stop: b.Stop, Remember: b.Remember, Proof: b.Proof, By: person,
	}
	d.By.Via = policy.ViaBrowser
	if !who.person() {
		d.By.Via, d.Proof = policy.ViaAPI, nil
		if d.Answer != approval.AnswerDeny || d.Stop {
			return d, huma.Error403Forbidden("a token can deny; only a person can approve, answer or end the run")
		}
	}
	return d, nil
}

func parseDigest(text string) (d policy.Digest, err error) { return d, d.UnmarshalText([]byte(text)) }

type takeBackInput struct {
	ID   string `path:"id" maxLength:"200"`
	Body struct {
		Answer string `json:"answer" doc:"the digest of the answer"`
	}
}

func (s *Server) takeBack(ctx context.Context, in *takeBackInput) (*struct{}, error) {
	if err := byPerson(ctx); err != nil {
		return nil, err
	}
	answer, err := parseDigest(in.Body.Answer)
	if err != nil {
		return nil, huma.Error422UnprocessableEntity("answer: " + err.Error())
	}
	err = s.cfg.Desk.TakeBack(ctx, in.ID, answer)
	var settled *approval.SettledError
	if errors.As(err, &settled) {
		return nil, huma.Error409Conflict("it is too late: the call has started, or the answer was used")
	}
	s.feed.look(ctx) // the page that shows it again says why
	return nil, fail(err)
}

type coversInput struct {
	ID   string `path:"id" maxLength:"200"`
	Body struct {
		Answer   string            `json:"answer" enum:"approve,deny"`
		Remember approval.Remember `json:"remember"`
	}
}

type coversOutput struct {
	Body struct {
		Requests []string `json:"requests" nullable:"false" doc:"summaries of other requests that the answer would settle"`
		Wide     []string `json:"wide,omitempty" doc:"rules that allow far more than one kind of call, with the reason: ask for a second yes"`
	}
}

func (s *Server) covers(ctx context.Context, in *coversInput) (*coversOutput, error) {
	if err := byPerson(ctx); err != nil {
		return nil, err
	}
	r, err := s.find(in.ID)
	if err != nil {
		return nil, err
	}
	d := r.Deny("")
	if in.Body.Answer == string(approval.AnswerApprove) {
		d = r.Approve("")
	}
	d.Remember, d.By = in.Body.Remember, s.cfg.Who
	d.By.Via = policy.ViaBrowser
	out := &coversOutput{}
	out.Body.Requests = []string{}
	for _, text := range d.Remember.Rules {
		rule, err := policy.Ground{}.Parse(text)
		switch {
		case err != nil:
			return nil, huma.Error422UnprocessableEntity(err.Error())
		case (rule.Effect == policy.EffectAllow) != (d.Answer == approval.AnswerApprove):
			return nil, huma.Error422UnprocessableEntity("to " + string(d.Answer) + ", a rule has to begin with " +
				map[bool]string{true: "allow", false: "deny"}[d.Answer == approval.AnswerApprove])
		}
		if why := s.cfg.wide(rule); why != "" {
			out.Body.Wide = append(out.Body.Wide, present.SafeLine(rule.String()+": "+why))
		}
	}
	for _, other := range s.cfg.Desk.Covers(ctx, r, d) {
		out.Body.Requests = append(out.Body.Requests, present.SafeLine(other.Call.Name()+" · "+other.Summary))
	}
	return out, nil
}

// answers remembers what was said to calls that carry the same key.
type answers struct {
	mu   sync.Mutex
	kept map[string]*kept
}

type kept struct {
	body [sha256.Size]byte
	at   time.Time
	done chan struct{} // closed when out and err are there
	out  *answerOutput
	err  error
}

// keptFor is how long an answer can be repeated; later ones find it in the store.
const keptFor = 10 * time.Minute

// once does what was asked for under a key, or waits for who does and returns the same. What failed may be
// tried again.
func (a *answers) once(key string, body [sha256.Size]byte, now time.Time, do func() (*answerOutput, error)) (*answerOutput, error) {
	a.mu.Lock()
	for k, old := range a.kept {
		if now.Sub(old.at) > keptFor {
			delete(a.kept, k)
		}
	}
	old, ok := a.kept[key]
	if !ok {
		mine := &kept{body: body, at: now, done: make(chan struct{})}
		a.kept[key] = mine
		a.mu.Unlock()
		return a.first(key, mine, do)
	}
	a.mu.Unlock()
	if old.body != body {
		return nil, huma.Error422UnprocessableEntity("this Idempotency-Key was used for another answer")
	}
	<-old.done
	return old.out, old.err
}

func (a *answers) first(key string, mine *kept, do func() (*answerOutput, error)) (*answerOutput, error) {
	mine.err = errors.New("it failed") // stays if do panics
	defer func() {
		if mine.err != nil {
			a.mu.Lock()
			delete(a.kept, key)
			a.mu.Unlock()
		}
		close(mine.done)
	}()
	mine.out, mine.err = do()
	return mine.out, mine.err
}
