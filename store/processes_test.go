package store_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/approval/approvaltest"
	"github.com/assent-dev/assent/internal/rounds"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/store"
)

// TestManyProcesses has many processes ask and some answer. Each request is
// answered once, and its asker gets that answer.
func TestManyProcesses(t *testing.T) {
	askers, answerers := rounds.N(8, 32), rounds.N(2, 4)
	folder := t.TempDir()
	s := openStore(t, folder, store.Options{})
	var answering, asking []*process
	var won []chan int // how many answers of each won
	for range answerers {
		p, n := start(t, "answer", folder), make(chan int, 1)
		go func() { n <- p.rest() }()
		answering, won = append(answering, p), append(won, n)
	}
	for range askers {
		asking = append(asking, launch(t, "ask", folder))
	}
	each := requestsEach()
	for _, p := range asking {
		p.wait()
	}
	answered := 0
	for i, p := range answering {
		if err := p.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		answered += <-won[i]
	}
	if want := askers * each; answered != want {
		t.Errorf("%d answers won, want %d", answered, want)
	}
	if open, err := s.Open(t.Context(), ""); err != nil || len(open) != 0 {
		t.Errorf("%d requests are left, %v", len(open), err)
	}
}

// requestsEach is how many requests each asker makes: together 10,000 in full.
func requestsEach() int { return rounds.N(10, 313) }

// askMany asks as many runs would, and wants an answer to each.
func askMany(ctx context.Context, s *store.Store) error {
	const atOnce = 4
	session := fmt.Sprint("asker", os.Getpid())
	errs := make(chan error, atOnce)
	for lane := range atOnce {
		go func() {
			var err error
			for i := lane; i < requestsEach() && err == nil; i += atOnce {
				err = askOne(ctx, s, session)
			}
			errs <- err
		}()
	}
	var all []error
	for range atOnce {
		all = append(all, <-errs)
	}
	return errors.Join(all...)
}

func askOne(ctx context.Context, s *store.Store, session string) error {
	requests, err := approvaltest.NewRequests(1, session)
	if err != nil {
		return err
	}
	r := requests[0]
	d, err := approval.Queue(s).Approve(ctx, r)
	if err != nil {
		return err
	}
	if d.Request != r.ID || d.Fingerprint != r.Fingerprint || d.Answer != approval.AnswerDeny {
		return fmt.Errorf("request %s got the answer %+v", r.ID, d)
	}
	return s.Settle(ctx, r, d.Settled())
}

// answerAll answers whatever is open, until it is killed, and prints a line for
// each answer that won.
func answerAll(ctx context.Context, s *store.Store) error {
	changed := make(chan struct{}, 1)
	defer s.NotifyRequests(func() {
		select {
		case changed <- struct{}{}:
		default:
		}
	})()
	for {
		open, err := s.Open(ctx, "")
		if err != nil {
			return err
		}
		for _, p := range open {
			d := p.Request.Deny("")
			d.By.User = fmt.Sprint(os.Getpid())
			err := s.Answer(ctx, d)
			if err == nil {
				fmt.Println(p.Request.ID)
			} else if !errors.Is(err, approval.ErrSettled) {
				return err
			}
		}
		if len(open) == 0 {
			<-changed
		}
	}
}

// watchRules prints the rules each time it is told of a change and they are others.
func watchRules(ctx context.Context, s *store.Store) error {
	changed := make(chan struct{}, 1)
	defer s.Notify(func() {
		select {
		case changed <- struct{}{}:
		default:
		}
	})()
	for before := ""; ; <-changed {
		set, err := s.Rules(ctx)
		if err != nil {
			return err
		}
		if now := fmt.Sprint(set.Rules()); now != before {
			fmt.Println(now)
			before = now
		}
	}
}

// holdLock holds the store's lock until its standard input ends.
func holdLock(ctx context.Context, s *store.Store) error {
	return s.Hold(ctx, func() error {
		fmt.Println("held")
		_, err := io.Copy(io.Discard, os.Stdin)
		return err
	})
}

// decideOnce does what a hook does with the store: it reads what is remembered and
// judges a call. It says how long that took since the process began.
func decideOnce(ctx context.Context, s *store.Store) error {
	g, err := approval.New(approval.Config{
		Preparer: approvaltest.NewTools("send"), Clock: time.Now, NewID: func() string { return "1" }, Session: "s", Rules: s, Grants: s,
	})
	if err != nil {
		return err
	}
	defer g.Close()
	state := g.Review(ctx, policy.Call{ID: "1", Tool: "send"}).Outcome(0).State
	fmt.Println(state, time.Since(begun))
	return nil
}

// TestRuleChangesReachOtherProcesses changes rules while another process waits
// for that.
func TestRuleChangesReachOtherProcesses(t *testing.T) {
	folder := t.TempDir()
	s := openStore(t, folder, store.Options{})
	p := start(t, "watch", folder)
	if got := p.line(); got != "[]" {
		t.Fatalf("at first: %s", got)
	}
	for i := range 5 {
		if err := s.AddRules(t.Context(), numbered(i)); err != nil {
			t.Fatal(err)
		}
		set, _ := s.Rules(t.Context())
		if got, want := p.line(), fmt.Sprint(set.Rules()); got != want {
			t.Fatalf("the other process sees %s, want %s", got, want)
		}
	}
}

// TestGroupsOfManyProcessesAreOneChain has processes and goroutines record at
// once.
func TestGroupsOfManyProcessesAreOneChain(t *testing.T) {
	folder := t.TempDir()
	s := openStore(t, folder, store.Options{Patience: patience})
	var all []*process
	for range 3 {
		all = append(all, launch(t, "record an event", folder))
	}
	var here sync.WaitGroup
	for g := range 4 {
		here.Go(func() {
			for i := range 25 {
				if err := s.Record(context.Background(), eventOf(g*100+i)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	here.Wait()
	for _, p := range all {
		p.wait()
	}
	if v, err := s.Verify(t.Context()); err != nil || !v.OK() || v.Records != 3*maxWrites+100 {
		t.Errorf("verified %+v, %v; want %d records", v, err, 3*maxWrites+100)
	}
}

// TestManyMakeANewStoreAtOnce has many processes find that there is no store yet.
func TestManyMakeANewStoreAtOnce(t *testing.T) {
	for range rounds.N(3, 50) {
		folder := t.TempDir()
		var all []*process
		for range 8 {
			all = append(all, launch(t, "record an event", folder))
		}
		for _, p := range all {
			p.wait()
		}
		s := openStore(t, folder, store.Options{})
		if v, err := s.Verify(t.Context()); err != nil || !v.OK() || v.Records != 8*maxWrites {
			t.Errorf("verified %+v, %v; want %d records", v, err, 8*maxWrites)
		}
	}
}
