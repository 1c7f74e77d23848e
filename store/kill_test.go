package store_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/approval/approvaltest"
	"github.com/assent-dev/assent/internal/rounds"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/store"
	"github.com/assent-dev/assent/store/sessions"
)

// maxWrites is how many writes of a kind can be made.
const maxWrites = 40

// A kind of write can be done again and again, and counted afterwards.
type kind struct {
	writes  int // how many; 0 means maxWrites
	prepare func(ctx context.Context, s *store.Store) error
	do      func(ctx context.Context, s *store.Store, i int) error
	count   func(ctx context.Context, s *store.Store) (int, error)
}

func (k kind) most() int { return cmp.Or(k.writes, maxWrites) }

// olderStores is how many stores are migrated, which takes longer than other writes.
const olderStores = 8

var kinds = map[string]kind{
	"add a rule": {
		do:    func(ctx context.Context, s *store.Store, i int) error { return s.AddRules(ctx, numbered(i)) },
		count: countRules,
	},
	"remove a rule": {
		prepare: func(ctx context.Context, s *store.Store) error {
			return times(func(i int) error { return s.AddRules(ctx, numbered(i)) })
		},
		do: func(ctx context.Context, s *store.Store, i int) error { return s.RemoveRule(ctx, numbered(i).ID) },
		count: func(ctx context.Context, s *store.Store) (int, error) {
			n, err := countRules(ctx, s)
			return maxWrites - n, err
		},
	},
	"replace rules": {
		do: func(ctx context.Context, s *store.Store, i int) error {
			before, err := s.Rules(ctx)
			if err != nil {
				return err
			}
			return s.ReplaceRules(ctx, before.Rules(), append(before.Rules(), numbered(i)))
		},
		count: countRules,
	},
	"set a preference": {
		do: func(ctx context.Context, s *store.Store, i int) error {
			return s.SetPreference(ctx, "n", strconv.Itoa(i+1))
		},
		count: func(ctx context.Context, s *store.Store) (int, error) {
			value, err := s.Preference(ctx, "n")
			if value == "" || err != nil {
				return 0, err
			}
			return strconv.Atoi(value)
		},
	},
	"add a grant": {
		prepare: func(ctx context.Context, s *store.Store) error { return s.BeginSession(ctx, hook("s")) },
		do:      func(ctx context.Context, s *store.Store, i int) error { return s.AddGrants(ctx, grantOf("s", i)) },
		count: func(ctx context.Context, s *store.Store) (int, error) {
			set, err := s.Grants(ctx, "s")
			return len(set.Grants()), err
		},
	},
	"begin a session": {
		do: func(ctx context.Context, s *store.Store, i int) error {
			return s.BeginSession(ctx, hook(fmt.Sprint(i)))
		},
		count: countSessions,
	},
	"end a session": {
		prepare: func(ctx context.Context, s *store.Store) error {
			return times(func(i int) error {
				return errors.Join(s.BeginSession(ctx, hook(fmt.Sprint(i))), s.AddGrants(ctx, grantOf(fmt.Sprint(i), i)))
			})
		},
		do: func(ctx context.Context, s *store.Store, i int) error { return s.EndSession(ctx, fmt.Sprint(i)) },
		count: func(ctx context.Context, s *store.Store) (int, error) {
			n, err := countSessions(ctx, s)
			return maxWrites - n, err
		},
	},
	"post a request": {
		do: func(ctx context.Context, s *store.Store, i int) error { return postSome(ctx, s, 1) },
		count: func(ctx context.Context, s *store.Store) (int, error) {
			open, err := s.Open(ctx, "")
			return len(open), err
		},
	},
	"answer a request": {
		prepare: func(ctx context.Context, s *store.Store) error { return postSome(ctx, s, maxWrites) },
		do: func(ctx context.Context, s *store.Store, i int) error {
			open, err := s.Open(ctx, "")
			if err != nil {
				return err
			}
			return s.Answer(ctx, open[0].Request.Approve("yes"))
		},
		count: countEnded,
	},
	"settle a request": {
		prepare: func(ctx context.Context, s *store.Store) error { return postSome(ctx, s, maxWrites) },
		do: func(ctx context.Context, s *store.Store, i int) error {
			open, err := s.Open(ctx, "")
			if err != nil {
				return err
			}
			return s.Settle(ctx, open[0].Request, open[0].Request.Deny("no").Settled())
		},
		count: countEnded,
	},
	"claim a call": {
		do: func(ctx context.Context, s *store.Store, i int) error { return s.Claim(ctx, claimOf(i)) },
		count: func(ctx context.Context, s *store.Store) (int, error) {
			for i := range maxWrites {
				if err := s.Claim(ctx, claimOf(i)); !errors.Is(err, approval.ErrClaimed) {
					return i, err
				}
			}
			return maxWrites, nil
		},
	},
	"save a run": {
		do: func(ctx context.Context, s *store.Store, i int) error {
			_, err := s.SaveRun(ctx, sessions.SavedRun{ID: "r", Version: int64(i), Data: make([]byte, 10000)})
			return err
		},
		count: func(ctx context.Context, s *store.Store) (int, error) {
			run, err := s.LoadRun(ctx, "r")
			if errors.Is(err, sessions.ErrRunNotFound) {
				return 0, nil
			}
			return int(run.Version), err
		},
	},
	"record an event": {
		do: func(ctx context.Context, s *store.Store, i int) error { return s.Record(ctx, eventOf(i)) },
		count: func(ctx context.Context, s *store.Store) (int, error) {
			v, err := s.Verify(ctx)
			return int(v.Records), err
		},
	},
	"remove old events": {
		prepare: func(ctx context.Context, s *store.Store) error {
			return times(func(i int) error { return s.Record(ctx, eventOf(i)) })
		},
		do: func(ctx context.Context, s *store.Store, i int) error { return s.PruneThrough(ctx, int64(i+1)) },
		count: func(ctx context.Context, s *store.Store) (int, error) {
			v, err := s.Verify(ctx)
			return int(v.First) - 1, err
		},
	},
	"migrate": {
		writes: olderStores,
		prepare: func(ctx context.Context, s *store.Store) error {
			old, err := store.Open(ctx, olderStore(s, 0), store.Options{})
			if err == nil {
				err = errors.Join(old.AddRules(ctx, numbered(0)), old.Close())
			}
			if err != nil {
				return err
			}
			for i := 1; i < olderStores && err == nil; i++ {
				err = os.CopyFS(olderStore(s, i), os.DirFS(olderStore(s, 0)))
			}
			return err
		},
		do: migrateOne,
		count: func(ctx context.Context, s *store.Store) (n int, err error) {
			for i := 0; i < olderStores && err == nil; i++ {
				err = migrateOne(ctx, s, i) // what was interrupted is done now
			}
			return -1, err
		},
	},
}

