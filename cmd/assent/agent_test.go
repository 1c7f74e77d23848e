package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/setup"
	"github.com/assent-dev/assent/internal/toolbox"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/store"
	"github.com/assent-dev/assent/store/sessions"
	"github.com/assent-dev/assent/tool"
)

// An agent is a program that scripts run beside assent: it takes calls from a file through a
// real gate in front of real tools, with the store as every memory, and answers as the file
// says. That is how the logs that stories are about come to be.
type agent struct {
	store   *store.Store
	gate    *tool.Gate
	session string
	steps   []agentStep
	out     io.Writer // gets a line for each call
}

// An agentStep is a line of the file: a call and its answer, or something to wait for.
type agentStep struct {
	ID   string          `json:"id"`
	Tool string          `json:"tool"`
	Args json.RawMessage `json:"args"`
	// Answer is y, n, dismiss, s or sp (for the session, exactly or as far as the prefix), or
	// a (always); Note goes with it.
	Answer string   `json:"answer"`
	Note   string   `json:"note"`
	Worker []string `json:"worker"`
	// Grants waits until the session has so many.
	Grants *int `json:"grants"`
	// Times repeats the call.
	Times int `json:"times"`
}

func agentMain() {
	state := flag.String("state", "state", "")
	conf := flag.String("c", "policy.yaml", "")
	session := flag.String("session", "s1", "")
	mode := flag.String("mode", "ask", "")
	detail := flag.String("detail", "redacted", "")
	flag.Parse()
	if err := runAgent(context.Background(), *state, *conf, *session, *mode, *detail, flag.Arg(0), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "agent:", err)
		os.Exit(1)
	}
}

func runAgent(ctx context.Context, state, policyFile, session, mode, detail, file string, out io.Writer) error {
	s, err := store.Open(ctx, state, store.Options{Detail: approval.Detail(detail)})
	if err != nil {
		return err
	}
	defer s.Close()
	a := &agent{store: s, session: session, out: out}
	if a.steps, err = readSteps(file); err != nil {
		return err
	}
	if err := s.BeginSession(ctx, sessions.Session{ID: session, Kind: sessions.KindRun, Owner: store.ThisProcess()}); err != nil {
		return err
	}
	if err := a.open(policyFile, state, mode); err != nil {
		return err
	}
	defer a.gate.Close()
	for _, step := range a.steps {
		if err := a.do(ctx, step); err != nil {
			return err
		}
	}
	return s.EndSession(ctx, session)
}

func readSteps(file string) ([]agentStep, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var out []agentStep
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		var s agentStep
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			return nil, fmt.Errorf("%s: %w", lines.Text(), err)
		}
		if s.ID == "" {
			s.ID = fmt.Sprintf("call%d", len(out)+1)
		}
		out = append(out, s)
	}
	return out, nil
}

// open puts the gate in front of the tools of the policy, and a foreign one.
func (a *agent) open(policyFile, state, mode string) error {
	conf, err := setup.Named(context.Background(), policyFile, state)
	if err != nil {
		return err
	}
	program, err := exec.LookPath("assent")
	if err != nil {
		return err
	}
	box, err := toolbox.Open(conf.Policy, toolbox.Options{
		State: state, Protected: conf.Protected(), Environ: os.Environ(), Shell: []string{program, setup.WordInner, "shell"},
	})
	if err != nil {
		return err
	}
	m, err := policy.ParseMode(mode)
	if err != nil {
		return err
	}
	cfg := approval.Config{
		Session: a.session, Mode: m, Policy: conf.Rules, Rules: a.store, Grants: a.store, Recorder: a.store, Requests: a.store,
		Approver: approval.ApproverFunc(a.answer),
	}
	a.gate, err = tool.Guard(cfg, append(box.Tools, foreign{})...)
	return err
}

func (a *agent) do(ctx context.Context, step agentStep) error {
	if step.Grants != nil {
		return awaitGrants(ctx, a.store, *step.Grants)
	}
	for range max(step.Times, 1) {
		call := policy.Call{ID: step.ID, Tool: step.Tool, Arguments: step.Args, Workers: step.Worker}
		if connector, name, ok := strings.Cut(step.Tool, ":"); ok {
			call.Connector, call.Tool = connector, name
		}
		r := tool.Call(ctx, a.gate, call)
		fmt.Fprintln(a.out, step.ID, r.Outcome.State)
	}
	return nil
}

// answer answers as the file says.
func (a *agent) answer(_ context.Context, r *approval.Request) (approval.Decision, error) {
	for _, s := range a.steps {
		if s.ID != r.Call.ID {
			continue
		}
		d, ok := map[string]approval.Decision{
			"y": r.Approve(s.Note), "n": r.Deny(s.Note), "dismiss": {Answer: approval.AnswerDismiss},
			"s": r.Approve(s.Note).ForSession(policy.ReachExact), "sp": r.Approve(s.Note).ForSession(policy.ReachPrefix),
			"a": r.Approve(s.Note).Always(),
		}[s.Answer]
		if !ok {
			return d, fmt.Errorf("call %s was asked and has no answer", s.ID)
		}
		d.By = policy.Who{User: "ann", Host: "desk", Via: policy.ViaTerminal}
		return d, nil
	}
	return approval.Decision{}, errors.New("nothing is known of this call")
}

// awaitGrants waits until there are so many grants.
func awaitGrants(ctx context.Context, s *store.Store, n int) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	changed := make(chan struct{}, 1)
	defer s.Notify(func() {
		select {
		case changed <- struct{}{}:
		default:
		}
	})()
	for {
		all, err := s.AllGrants(ctx)
		if err != nil || len(all) == n {
			return err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("there are %d grants, not %d", len(all), n)
		}
	}
}

// foreign is a tool of a connector.
type foreign struct{}

func (foreign) Spec() tool.Spec {
	return tool.Spec{Connector: "github", Name: "search_issues", Description: "Searches issues."}
}

func (foreign) Prepare(context.Context, json.RawMessage) (tool.Action, error) {
	return tool.Ask(func(context.Context) (any, error) { return "no issues", nil }), nil
}
