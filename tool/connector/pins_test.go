package connector_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/approval/approvaltest"
	"github.com/assent-dev/assent/internal/mcptest"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/connector"
)

// hostileGate is a gate in front of a hostile connector, where a rule allows everything.
func hostileGate(t *testing.T, opts connector.Options) (*connector.Connector, *tool.Gate, *asked) {
	t.Helper()
	c := open(t, config("evil", mcptest.Hostile), opts)
	person := &asked{}
	return c, guard(t, approval.Config{Approver: person, Policy: approvaltest.Rules(t, "allow evil:*")}, c.Tools()...), person
}

func TestAChangedDefinitionAsksAPersonWithADiff(t *testing.T) {
	for _, change := range []string{"change", "schema", "hint"} {
		t.Run(change, func(t *testing.T) {
			_, g, person := hostileGate(t, options(newEvents()))
			mustText(t, call(t, g, "evil:plain", args{}), "plain ran")
			if person.count() != 0 {
				t.Fatal("a rule allows it, and it asked")
			}
			mustText(t, call(t, g, "evil:"+change, args{}), "done")
			mustText(t, call(t, g, "evil:plain", args{"a": 1}), "plain ran")
			r := person.last(t)
			if !r.PersonOnly || !strings.Contains(r.Why, "changed") {
				t.Errorf("asked %q, person only %v", r.Why, r.PersonOnly)
			}
			v, err := r.View(t.Context())
			if err != nil || v.Kind != present.KindDiff {
				t.Fatalf("shown as %v, %v", v.Kind, err)
			}
			if given, _ := v.Facts.Get("arguments"); given.Value() != `{"a":1}` {
				t.Errorf("the arguments are shown as %v", given)
			}
			if strings.Contains(v.Safe().Content, "\x1b") {
				t.Error("escapes reach the terminal")
			}
			// Once a person agreed the rule holds again.
			mustText(t, call(t, g, "evil:plain", args{}), "plain ran")
			if person.count() != 1 {
				t.Errorf("asked %d times", person.count())
			}
		})
	}
}

func TestModelsAreShownWhatWasAgreedTo(t *testing.T) {
	c, g, person := hostileGate(t, options(newEvents()))
	mustText(t, call(t, g, "evil:change", args{}), "done")
	mustText(t, call(t, g, "evil:add", args{"name": "fresh"}), "done")
	if err := c.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	shown := map[string]string{}
	for _, tl := range c.Tools() {
		shown[tl.Spec().Name] = tl.Spec().Description
	}
	if shown["plain"] != "Does what it says." {
		t.Errorf("plain is shown as %q", shown["plain"])
	}
	if !strings.Contains(shown["fresh"], "nobody has agreed to") {
		t.Errorf("a new tool is shown as %q", shown["fresh"])
	}
	mustText(t, call(t, g, "evil:plain", args{}), "plain ran")
	if person.count() != 1 {
		t.Fatalf("asked %d times", person.count())
	}
	for _, tl := range c.Tools() {
		if tl.Spec().Name == "plain" && !strings.HasPrefix(tl.Spec().Description, "Send me") {
			t.Errorf("agreed to, plain is shown as %q", tl.Spec().Description)
		}
	}
}

func TestNewAndLookAlikeToolsAskAPerson(t *testing.T) {
	for _, name := range []string{"fresh", "p1ain", "plаin", "pⅼain"} {
		c, g, _ := hostileGate(t, options(newEvents()))
		mustText(t, call(t, g, "evil:add", args{"name": name}), "done")
		if err := c.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		g = guard(t, approval.Config{Mode: policy.ModeApproveAll, Policy: approvaltest.Rules(t, "allow evil:*")}, c.Tools()...)
		r := call(t, g, "evil:"+name, args{})
		if !errors.Is(r.Err, approval.ErrDenied) || !r.Outcome.PersonOnly {
			t.Errorf("%s: got %q, %v", name, r.Text, r.Err)
		}
	}
}

func TestAToolThatDiffersInCaseOnlyIsLeftOut(t *testing.T) {
	e := newEvents()
	c, g, _ := hostileGate(t, options(e))
	mustText(t, call(t, g, "evil:add", args{"name": "PLAIN"}), "done")
	if err := c.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(c.Tools(), func(tl tool.Tool) bool { return tl.Spec().Name == "PLAIN" }) {
		t.Error("it is offered")
	}
	e.await(t, connector.EventMisbehaved, 1)
}

// Tools of one name under two connectors are two tools: neither is doubted, on the first day
// or later, and each has rules of its own.
func TestToolsOfOneNameStayApart(t *testing.T) {
	pins, e := connector.NewMemoryPins(), newEvents()
	opts := func(connector.Config) connector.Options {
		o := options(e)
		o.Pins = pins
		return o
	}
	for range 2 {
		both, err := connector.OpenAll(t.Context(), []connector.Config{config("one", mcptest.Ordinary), config("two", mcptest.Ordinary)}, opts)
		if err != nil {
			t.Fatal(err)
		}
		g := guard(t, approval.Config{Policy: approvaltest.Rules(t, "allow two:echo", "allow one:count")}, append(both[0].Tools(), both[1].Tools()...)...)
		mustText(t, call(t, g, "two:echo", args{"text": "x"}), "x")
		for other, given := range map[string]args{"one:echo": {"text": "x"}, "two:count": {}} {
			r := call(t, g, other, given)
			if !errors.Is(r.Err, approval.ErrDenied) || r.Outcome.PersonOnly {
				t.Errorf("%s: got %q, %v, person only %v", other, r.Text, r.Err, r.Outcome.PersonOnly)
			}
		}
		connector.CloseAll(both)
	}
	if n := e.count(connector.EventDoubted); n != 0 {
		t.Errorf("%d tools are doubted", n)
	}
}

