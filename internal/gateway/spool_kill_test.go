package gateway_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/gateway"
	"github.com/assent-dev/assent/policy"
)

// spoolMode is the variable that makes this program one that starts calls until it is
// killed: it names the folder of the spool.
const spoolMode = "ASSENT_TEST_SPOOL"

// startCalls says of each call that it starts, as soon as that is safe. The store takes
// nothing.
func startCalls(dir string) error {
	spool, err := gateway.OpenSpool(dir)
	if err != nil {
		return err
	}
	l := gateway.NewLater(stuck{}, spool, func(error) {})
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
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, enough := range []int{1, 10, 500} {
		dir := filepath.Join(t.TempDir(), "spool")
		cmd := exec.Command(self)
		cmd.Env = append(os.Environ(), spoolMode+"="+dir)
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

// What cannot be read keeps nobody out: it is put aside, once, and recorded as a start of
// which nothing is known.
func TestWhatCannotBeReadIsPutAside(t *testing.T) {
	dir := t.TempDir()
	good := `{"kind":"started","at":"2026-01-02T03:04:05Z","session":"s","call":"a","tool":"echo","state":"auto-approved","stage":"running"}` + "\n"
	for name, bad := range map[string]string{"long": strings.Repeat("x", 2<<20) + "\n", "nonsense": "\x00\x00\n", "endless": strings.Repeat("y", 1<<20)} {
		text := bad + good
		if name == "endless" {
			text = good + bad
		}
		text = strings.ReplaceAll(text, `"call":"a"`, `"call":"`+name+`"`)
		if err := os.WriteFile(filepath.Join(dir, "starts-"+name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := newFull()
	for range 2 {
		if err := gateway.RecoverStarts(t.Context(), dir, r); err != nil {
			t.Fatal(err)
		}
	}
	got := map[string]int{}
	for _, e := range r.all() {
		got[e.CallID]++
	}
	for _, name := range []string{"long", "nonsense", "endless"} {
		if got[name] != 1 || got["starts-"+name] != 1 {
			t.Errorf("%s: recorded %v", name, got)
		}
		if _, err := os.Stat(filepath.Join(dir, "unread-starts-"+name)); err != nil {
			t.Error(err)
		}
	}
}

// A start that is too long for the spool waits for the store.
func TestAStartThatIsTooLongIsRecordedAtOnce(t *testing.T) {
	r := newFull()
	spool, _ := newSpool(t)
	l := gateway.NewLater(r, spool, func(err error) { t.Error(err) })
	defer l.Close()
	e := event(approval.EventStarted, "a", policy.StateAutoApproved)
	e.Workers = []string{strings.Repeat("w", 1<<20)}
	if err := l.Record(t.Context(), e); err != nil || len(r.all()) != 1 {
		t.Errorf("%d are recorded, %v", len(r.all()), err)
	}
	broken := errors.New("full")
	r.fail.Store(&broken)
	if err := l.Record(t.Context(), e); !errors.Is(err, broken) {
		t.Errorf("it starts without a record: %v", err)
	}
}
