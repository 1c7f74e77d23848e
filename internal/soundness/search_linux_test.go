package soundness

import (
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/assent-dev/assent/internal/rounds"
)

// maxProblems is after how many wrong commands a search ends.
const maxProblems = 5

// A tally is what a search went through.
type tally struct {
	next     atomic.Uint64
	mu       sync.Mutex
	ran      map[string]int // by policy
	unread   int
	asked    int
	starts   int
	touched  int
	problems int
}

func (c *tally) count(a answer) (enough bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case a.Unread:
		c.unread++
	case a.Policy == "":
		c.asked++
	default:
		c.ran[a.Policy]++
		c.starts += a.Starts
		c.touched += a.Touched
	}
	if len(a.Wrong) > 0 {
		c.problems++
	}
	return c.problems >= maxProblems
}

func (c *tally) total() (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, each := range c.ran {
		n += each
	}
	return n
}

// TestSound runs commands that are allowed until there were enough of them: as many as
// ASSENT_SOUND says. Without it they are the same ones each time, so that a change is
// tested and not the dice; ASSENT_SOUND_SEED repeats any run.
func TestSound(t *testing.T) {
	want := int(number(t, "ASSENT_SOUND", uint64(rounds.N(2_000, 100_000))))
	other := uint64(1)
	if _, asked := os.LookupEnv("ASSENT_SOUND"); asked {
		other = uint64(time.Now().UnixNano())
	}
	seed := number(t, "ASSENT_SOUND_SEED", other)
	t.Logf("ASSENT_SOUND_SEED=%d", seed)
	c := &tally{ran: map[string]int{}}
	var all sync.WaitGroup
	for range runtime.NumCPU() {
		j := openJail(t)
		all.Go(func() { search(t, j, c, seed, want) })
	}
	all.Wait()
	t.Logf("ran %d commands %v: %d programs started, %d files touched; %d would ask, %d cannot be read",
		c.total(), c.ran, c.starts, c.touched, c.asked, c.unread)
	for _, name := range policyNames() {
		if !t.Failed() && c.ran[name] < want/100 {
			t.Errorf("the policy %s allows only %d commands: it tests too little", name, c.ran[name])
		}
	}
}

// number returns what a variable of the environment says, or else the other.
func number(t *testing.T, name string, other uint64) uint64 {
	text, set := os.LookupEnv(name)
	if !set {
		return other
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// batch is how many commands are sent to a jail at once.
const batch = 64

// search tries commands until enough of them ran, and shows those that are wrong.
func search(t *testing.T, j *jail, c *tally, seed uint64, want int) {
	for c.total() < want {
		first := c.next.Add(batch) - batch
		list := make([]question, batch)
		for i := range list {
			number := first + uint64(i)
			list[i] = question{Text: command(seed, number), First: int(number) % len(policyNames())}
		}
		answers, err := j.tryAll(list)
		if err != nil {
			t.Errorf("seed %d, from number %d on: %v", seed, first, err)
			return
		}
		for i, a := range answers {
			if len(a.Wrong) > 0 {
				show(t, j, list[i], a)
			}
			if c.count(a) {
				return
			}
		}
	}
}

// show reduces a command that is wrong, and reports what is left.
func show(t *testing.T, j *jail, q question, a answer) {
	wrong := func(text string) bool {
		a, err := j.try(question{Text: text, First: q.First})
		return err == nil && len(a.Wrong) > 0
	}
	if !wrong(q.Text) {
		t.Errorf("this was wrong once, and not again: %s", a.report(q.Text))
		return
	}
	short := reduced(q.Text, wrong)
	a, err := j.try(question{Text: short, First: q.First})
	if err != nil {
		t.Errorf("%q: %v", short, err)
		return
	}
	t.Errorf("from %q:\n%s", q.Text, a.report(short))
}
