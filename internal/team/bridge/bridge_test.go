package bridge_test

import (
	"bufio"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/approval/approvaltest"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/reexec"
	"github.com/assent-dev/assent/internal/team/bridge"
	"github.com/assent-dev/assent/internal/team/bridgetest"
	"github.com/assent-dev/assent/internal/team/bundle"
	"github.com/assent-dev/assent/internal/team/link"
	"github.com/assent-dev/assent/internal/team/member"
	"github.com/assent-dev/assent/internal/team/wire"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/store"
)

func TestMain(m *testing.M) {
	reexec.Main(map[string]reexec.Role{"bridge": bridgeRole})
	os.Exit(m.Run())
}

// bridgeRole is a bridge in a process of its own, which can be killed. It says when it has the lock.
func bridgeRole(args []string) error {
	team := &config.Team{Trust: args[1], Name: "acme"}
	s, err := store.Open(context.Background(), args[0], store.Options{})
	if err != nil {
		return err
	}
	m, err := member.LoadMachine(args[0])
	if err != nil {
		return err
	}
	b, err := bridge.New(bridge.Options{State: args[0], Machine: m, Store: s, Team: func() (*config.Team, error) { return team, nil }})
	if err != nil {
		return err
	}
	fmt.Println("runs")
	return b.Run(context.Background())
}

// A joined is a machine that has joined a team, with a gate.
type joined struct {
	*testing.T
	state  string
	team   *bridgetest.Team
	server *bridgetest.Server
	store  *store.Store
	gate   *approval.Gate
}

// join makes one. The store has a few records from before.
func join(t *testing.T) *joined {
	t.Helper()
	j := &joined{T: t, state: t.TempDir(), team: bridgetest.New("ann", "bob")}
	j.server = bridgetest.Serve(j.team)
	t.Cleanup(j.server.Close)
	var err error
	if j.store, err = store.Open(t.Context(), j.state, store.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.store.Close() })
	j.record(3)
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	j.server.Join("g_1", public)
	j.server.Publish()
	machine := &member.Machine{Tenant: "acme", Gate: "g_1", Server: j.server.URL, Private: private, After: 3}
	if err := member.SaveMachine(j.state, machine); err != nil {
		t.Fatal(err)
	}
	of := config.Team{Trust: j.team.Trust, Name: "acme"}
	j.gate, err = approval.New(approval.Config{
		Preparer: approvaltest.NewTools("ask"), Approver: approval.Queue(j.store), Requests: j.store, Rules: j.store, Grants: j.store,
		Recorder: j.store, Team: member.Load(j.state, of, time.Now), NewID: rand.Text, Session: "s1", Clock: time.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(j.gate.Close)
	return j
}

// record adds records to the local log.
func (j *joined) record(n int) {
	j.Helper()
	for range n {
		if err := j.store.Record(j.Context(), approval.Event{Kind: approval.EventEnded, At: time.Now()}); err != nil {
			j.Fatal(err)
		}
	}
}

// bridge runs a bridge in this process until stop, or until the test ends.
func (j *joined) bridge(change ...func(*bridge.Options)) (stop func()) {
	j.Helper()
	m, err := member.LoadMachine(j.state)
	if err != nil {
		j.Fatal(err)
	}
	team := &config.Team{Trust: j.team.Trust, Name: "acme"}
	o := bridge.Options{State: j.state, Machine: m, Store: j.store, Log: func(line string) { j.Logf("bridge: %s", line) },
		Team: func() (*config.Team, error) { return team, nil }}
	for _, f := range change {
		f(&o)
	}
	b, err := bridge.New(o)
	if err != nil {
		j.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- b.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			j.Errorf("the bridge ended: %v", err)
		}
	})
	j.Cleanup(stop)
	j.waitBundle()
	return stop
}

// eventually waits until f holds. It looks again whenever something can have changed, and often.
func (j *joined) eventually(what string, f func() bool) {
	j.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	over := time.After(20 * time.Second)
	for !f() {
		select {
		case <-tick.C:
		case <-over:
			j.Fatalf("it never happened: %s", what)
		}
	}
}

