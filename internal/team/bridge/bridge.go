package bridge

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"sync"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/audit"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/team/link"
	"github.com/assent-dev/assent/internal/team/member"
	"github.com/assent-dev/assent/store"
)

// A Store is the local store, as far as a bridge needs it.
type Store interface {
	Open(ctx context.Context, session string) ([]approval.Posted, error)
	Posted(ctx context.Context, id string) (approval.Posted, error)
	Answer(ctx context.Context, d approval.Decision) error
	NotifyRequests(changed func()) (stop func())
	ChainRows(ctx context.Context, after int64, limit, bytes int) ([]store.ChainRow, error)
	NotifyRecords(changed func()) (stop func())
	Seal(ctx context.Context) (audit.Seal, error)
}

// Options are what a bridge works with.
type Options struct {
	State   string
	Machine *member.Machine
	Store   Store
	// Team reads which key signs the bundle from the administrator's file; nil if the file names none.
	Team func() (*config.Team, error)
	// Clock tells the time, and CallClock the time that calls are signed with; nil means that of the system.
	Clock, CallClock func() time.Time
	// Log takes a line about something that changed; nil drops it.
	Log func(line string)
}

// A Bridge talks to the server of a team.
type Bridge struct {
	Options
	client *Client

	wakeQuestions, wakeLog, wakeBundle, changed chan struct{}

	mu        sync.Mutex
	questions questions
	serial    int64 // of the server's newest bundle, as it said last
	status    link.Status
	team      held
}

// New returns a bridge. [Bridge.Run] runs it.
func New(o Options) (*Bridge, error) {
	c, err := ForMachine(o.Machine)
	if err != nil {
		return nil, err
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Log == nil {
		o.Log = func(string) {}
	}
	if o.CallClock != nil {
		c.clock = o.CallClock
	}
	signal := func() chan struct{} { return make(chan struct{}, 1) }
	return &Bridge{Options: o, client: c, wakeQuestions: signal(), wakeLog: signal(), wakeBundle: signal(), changed: signal(),
		questions: loadQuestions(o.State), status: link.Status{Process: os.Getpid()}}, nil
}

// Run runs until ctx ends, or until this machine has left the team. If another bridge of this user runs, the
// error is [link.ErrRuns].
func (b *Bridge) Run(ctx context.Context) error {
	lock, err := link.Lock(b.State)
	if err != nil {
		return err
	}
	defer lock.Close()
	ctx, end := context.WithCancel(ctx)
	defer end()
	defer b.Store.NotifyRequests(func() { poke(b.wakeQuestions) })()
	defer b.Store.NotifyRecords(func() { poke(b.wakeLog) })()
	var all sync.WaitGroup
	all.Go(func() { b.loop(ctx, nil, b.listen) })
	all.Go(func() { b.loop(ctx, b.wakeQuestions, b.forward) })
	all.Go(func() { b.loop(ctx, b.wakeLog, b.ship) })
	all.Go(func() { b.loop(ctx, b.wakeBundle, b.renew) })
	all.Go(func() { b.publish(ctx) })
	b.whileMember(ctx, lock)
	end()
	all.Wait()
	return nil
}

// whileMember returns when ctx ends, when this machine has left, or when the folder with the lock is another: a bridge for the
// new folder may run.
func (b *Bridge) whileMember(ctx context.Context, lock *os.File) {
	for pause(ctx, 2*time.Second) {
		now, err := member.LoadMachine(b.State)
		if errors.Is(err, fs.ErrNotExist) || err == nil && now.Gate != b.Machine.Gate {
			b.Log("this machine has left the team")
			return
		}
		if !link.Holds(lock, b.State) {
			b.Log("the folder of the team was replaced: this bridge ends")
			return
		}
	}
}

// soon, as what a step returns, has it done again at once; later when it is woken.
const (
	soon  = time.Duration(0)
	later = time.Hour
)

// loop does a step again and again: when it is woken, and after the time that the step says. After an error it
// waits, longer each time but never long: somebody may be waiting for an answer.
func (b *Bridge) loop(ctx context.Context, wake <-chan struct{}, step func(context.Context) (time.Duration, error)) {
	failed := 0
	for ctx.Err() == nil {
		next, err := step(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			failed++
			if !pause(ctx, backoff(failed)) {
				return
			}
			continue
		}
		failed = 0
		if next == soon {
			continue
		}
		timer := time.NewTimer(next)
		select {
		case <-ctx.Done():
		case <-timer.C:
		case <-wake:
		}
		timer.Stop()
	}
}

// longest is how long the bridge waits at most before it tries again.
const longest = 3 * time.Second

// backoff is how long to wait after so many failures in a row: no two machines wait alike, so that they do not all
// come at once when the server is back.
func backoff(failed int) time.Duration {
	most := min(50*time.Millisecond<<min(failed, 10), longest)
	return most/2 + rand.N(most/2)
}

func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func poke(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// reached notes whether the server could be reached, as the error of a call says. It returns that error.
func (b *Bridge) reached(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return err
	}
	back, gone := false, false
	b.say(func(s *link.Status) {
		if err == nil {
			back = !s.Away.IsZero()
			s.Away, s.Why = time.Time{}, ""
			return
		}
		if gone = s.Away.IsZero(); gone {
			s.Away = b.Clock()
		}
		s.Why = err.Error()
	})
	switch {
	case gone:
		b.Log("no answer from the server: " + err.Error())
	case back: // what waited need not wait any longer
		b.Log("the server answers again")
		poke(b.wakeQuestions)
		poke(b.wakeLog)
	}
	return err
}

// say changes what is said to people.
func (b *Bridge) say(change func(*link.Status)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change(&b.status)
	poke(b.changed)
}

// publish keeps what is said where 'assent status' finds it.
func (b *Bridge) publish(ctx context.Context) {
	logged := ""
	for ctx.Err() == nil {
		b.mu.Lock()
		b.status.At = b.Clock()
		now := b.status
		now.Refused = maps.Clone(now.Refused)
		b.mu.Unlock()
		var err error
		if link.Joined(b.State) {
			err = now.Save(b.State)
		}
		if err != nil && logged != err.Error() {
			logged = err.Error()
			b.Log("the status cannot be saved: " + logged)
		}
		if !pause(ctx, 200*time.Millisecond) {
			return
		}
		select {
		case <-ctx.Done():
		case <-b.changed:
		}
	}
}
