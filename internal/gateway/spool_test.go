package gateway_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/gateway"
	"github.com/assent-dev/assent/internal/reexec"
	"github.com/assent-dev/assent/policy"
)

// What the store did not take is recorded as soon as it takes something again, and does not
// leave the spool before.
func TestLaterTriesAgainWhatTheStoreDidNotTake(t *testing.T) {
	r := newFull()
	broken := errors.New("full")
	r.fail.Store(&broken)
	told := make(chan struct{}, 100)
	spool, dir := newSpool(t)
	l := gateway.NewRecorder(r, spool, func(error) { told <- struct{}{} })
	if err := l.Record(t.Context(), event(approval.EventStarted, "a", policy.StateAutoApproved)); err != nil {
		t.Fatal(err)
	}
	<-told
	r.fail.Store(nil)
	for _, id := range []string{"b", "c", "d"} { // each turns to the other half of the spool
		if err := l.Record(t.Context(), event(approval.EventStarted, id, policy.StateApproved)); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for _, e := range r.all() {
		got[e.CallID]++
	}
	if len(got) != 4 || got["a"] != 1 {
		t.Errorf("recorded %v, want each of four once", got)
	}
	if text, _ := spooled(t, dir); text != "" {
		t.Errorf("the spool still has %s", text)
	}
}

// Programs begin and recover at the same time: no new spool is taken for one that was left
// behind, and nobody fails because another was faster.
func TestRecoveringLeavesNewSpoolsAlone(t *testing.T) {
	dir, r := t.TempDir(), newFull()
	stop, stopped := make(chan struct{}), make(chan struct{}, 2)
	for range 2 {
		go func() {
			defer func() { stopped <- struct{}{} }()
			for {
				select {
				case <-stop:
					return
				default:
				}
				if err := gateway.RecoverStarts(t.Context(), dir, r); err != nil {
					t.Error(err)
					return
				}
			}
		}()
	}
	for range 200 {
		s, err := gateway.OpenSpool(dir)
		if err != nil {
			t.Error(err)
			break
		}
		if _, files := spooled(t, dir); files != 2 {
			t.Errorf("the spool has %d files", files)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	<-stopped
	<-stopped
}

// startCalls is a program that starts calls until it is killed. It says of each call that it
// starts, as soon as that is safe. The store takes nothing.
func startCalls(dir string) error {
	spool, err := gateway.OpenSpool(dir)
	if err != nil {
		return err
	}
	l := gateway.NewRecorder(stuck{}, spool, func(error) {})
	for i := 0; ; i++ {
		if err := l.Record(context.Background(), event(approval.EventStarted, strconv.Itoa(i), policy.StateAutoApproved)); err != nil {
			return err
		}
		fmt.Println(i)
	}
}

// stuck is a store that never answers.
type stuck struct{}

func (stuck) Record(context.Context, approval.Event) error     { select {} }
func (stuck) RecordFull(context.Context, approval.Event) error { select {} }

// A program that is killed leaves behind every start that it went on from.
func TestStartsSurviveAKill(t *testing.T) {
	for _, enough := range []int{1, 10, 500} {
		dir := filepath.Join(t.TempDir(), "spool")
		cmd := reexec.Command("spool", dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		said := 0
		for lines := bufio.NewScanner(out); lines.Scan(); said++ { // also what it said before it died
			if said == enough {
				if err := cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}
		_ = cmd.Wait() // it was killed
		r := newFull()
		if err := gateway.RecoverStarts(t.Context(), dir, r); err != nil {
			t.Fatal(err)
		}
		found := map[string]bool{}
		for _, e := range r.all() {
			found[e.CallID] = true
		}
		for i := range said {
			if !found[strconv.Itoa(i)] {
				t.Errorf("of %d starts number %d is lost", said, i)
				break
			}
		}
	}
}

// What cannot be read keeps nobody out, loses no other line, and is recorded as a start of
// which nothing is known, once.
func TestALineThatCannotBeReadIsRecorded(t *testing.T) {
	dir := t.TempDir()
	good := `{"kind":"started","at":"2026-01-02T03:04:05Z","session":"s","call":"a","tool":"echo","state":"auto-approved","stage":"running"}` + "\n"
	left := map[string]string{
		"long": strings.Repeat("x", 2<<20) + "\n\n" + good, "nonsense": "\x00\x00\n" + good, "cut": `{"kind":"sta` + "\n" + good, "other": "\n{}\n{}\n" + good,
		"nameless": good + strings.Repeat(strings.ReplaceAll(good, `"call"`, `"cell"`), 2),
		"endless":  good + strings.Repeat("y", 1<<20), "unended": good + strings.TrimSuffix(strings.ReplaceAll(good, `"a"`, `"b"`), "\n"),
	}
	r := newFull()
	for range 2 { // as if the files could not be removed the first time
		for name, text := range left {
			file := filepath.Join(dir, "starts-"+name)
			text = strings.ReplaceAll(text, `"call":"a"`, `"call":"`+name+`"`)
			if err := errors.Join(os.WriteFile(file, []byte(text), 0o600), os.Chtimes(file, time.Time{}, time.Unix(1e9, 1))); err != nil {
				t.Fatal(err)
			}
		}
		if err := gateway.RecoverStarts(t.Context(), dir, r); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, e := range r.all() {
		id, _, _ := strings.Cut(strings.TrimPrefix(e.CallID, "starts-"), "-")
		got = append(got, fmt.Sprint(id, " ", e.Tool, " ", e.Stage))
		if e.Stage == approval.StageUnknown && (e.At.IsZero() || len(e.Why) > 500 || id == "cut" && !strings.Contains(e.Why, `"{\"kind\":\"sta"`)) {
			t.Errorf("%+v", e)
		}
	}
	slices.Sort(got)
	want := []string{
		"cut echo running", "cut unknown unknown", "endless echo running", "long echo running", "long unknown unknown",
		"nameless echo running", "nameless unknown unknown", "nameless unknown unknown",
		"nonsense echo running", "nonsense unknown unknown", "other echo running", "other unknown unknown", "other unknown unknown", "unended echo running",
	}
	if !slices.Equal(got, want) {
		t.Errorf("recorded are %q, want %q", got, want)
	}
	if _, files := spooled(t, dir); files != 0 {
		t.Errorf("%d files are left", files)
	}
}

// What lies in the folder and is no file of a spool is neither followed nor waited for, and said.
func TestNoSpoolIsFollowedOrWaitedFor(t *testing.T) {
	other := filepath.Join(t.TempDir(), "other")
	if err := os.WriteFile(other, []byte("not a spool\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for what, put := range map[string]func(string) error{
		"a link":   func(name string) error { return os.Symlink(other, name) },
		"a pipe":   func(name string) error { return syscall.Mkfifo(name, 0o600) },
		"a folder": func(name string) error { return os.Mkdir(name, 0o700) },
	} {
		dir, r := t.TempDir(), newFull()
		if err := put(filepath.Join(dir, "starts-x")); err != nil {
			t.Fatal(err)
		}
		if err := gateway.RecoverStarts(t.Context(), dir, r); err == nil || !strings.Contains(err.Error(), "starts-x") {
			t.Errorf("%s: %v", what, err)
		}
		if len(r.all()) > 0 {
			t.Errorf("%s: recorded %v", what, r.all())
		}
	}
}
