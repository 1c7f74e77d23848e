package store_test

import (
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/assent-dev/assent/approval/approvaltest"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/store"
	"github.com/assent-dev/assent/store/sessions"
)

// TestAnOlderStoreIsBackedUpAndMigrated opens a store with a newer program.
func TestAnOlderStoreIsBackedUpAndMigrated(t *testing.T) {
	folder := filled(t)
	want := believed(t, folder)
	next, err := store.OpenNext(t.Context(), folder, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer next.Close()
	if got, err := contents(t.Context(), next); err != nil || got != want {
		t.Errorf("after the migration, %v:\n%s\nwant\n%s", err, got, want)
	}
	backups, _ := filepath.Glob(filepath.Join(folder, store.FileName+".backup-v2-*"))
	if len(backups) != 1 {
		t.Fatalf("backups: %v", backups)
	}
	wantPrivate(t, folder)
	old := t.TempDir()
	if err := os.Rename(backups[0], filepath.Join(old, store.FileName)); err != nil {
		t.Fatal(err)
	}
	if got := believed(t, old); got != want {
		t.Errorf("the backup believes\n%s\nwant\n%s", got, want)
	}
}

// TestANewerStoreIsRefused also has the older program have it open all the time.
func TestANewerStoreIsRefused(t *testing.T) {
	folder := filled(t)
	older := openStore(t, folder, store.Options{})
	if _, err := older.Rules(t.Context()); err != nil {
		t.Fatal(err)
	}
	next, err := store.OpenNext(t.Context(), folder, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer next.Close()
	_, opening := store.Open(t.Context(), folder, store.Options{})
	_, reading := older.Rules(t.Context())
	for what, err := range map[string]error{
		"opening": opening, "reading": reading, "writing": older.AddRules(t.Context(), numbered(7)),
		"recording": older.Record(t.Context(), eventOf(7)),
	} {
		if !errors.Is(err, store.ErrNewer) || !strings.Contains(err.Error(), "version 3") {
			t.Errorf("%s: %v, want ErrNewer", what, err)
		}
	}
	if err := next.AddRules(t.Context(), numbered(7)); err != nil {
		t.Errorf("the newer program: %v", err)
	}
}

// TestTheFirstVersionIsUpgraded opens a store of the first version, filled then as [filled]
// does now: it says what it said, and has the tables of a new one.
func TestTheFirstVersionIsUpgraded(t *testing.T) {
	folder := t.TempDir()
	packed, err := os.Open("testdata/version-1.db.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	unpacked, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(unpacked)
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, store.FileName), data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	then := func() time.Time { return time.Date(2026, 11, 16, 14, 0, 0, 0, time.UTC) }
	s := openStore(t, folder, store.Options{Clock: then})
	got, err := contents(t.Context(), s)
	for _, want := range []string{`"pattern":"tool0"`, `"pattern":"shell(rm)"`, `"id":"g1"`, "false <nil>", `"ID":"run"`, `"id":"q2"`, `"note":"yes"`} {
		if err != nil || !strings.Contains(got, want) {
			t.Errorf("%v; %s is not in\n%s", err, want, got)
		}
	}
	if v, err := s.Verify(t.Context()); err != nil || !v.OK() || v.Records != 2 {
		t.Errorf("the audit log: %+v, %v", v, err)
	}
	upgraded, err := s.Columns(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if fresh, err := openStore(t, t.TempDir(), store.Options{}).Columns(t.Context()); err != nil || upgraded != fresh {
		t.Errorf("its columns are\n%s\nand those of a new one, %v:\n%s", upgraded, err, fresh)
	}
}

func wantPrivate(t *testing.T, folder string) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s can be read by others: %v", d.Name(), info.Mode())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestEverythingIsPrivate(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "a b%20?#&", "state")
	s := openStore(t, folder, store.Options{})
	if err := errors.Join(s.AddRules(t.Context(), numbered(0)), s.Record(t.Context(), eventOf(0))); err != nil {
		t.Fatal(err)
	}
	wantPrivate(t, folder)
	s.Close()
	if err := errors.Join(os.Chmod(folder, 0o755), os.Chmod(filepath.Join(folder, store.FileName), 0o644)); err != nil {
		t.Fatal(err)
	}
	openStore(t, folder, store.Options{})
	wantPrivate(t, folder)
}

// TestAClockThatGoesBackRevivesNothing lets what was allowed for a time expire,
// and puts the clock back.
func TestAClockThatGoesBackRevivesNothing(t *testing.T) {
	clock := new(approvaltest.Clock)
	folder := t.TempDir()
	s := openStore(t, folder, store.Options{Clock: clock.Now})
	end := clock.Now().Add(15 * time.Minute)
	allow, deny, grant := numbered(0), numbered(1), grantOf("s", 0)
	allow.Expires, deny.Expires, grant.Expires = end, end, end
	deny.Effect = policy.EffectDeny
	if err := errors.Join(s.BeginSession(t.Context(), hook("s")), s.AddRules(t.Context(), allow, deny, numbered(2)), s.AddGrants(t.Context(), grant)); err != nil {
		t.Fatal(err)
	}
	clock.Advance(time.Hour)
	if err := s.Record(t.Context(), eventOf(0)); err != nil { // the store sees the time
		t.Fatal(err)
	}
	clock.Advance(-time.Hour)
	for _, each := range []*store.Store{s, openStore(t, folder, store.Options{Clock: clock.Now})} {
		rules, err := each.Rules(t.Context())
		if err != nil || len(rules.Rules()) != 2 || rules.Rules()[0].Effect != policy.EffectDeny {
			t.Errorf("rules %v, %v; want the deny and the one that does not expire", rules.Rules(), err)
		}
		if grants, err := each.Grants(t.Context(), "s"); err != nil || len(grants.Grants()) != 0 {
			t.Errorf("grants %v, %v; want none", grants.Grants(), err)
		}
		if v, err := each.Verify(t.Context()); err != nil || !v.OK() {
			t.Errorf("the audit log: %+v, %v", v, err)
		}
	}
}

// TestAClockThatGoesBackRevivesNoSession lets a session go stale instead.
func TestAClockThatGoesBackRevivesNoSession(t *testing.T) {
	clock := new(approvaltest.Clock)
	s := openStore(t, t.TempDir(), store.Options{Clock: clock.Now})
	if err := errors.Join(s.BeginSession(t.Context(), hook("s")), s.AddGrants(t.Context(), grantOf("s", 0))); err != nil {
		t.Fatal(err)
	}
	clock.Advance(2 * sessions.Idle)
	if err := s.AddRules(t.Context(), numbered(0)); err != nil { // the store sees the time
		t.Fatal(err)
	}
	clock.Advance(-2 * sessions.Idle)
	if grants, err := s.Grants(t.Context(), "s"); err != nil || len(grants.Grants()) != 0 {
		t.Errorf("grants %v, %v; want none", grants.Grants(), err)
	}
}

func TestRulesAreChanged(t *testing.T) {
	s := openStore(t, t.TempDir(), store.Options{RuleLimit: 3})
	if err := s.AddRules(t.Context(), numbered(0), numbered(1), numbered(2)); err != nil {
		t.Fatal(err)
	}
	off, other := numbered(0), numbered(1)
	off.Enabled = false
	other.Pattern, other.Effect, other.Note = "other", policy.EffectDeny, "mine"
	known, changed := []policy.Rule{off, numbered(1), numbered(2)}, []policy.Rule{off, other, numbered(2)}
	for _, c := range []struct {
		what string
		do   func() error
		want error
	}{
		{"one too many", func() error { return s.AddRules(t.Context(), numbered(3)) }, policy.ErrRuleLimit},
		{"disable", func() error { return s.EnableRule(t.Context(), "r0", false) }, nil},
		{"replace what was changed", func() error {
			return s.ReplaceRules(t.Context(), []policy.Rule{numbered(0), numbered(1), numbered(2)}, changed)
		}, store.ErrRulesChanged},
		{"replace by two that are one", func() error { return s.ReplaceRules(t.Context(), known, []policy.Rule{off, off}) }, policy.ErrDuplicateRule},
		{"replace", func() error { return s.ReplaceRules(t.Context(), known, changed) }, nil},
		{"replace again", func() error { return s.ReplaceRules(t.Context(), known, changed) }, store.ErrRulesChanged},
		{"remove", func() error { return s.RemoveRule(t.Context(), "r2") }, nil},
		{"remove again", func() error { return s.RemoveRule(t.Context(), "r2") }, policy.ErrRuleNotFound},
		{"enable what is gone", func() error { return s.EnableRule(t.Context(), "r2", true) }, policy.ErrRuleNotFound},
	} {
		if err := c.do(); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.what, err, c.want)
		}
	}
	set, err := s.Rules(t.Context())
	rules := set.Rules()
	if err != nil || len(rules) != 2 || rules[0].Enabled || !rules[1].Same(other) {
		t.Errorf("rules %+v, %v", rules, err)
	}
}

func TestTheMasterSwitch(t *testing.T) {
	folder := t.TempDir()
	s, other := openStore(t, folder, store.Options{}), openStore(t, folder, store.Options{})
	for _, on := range []bool{true, false, true} {
		if err := s.SetApprovals(t.Context(), on); err != nil {
			t.Fatal(err)
		}
		if got, err := other.Approvals(t.Context()); err != nil || got != on {
			t.Errorf("it is %v, %v; want %v", got, err, on)
		}
	}
	other.Close()
	if on, err := other.Approvals(t.Context()); err == nil || !on {
		t.Errorf("what cannot be read is %v, %v; want it on, and an error", on, err)
	}
}
