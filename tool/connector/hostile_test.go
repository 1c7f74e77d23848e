package connector_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/mcptest"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/connector"
)

func TestAConnectorThatDiesIsReportedAndComesBack(t *testing.T) {
	e := newEvents()
	c := open(t, config("evil", mcptest.Hostile), options(e))
	other := open(t, config("ordinary", mcptest.Ordinary), options(newEvents()))
	g := guard(t, approval.Config{Mode: policy.ModeApproveAll}, append(c.Tools(), other.Tools()...)...)
	r := call(t, g, "evil:die", args{})
	if r.Err == nil || !strings.Contains(r.Text, "connector evil went away") {
		t.Fatalf("got %q, %v", r.Text, r.Err)
	}
	mustText(t, call(t, g, "ordinary:echo", args{"text": "x"}), "x")
	e.await(t, connector.EventConnected, 2)
	if e.count(connector.EventDisconnected) != 1 || !strings.Contains(c.Stderr(), "goodbye, cruel world") {
		t.Errorf("%d times disconnected, standard error %q", e.count(connector.EventDisconnected), c.Stderr())
	}
	mustText(t, call(t, g, "evil:plain", args{}), "plain ran")
}

func TestACallOfAConnectorThatIsAwayIsRefusedByItsName(t *testing.T) {
	e := newEvents()
	opts := options(e)
	opts.Backoff = func(int) time.Duration { return time.Hour }
	c := open(t, config("evil", mcptest.Hostile), opts)
	g := guard(t, approval.Config{Mode: policy.ModeApproveAll}, c.Tools()...)
	call(t, g, "evil:die", args{})
	e.await(t, connector.EventDisconnected, 1)
	r := call(t, g, "evil:plain", args{})
	var away *connector.NotConnectedError
	if !errors.As(r.Err, &away) || away.Connector != "evil" || !strings.Contains(r.Text, "status 3") {
		t.Errorf("got %q, %v", r.Text, r.Err)
	}
}

func TestAServerThatCannotBeStartedIsNoErrorOfOpen(t *testing.T) {
	e := newEvents()
	opts := options(e)
	opts.Backoff = func(int) time.Duration { return time.Hour }
	c, err := connector.Open(t.Context(), connector.Config{Name: "none", Command: []string{"/no/such/program"}}, opts)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if c.Err() == nil || len(c.Tools()) != 0 || e.count(connector.EventDisconnected) != 1 {
		t.Errorf("got %v, %d tools", c.Err(), len(c.Tools()))
	}
}

func TestAServerThatNeverGreetsIsGivenUp(t *testing.T) {
	opts := options(newEvents())
	opts.ConnectTimeout, opts.Backoff = 50*time.Millisecond, func(int) time.Duration { return time.Hour }
	c, err := connector.Open(t.Context(), connector.Config{Name: "mute", Command: []string{"sleep", "1000"}}, opts)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Err(); err == nil || !strings.Contains(err.Error(), "did not answer within") {
		t.Errorf("got %v", err)
	}
}

func TestWhatNoServerShouldDo(t *testing.T) {
	for name, want := range map[string]string{
		"garbage": "after garbage",
		"twice":   "first",
		"wrong":   "right",
		"painted": "painted ran",
	} {
		t.Run(name, func(t *testing.T) {
			c := open(t, config("evil", mcptest.Hostile), options(newEvents()))
			g := guard(t, approval.Config{Mode: policy.ModeApproveAll}, c.Tools()...)
			mustText(t, call(t, g, "evil:"+name, args{}), want)
			mustText(t, call(t, g, "evil:plain", args{}), "plain ran")
		})
	}
}

func TestAnswersThatAreNoneFail(t *testing.T) {
	for name, want := range map[string]string{
		"mute":    "did not answer within",
		"task":    `type "task"`,
		"nothing": "",
	} {
		opts := options(newEvents())
		if name == "mute" { // the others are slow on a busy machine
			opts.CallTimeout = 100 * time.Millisecond
		}
		c := open(t, config("evil", mcptest.Hostile), opts)
		g := guard(t, approval.Config{Mode: policy.ModeApproveAll}, c.Tools()...)
		r := call(t, g, "evil:"+name, args{})
		if name != "nothing" && (r.Err == nil || !strings.Contains(r.Text, want)) {
			t.Errorf("%s: got %q, %v", name, r.Text, r.Err)
		}
	}
}

func TestOutputIsLimited(t *testing.T) {
	e := newEvents()
	opts := options(e)
	opts.MaxMessage, opts.MaxResult = 1<<20, 1000
	c := open(t, config("evil", mcptest.Hostile), opts)
	g := guard(t, approval.Config{Mode: policy.ModeApproveAll}, c.Tools()...)
	r := call(t, g, "evil:huge", args{"bytes": 2000})
	if r.Err == nil || !strings.Contains(r.Text, "at most 1000 are taken") {
		t.Errorf("got %q, %v", r.Text, r.Err)
	}
	r = call(t, g, "evil:flood", args{"bytes": 2 << 20})
	if r.Err == nil || !strings.Contains(r.Text, "more than 1048576 bytes") {
		t.Errorf("got %q, %v", r.Text, r.Err)
	}
	e.await(t, connector.EventConnected, 2)
	mustText(t, call(t, g, "evil:plain", args{}), "plain ran")
}

func TestAListThatChangesIsHeardOf(t *testing.T) {
	e := newEvents()
	opts := options(e)
	opts.Fresh = time.Hour
	c := open(t, config("evil", mcptest.Hostile), opts)
	g := guard(t, approval.Config{Mode: policy.ModeApproveAll}, c.Tools()...)
	mustText(t, call(t, g, "evil:change", args{"notify": true}), "done")
	e.await(t, connector.EventDoubted, 1)
	if r := call(t, g, "evil:plain", args{}); r.Err == nil || !r.Outcome.PersonOnly {
		t.Errorf("got %q, %v", r.Text, r.Err)
	}
}

func TestAToolThatIsGoneIsRefused(t *testing.T) {
	c := open(t, config("evil", mcptest.Hostile), options(newEvents()))
	g := guard(t, approval.Config{Mode: policy.ModeApproveAll}, c.Tools()...)
	mustText(t, call(t, g, "evil:drop", args{}), "done")
	r := call(t, g, "evil:plain", args{})
	if !errors.Is(r.Err, approval.ErrInvalid) || !strings.Contains(r.Text, "no longer has a tool named plain") {
		t.Errorf("got %q, %v", r.Text, r.Err)
	}
}

func TestAHundredCallsAtOnce(t *testing.T) {
	c := open(t, config("ordinary", mcptest.Ordinary), options(newEvents()))
	g := guard(t, approval.Config{Mode: policy.ModeApproveAll}, c.Tools()...)
	results := make(chan tool.Result, 100)
	for range cap(results) {
		go func() {
			results <- tool.Call(t.Context(), g, policy.Call{Connector: "ordinary", Tool: "echo", Arguments: []byte(`{"text":"x"}`)})
		}()
	}
	for range cap(results) {
		mustText(t, <-results, "x")
	}
}
