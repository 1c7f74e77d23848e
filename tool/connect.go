package tool

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/tool/hosts"
)

// A Connecting is a connection that a process is about to make, and what a person has to know
// who is asked about it.
type Connecting struct {
	hosts.Connection
	// Policy says which hosts are free, asked and denied.
	Policy hosts.Policy
	// For is what wants the connection, of which the title has the first line; empty is the name
	// of the call's tool.
	For string
	// Same tells what wants it from others: a yes that comes when nothing waits for it any
	// more holds once for the same. Empty is the tool and its arguments.
	Same string
	// Facts are shown with the question. May be nil.
	Facts func() present.Facts
	// Pause is called while the connection waits for an answer. May be nil.
	Pause func() (resume func())
	// Hold is how long it waits; 0 means [hosts.DefaultHold].
	Hold time.Duration

	wait *approval.Wait
}

// Connections are those that processes of the call make; nil without a call.
func (r *Running) Connections() *Connections {
	if r == nil {
		return nil
	}
	r.connect.Do(func() {
		r.conns = r.gate.Connections(r.call)
		r.conns.wait, r.conns.outside = r.wait, false
		r.conns.shown, r.conns.shownBy = r.exec.Answered()
		r.conns.number = func() int64 { return r.parts.Add(1) }
	})
	return r.conns
}

// Connections are those of one thing that runs: a call, an MCP server, a command that a person
// started. They are safe for concurrent use.
type Connections struct {
	gate   *Gate
	call   policy.Call
	number func() int64
	// shown is what was answered with the call, and shownBy how.
	shown   []policy.Act
	shownBy approval.Permit

	wait *approval.Wait // what waits for answers; nil if it never ends

	mu      sync.Mutex
	open    map[string]*connectQuestion
	asking  int                           // those of them that are not answered
	permits map[permitKey]approval.Permit // by which connections were answered that have not ended
	refused []string                      // lines for the result
	times   map[string]int                // how often a connection to a host and port was refused
	outside bool                          // no call's end ends what an answer once is for
}

// A permitKey is a connection: a later one to the same host may be answered otherwise.
type permitKey struct {
	to     string
	number int64
}

const (
	// maxRefused bounds how many refused connections are named in a result.
	maxRefused = 20
	// maxAsking bounds how many questions one thing that runs may have open. It could look up
	// names without end, and its person could see nothing else.
	maxAsking = 20
)

// Connections returns those of something that runs outside of a call. Of the call, the
// connector, session and chain of workers count, and its id if it has one.
func (g *Gate) Connections(call policy.Call) *Connections {
	var n int64
	var mu sync.Mutex
	if call.ID == "" {
		call.ID = "connections-" + g.newID()
	}
	return &Connections{
		gate: g, call: call, wait: approval.NewWait(), outside: true, times: map[string]int{},
		open: map[string]*connectQuestion{}, permits: map[permitKey]approval.Permit{},
		number: func() int64 { mu.Lock(); defer mu.Unlock(); n++; return n },
	}
}

// Connect decides about a connection that is about to be made: nil lets it go on. In this order:
// what policy refuses, deny rules, what is free, allow rules, grants, the mode, and what was
// approved with the call; then a person is asked. One answer holds for that host and port until
// the call ends. Where nobody answers in time the error wraps [approval.ErrOpen], and the question
// stays. Nil Connections are those of no call: [ErrNoGate].
func (k *Connections) Connect(ctx context.Context, c Connecting) error {
	if k == nil {
		return ErrNoGate
	}
	c.For = cmp.Or(c.For, k.call.Name())
	c.Same = cmp.Or(c.Same, k.call.Name()+" "+policy.DigestOf(k.call.Arguments).String())
	permit, err := k.decide(ctx, c)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.permits[permitKey{c.String(), c.Number}] = permit
	if err != nil {
		k.refuse(c.Connection, err)
	}
	return err
}

// look judges a connection by what is remembered now, and returns the call that it was judged as.
func (k *Connections) look(ctx context.Context, c Connecting) (policy.Judgement, policy.Call, error) {
	args, err := json.Marshal(map[string]string{"host": c.Host, "port": c.Port})
	if err != nil {
		return policy.Judgement{}, policy.Call{}, err
	}
	call := policy.Call{
		Tool: policy.ActConnect, Connector: k.call.Connector, Arguments: args,
		Session: k.call.Session, Workers: k.call.Workers,
	}
	j, err := k.gate.Look(context.WithValue(ctx, connectKey{}, &c), call)
	if err != nil {
		err = fmt.Errorf("deciding about the connection failed: %w", err)
	}
	return j, call, err
}

