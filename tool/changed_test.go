package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/tool"
)

// A replacer replaces a real file. It shows the old content beside the new, and
// is bound to the old one.
type replacer struct {
	file       string
	beforeLast func() // runs at the last instant, inside Do
}

func (w *replacer) Spec() tool.Spec { return tool.Spec{Name: "replace"} }

func (w *replacer) Prepare(_ context.Context, args json.RawMessage) (tool.Action, error) {
	old, err := os.ReadFile(w.file)
	if err != nil {
		return tool.Action{}, err
	}
	state := policy.DigestOf(old)
	view := present.View{Kind: present.KindText, Content: string(old) + " → " + string(args)}
	return tool.Ask(func(context.Context) (any, error) {
		if w.beforeLast != nil {
			w.beforeLast()
		}
		now, err := os.ReadFile(w.file)
		if err != nil {
			return nil, err
		}
		if policy.DigestOf(now) != state {
			return nil, fmt.Errorf("%s: %w", filepath.Base(w.file), approval.ErrChanged)
		}
		return "replaced", os.WriteFile(w.file, args, 0o600)
	}).ShowingView(view).Seeing(state), nil
}

func newReplacer(t *testing.T) *replacer {
	t.Helper()
	w := &replacer{file: filepath.Join(t.TempDir(), "a.txt")}
	w.put(t, "one")
	return w
}

func (w *replacer) put(t *testing.T, content string) {
	t.Helper()
	if err := os.WriteFile(w.file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (w *replacer) want(t *testing.T, content string) {
	t.Helper()
	if got, err := os.ReadFile(w.file); err != nil || string(got) != content {
		t.Errorf("the file has %q, %v, want %q", got, err, content)
	}
}

func shown(t *testing.T, r *approval.Request) string {
	t.Helper()
	v, err := r.View(context.Background())
	if err != nil {
		t.Errorf("view: %v", err)
	}
	return v.Content
}

// The file changed while the person was reading: it is left alone and asked
// again with a fresh view.
func TestFileChangedWhileReading(t *testing.T) {
	w := newReplacer(t)
	var views []string
	d := newFixture(t, func(r *approval.Request) approval.Decision {
		views = append(views, shown(t, r))
		if len(views) == 1 {
			w.put(t, "two")
			return r.Approve("")
		}
		w.want(t, "two")
		return r.Deny("not that one")
	}, w)
	r := d.call("replace", `{}`)
	if want := []string{"one → {}", "two → {}"}; !slices.Equal(views, want) {
		t.Errorf("shown %q, want %q", views, want)
	}
	if !errors.Is(r.Err, approval.ErrDenied) {
		t.Errorf("error %v", r.Err)
	}
	w.want(t, "two")
	if why := d.asked[1].Why; !strings.HasPrefix(why, "asked again because what the call would do changed since it was shown") {
		t.Errorf("why: %s", why)
	}
}

// The file changed at the very last instant, after the start was recorded.
func TestFileChangedAtTheLastInstant(t *testing.T) {
	w := newReplacer(t)
	w.beforeLast = func() {
		w.put(t, "two")
		w.beforeLast = nil
	}
	var views []string
	d := newFixture(t, func(r *approval.Request) approval.Decision {
		views = append(views, shown(t, r))
		return r.Approve("")
	}, w)
	wantText(t, d.call("replace", `{}`), "replaced")
	if want := []string{"one → {}", "two → {}"}; !slices.Equal(views, want) {
		t.Errorf("shown %q, want %q", views, want)
	}
	w.want(t, "{}")
	want := []string{"started approved executing", "ended approved cancelled", "started approved executing", "ended approved completed"}
	if got := d.history(); !slices.Equal(got, want) {
		t.Errorf("records %q, want %q", got, want)
	}
}

// A world that never holds still is given up, and nothing is left that could
// run later.
func TestChangedForEver(t *testing.T) {
	never := func(context.Context, json.RawMessage) (any, error) { return nil, approval.ErrChanged }
	tests := map[string]struct {
		make  func() *probe
		asked int
	}{
		"asked, in Do": {func() *probe { p := asks("t"); p.do = never; return p }, 10},
		"free, in Do":  {func() *probe { p := frees("t"); p.do = never; return p }, 0},
		"asked, in Prepare": {func() *probe {
			p := asks("t")
			n := 0
			p.prepare = func(_ json.RawMessage, do tool.Do) (tool.Action, error) {
				n++
				return tool.Ask(do).Seeing(policy.DigestOf(fmt.Append(nil, n))), nil
			}
			return p
		}, 10},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p := test.make()
			d := newFixture(t, yes, p)
			r := tool.Call(context.Background(), d.gate, callOf("t", `{}`))
			wantText(t, r, "[CANCELLED] t did not run; nothing was changed: what it would act on changed 10 times while it was about to run. Do not retry unless you are told to.")
			var cancelled *tool.CancelledError
			if !errors.As(r.Err, &cancelled) || cancelled.Started {
				t.Errorf("error %#v", r.Err)
			}
			d.wantAsked(test.asked)
			if last := d.events[len(d.events)-1]; last.Kind != approval.EventEnded || last.Stage == approval.StageReady {
				t.Errorf("the last record is %+v", last)
			}
		})
	}
}

