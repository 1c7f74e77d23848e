package approval

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/assent-dev/assent/internal/canonical"
	"github.com/assent-dev/assent/policy"
)

// Limits on what a model may ask for. What is over a limit is refused; nothing
// that waits for an answer is ever pushed out.
const (
	MaxCallsPerTurn = 50
	MaxPending      = 200
)

// Config says what a gate works with. Preparer, Clock and NewID are needed.
type Config struct {
	// Preparer says what calls would do.
	Preparer Preparer
	// Clock tells the time.
	Clock func() time.Time
	// NewID makes a new unique id.
	NewID func() string
	// Session is the session of calls that name none; empty means a new id.
	Session string
	// Project is the folder of the project that all calls belong to; empty leaves it to the calls.
	Project string
	// Mode says who answers when nothing remembered does.
	Mode policy.Mode
	// Approver is asked in ModeAsk, and for what only a person may answer. Nil
	// means that nobody is there: what would be asked is refused by Decide, and
	// waits with Review.
	Approver Approver
	// Rules keeps rules. Nil means none, and an answer that is to be kept always
	// is an error. If it is a [Switch] too, it says whether anybody is asked.
	Rules RuleStore
	// Grants keeps grants. Nil means a memory of the gate's own.
	Grants GrantStore
	// Policy is a fixed set of rules beside those in Rules, such as those of a
	// config file. Its denies hold like any other.
	Policy *policy.RuleSet
	// Fixed returns what Policy is now, for files that change while the gate is open. It is called for every
	// judgement, also at the last moment before a call runs, after Team was; with an error the call is refused. Nil
	// means that Policy stays as it is.
	Fixed func() (*policy.RuleSet, error)
	// Recorder keeps events. Nil means that nothing is recorded.
	Recorder Recorder
	// Requests keeps how requests were answered where other processes see it:
	// before an answer takes effect, it is made final there. Nil means that all
	// answers come from this process.
	Requests Settler
	// Claims sees to it that a call of a batch that was saved runs in one process
	// only. Nil means that no other process restores it.
	Claims ClaimStore
	// Proofs verifies the signatures of answers that carry one. Nil means that such answers, and those
	// that need one, are refused.
	Proofs ProofVerifier
	// Team is the team that the machine has joined. Nil means one person: then no answer of a team counts.
	Team Team
	// Sandbox says for the record what holds the calls of this gate: the name of a
	// sandbox, or "none" and why. Empty means that nothing is known of it.
	Sandbox string
	// Origin says where a request comes from when one is made; nil leaves that open.
	Origin func(context.Context) Origin
	// Untraced leaves the trace out of outcomes, requests and events. Then
	// nobody can ask why, and a judgement that needs no person allocates nothing.
	Untraced bool
}

// A Gate turns calls into answers. It is safe for concurrent use.
type Gate struct {
	cfg Config

	stop []func() // ends the listening

	changes atomic.Uint64 // how often what is remembered has changed

	mu      sync.Mutex
	batches map[*Batch]struct{} // those with something pending
	pending map[string]int      // how many requests wait, by session
	started map[startKey]*Batch // calls of copied batches that have been started, and from which copy
}

// New returns a gate. It refuses a config that could not refuse safely.
func New(cfg Config) (*Gate, error) {
	switch {
	case cfg.Preparer == nil:
		return nil, errors.New("approval: a gate needs a Preparer")
	case cfg.Clock == nil:
		return nil, errors.New("approval: a gate needs a Clock")
	case cfg.NewID == nil:
		return nil, errors.New("approval: a gate needs NewID")
	case cfg.Mode < policy.ModeAsk || cfg.Mode > policy.ModeStrict:
		return nil, fmt.Errorf("approval: unknown mode %d", cfg.Mode)
	}
	if cfg.Session == "" {
		cfg.Session = cfg.NewID()
	}
	if cfg.Grants == nil {
		cfg.Grants = NewMemory(0)
	}
	g := &Gate{cfg: cfg, batches: map[*Batch]struct{}{}, pending: map[string]int{}, started: map[startKey]*Batch{}}
	g.listen(cfg.Rules)
	if !same(cfg.Grants, cfg.Rules) {
		g.listen(cfg.Grants)
	}
	g.listen(cfg.Team)
	return g, nil
}

// listen settles what a changed memory covers.
func (g *Gate) listen(store any) {
	if n, ok := store.(Notifier); ok {
		g.stop = append(g.stop, n.Notify(func() { g.resettle(context.Background()) }))
	}
}

// Close ends the gate's listening to its stores. What is pending stays so.
func (g *Gate) Close() {
	for _, stop := range g.stop {
		stop()
	}
}

// Session returns the session of calls that name none.
func (g *Gate) Session() string { return g.cfg.Session }

// identify makes the call canonical: its arguments and its session. A call that
// cannot be understood comes back without its arguments, which may be huge or no
// JSON at all.
func (g *Gate) identify(call policy.Call) (policy.Call, error) {
	if call.Session == "" {
		call.Session = g.cfg.Session
	}
	call.Project = cmp.Or(g.cfg.Project, call.Project)
	args, err := canonical.Arguments(slices.Clone(call.Arguments))
	call.Arguments, call.Workers = args, slices.Clone(call.Workers)
	switch {
	case err != nil:
	case call.Tool == "":
		err = errors.New("the call names no tool")
	case !validNames(&call):
		err = fmt.Errorf("a name of the call: %w", canonical.ErrInvalidUTF8)
	}
	if err != nil {
		call.Arguments = nil
	}
	return call, err
}

func validNames(call *policy.Call) bool {
	return utf8.ValidString(call.ID) && utf8.ValidString(call.Connector) && utf8.ValidString(call.Tool) &&
		utf8.ValidString(call.Session) && !slices.ContainsFunc(call.Workers, func(w string) bool { return !utf8.ValidString(w) })
}

// prepare asks what the call would do.
func (g *Gate) prepare(ctx context.Context, call policy.Call) (policy.Call, Proposal, error) {
	var p Proposal
	err := safely("preparing the call", func() (err error) {
		p, err = g.cfg.Preparer.Prepare(ctx, call)
		return err
	})
	if err == nil && call.Definition.IsZero() {
		call.Definition = p.Definition
	}
	p.Acts = cloneActs(p.Acts) // a tool may use its slices again
	return call, p, err
}

func (g *Gate) record(ctx context.Context, e Event) error {
	if g.cfg.Recorder == nil {
		return nil
	}
	e.Sandbox = g.cfg.Sandbox
	return safely("recording", func() error {
		if full, ok := g.cfg.Recorder.(DetailRecorder); ok {
			return full.RecordFull(ctx, e)
		}
		return g.cfg.Recorder.Record(ctx, e.Keep(DetailRedacted))
	})
}

// safely calls foreign code, and takes a panic in it for an error: what fails
// refuses, and nothing that is under way is left hanging.
func safely(what string, f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%s panicked: %v", what, r)
		}
	}()
	return f()
}