// jobs has a job for every kind of write, and those of other tests.
var jobs = func() map[string]job {
	all := map[string]job{
		"answer": answerAll, "ask": askMany, "hold": holdLock, "hook": decideOnce, "watch": watchRules,
		"own session": func(ctx context.Context, s *store.Store) error {
			return s.BeginSession(ctx, sessions.Session{ID: "theirs", Kind: sessions.KindRun, Owner: store.ThisProcess()})
		},
	}
	for name, k := range kinds {
		all[name] = func(ctx context.Context, s *store.Store) error {
			for i := range k.most() {
				if err := k.do(ctx, s, i); err != nil {
					return err
				}
				fmt.Println(i)
			}
			return nil
		}
	}
	return all
}()

// TestKilledDuringEveryKindOfWrite kills a process that writes, again and again.
// What it had been told is done must be there, and nothing must be half done.
func TestKilledDuringEveryKindOfWrite(t *testing.T) {
	for name, k := range kinds {
		t.Run(name, func(t *testing.T) {
			for round := range rounds.N(2, 200) {
				killed(t, name, k, rand.New(rand.NewPCG(uint64(round), 1)).IntN(k.most()/2))
			}
		})
	}
}

func killed(t *testing.T, name string, k kind, after int) {
	t.Helper()
	ctx, folder := t.Context(), t.TempDir()
	s, err := store.Open(ctx, folder, store.Options{RuleLimit: 1000})
	if err == nil && k.prepare != nil {
		err = k.prepare(ctx, s)
	}
	if err == nil {
		err = s.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	p := start(t, name, folder)
	for range after {
		p.line()
	}
	done := after + p.kill()
	s, err = store.Open(ctx, folder, store.Options{RuleLimit: 1000})
	if err != nil {
		t.Fatalf("opening after the kill: %v", err)
	}
	defer s.Close()
	n, err := k.count(ctx, s)
	if err != nil || n >= 0 && (n < done || n > done+1) {
		t.Errorf("%d writes were done before the kill, %d are there, %v", done, n, err)
	}
	if v, err := s.Verify(ctx); err != nil || !v.OK() {
		t.Errorf("the audit log after the kill: %+v, %v", v.Flaws, err)
	}
}

func times(f func(int) error) error {
	for i := range maxWrites {
		if err := f(i); err != nil {
			return err
		}
	}
	return nil
}

func numbered(i int) policy.Rule {
	return policy.Rule{ID: fmt.Sprint("r", i), Pattern: fmt.Sprint("tool", i), Effect: policy.EffectAllow, Scope: policy.ScopeTool, Enabled: true}
}

func countRules(ctx context.Context, s *store.Store) (int, error) {
	set, err := s.Rules(ctx)
	return len(set.Rules()), err
}

func hook(id string) sessions.Session { return sessions.Session{ID: id, Kind: sessions.KindHook} }

func grantOf(session string, i int) policy.Grant {
	return policy.Grant{
		ID: fmt.Sprint("g", i), Session: session, Effect: policy.EffectAllow, Reach: policy.ReachExact,
		Act: policy.Act{Name: "write_file", Target: policy.PathTarget(fmt.Sprint("notes/", i)), Verdict: policy.VerdictAsk},
	}
}

func countSessions(ctx context.Context, s *store.Store) (int, error) {
	all, err := s.Sessions(ctx)
	return len(all), err
}

func postSome(ctx context.Context, s *store.Store, n int) error {
	requests, err := approvaltest.NewRequests(n, "s")
	if err != nil {
		return err
	}
	return s.Post(ctx, requests...)
}

func countEnded(ctx context.Context, s *store.Store) (int, error) {
	open, err := s.Open(ctx, "")
	return maxWrites - len(open), err
}

func claimOf(i int) approval.Claim {
	return approval.Claim{Batch: "b", Call: fmt.Sprint(i), Session: "s"}
}

func eventOf(i int) approval.Event {
	return approval.Event{
		Kind: approval.EventEnded, At: approvaltest.Epoch, Session: "s", CallID: fmt.Sprint(i), Tool: "send",
		State: policy.StateFree, Stage: approval.StageCompleted, Arguments: []byte(`{"to":"ann"}`),
	}
}

func olderStore(s *store.Store, i int) string {
	return filepath.Join(filepath.Dir(s.Path()), fmt.Sprint("old", i))
}

func migrateOne(ctx context.Context, s *store.Store, i int) error {
	next, err := store.OpenNext(ctx, olderStore(s, i), store.Options{})
	if err != nil {
		return err
	}
	n, err := countRules(ctx, next)
	if err == nil && n != 1 {
		err = fmt.Errorf("%d rules after the migration, want 1", n)
	}
	return errors.Join(err, next.Close())
}