// What was given up does not run later, when the world holds still again.
func TestGivenUpStaysSo(t *testing.T) {
	ctx := context.Background()
	p := frees("t")
	p.do = func(context.Context, json.RawMessage) (any, error) { return nil, approval.ErrChanged }
	d := newFixture(t, nil, p)
	batch := d.gate.Review(ctx, callOf("t", `{}`))
	for range 2 {
		results, err := tool.Finish(ctx, d.gate, batch)
		var cancelled *tool.CancelledError
		if err != nil || !errors.As(results[0].Err, &cancelled) || batch.Outcome(0).Stage != approval.StageCancelled {
			t.Errorf("%v, %v, stage %s", err, results[0].Err, batch.Outcome(0).Stage)
		}
		if tries := len(p.ran); tries != 10 {
			t.Errorf("tried %d times", tries)
		}
		p.do = nil
	}
}

// The definition changed between review and run: it is asked again, even if it
// was free.
func TestDefinitionChangedBeforeRun(t *testing.T) {
	for name, p := range map[string]*probe{"asked": asks("t"), "free": frees("t")} {
		t.Run(name, func(t *testing.T) {
			description := "reads"
			p.spec = func() tool.Spec { return tool.Spec{Name: "t", Description: description} }
			d := newFixture(t, yes, p)
			ctx := context.Background()
			batch := d.gate.Review(ctx, callOf("t", `{}`))
			d.gate.Ask(ctx, batch)
			before := len(d.asked)
			description = "deletes"
			results, err := tool.Finish(ctx, d.gate, batch)
			if !errors.Is(err, approval.ErrOpen) || !errors.Is(results[0].Err, approval.ErrOpen) {
				t.Fatalf("errors %v and %v, want open", err, results[0].Err)
			}
			p.wantRan(t)
			d.gate.Ask(ctx, batch)
			d.wantAsked(before + 1)
			if why := d.asked[before].Why; !strings.HasPrefix(why, "asked again because the tool's definition changed") {
				t.Errorf("why: %s", why)
			}
			if _, err := tool.Finish(ctx, d.gate, batch); err != nil {
				t.Errorf("after the answer: %v", err)
			}
			p.wantRan(t, "{}")
		})
	}
}

// A model that was shown an older definition is not served without a question.
func TestDefinitionThatTheModelSaw(t *testing.T) {
	p := frees("t")
	d := newFixture(t, no, p)
	call := callOf("t", `{}`)
	call.Definition = policy.DigestOf([]byte("an older one"))
	if r := tool.Call(context.Background(), d.gate, call); !errors.Is(r.Err, approval.ErrDenied) {
		t.Errorf("error %v", r.Err)
	}
	d.wantAsked(1)
	p.wantRan(t)
}

// A tool that takes another name is no longer the tool that was called.
func TestToolThatRenamesItself(t *testing.T) {
	p := frees("t")
	name := "t"
	p.spec = func() tool.Spec { return tool.Spec{Name: name} }
	d := newFixture(t, yes, p)
	name = "other"
	for _, called := range []string{"t", "other"} {
		if r := d.call(called, `{}`); !errors.Is(r.Err, tool.ErrUnknownTool) {
			t.Errorf("call of %s: %v", called, r.Err)
		}
	}
	p.wantRan(t)
}

// A definition that turns bad refuses the call.
func TestSchemaThatTurnsBad(t *testing.T) {
	p := frees("t")
	schema := `{"type": "object"}`
	p.spec = func() tool.Spec { return tool.Spec{Name: "t", Schema: json.RawMessage(schema)} }
	d := newFixture(t, yes, p)
	schema = `{"type": "string"}`
	if r := d.call("t", `{}`); !errors.Is(r.Err, approval.ErrInvalid) || !strings.Contains(r.Text, "the definition changed: ") {
		t.Errorf("%v: %s", r.Err, r.Text)
	}
	p.wantRan(t)
}

// A deny that was added while the person was reading holds.
func TestDenyAddedBeforeRun(t *testing.T) {
	p := asks("t")
	d := newFixture(t, yes, p)
	ctx := context.Background()
	batch := d.gate.Review(ctx, callOf("t", `{}`))
	d.gate.Ask(ctx, batch)
	d.allow("deny t")
	results, err := tool.Finish(ctx, d.gate, batch)
	if err != nil || !errors.Is(results[0].Err, approval.ErrDenied) || results[0].Outcome.State != policy.StateAutoDenied {
		t.Errorf("%v, %+v", err, results[0])
	}
	p.wantRan(t)
}
