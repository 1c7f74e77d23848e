package connector_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/approval/approvaltest"
	"github.com/assent-dev/assent/internal/mcptest"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/connector"
)

func TestAToolAsksAndShowsAllArgumentsAndQuotesItsServer(t *testing.T) {
	c := open(t, config("ordinary", mcptest.Ordinary), options(newEvents()))
	person := &asked{}
	g := guard(t, approval.Config{Approver: person}, c.Tools()...)
	mustText(t, call(t, g, "ordinary:echo", args{"text": "hello"}), "hello")
	r := person.last(t)
	if r.PersonOnly || r.Acts[0].String() != "ordinary:echo" {
		t.Errorf("asked as %v, person only %v", r.Acts, r.PersonOnly)
	}
	v, err := r.View(t.Context())
	if err != nil || v.Kind != present.KindStructured || !strings.Contains(v.Content, `"text": "hello"`) {
		t.Errorf("shown as %+v, %v", v, err)
	}
	if said, _ := v.Facts.Get("the connector says"); said.Value() != "“Says it again.”" {
		t.Errorf("quoted as %v", said)
	}
}

func TestADeniedCallDoesNothing(t *testing.T) {
	c := open(t, config("ordinary", mcptest.Ordinary), options(newEvents()))
	person := &asked{answer: func(r *approval.Request) approval.Decision { return r.Deny("no") }}
	g := guard(t, approval.Config{Approver: person}, c.Tools()...)
	file := filepath.Join(t.TempDir(), "f")
	r := call(t, g, "ordinary:write", args{"path": file, "text": "x"})
	if !errors.Is(r.Err, approval.ErrDenied) {
		t.Errorf("got %v", r.Err)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("it was written all the same")
	}
}

func TestTheArgumentThatConfigNamesIsTheTarget(t *testing.T) {
	cfg := config("ordinary", mcptest.Ordinary)
	cfg.Targets = map[string]string{"echo": "text"}
	c := open(t, cfg, options(newEvents()))
	set := approvaltest.Rules(t, "allow ordinary:echo(gmail_search)", "deny ordinary:echo(*_delete*)")
	g := guard(t, approval.Config{Policy: set}, c.Tools()...)
	mustText(t, call(t, g, "ordinary:echo", args{"text": "gmail_search"}), "gmail_search")
	for _, denied := range []string{"gmail_delete_all", "other"} {
		if r := call(t, g, "ordinary:echo", args{"text": denied}); !errors.Is(r.Err, approval.ErrDenied) {
			t.Errorf("%s: got %v, %v", denied, r.Text, r.Err)
		}
	}
}

func TestRulesBindToTheConnectorAndNotToAJoinedName(t *testing.T) {
	a := open(t, config("github_get", mcptest.Ordinary), options(newEvents()))
	g := guard(t, approval.Config{Policy: approvaltest.Rules(t, "allow github:get_*")}, a.Tools()...)
	if r := call(t, g, "github_get:echo", args{"text": "x"}); !errors.Is(r.Err, approval.ErrDenied) {
		t.Errorf("got %v, %v", r.Text, r.Err)
	}
}

func TestHintsFreeACallOnlyWhereTheyAreTrusted(t *testing.T) {
	for _, trusted := range []bool{false, true} {
		cfg := config("ordinary", mcptest.Ordinary)
		cfg.TrustAnnotations = trusted
		c := open(t, cfg, options(newEvents()))
		g := guard(t, approval.Config{}, c.Tools()...)
		if r := call(t, g, "ordinary:echo", args{"text": "x"}); (r.Err == nil) != trusted {
			t.Errorf("trusted %v: got %v, %v", trusted, r.Text, r.Err)
		}
		if r := call(t, g, "ordinary:write", args{"path": t.TempDir() + "/f", "text": "x"}); r.Err == nil {
			t.Errorf("trusted %v: what destroys ran", trusted)
		}
	}
}

func TestAFailureThatAToolReportsIsAFailure(t *testing.T) {
	c := open(t, config("ordinary", mcptest.Ordinary), options(newEvents()))
	g := guard(t, approval.Config{Mode: policy.ModeApproveAll}, c.Tools()...)
	r := call(t, g, "ordinary:fail", args{"text": "rain"})
	var failed *tool.FailedError
	if !errors.As(r.Err, &failed) || !strings.Contains(r.Text, "cannot: rain") {
		t.Errorf("got %q, %v", r.Text, r.Err)
	}
}