func (j *joined) waitBundle() {
	j.Helper()
	m := member.Load(j.state, config.Team{Trust: j.team.Trust, Name: "acme"}, time.Now)
	j.eventually("the bundle is there", func() bool { return m.Status().Serial > 0 && m.Status().Why == "" })
}

// call has the gate decide about a call.
func (j *joined) call(ctx context.Context, id string) <-chan approval.Outcome {
	out := make(chan approval.Outcome, 1)
	go func() {
		out <- j.gate.Decide(ctx, policy.Call{ID: id, Tool: "ask", Session: "s1", Arguments: json.RawMessage(`{}`)})[0]
	}()
	return out
}

// asked waits for a question at the server that was not there before.
func (j *joined) asked(known ...*approval.Request) (r *approval.Request) {
	j.Helper()
	ctx, cancel := context.WithTimeout(j.Context(), 20*time.Second)
	defer cancel()
	ok := j.server.Wait(ctx.Done(), func(v bridgetest.View) bool {
		for id, q := range v.Asked() {
			if !slices.ContainsFunc(known, func(k *approval.Request) bool { return k.ID == id }) {
				r = q
				return true
			}
		}
		return false
	})
	if !ok {
		j.Fatal("no question came to the server")
	}
	return r
}

// ended waits until the server has heard this about a request.
func (j *joined) ended(id string, states ...policy.State) (e wire.Ended) {
	j.Helper()
	ctx, cancel := context.WithTimeout(j.Context(), 20*time.Second)
	defer cancel()
	ok := j.server.Wait(ctx.Done(), func(v bridgetest.View) bool {
		i := slices.IndexFunc(v.Ended(), func(e wire.Ended) bool { return e.Request == id && slices.Contains(states, e.State) })
		if i >= 0 {
			e = v.Ended()[i]
		}
		return i >= 0
	})
	if !ok {
		j.Fatalf("the server never heard that request %s is %v", id, states)
	}
	return e
}

func got(t *testing.T, out <-chan approval.Outcome) approval.Outcome {
	t.Helper()
	select {
	case o := <-out:
		return o
	case <-time.After(20 * time.Second):
		t.Fatal("the call has no outcome")
		return approval.Outcome{}
	}
}

func TestAVoteLetsACallRun(t *testing.T) {
	j := join(t)
	j.bridge()
	var took []time.Duration
	var known []*approval.Request
	for i := range 100 {
		out := j.call(t.Context(), fmt.Sprint("call-", i))
		r := j.asked(known...)
		known = append(known, r)
		began := time.Now()
		d := r.Approve("go on")
		j.server.Vote("bob", r, d)
		o := got(t, out)
		took = append(took, time.Since(began))
		if !o.Runs() || o.Decision.By.User != "bob" || o.Decision.By.Via != policy.ViaTeam || o.Note() != "go on" {
			t.Fatalf("call %d: %s, by %+v, note %q", i, o.State, o.Decision, o.Note())
		}
	}
	slices.Sort(took)
	t.Logf("vote at the server until the call may run: p50 %v, p99 %v", took[len(took)/2], took[len(took)*99/100])
	if took[len(took)/2] > time.Second {
		t.Errorf("p50 %v", took[len(took)/2])
	}
}

func TestADenialAndWhatEndsHere(t *testing.T) {
	j := join(t)
	j.bridge()
	out := j.call(t.Context(), "denied")
	r := j.asked()
	j.server.Vote("ann", r, r.Deny("not today"))
	if o := got(t, out); o.State != policy.StateDenied || o.Note() != "not today" {
		t.Errorf("denied: %s, %q", o.State, o.Note())
	}
	j.ended(r.ID, policy.StateDenied)

	out = j.call(t.Context(), "here")
	r2 := j.asked(r)
	no := r2.Deny("")
	no.By = policy.Who{User: "me", Via: policy.ViaInbox}
	if err := j.store.Answer(t.Context(), no); err != nil {
		t.Fatal(err)
	}
	if o := got(t, out); o.State != policy.StateDenied {
		t.Errorf("denied here: %s", o.State)
	}
	if e := j.ended(r2.ID, policy.StateDenied); e.By.User != "me" {
		t.Errorf("the server was told that %+v", e)
	}

	ctx, cancel := context.WithCancel(t.Context())
	out = j.call(ctx, "withdrawn")
	r3 := j.asked(r, r2)
	cancel()
	if o := got(t, out); o.Runs() {
		t.Errorf("withdrawn: %s", o.State)
	}
	j.ended(r3.ID, policy.StateDismissed)
}

