package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/assent-dev/assent/internal/team/db"
	"github.com/assent-dev/assent/internal/webhook"
	"github.com/assent-dev/assent/present"
)

// A Notice is all that a webhook is told: what kind of thing happened to what, and who is asked. It has no
// arguments, no summary, and nothing that could be used to answer.
type Notice struct {
	ID      string `json:"id"`
	Tool    string `json:"tool,omitempty"`
	Project string `json:"project,omitempty"`
	Urgency string `json:"urgency"`
	// Asked are groups, or the sponsor.
	Asked []string `json:"asked,omitempty"`
	State string   `json:"state,omitempty"`
}

// hooks are the webhooks of the file, with their secrets.
func (c *Config) hooks() ([]webhook.Target, error) {
	var out []webhook.Target
	for i, w := range c.Webhooks {
		secret, err := Secret(w.SecretFile)
		t := webhook.Target{URL: w.URL, Secret: secret}
		if err == nil {
			if err = t.Check(); err != nil {
				err = fmt.Errorf("%s does not hold a secret (%w); "+
					"make one with: echo whsec_$(openssl rand -base64 24)", w.SecretFile, err)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("webhooks[%d]: %w", i, err)
		}
		out = append(out, t)
	}
	return out, nil
}

const (
	noticesAtOnce = 16
	noticeLease   = time.Minute // longer than all tries to send one can take
	outboxEach    = 5 * time.Second
	giveBackTime  = 2 * time.Second
)

// sendNotices empties the outbox when there is something, and looks now and then anyway.
func (s *Server) sendNotices(ctx context.Context, there <-chan struct{}) {
	tick := time.NewTicker(outboxEach)
	defer tick.Stop()
	for {
		for s.someNotices(ctx) {
		}
		select {
		case <-ctx.Done():
			return
		case <-there:
		case <-tick.C:
		}
	}
}

// someNotices sends what is due, and reports whether there may be more.
func (s *Server) someNotices(ctx context.Context) bool {
	notices, err := s.db.TakeNotices(ctx, noticesAtOnce, noticeLease)
	if err != nil {
		if ctx.Err() == nil {
			s.log.Error("outbox", "error", err.Error())
		}
		return false
	}
	var all sync.WaitGroup
	for _, n := range notices {
		all.Go(func() { s.sendNotice(ctx, n) })
	}
	all.Wait()
	return len(notices) == noticesAtOnce
}

// sendNotice tells one notice to every webhook. If one of them fails, all are told again later: they know it by
// its id.
func (s *Server) sendNotice(ctx context.Context, n db.Notice) {
	id := s.cfg.Tenant + "-" + strconv.FormatInt(n.ID, 10)
	said := s.notice(ctx, n)
	failures := make([]error, len(s.hooks))
	var all sync.WaitGroup
	for i, hook := range s.hooks {
		all.Go(func() { failures[i] = webhook.Post(ctx, hook, id, string(n.Kind), n.Created, said) })
	}
	all.Wait()
	var failed error
	for _, err := range failures {
		if err == nil {
			s.metrics.notices.Add(1)
			continue
		}
		s.metrics.noticesFailed.Add(1)
		s.log.Warn("notice not sent", "kind", string(n.Kind), "notice", id, "try", n.Tries, "error", err.Error())
		if !webhook.Final(err) {
			failed = errors.Join(failed, err)
		}
	}
	if ctx.Err() != nil { // this replica stops; if nothing can be written any more, the lease ends later
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), giveBackTime)
		defer cancel()
		if err := s.db.GiveBack(ending, n); err != nil {
			s.log.Warn("outbox", "error", err.Error())
		}
		return
	}
	var err error
	if failed != nil {
		err = s.db.NotSent(ctx, n, failed)
	} else {
		err = s.db.Sent(ctx, n)
	}
	if err != nil && ctx.Err() == nil {
		s.log.Error("outbox", "error", err.Error())
	}
}

// notice says what a webhook may know.
func (s *Server) notice(ctx context.Context, n db.Notice) Notice {
	out := Notice{ID: n.Subject, Urgency: "normal"}
	if n.Kind != db.NoticeOpened && n.Kind != db.NoticeEscalated && n.Kind != db.NoticeSettled {
		return out
	}
	var about db.About
	if json.Unmarshal(n.Body, &about) == nil {
		out.State = string(about.State)
	}
	if n.Kind == db.NoticeEscalated {
		out.Urgency = "high"
	}
	r, err := s.db.Request(ctx, n.Subject)
	if err != nil {
		return out // the id alone leads there
	}
	out.Tool, out.Asked = present.SafeLine(r.Call.Name()), r.Asked
	if r.Origin.Folder != "" {
		out.Project = present.SafeLine(filepath.Base(r.Origin.Folder))
	}
	if r.PersonOnly {
		out.Urgency = "high"
	}
	return out
}
