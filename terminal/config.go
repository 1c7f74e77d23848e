package terminal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/charmbracelet/x/term"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
)

// How long it has to be quiet before keys count, unless a [Config] says otherwise.
const (
	DefaultQuiet    = 400 * time.Millisecond
	DefaultMaxQuiet = 1500 * time.Millisecond
)

// Config says what an approver works with. Every field may be left out.
type Config struct {
	// In is the terminal that keys come from; nil means standard input.
	In *os.File
	// Out is where prompts are drawn; nil means standard error. If it is not a terminal,
	// or a dumb one, prompts are plain lines without any escape.
	Out *os.File
	// Getenv reads the environment: TERM, NO_COLOR, PAGER, VISUAL, EDITOR. Nil means
	// os.Getenv.
	Getenv func(string) string
	// Clock tells the time; nil means time.Now.
	Clock func() time.Time
	// Limit is how much of a view is shown at first; zero means present.DefaultLimit.
	Limit present.Limit
	// Quiet is how long no key may come before keys count, MaxQuiet when they count
	// however many come. Zero means the defaults, less than zero none.
	Quiet, MaxQuiet time.Duration
	// Who answers here. Via is terminal, unless it says inbox.
	Who policy.Who
	// Grants lists and revokes grants for g; nil leaves that key out. A
	// [*approval.Memory] is one.
	Grants Grants
	// History tells what was decided in a session, oldest first, for h; nil means what
	// was decided at this approver.
	History func(ctx context.Context, session string) ([]approval.Event, error)
	// Wide says why a rule allows nearly everything, and so needs a second yes; empty for a
	// rule that does not. Nil means that every rule needs one.
	Wide func(policy.Rule) string
	// Stop is told once when the person stops the run or the prompt is interrupted, with
	// the error that [Approver.Err] returns from then on. A context.CancelCauseFunc fits.
	Stop func(error)
	// Status is cleared while a prompt is open; nil means that there is none.
	Status *Status
	// Footer is said above the keys of every prompt, such as that no sandbox holds what
	// runs; empty for nothing.
	Footer string
	// NoBell keeps the bell and the terminal's title as they are.
	NoBell bool
}

// Grants is where grants are listed and revoked.
type Grants interface {
	Grants(ctx context.Context, session string) (*policy.GrantSet, error)
	RevokeGrant(session, id string) error
}

// A Coverer tells which other waiting requests an answer would settle. An
// [*approval.Gate] is one.
type Coverer interface {
	Covers(ctx context.Context, r *approval.Request, d approval.Decision) []*approval.Request
}

// IsTerminal reports whether a person can be asked at the file.
func IsTerminal(f *os.File) bool { return f != nil && term.IsTerminal(f.Fd()) }

// withDefaults fills in what was left out.
func (c Config) withDefaults() Config {
	if c.In == nil {
		c.In = os.Stdin
	}
	if c.Out == nil {
		c.Out = os.Stderr
	}
	if c.Getenv == nil {
		c.Getenv = os.Getenv
	}
	if c.Clock == nil {
		c.Clock = time.Now
	}
	if c.Wide == nil {
		c.Wide = func(policy.Rule) string { return "how far it reaches is unknown" }
	}
	if c.Limit == (present.Limit{}) {
		c.Limit = present.DefaultLimit()
	}
	if c.Quiet == 0 {
		c.Quiet = DefaultQuiet
	}
	if c.MaxQuiet == 0 {
		c.MaxQuiet = DefaultMaxQuiet
	}
	if c.Who.Via != policy.ViaInbox {
		c.Who.Via = policy.ViaTerminal
	}
	return c
}

// drawn reports whether prompts are drawn, and not printed line by line.
func (c *Config) drawn() bool {
	return IsTerminal(c.In) && canDraw(c.Out, c.Getenv)
}

// canDraw reports whether escapes may be sent to the file.
func canDraw(out *os.File, getenv func(string) string) bool {
	name := getenv("TERM")
	return IsTerminal(out) && name != "" && name != "dumb"
}

// theme says how much style the terminal takes.
func (c *Config) theme() theme {
	switch {
	case !c.drawn():
		return noStyles
	case c.Getenv("NO_COLOR") != "":
		return attributes
	}
	return colours
}

// Why an approver asks no more; match with [errors.Is].
var (
	// ErrStopped says that the person ended the run with q. It is a [*StoppedError].
	ErrStopped = errors.New("the run was stopped at a prompt")
	// ErrInterrupted says that the prompt was left without an answer: Ctrl-C, the end of
	// input, a closed terminal, a signal.
	ErrInterrupted = errors.New("the prompt was interrupted")
)

// A StoppedError says at which request the person stopped the run, and why.
type StoppedError struct {
	Request *approval.Request
	Note    string // may be empty
}

func (e *StoppedError) Error() string {
	text := fmt.Sprintf("%v: %s (%s)", ErrStopped, e.Request.Call.Name(), e.Request.Summary)
	if e.Note != "" {
		text += ": " + e.Note
	}
	return text
}

// Is makes the error match [ErrStopped].
func (e *StoppedError) Is(target error) bool { return target == ErrStopped }
