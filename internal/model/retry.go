package model

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"github.com/assent-dev/assent/internal/worker"
)

// Retry says how often a turn is tried again that failed in passing. The zero Retry has
// its defaults.
type Retry struct {
	// Attempts is how often a turn is tried in all; 0 means 5.
	Attempts int
	// First is how long to wait after the first failure, doubled for each further one; 0
	// means a second.
	First time.Duration
	// Longest is how long to wait at most; 0 means a minute. A provider that wants to be
	// left alone for longer is left alone altogether.
	Longest time.Duration
	// Wait waits; nil waits in earnest.
	Wait func(ctx context.Context, d time.Duration) error
}

func (r Retry) withDefaults() Retry {
	if r.Attempts <= 0 {
		r.Attempts = 5
	}
	if r.First <= 0 {
		r.First = time.Second
	}
	if r.Longest <= 0 {
		r.Longest = time.Minute
	}
	if r.Wait == nil {
		r.Wait = think
	}
	return r
}

// Turn tries to have a turn until it has one, or until trying again makes no sense. The
// error is the cause of ctx if that is done, else a [*Fault].
func (r Retry) Turn(ctx context.Context, l worker.Listener,
	try func(context.Context) (worker.Turn, error)) (worker.Turn, error) {
	r = r.withDefaults()
	for attempt := 1; ; attempt++ {
		turn, err := try(ctx)
		if err == nil {
			return turn, nil
		}
		if ctx.Err() != nil {
			return worker.Turn{}, context.Cause(ctx)
		}
		var fault *Fault
		if !errors.As(err, &fault) || !fault.passing() {
			return worker.Turn{}, err
		}
		wait := max(r.pause(attempt), fault.After)
		switch {
		case wait > r.Longest:
			return worker.Turn{}, fmt.Errorf("%w; it wants to be left alone for %v", err, fault.After)
		case attempt == r.Attempts:
			return worker.Turn{}, fmt.Errorf("%w; tried %d times", err, attempt)
		}
		if l != nil {
			l.Again(wait, err)
		}
		if err := r.Wait(ctx, wait); err != nil {
			return worker.Turn{}, err
		}
	}
}

// pause is how long to wait after a failure: longer each time, and not to the second, so
// that many who failed together do not come back together.
func (r Retry) pause(attempt int) time.Duration {
	d := min(r.First<<min(attempt-1, 20), r.Longest)
	return d/2 + rand.N(d/2+1)
}

// RetryAfter reads how long a provider wants to be left alone, from the headers of its
// answer. What cannot be read is nothing.
func RetryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		return duration(ms, time.Millisecond)
	}
	text := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(text, 64); err == nil {
		return duration(s, time.Second)
	}
	if at, err := http.ParseTime(text); err == nil && at.After(now) {
		return at.Sub(now)
	}
	return 0
}

// duration refuses what is not a time: NaN compares with nothing.
func duration(n float64, unit time.Duration) time.Duration {
	const year = 365 * 24 * time.Hour
	if n > 0 && n < float64(year/unit) {
		return time.Duration(n * float64(unit))
	}
	if n > 0 {
		return year
	}
	return 0
}

// unless returns a context that ends when nothing was heard for a while, and what to call
// when something was. Its cause is then [ErrSilent].
func unless(ctx context.Context, silence time.Duration) (quiet context.Context, heard, stop func()) {
	if silence <= 0 {
		silence = DefaultSilence
	}
	quiet, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(silence, func() { cancel(ErrSilent) })
	heard = func() { timer.Reset(silence) }
	stop = func() {
		timer.Stop()
		cancel(nil)
	}
	return quiet, heard, stop
}

// ErrSilent says that a provider said nothing for too long.
var ErrSilent = errors.New("nothing more came for too long")
