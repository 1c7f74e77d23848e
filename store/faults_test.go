package store_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/approval/approvaltest"
	"github.com/assent-dev/assent/internal/reexec"
	"github.com/assent-dev/assent/internal/rounds"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/store"
	"github.com/assent-dev/assent/store/sessions"
)

// filled makes a small store with something of everything in a new folder, and
// returns the folder.
func filled(t testing.TB) string {
	t.Helper()
	folder, ctx := t.TempDir(), context.Background()
	s, err := store.Open(ctx, folder, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	deny := numbered(1)
	deny.Effect, deny.Pattern = policy.EffectDeny, "shell(rm)"
	requests := approvaltest.Requests(t, 3, "s")
	for i, r := range requests {
		r.ID = fmt.Sprint("q", i)
	}
	_, saved := s.SaveRun(ctx, sessions.SavedRun{ID: "run", Session: "s", Data: []byte("state")})
	for _, err := range []error{
		saved, s.AddRules(ctx, numbered(0), deny), s.SetApprovals(ctx, false), s.BeginSession(ctx, hook("s")),
		s.AddGrants(ctx, grantOf("s", 0), grantOf("s", 1)), s.Post(ctx, requests...), s.Answer(ctx, requests[0].Approve("yes")),
		s.Settle(ctx, requests[1], requests[1].Deny("no").Settled()), s.Claim(ctx, claimOf(0)),
		s.Record(ctx, eventOf(0)), s.Record(ctx, eventOf(1)), s.Close(),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// contents says in words all that a store would have a gate and a person believe;
// what cannot be read is an error. Claims are tried: taken or free.
func contents(ctx context.Context, s *store.Store) (string, error) {
	var out bytes.Buffer
	var errs []error
	note := func(what any, err error) {
		errs = append(errs, err)
		data, err := json.Marshal(what)
		fmt.Fprintf(&out, "%s %v\n", data, err)
	}
	rules, err := s.Rules(ctx)
	note(rules.Rules(), err)
	grants, err := s.Grants(ctx, "s")
	note(grants.Grants(), err)
	on, err := s.Approvals(ctx)
	note(on, err)
	run, err := s.LoadRun(ctx, "run")
	note(run, err)
	open, err := s.Open(ctx, "")
	note(open, err)
	for _, p := range open {
		view, err := p.Request.View(ctx)
		note(view, err)
	}
	for _, id := range []string{"q0", "q1"} {
		p, err := s.Posted(ctx, id)
		note(p, err)
	}
	claimed := s.Claim(ctx, claimOf(0))
	note(errors.Is(claimed, approval.ErrClaimed), nil)
	if !errors.Is(claimed, approval.ErrClaimed) {
		errs = append(errs, claimed)
	}
	return out.String(), errors.Join(errs...)
}

// TestAFlippedBitIsNeverAYes flips a bit in many places of every page. What is
// read then is what was written, or an error that says so.
func TestAFlippedBitIsNeverAYes(t *testing.T) {
	folder := filled(t)
	ctx := t.Context()
	path := filepath.Join(folder, store.FileName)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := believed(t, folder)
	damaged := 0
	for at := range flips(len(whole)) {
		one := t.TempDir()
		data := bytes.Clone(whole)
		data[at/8] ^= 1 << (at % 8)
		if err := os.WriteFile(filepath.Join(one, store.FileName), data, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := store.Open(ctx, one, store.Options{Patience: time.Millisecond})
		if err != nil {
			damaged++
			wantClear(t, err)
			continue
		}
		got, err := contents(ctx, s)
		if err != nil {
			damaged++
			wantClear(t, err)
		} else if got != want {
			t.Errorf("bit %d of byte %d: the store believes otherwise: %s", at%8, at/8, difference(want, got))
		}
		if _, err := s.Verify(ctx); err != nil {
			wantClear(t, err)
		}
		s.Close()
	}
	if damaged == 0 {
		t.Error("no flip was noticed: the test looks at the wrong bytes")
	}
}

// difference returns the first line in which two texts differ.
func difference(want, got string) string {
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("%q instead of %q", b[i], a[i])
		}
	}
	return fmt.Sprintf("%d lines instead of %d", len(b), len(a))
}

// flips returns the numbers of the bits to flip: many in short, all in full.
func flips(size int) iter.Seq[int] {
	step := rounds.N(5003, 67)
	return func(yield func(int) bool) {
		for at := 0; at < 8*size; at += step {
			if !yield(at) {
				return
			}
		}
	}
}

// believed returns the contents of the store as it was filled.
func believed(t *testing.T, folder string) string {
	t.Helper()
	s, err := store.Open(t.Context(), folder, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	want, err := contents(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return want
}

func wantClear(t *testing.T, err error) {
	t.Helper()
	var typed *store.Error
	if !errors.As(err, &typed) {
		t.Errorf("the error does not say what is wrong with the store: %v", err)
	}
}

// TestARowThatIsGoneIsNoticed removes rows: what is left would be believed.
func TestARowThatIsGoneIsNoticed(t *testing.T) {
	for _, gone := range []string{
		"rules WHERE n = 2", "grants WHERE n = 1", "grants", "sessions", "preferences", "requests WHERE state = 'open'",
		"decisions", "claims", "runs", "head",
	} {
		folder := filled(t)
		s := openStore(t, folder, store.Options{})
		if err := s.Exec(t.Context(), "DELETE FROM "+gone); err != nil {
			t.Fatal(err)
		}
		if _, err := contents(t.Context(), s); !errors.Is(err, store.ErrDamaged) {
			t.Errorf("without %s: %v, want ErrDamaged", gone, err)
		}
	}
}

// TestACutLogIsNoticed cuts the write-ahead log of a process that was killed.
func TestACutLogIsNoticed(t *testing.T) {
	ctx, folder := t.Context(), t.TempDir()
	openStore(t, folder, store.Options{}).Close()
	p := start(t, "add a rule", folder)
	for range 8 {
		p.line()
	}
	done := 8 + p.kill()
	path := filepath.Join(folder, store.FileName)
	log, err := os.ReadFile(path + "-wal")
	if err != nil || len(log) == 0 {
		t.Fatalf("the killed process left no log: %v", err)
	}
	for cut := 0; cut <= len(log); cut += 997 {
		one := t.TempDir()
		for _, suffix := range []string{"", "-mark"} {
			copyFile(t, path+suffix, filepath.Join(one, store.FileName+suffix))
		}
		if err := os.WriteFile(filepath.Join(one, store.FileName+"-wal"), log[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := store.Open(ctx, one, store.Options{})
		if err != nil {
			if !errors.Is(err, store.ErrDamaged) {
				t.Errorf("cut at %d: %v, want ErrDamaged", cut, err)
			}
			continue
		}
		if n, err := countRules(ctx, s); err != nil || n < done {
			t.Errorf("cut at %d: %d rules of %d, %v, and nothing was said", cut, n, done, err)
		}
		s.Close()
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestADamagedStoreIsKept wants files that are no store to be refused with what
// can be done, and to stay as they are.
func TestADamagedStoreIsKept(t *testing.T) {
	folder := filled(t)
	whole, err := os.ReadFile(filepath.Join(folder, store.FileName))
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{
		"not a database": []byte("this is not a database, and long enough to be taken for one by its size alone ..."),
		"half":           whole[:len(whole)/2],
		"one page":       whole[:4096],
		"zeros":          make([]byte, 8192),
		"empty":          {},
	} {
		one := t.TempDir()
		path := filepath.Join(one, store.FileName)
		copyFile(t, filepath.Join(folder, store.FileName+"-mark"), path+"-mark")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := store.Open(t.Context(), one, store.Options{})
		if err == nil {
			_, err = contents(t.Context(), s)
			s.Close()
		}
		if !errors.Is(err, store.ErrDamaged) || !strings.Contains(err.Error(), "move them away") || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, want ErrDamaged with what can be done", name, err)
		}
		if now, _ := os.ReadFile(path); name != "half" && !bytes.Equal(now, data) {
			t.Errorf("%s: the file was changed", name)
		}
	}
}

// TestALockedStoreRefuses has another process hold the store's lock.
func TestALockedStoreRefuses(t *testing.T) {
	folder := t.TempDir()
	s := openStore(t, folder, store.Options{Patience: 50 * time.Millisecond})
	p := start(t, "hold", folder)
	p.line()
	if err := s.AddRules(t.Context(), numbered(0)); !errors.Is(err, store.ErrBusy) {
		t.Errorf("a rule: %v, want ErrBusy", err)
	}
	wantRefused(t, s)
	if _, err := s.Rules(t.Context()); err != nil {
		t.Errorf("reading goes on meanwhile: %v", err)
	}
	p.kill()
	err := s.AddRules(t.Context(), numbered(0))
	for errors.Is(err, store.ErrBusy) { // until the system has given the lock on
		err = s.AddRules(t.Context(), numbered(0))
	}
	if err != nil {
		t.Errorf("after the other process has gone: %v", err)
	}
}

// wantRefused wants a gate not to run what cannot be recorded.
func wantRefused(t *testing.T, s *store.Store) {
	t.Helper()
	g, err := approval.New(approval.Config{
		Preparer: approvaltest.NewTools("ask"), Clock: time.Now, NewID: func() string { return "1" },
		Mode: policy.ModeApproveAll, Recorder: s,
	})
	if err != nil {
		t.Fatal(err)
	}
	b := g.Review(t.Context(), policy.Call{ID: "1", Tool: "ask"})
	p, _ := approvaltest.NewTools("ask").Prepare(t.Context(), b.Outcome(0).Call)
	if _, err := b.Start(t.Context(), 0, p); !errors.Is(err, approval.ErrNotRecorded) {
		t.Errorf("starting what cannot be recorded: %v, want ErrNotRecorded", err)
	}
}

func TestAReadOnlyStoreRefuses(t *testing.T) {
	if folder := reexec.IsAlone(); folder != "" {
		s, err := store.Open(t.Context(), folder, store.Options{})
		if err != nil {
			if !errors.Is(err, store.ErrUnwritable) {
				t.Errorf("opening: %v, want ErrUnwritable", err)
			}
			return
		}
		defer s.Close()
		if err := s.AddRules(t.Context(), numbered(5)); !errors.Is(err, store.ErrUnwritable) {
			t.Errorf("adding a rule: %v, want ErrUnwritable", err)
		}
		wantRefused(t, s)
		return
	}
	for name, modes := range map[string][2]os.FileMode{"file": {0o777, 0o444}, "file and folder": {0o555, 0o444}} {
		t.Run(name, func(t *testing.T) {
			folder := openToAll(t)
			path := filepath.Join(folder, store.FileName)
			if err := errors.Join(os.Chmod(path, modes[1]), os.Chmod(folder, modes[0])); err != nil {
				t.Fatal(err)
			}
			defer os.Chmod(folder, 0o700)
			cmd := reexec.Alone("TestAReadOnlyStoreRefuses", folder)
			cmd.Path, cmd.Dir = program(t), "/"
			if os.Getuid() == 0 {
				cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
			}
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// program copies the test binary to where every user can run it.
func program(t *testing.T) string {
	t.Helper()
	folder := openToAll(t)
	copied := filepath.Join(folder, "test")
	copyFile(t, reexec.Self(), copied)
	if err := errors.Join(os.Chmod(folder, 0o755), os.Chmod(copied, 0o755)); err != nil {
		t.Fatal(err)
	}
	return copied
}

// openToAll fills a store in a folder that every user can reach.
func openToAll(t *testing.T) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "assent-store")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	s, err := store.Open(t.Context(), folder, store.Options{})
	if err == nil {
		err = errors.Join(s.AddRules(t.Context(), numbered(0)), s.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

// A file that was taken away while it was open is not written: nobody would find the record.
func TestAMovedStoreRefuses(t *testing.T) {
	for name, take := range map[string]func(path string) error{
		"moved":   func(path string) error { return os.Rename(path, path+".away") },
		"removed": os.Remove,
		"replaced": func(path string) error {
			return errors.Join(os.Rename(path, path+".away"), os.WriteFile(path, nil, 0o600))
		},
	} {
		s, err := store.Open(t.Context(), t.TempDir(), store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		event := approval.Event{Kind: approval.EventEnded, At: time.Now(), Session: "s", Tool: "shell", State: policy.StateAutoApproved}
		if err := s.Record(t.Context(), event); err != nil {
			t.Fatal(err)
		}
		if err := take(s.Path()); err != nil {
			t.Fatal(err)
		}
		if err := s.Record(t.Context(), event); !errors.Is(err, store.ErrUnwritable) {
			t.Errorf("%s: %v", name, err)
		}
		_ = s.Close() // it may well have something to say
	}
}