func TestItExpiresThoughTheServerIsAway(t *testing.T) {
	j := join(t)
	j.team.Bundle.Deciders[0].Expires = bundle.Duration(3 * time.Second)
	j.server.Publish()
	j.bridge()
	out := j.call(t.Context(), "late")
	r := j.asked()
	j.server.SetAway(true)
	if o := got(t, out); o.State != policy.StateExpired {
		t.Errorf("%s", o.State)
	}
	j.server.SetAway(false)
	j.ended(r.ID, policy.StateExpired)
}

func TestTheServerGoesAndComesBack(t *testing.T) {
	j := join(t)
	j.bridge()
	j.server.SetAway(true)
	out := j.call(t.Context(), "meanwhile")
	j.eventually("it is noticed", func() bool { return !link.ReadStatus(j.state).Away.IsZero() })
	j.record(5)
	j.server.SetAway(false)
	back := time.Now()
	r := j.asked()
	t.Logf("the question came %v after the server", time.Since(back))
	j.server.Vote("bob", r, r.Approve(""))
	if o := got(t, out); !o.Runs() {
		t.Errorf("%s", o.State)
	}
	j.shipped()
	j.eventually("it is noticed", func() bool { return link.ReadStatus(j.state).Away.IsZero() })
}

// shipped waits until the server has the whole log, and checks it.
func (j *joined) shipped() {
	j.Helper()
	seal, err := j.store.Seal(j.Context())
	if err != nil {
		j.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(j.Context(), 20*time.Second)
	defer cancel()
	var rows []wire.Record
	if !j.server.Wait(ctx.Done(), func(v bridgetest.View) bool {
		rows = slices.Clone(v.Rows())
		return len(rows) > 0 && rows[len(rows)-1].Seq >= seal.Seq
	}) {
		j.Fatalf("the server has %d rows, and the log has %d", len(rows), seal.Seq)
	}
	for i, r := range rows {
		if r.Seq != int64(i)+4 {
			j.Fatalf("row %d has number %d", i, r.Seq)
		}
	}
	j.eventually("it is noted", func() bool { n, err := link.Shipped(j.state); return err == nil && n >= seal.Seq })
}

func TestTheLogIsShipped(t *testing.T) {
	j := join(t)
	j.record(1200)
	j.bridge()
	j.shipped()
	j.server.Forget(100) // as one that was restored from a backup
	j.record(1)
	j.shipped()
	// An acknowledgement of what was never sent is none.
	before, _ := link.Shipped(j.state)
	j.server.Lie(func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/gate/v1/audit" {
			return false
		}
		_ = json.NewEncoder(w).Encode(wire.Kept{Stream: "g_1", Seq: before + 1, Hash: make([]byte, 32)})
		return true
	})
	j.record(1)
	j.eventually("the problem is said", func() bool { return link.ReadStatus(j.state).Log != "" })
	if now, err := link.Shipped(j.state); err != nil || now != before {
		t.Errorf("%d records count as shipped, %d were (%v)", now, before, err)
	}
}

