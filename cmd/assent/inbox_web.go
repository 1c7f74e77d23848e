package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/audit"
	"github.com/assent-dev/assent/internal/agents/install"
	"github.com/assent-dev/assent/internal/auditview"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/health"
	"github.com/assent-dev/assent/internal/inbox"
	"github.com/assent-dev/assent/internal/proof"
	"github.com/assent-dev/assent/internal/rulebook"
	"github.com/assent-dev/assent/internal/runs"
	"github.com/assent-dev/assent/internal/web"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/store"
	"github.com/assent-dev/assent/tool/shell/runner"
)

// serve shows the inbox in a browser until the person ends it with Ctrl-C.
func (f *inboxFlags) serve(c *cobra.Command, s *store.Store, in *inbox.Inbox) error {
	user, err := userConfig()
	if err != nil {
		return err
	}
	server, err := web.Listen(c.Context(), f.port, web.Config{
		Desk: webDesk{in}, Book: proof.NewBook(s), Session: in.Session(), Who: runs.PromptConfig(s, user).Who,
		Rules: webRules{s}, Records: webRecords{s}, Peer: peerAllowed, OwnName: f.ownName,
		Explain: explainText, Doors: append([]string{"run", "mcp"}, install.AgentNames()...),
		Status: statusText, Wide: rulebook.Wide,
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	out := c.ErrOrStderr()
	link := server.Link()
	fmt.Fprintf(out, "Open this link in your browser; it works once, for ten minutes:\n\n  %s\n\nEnter prints a new one, Ctrl-C ends.\n", link)
	if f.open {
		if err := openBrowser(c.Context(), link); err != nil {
			fmt.Fprintln(out, "assent: no browser could be opened:", err)
		}
	}
	lines := make(chan struct{})
	go func() {
		defer close(lines)
		for scan := bufio.NewScanner(c.InOrStdin()); scan.Scan(); {
			lines <- struct{}{}
		}
	}()
	for {
		select {
		case _, ok := <-lines:
			if !ok {
				lines = nil // without a terminal it runs until it is ended
				continue
			}
			fmt.Fprintf(out, "\n  %s\n", server.Link())
		case <-c.Context().Done():
			return nil
		}
	}
}

// openBrowser opens a link as the system does. The program gets the link as its argument, which others of
// this machine can see: it works once.
func openBrowser(ctx context.Context, link string) error {
	program := "xdg-open"
	if runtime.GOOS == "darwin" {
		program = "open"
	}
	return exec.CommandContext(ctx, program, link).Run()
}

// peerAllowed refuses what a tool call started, as commands do.
func peerAllowed(remote, local net.Addr) error {
	inside, err := runner.PeerInside(remote, local)
	switch {
	case err != nil:
		return fmt.Errorf("the program that connects cannot be identified: %w", err)
	case inside:
		return errors.New("what an agent may do is for a person to say: a process of a tool call cannot answer")
	}
	return nil
}

// A webDesk is an inbox for the browser.
type webDesk struct{ *inbox.Inbox }

// About implements [web.Desk].
func (d webDesk) About(_ context.Context, r *approval.Request) web.About {
	o := r.Origin
	return web.About{Agent: cmp.Or(o.Agent, "an agent"), Project: config.ShortPath(o.Folder), Branch: o.Branch, Until: o.Until,
		Session: r.Call.Session, Problem: d.Problem(r)}
}

// webRules are the rules for the browser.
type webRules struct{ store *store.Store }

func (w webRules) Rules(ctx context.Context) ([]policy.Rule, error) {
	set, err := w.store.Rules(ctx)
	if err != nil {
		return nil, err
	}
	return set.Rules(), nil
}

func (w webRules) Try(ctx context.Context, text, project string) (web.Trial, error) {
	rule, err := addFlags{project: project}.rule(text, time.Now())
	if err != nil {
		return web.Trial{}, err
	}
	current, err := w.Rules(ctx)
	if err != nil {
		return web.Trial{}, err
	}
	before, after, err := rulebook.Edits{File: []policy.Rule{rule}}.Apply(current)
	if err != nil {
		return web.Trial{}, err
	}
	comparison := rulebook.Compare(&policy.Policy{Rules: before}, policy.Policy{Rules: after}, time.Now())
	if err := comparison.AddRecords(w.store.Records(ctx, approval.RecordFilter{})); err != nil {
		return web.Trial{}, err
	}
	report := comparison.Report()
	out := web.Trial{Rule: rule.String() + " (" + rule.Where() + ")", Wide: rulebook.Wide(rule), Calls: report.Calls}
	for _, d := range report.Differences {
		out.Changes = append(out.Changes, fmt.Sprintf("%s: %s, would be %s", shownText(d.Name), d.Before, d.After))
	}
	for _, a := range rulebook.Advise(current, rule, nil, 3, time.Now()) {
		out.Warnings = append(out.Warnings, a.Text)
	}
	return out, nil
}

func (w webRules) Add(ctx context.Context, text, project, note string, wide bool) (policy.Rule, error) {
	add := addFlags{note: note, project: project}
	add.keeps.Wide, add.keeps.Tools = wide, 3
	rule, err := add.rule(text, time.Now())
	if err == nil {
		_, err = add.keep(ctx, w.store, rule)
	}
	return rule, err
}

func (w webRules) Enable(ctx context.Context, id string, on bool) error {
	return w.store.EnableRule(ctx, id, on)
}
func (w webRules) Remove(ctx context.Context, id string) error        { return w.store.RemoveRule(ctx, id) }
func (w webRules) Grants(ctx context.Context) ([]policy.Grant, error) { return w.store.AllGrants(ctx) }
func (w webRules) Revoke(ctx context.Context, session, id string) error {
	return w.store.RevokeGrant(ctx, session, id)
}

func (w webRules) Suggest(ctx context.Context) ([]web.Suggested, error) {
	set, err := w.store.Rules(ctx)
	if err != nil {
		return nil, err
	}
	found, err := rulebook.SuggestFrom(w.store.Records(ctx, approval.RecordFilter{}),
		rulebook.SuggestOptions{Most: 10, Now: time.Now(), Policy: policy.Policy{Rules: set}})
	var out []web.Suggested
	for _, f := range found {
		out = append(out, web.Suggested{Rule: strings.Join(f.Rules, ", "), Answers: f.Saves})
	}
	return out, err
}

// webRecords are the audit log for the browser.
type webRecords struct{ store *store.Store }

func (w webRecords) Search(ctx context.Context, q web.Search) ([]approval.Record, error) {
	named := auditview.Filter{Outcome: q.Outcome, Session: q.Session}
	filter, err := named.Records(ctx, w.store, time.Now())
	if err != nil {
		return nil, err
	}
	all, err := auditview.Newest(ctx, w.store, filter, 0, false)
	slices.Reverse(all)
	var out []approval.Record
	for i := range all {
		if r := &all[i]; (q.Before == 0 || r.Seq < q.Before) && len(out) < q.Limit && mentions(r, q.Text) {
			out = append(out, *r)
		}
	}
	return out, err
}

// mentions reports whether a record has a text in what a person reads of it.
func mentions(r *approval.Record, text string) bool {
	text = strings.ToLower(text)
	words := strings.ToLower(strings.Join(append(r.Acts, r.Connector, r.Tool, r.Why, r.Note, r.By.User, string(r.State)), "\n"))
	return strings.Contains(words, text)
}

func (w webRecords) Story(ctx context.Context, seq int64) (string, error) {
	story, err := auditview.StoryOf(ctx, w.store, fmt.Sprint(seq))
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	err = story.Print(&out)
	return out.String(), err
}

func (w webRecords) Verify(ctx context.Context) (audit.Verification, error) {
	return w.store.Verify(ctx)
}

func (w webRecords) Export(ctx context.Context, out io.Writer, format string) error {
	return w.store.Export(ctx, out, store.Format(format), approval.RecordFilter{})
}

func (w webRecords) Days(ctx context.Context) ([]web.Day, error) {
	stats, err := w.store.Stats(ctx, approval.RecordFilter{})
	var out []web.Day
	for _, d := range stats.Days {
		day, err := time.Parse(time.DateOnly, d.Day)
		if err != nil {
			return nil, err
		}
		out = append(out, web.Day{Day: day, Asked: d.Prompts, Approved: d.Approved, Denied: d.Denied})
	}
	return out, err
}

// explainText is what 'assent explain' prints in this folder.
func explainText(ctx context.Context, door, text string) (string, error) {
	c := explainCmd()
	var out bytes.Buffer
	c.SetOut(&out)
	c.SetErr(&out)
	args := []string{"--", text}
	if door != "" {
		args = append([]string{"--for", door}, args...)
	}
	c.SetArgs(args)
	c.SilenceUsage, c.SilenceErrors = true, true
	err := c.ExecuteContext(ctx)
	if err != nil {
		return "", errors.New(cmp.Or(strings.TrimSpace(out.String()), err.Error()))
	}
	return out.String(), nil
}

// statusText is what 'assent status' prints.
func statusText(ctx context.Context) (string, error) {
	status, err := health.Now(ctx, "", thisBuild().Version, nil)
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	err = status.Print(&out)
	return out.String(), err
}