func (k *Connections) decide(ctx context.Context, c Connecting) (approval.Permit, error) {
	c.wait = k.wait
	j, call, err := k.look(ctx, c)
	if err != nil {
		return approval.Permit{}, err
	}
	act := c.Policy.Judge(c.Connection)
	permit := approval.PermitBy(j, []policy.Act{act})
	same := func(a policy.Act) bool { return a.Name == act.Name && !a.Later && a.Target.Same(act.Target) }
	switch {
	case j.State.Runs():
		return permit, nil
	case j.State != policy.StatePending:
		return permit, refusedBy(&j)
	case !j.PersonOnly && slices.ContainsFunc(k.shown, same):
		permit = k.shownBy
		permit.Basis = cmp.Or(permit.Basis, "approved with the command")
		return permit, nil
	}
	key := c.String()
	if j.Reserved {
		key += ", for the team" // what somebody here said before it was so does not count
	}
	return k.ask(context.WithValue(ctx, connectKey{}, &c), c, call, key)
}

// Denied returns why a rule, or an answer for the session, denies a connection; nil if none does.
// It asks nobody, and is for an address that an agreed host turns out to have: whether that may be
// dialled otherwise is for [hosts.Policy.MayDial].
func (k *Connections) Denied(ctx context.Context, c hosts.Connection) error {
	if k == nil {
		return ErrNoGate
	}
	j, _, err := k.look(ctx, Connecting{Connection: c, Policy: hosts.Policy{Allow: []string{hosts.Entry(c.Host)}}})
	if err != nil {
		return err
	}
	if (j.Rule != nil || j.Grant != nil) && !j.State.Runs() && j.State != policy.StatePending {
		return refusedBy(&j)
	}
	return nil
}

// refusedBy says why a connection is refused without a question.
func refusedBy(j *policy.Judgement) error {
	text := cmp.Or(j.Why, string(j.State))
	switch {
	case j.Rule != nil:
		text = "denied by " + approval.PermitBy(*j, nil).Basis
		if j.Why != "" {
			text += ": " + j.Why
		}
	case j.Grant != nil:
		text = "denied for this session"
	}
	return fmt.Errorf("%w: %s", approval.ErrDenied, text)
}

// A connectQuestion is one that is open, or that was answered while the call ran.
type connectQuestion struct {
	done    chan struct{} // closed when there is an answer
	waiting int           // connections that wait for it
	permit  approval.Permit
	err     error
	at      time.Time // when it was answered
}

// onceOutside is how long an answer once holds where no call ends it.
const onceOutside = time.Minute

// holds reports whether the question is open, or its answer is for this connection too.
func (k *Connections) holds(q *connectQuestion) bool {
	select {
	case <-q.done:
		return !k.outside || time.Since(q.at) < onceOutside
	default:
		return true
	}
}