func TestALyingServer(t *testing.T) {
	j := join(t)
	j.bridge()
	out := j.call(t.Context(), "call")
	r := j.asked()
	yes := r.Approve("")
	stranger := bridgetest.New("bob")
	other := *r
	other.ID = "another"
	forged := j.team.Vote("bob", r, yes)
	forged.Proof.Signature = slices.Clone(forged.Proof.Signature)
	forged.Proof.Signature[5] ^= 1
	wider := yes.ForSession(policy.ReachTool)
	lies := map[string]wire.Answer{
		"no votes":             {State: policy.StateApproved, Decision: &yes},
		"a changed signature":  {State: policy.StateApproved, Decision: &yes, Votes: []approval.Vote{forged}},
		"a stranger's vote":    {State: policy.StateApproved, Decision: &yes, Votes: []approval.Vote{stranger.Vote("bob", r, yes)}},
		"a vote about another": {State: policy.StateApproved, Decision: &yes, Votes: []approval.Vote{j.team.Vote("bob", &other, other.Approve(""))}},
		"a denial as a yes":    {State: policy.StateApproved, Decision: &yes, Votes: []approval.Vote{j.team.Vote("bob", r, r.Deny(""))}},
		"another state":        {State: "runs", Decision: &yes},
	}
	for name, a := range lies {
		a.Request = r.ID
		j.server.Answer(a)
		j.eventually(name, func() bool { return link.Cursor(j.state) >= int64(j.server.Answers()) })
		if p, err := j.store.Posted(t.Context(), r.ID); err != nil || p.Settled != nil {
			t.Fatalf("%s: %+v, %v", name, p.Settled, err)
		}
	}
	if e := j.ended(r.ID, policy.StatePending); e.Why == "" {
		t.Error("the server is not told why its answers do not count")
	}
	// The votes of honest people do what they say, whatever the server says about them.
	j.server.Answer(wire.Answer{Request: r.ID, State: policy.StateApproved, Decision: &wider,
		Votes: []approval.Vote{j.team.Vote("bob", r, yes)}})
	o := got(t, out)
	if !o.Runs() || o.Decision.Remember.Keep != approval.KeepNone {
		t.Errorf("%s, %+v", o.State, o.Decision)
	}
}

// The server is told each time that an answer does not count, also for the same reason: it has asked again since then.
func TestAnAnswerThatDoesNotCountTwice(t *testing.T) {
	j := join(t)
	j.bridge()
	out := j.call(t.Context(), "call")
	r := j.asked()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for times := range 3 {
		j.server.Answer(wire.Answer{Request: r.ID, State: policy.StateApproved})
		if !j.server.Wait(ctx.Done(), func(v bridgetest.View) bool {
			told := 0
			for _, e := range v.Ended() {
				if e.Request == r.ID && e.State == policy.StatePending {
					told++
				}
			}
			return told > times
		}) {
			t.Fatalf("the server was told %d times", times)
		}
	}
	j.server.Vote("bob", r, r.Approve(""))
	if o := got(t, out); !o.Runs() {
		t.Errorf("%s", o.State)
	}
}

// Being signed in is enough to deny. What nobody signed, such as the note, does nothing more than that.
func TestADenialThatNobodySigned(t *testing.T) {
	j := join(t)
	j.bridge()
	var before []*approval.Request
	for name, a := range map[string]func(*approval.Request) wire.Answer{
		"by a session": func(r *approval.Request) wire.Answer {
			no := r.Deny("")
			return wire.Answer{Decision: &no, Note: "run something else", Votes: []approval.Vote{{Note: "run something else"}}}
		},
		"with the vote of somebody who agreed": func(r *approval.Request) wire.Answer {
			return wire.Answer{Votes: []approval.Vote{j.team.Vote("bob", r, r.Approve(""))}}
		},
		"for ever": func(r *approval.Request) wire.Answer {
			no := r.Deny("").ForSession(policy.ReachTool)
			no.Stop = true
			return wire.Answer{Decision: &no}
		},
	} {
		t.Run(name, func(t *testing.T) {
			out := j.call(t.Context(), name)
			r := j.asked(before...)
			before = append(before, r)
			answer := a(r)
			answer.Request, answer.State = r.ID, policy.StateDenied
			j.server.Answer(answer)
			o := got(t, out)
			if o.State != policy.StateDenied || o.Note() != "" || o.Decision.Stop || o.Decision.Remember.Keep != approval.KeepNone {
				t.Errorf("%s %q %+v", o.State, o.Note(), o.Decision)
			}
			j.ended(r.ID, policy.StateDenied)
		})
	}
}