// A tool that looked like another's when it was first met is doubted for that, and is not said
// to be new when the other is not there.
func TestALookAlikeFromTheBeginningIsNotSaidToBeNew(t *testing.T) {
	opts := options(newEvents())
	opts.Pins, opts.Names = connector.NewMemoryPins(), &connector.Names{}
	opts.Names.Set("other", "ech0")
	for range 2 {
		c := open(t, config("ordinary", mcptest.Ordinary), opts)
		g := guard(t, approval.Config{Policy: approvaltest.Rules(t, "allow ordinary:*")}, c.Tools()...)
		r := call(t, g, "ordinary:echo", args{"text": "x"})
		if !r.Outcome.PersonOnly || !strings.Contains(r.Outcome.Acts[0].Why, "looks like that of the tool ech0 of other") {
			t.Errorf("got %v", r.Outcome.Acts)
		}
		mustText(t, call(t, g, "ordinary:count", args{}), "three")
		opts.Names = &connector.Names{}
	}
}

func TestAChangedLaunchCommandAsksAgain(t *testing.T) {
	opts := options(newEvents())
	opts.Pins = connector.NewFolderPins(filepath.Join(t.TempDir(), "pins"))
	cfg := config("ordinary", mcptest.Ordinary)
	open(t, cfg, opts)
	cfg.Command = append(cfg.Command, "--more")
	c := open(t, cfg, opts)
	person := &asked{}
	g := guard(t, approval.Config{Approver: person, Policy: approvaltest.Rules(t, "allow ordinary:*")}, c.Tools()...)
	mustText(t, call(t, g, "ordinary:echo", args{"text": "x"}), "x")
	v, err := person.last(t).View(t.Context())
	if err != nil || !strings.Contains(v.Content, "--more") {
		t.Errorf("shown as %q, %v", v.Content, err)
	}
}

func TestAGrantEndsWithTheDefinition(t *testing.T) {
	c := open(t, config("evil", mcptest.Hostile), options(newEvents()))
	person := &asked{answer: func(r *approval.Request) approval.Decision {
		if r.PersonOnly {
			return r.Approve("")
		}
		return r.Approve("").ForSession(policy.ReachTool)
	}}
	g := guard(t, approval.Config{Approver: person, Policy: approvaltest.Rules(t, "allow evil:hint")}, c.Tools()...)
	for range 3 {
		mustText(t, call(t, g, "evil:plain", args{}), "plain ran")
	}
	if person.count() != 1 {
		t.Fatalf("asked %d times", person.count())
	}
	mustText(t, call(t, g, "evil:hint", args{}), "done")
	mustText(t, call(t, g, "evil:plain", args{}), "plain ran") // a person agrees to the hint
	mustText(t, call(t, g, "evil:plain", args{}), "plain ran") // the grant was for what it was
	if person.count() != 3 {
		t.Errorf("asked %d times", person.count())
	}
}

func TestADefinitionThatChangesWhileAPersonReadsIsAskedAgain(t *testing.T) {
	c := open(t, config("evil", mcptest.Hostile), options(newEvents()))
	inner := guard(t, approval.Config{Mode: policy.ModeApproveAll}, c.Tools()...)
	changed := false
	person := &asked{}
	person.answer = func(r *approval.Request) approval.Decision {
		if !changed {
			changed = true
			mustText(t, call(t, inner, "evil:change", args{}), "done")
		}
		return r.Approve("")
	}
	g := guard(t, approval.Config{Approver: person}, c.Tools()...)
	mustText(t, call(t, g, "evil:plain", args{}), "plain ran")
	if r := person.last(t); person.count() != 2 || !r.PersonOnly {
		t.Errorf("asked %d times, last person only: %v", person.count(), r.PersonOnly)
	}
}

func TestKeptDefinitionsThatCannotBeReadRefuse(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "pins")
	opts := options(newEvents())
	opts.Pins = connector.NewFolderPins(dir)
	open(t, config("ordinary", mcptest.Ordinary), opts)
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) != 9 {
		t.Fatalf("kept %v, %v", files, err)
	}
	for _, f := range files {
		info, err := os.Stat(f)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: mode %v, %v", f, info.Mode(), err)
		}
		if err := os.WriteFile(f, []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, err := connector.Open(t.Context(), config("ordinary", mcptest.Ordinary), opts)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Err(); err == nil || !strings.Contains(err.Error(), "cannot be used") {
		t.Errorf("got %v", err)
	}
}

func TestTheNameOfABuiltInToolIsFreeAndWhatLooksLikeItIsNot(t *testing.T) {
	for taken, doubted := range map[string]bool{"echo": false, "ech0": true} {
		opts := options(newEvents())
		opts.Names = &connector.Names{}
		opts.Names.Set(connector.BuiltIn, taken)
		c := open(t, config("ordinary", mcptest.Ordinary), opts)
		g := guard(t, approval.Config{Policy: approvaltest.Rules(t, "allow ordinary:echo")}, c.Tools()...)
		if r := call(t, g, "ordinary:echo", args{"text": "x"}); (r.Err != nil) != doubted {
			t.Errorf("beside %s: got %q, %v", taken, r.Text, r.Err)
		}
	}
}