func TestProgressIsTold(t *testing.T) {
	c := open(t, config("ordinary", mcptest.Ordinary), options(newEvents()))
	g := guard(t, approval.Config{Mode: policy.ModeApproveAll}, c.Tools()...)
	told := make(chan string, 10)
	ctx := tool.WithProgress(t.Context(), writerFunc(func(p []byte) { told <- string(p) }))
	r := tool.Call(ctx, g, policy.Call{Connector: "ordinary", Tool: "count"})
	mustText(t, r, "three")
	if got := <-told; got != "1 of 3 counting\n" {
		t.Errorf("told %q", got)
	}
}

type writerFunc func([]byte)

func (f writerFunc) Write(p []byte) (int, error) { f(p); return len(p), nil }

func TestACancelledCallIsCancelledAtTheServer(t *testing.T) {
	c := open(t, config("ordinary", mcptest.Ordinary), options(newEvents()))
	g := guard(t, approval.Config{Mode: policy.ModeApproveAll}, c.Tools()...)
	file := filepath.Join(t.TempDir(), "waiting")
	ctx, cancel := cancelOnFile(t, file)
	defer cancel()
	r := tool.Call(ctx, g, policy.Call{Connector: "ordinary", Tool: "wait", Arguments: []byte(`{"path":"` + file + `","text":""}`)})
	var stopped *tool.CancelledError
	if !errors.As(r.Err, &stopped) {
		t.Errorf("got %v", r.Err)
	}
	mcptest.AwaitFile(t, file, false)
}

func TestAServerKnowsLittleOfOurEnvironment(t *testing.T) {
	t.Setenv("SECRET_TOKEN", "hunter2")
	cfg := config("ordinary", mcptest.Ordinary)
	cfg.Env["GIVEN"] = "value"
	opts := options(newEvents())
	opts.Environ = os.Environ()
	c := open(t, cfg, opts)
	g := guard(t, approval.Config{Mode: policy.ModeApproveAll}, c.Tools()...)
	r := call(t, g, "ordinary:environ", args{})
	if strings.Contains(r.Text, "hunter2") || !strings.Contains(r.Text, "GIVEN=value") || !strings.Contains(r.Text, "ASSENT_CALL=") {
		t.Errorf("it knows %s", r.Text)
	}
}

func TestConfigThatMakesNoSenseIsRefused(t *testing.T) {
	for name, cfg := range map[string]connector.Config{
		"no name":       {Command: []string{"x"}},
		"joined name":   {Name: "a__b", Command: []string{"x"}},
		"no server":     {Name: "a"},
		"two servers":   {Name: "a", Command: []string{"x"}, URL: "https://example.com"},
		"url":           {Name: "a", URL: "ftp://example.com"},
		"empty command": {Name: "a", Command: []string{""}},
		"environment":   {Name: "a", Command: []string{"x"}, Env: map[string]string{"LD_PRELOAD": "x"}},
	} {
		if _, err := connector.Open(t.Context(), cfg, connector.Options{}); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestToolsComeInTheServersOrder(t *testing.T) {
	c := open(t, config("ordinary", mcptest.Ordinary), options(newEvents()))
	var names []string
	for _, tl := range c.Tools() {
		names = append(names, tl.Spec().FullName())
	}
	if !slices.Contains(names, "ordinary:echo") || len(names) != 8 {
		t.Errorf("got %v", names)
	}
}

// A server that ended is not started again if its program may not run any more.
func TestEachStartIsVerified(t *testing.T) {
	e := newEvents()
	opts := options(e)
	starts := filepath.Join(t.TempDir(), "starts")
	cfg := config("evil", mcptest.Hostile)
	cfg.Command = []string{"sh", "-c", "echo >> " + starts + " && exec " + cfg.Command[0]}
	var refuses atomic.Bool
	opts.Verify = func() error {
		if refuses.Load() {
			return errors.New("it is not what was trusted")
		}
		return nil
	}
	c := open(t, cfg, opts)
	refuses.Store(true)
	call(t, guard(t, approval.Config{Mode: policy.ModeApproveAll}, c.Tools()...), "evil:die", args{})
	e.await(t, connector.EventDisconnected, 3)
	if data, err := os.ReadFile(starts); err != nil || string(data) != "\n" {
		t.Errorf("it was started %d times, %v", len(data), err)
	}
	if err := c.Err(); err == nil || !strings.Contains(err.Error(), "it is not what was trusted") {
		t.Errorf("error %v", err)
	}
}