func TestAHostileServer(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("the bridge went where the server sent it")
	}))
	defer elsewhere.Close()
	for name, lie := range map[string]http.HandlerFunc{
		"huge": func(w http.ResponseWriter, _ *http.Request) { _, _ = io.Copy(w, io.LimitReader(zeros{}, 64<<20)) },
		"redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL+r.URL.Path, http.StatusTemporaryRedirect)
		},
		"half": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "500")
			_, _ = w.Write([]byte(`{"cur`))
		},
		"not JSON":  func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) },
		"an error":  func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) },
		"no answer": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	} {
		t.Run(name, func(t *testing.T) {
			j := join(t)
			j.bridge()
			j.server.Lie(func(w http.ResponseWriter, r *http.Request) bool { lie(w, r); return true })
			j.server.CloseClientConnections()
			out := j.call(t.Context(), "call")
			j.eventually("it is noticed", func() bool { return link.ReadStatus(j.state).Why != "" })
			if why := link.ReadStatus(j.state).Why; name == "redirect" && !strings.Contains(why, "elsewhere") {
				t.Errorf("it says %s", why)
			}
			j.server.Lie(nil)
			r := j.asked()
			j.server.Vote("bob", r, r.Approve(""))
			if o := got(t, out); !o.Runs() {
				t.Errorf("%s", o.State)
			}
		})
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestBundlesOnlyGoForward(t *testing.T) {
	j := join(t)
	old := j.team.Bundle
	j.server.Publish()
	j.bridge()
	m := member.Load(j.state, config.Team{Trust: j.team.Trust, Name: "acme"}, time.Now)
	j.eventually("the second bundle", func() bool { return m.Status().Serial == 2 })
	j.team.Bundle = old
	j.team.Bundle.Serial = 0
	rolled := j.team.Sign() // serial 1
	j.server.Offer(rolled, 3)
	j.eventually("it is refused", func() bool { return link.ReadStatus(j.state).Bundle != "" })
	stranger := bridgetest.New("ann")
	stranger.Bundle.Serial = 8
	j.server.Offer(stranger.Sign(), 9)
	j.eventually("it is noticed", func() bool { return link.ReadStatus(j.state).Serial == 9 })
	if s := m.Status(); s.Serial != 2 {
		t.Errorf("serial %d is held", s.Serial)
	}
	j.team.Bundle.Serial = 9
	j.server.Publish()
	j.eventually("the next good one", func() bool { return m.Status().Serial == 10 })
}

func TestAClockThatIsOff(t *testing.T) {
	for _, off := range []time.Duration{-10 * time.Minute, 40 * time.Minute} {
		j := join(t)
		j.bridge(func(o *bridge.Options) {
			// The clock of calls is off; what the gate goes by is not part of this test.
			o.CallClock = func() time.Time { return time.Now().Add(off) }
		})
		out := j.call(t.Context(), "call")
		r := j.asked()
		j.server.Vote("bob", r, r.Approve(""))
		if o := got(t, out); !o.Runs() {
			t.Errorf("%v off: %s", off, o.State)
		}
	}
}

func TestTwoBridges(t *testing.T) {
	j := join(t)
	stop := j.bridge()
	other := reexec.Command("bridge", j.state, j.team.Trust)
	if out, err := other.CombinedOutput(); err == nil || !strings.Contains(string(out), link.ErrRuns.Error()) {
		t.Errorf("the second one: %v, %s", err, out)
	}
	if !link.Runs(j.state) {
		t.Error("the first one does not run")
	}
	stop()
	if link.Runs(j.state) {
		t.Error("it runs after its end")
	}
}

func TestItEndsWhenTheMachineLeaves(t *testing.T) {
	j := join(t)
	j.bridge()
	if err := member.Forget(j.state); err != nil {
		t.Fatal(err)
	}
	j.eventually("it ends", func() bool { return !link.Runs(j.state) })
}

// A folder that was restored from a copy has a lock of its own, and so a bridge of its own.
func TestItEndsWhenItsFolderIsReplaced(t *testing.T) {
	j := join(t)
	ended := make(chan struct{})
	j.bridge(func(o *bridge.Options) {
		o.Log = func(line string) {
			if strings.Contains(line, "was replaced") {
				close(ended)
			}
		}
	})
	folder := member.Folder(j.state)
	if err := errors.Join(os.CopyFS(folder+".new", os.DirFS(folder)), os.Rename(folder, folder+".old"), os.Rename(folder+".new", folder)); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		t.Error("it goes on beside the bridge of the new folder")
	}
}

