package gateway_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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

// What cannot be read keeps nobody out, and loses no other line.
func TestALineThatCannotBeReadIsPassedOver(t *testing.T) {
	dir := t.TempDir()
	good := `{"kind":"started","at":"2026-01-02T03:04:05Z","session":"s","call":"a","tool":"echo","state":"auto-approved","stage":"running"}` + "\n"
	for name, text := range map[string]string{
		"long": strings.Repeat("x", 2<<20) + "\n" + good, "nonsense": "\x00\x00\n" + good, "cut": `{"kind":"sta` + "\n" + good,
		"endless": good + strings.Repeat("y", 1<<20), "unended": good + strings.TrimSuffix(strings.ReplaceAll(good, `"a"`, `"b"`), "\n"),
	} {
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
	var got []string
	for _, e := range r.all() {
		got = append(got, e.CallID)
	}
	slices.Sort(got)
	if want := []string{"cut", "endless", "long", "nonsense", "unended"}; !slices.Equal(got, want) {
		t.Errorf("recorded are %v, want %v", got, want)
	}
	if _, files := spooled(t, dir); files != 0 {
		t.Errorf("%d files are left", files)
	}
}