// ask asks, or joins those who wait for the answer under the same key.
func (k *Connections) ask(ctx context.Context, c Connecting, call policy.Call, key string) (approval.Permit, error) {
	k.mu.Lock()
	q := k.open[key]
	if q != nil && !k.holds(q) {
		q = nil
	}
	if q == nil && k.asking == maxAsking {
		k.mu.Unlock()
		return approval.Permit{State: policy.StateBlocked}, fmt.Errorf("%w: %d questions about other hosts wait for an "+
			"answer already", approval.ErrDenied, maxAsking)
	}
	if q == nil {
		q = &connectQuestion{done: make(chan struct{})}
		k.open[key] = q
		k.asking++
		go k.question(context.WithoutCancel(ctx), c, call, key, q)
	}
	q.waiting++
	k.mu.Unlock()
	select {
	case <-q.done:
		return q.permit, q.err // answered before
	default:
	}
	if c.Pause != nil {
		defer c.Pause()()
	}
	hold := cmp.Or(c.Hold, hosts.DefaultHold)
	timer := time.NewTimer(hold)
	defer timer.Stop()
	var err error
	select {
	case <-q.done:
		return q.permit, q.err
	case <-timer.C:
		err = fmt.Errorf("%w: nobody answered within %v; the question stays open: run it again after it was answered",
			approval.ErrOpen, hold)
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	select {
	case <-q.done: // just in time
		return q.permit, q.err
	default:
		q.waiting--
		return approval.Permit{State: policy.StateExpired}, err
	}
}

// question puts the connection to the gate and waits for the answer, for as long as it takes.
// An answer that came too late for an earlier connection is taken first.
func (k *Connections) question(ctx context.Context, c Connecting, call policy.Call, key string, q *connectQuestion) {
	same := lateKey{cmp.Or(call.Session, k.gate.Session()), c.Same, c.String()}
	part := k.gate.late.take(same)
	begun := part != nil && part.Begin() == nil
	if !begun {
		call.ID = fmt.Sprintf("%s.%d", k.call.ID, k.number())
		b := k.gate.Review(ctx, call)
		k.gate.Ask(ctx, b)
		part = &Part{gate: k.gate, batch: b, ctx: ctx}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.asking--
	o := part.Outcome()
	if !begun && q.waiting == 0 && o.Runs() { // a later connection, in this run or the next, takes it
		k.gate.late.add(same, part)
		delete(k.open, key)
		return
	}
	q.permit, q.at = o.Permit(), time.Now()
	if !begun {
		if q.err = part.Begin(); q.err != nil {
			q.permit.State = policy.StateDenied
		}
	}
	close(q.done)
}

// refuse notes a refused connection for the result, once for each host and port.
func (k *Connections) refuse(c hosts.Connection, err error) {
	line := fmt.Sprintf("connection to %s refused: %v", c, err)
	same := func(have string) bool { return strings.HasPrefix(have, "connection to "+c.String()+" ") }
	if len(k.refused) < maxRefused && !slices.ContainsFunc(k.refused, same) {
		k.refused = append(k.refused, line)
	}
}

// End takes questions that are open off the screen: what wanted the connections has ended. They
// can still be answered elsewhere.
func (k *Connections) End() {
	if k.wait != nil {
		k.wait.End()
	}
}

// Refused says in a line each which connections were refused, and why.
func (k *Connections) Refused() []string {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.refused)
}

// maxTimes is for how many hosts it is counted how often they were refused. Others count as one.
const maxTimes = 1000

// again counts a refused connection, and reports whether it is recorded: a command that tries
// without end would fill the log. The first five are, the tenth, the hundredth and so on, which then
// say how many they stand for.
func (k *Connections) again(to string, err error) (error, bool) {
	if _, counted := k.times[to]; !counted && len(k.times) >= maxTimes {
		to = ""
	}
	k.times[to]++
	n := k.times[to]
	if n <= 5 {
		return err, true
	}
	round := n
	for round%10 == 0 {
		round /= 10
	}
	return fmt.Errorf("%w (refused %d times)", err, n), round == 1
}

// Ended records a connection that has ended, or was refused.
func (k *Connections) Ended(ctx context.Context, c hosts.Connection, sent, received int64, took time.Duration,
	err error) error {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	key := permitKey{c.String(), c.Number}
	permit, decided := k.permits[key]
	delete(k.permits, key)
	if !decided {
		permit = approval.Permit{State: policy.StateBlocked}
	}
	told := true
	if err != nil && sent == 0 && received == 0 {
		k.refuse(c, err)
		err, told = k.again(c.String(), err)
	}
	k.mu.Unlock()
	if !told {
		return nil
	}
	return k.gate.RecordConnection(ctx, k.call, approval.EndedConnection{
		Host: c.Host, Port: c.Port, Program: c.Program, Sent: sent, Received: received, Duration: took,
		By: permit, Err: err,
	})
}

type connectKey struct{}

// connectingIn returns the connection that a call of a context is about: only a process that
// runs makes such calls, no model.
func connectingIn(ctx context.Context, call *policy.Call) *Connecting {
	if call.Tool != policy.ActConnect {
		return nil
	}
	c, _ := ctx.Value(connectKey{}).(*Connecting)
	return c
}

// prepare is what the call of a connection would do. It does nothing itself: the process goes
// on if it may.
func (c *Connecting) prepare(call policy.Call) (Action, approval.Proposal, error) {
	spec := Spec{Connector: call.Connector, Name: policy.ActConnect}
	definition, err := spec.Definition()
	if err != nil {
		return Action{}, approval.Proposal{}, err
	}
	a := Ask(func(context.Context) (any, error) { return nil, nil }).
		On(c.Policy.Judge(c.Connection)).Titled(fmt.Sprintf("Connect to %s for: %s", c.Connection,
		shortened(c.For))).YesOrNo().AwaitedBy(c.wait).
		Showing(func(context.Context) (present.View, error) { return c.view(), nil })
	return a, a.proposal(&toolState{spec: spec, definition: definition}, call.Arguments), nil
}

// maxFor is how much of what wants the connection stands in the title; all of it is shown below.
const maxFor = 60

func shortened(text string) string {
	line, rest, _ := strings.Cut(text, "\n")
	runes := []rune(line)
	switch {
	case len(runes) > maxFor:
		return string(runes[:maxFor-1]) + "…"
	case strings.TrimSpace(rest) != "":
		return line + " …"
	}
	return line
}

// view shows what wants the connection, and further facts below, a line each.
func (c *Connecting) view() present.View {
	var b strings.Builder
	add := func(label, text string) {
		if text != "" {
			fmt.Fprintf(&b, "%s:\n  %s\n", label, strings.ReplaceAll(text, "\n", "\n  "))
		}
	}
	add("command", c.For)
	add("program that connects", c.Program)
	if c.Facts != nil {
		for _, f := range c.Facts() {
			text, _ := f.Text()
			add(f.Name(), text)
		}
	}
	return present.View{Kind: present.KindText, Content: strings.TrimSuffix(b.String(), "\n")}
}

// lateParts are answers that came when nothing waited for them any more.
type lateParts struct {
	mu  sync.Mutex
	all map[lateKey]*Part
}

type lateKey struct{ session, same, host string }

// maxLate bounds how many answers are remembered.
const maxLate = 1000

func (l *lateParts) add(key lateKey, p *Part) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all == nil || len(l.all) >= maxLate {
		l.all = map[lateKey]*Part{}
	}
	l.all[key] = p
}

func (l *lateParts) take(key lateKey) *Part {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.all[key]
	delete(l.all, key)
	return p
}