// process runs a bridge that can be killed.
func (j *joined) process() *exec.Cmd {
	j.Helper()
	c := reexec.Command("bridge", j.state, j.team.Trust)
	out, err := c.StdoutPipe()
	if err != nil {
		j.Fatal(err)
	}
	c.Stderr = os.Stderr
	if err := c.Start(); err != nil {
		j.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		j.Fatalf("the bridge did not start: %q, %v", line, err)
	}
	return c
}

// TestKilledBridges kills bridges while calls are asked and answered: each runs once, and the log is whole.
func TestKilledBridges(t *testing.T) {
	const rounds, within = 200, 60 * time.Second
	j := join(t)
	stop := j.bridge()
	stop()
	began, done := time.Now(), 0
	ctx, cancel := context.WithTimeout(t.Context(), 2*within) // the last round may begin just before its end
	defer cancel()
	var known []*approval.Request
	ran := map[string]bool{}
	for ; done < rounds && time.Since(began) < within; done++ {
		c := j.process()
		// The kill comes at another moment of each round.
		kill := time.AfterFunc(time.Duration(done%40)*time.Millisecond, func() { _ = c.Process.Kill() })
		j.record(3)
		out := j.call(t.Context(), fmt.Sprint("call-", done))
		// The next bridge does what this one could not.
		var next *exec.Cmd
		var r *approval.Request
		answered := make(chan struct{})
		go func() {
			defer close(answered)
			if r = j.find(ctx, known); r != nil {
				j.server.Vote("bob", r, r.Approve(""))
			}
		}()
		_ = c.Wait()
		kill.Stop()
		next = j.process()
		<-answered
		if r == nil {
			t.Fatalf("round %d: the question never came", done)
		}
		known = append(known, r)
		if o := got(t, out); !o.Runs() {
			t.Errorf("round %d: %s", done, o.State)
		}
		if ran[r.Call.ID] {
			t.Errorf("call %s was asked twice", r.Call.ID)
		}
		ran[r.Call.ID] = true
		_ = next.Process.Kill()
		_ = next.Wait()
	}
	t.Logf("%d rounds in %v", done, time.Since(began))
	if len(ran) != done {
		t.Errorf("%d of %d calls were answered", len(ran), done)
	}
	j.bridge()
	j.shipped()
	var sent []string
	j.eventually("the server knows of every end", func() bool { sent = link.Sent(j.state); return len(sent) == 0 })
}

// find waits for a question that is not known.
func (j *joined) find(ctx context.Context, known []*approval.Request) (r *approval.Request) {
	j.server.Wait(ctx.Done(), func(v bridgetest.View) bool {
		for id, q := range v.Asked() {
			if !slices.ContainsFunc(known, func(k *approval.Request) bool { return k.ID == id }) {
				r = q
				return true
			}
		}
		return false
	})
	return r
}

func TestAddresses(t *testing.T) {
	for _, bad := range []string{"", "acme", "http://example.org", "ftp://localhost", "https://u:p@example.org", "https://example.org/x",
		"https://example.org?x=1", "https://", "http://127.0.0.1.example.org"} {
		if _, err := bridge.NewClient(bad, ""); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
	for _, good := range []string{"https://example.org", "https://example.org:8443/", "http://localhost:1", "http://127.0.0.1:1", "http://[::1]:1"} {
		if _, err := bridge.NewClient(good, ""); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	if _, err := bridge.NewClient("https://example.org", "no certificate"); err == nil {
		t.Error("a CA file without a certificate is taken")
	}
}

func TestAServerWithItsOwnCertificate(t *testing.T) {
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(wire.Joined{Tenant: "acme", Gate: "g_1"})
	}))
	defer s.Close()
	plain, err := bridge.NewClient(s.URL, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := plain.Join(t.Context(), wire.Join{}); err == nil {
		t.Error("a certificate that nobody signed is taken")
	}
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	given, err := bridge.NewClient(s.URL, string(ca))
	if err != nil {
		t.Fatal(err)
	}
	if j, err := given.Join(t.Context(), wire.Join{}); err != nil || j.Gate != "g_1" {
		t.Errorf("%+v, %v", j, err)
	}
}
