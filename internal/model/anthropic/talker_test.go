package anthropic_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/assent-dev/assent/internal/model"
	"github.com/assent-dev/assent/internal/model/anthropic"
	"github.com/assent-dev/assent/internal/model/modeltest"
	"github.com/assent-dev/assent/internal/worker"
)

var tools = []worker.Spec{
	{Name: "read_file", Description: "Reads.", Schema: []byte(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"],"additionalProperties":false}`)},
	{Connector: "github", Name: "create_issue"},
}

func TestATurnOfTextAndCalls(t *testing.T) {
	s := modeltest.NewServer(t, modeltest.Stream(start+ping+
		text(0, "I will ", "look.")+
		use(1, "toolu_1", "read_file", `{"pa`, `th":"a.md"}`)+
		use(2, "toolu_2", "github__create_issue")+
		reason("tool_use")+stop))
	var l modeltest.Listener
	turn, err := talker(t, s, 1).Talk(t.Context(), prompt("look", tools...), &l)
	if err != nil {
		t.Fatal(err)
	}
	if turn.Text != "I will look." || l.Heard.String() != "I will |look.|" {
		t.Errorf("text %q, heard %q", turn.Text, l.Heard.String())
	}
	if len(turn.Calls) != 2 {
		t.Fatalf("calls %+v", turn.Calls)
	}
	if c := turn.Calls[0]; c.ID != "toolu_1" || c.Name() != "read_file" || string(c.Arguments) != `{"path":"a.md"}` || c.Definition.IsZero() {
		t.Errorf("first call %+v", c)
	}
	if c := turn.Calls[1]; c.Connector != "github" || c.Tool != "create_issue" || string(c.Arguments) != "{}" {
		t.Errorf("second call %+v", c)
	}
	if want := (worker.Usage{Input: 125, CacheRead: 100, CacheWrite: 5, Output: 42}); turn.Usage != want {
		t.Errorf("usage %+v, want %+v", turn.Usage, want)
	}
}

func TestArgumentsKeepTheirText(t *testing.T) {
	s := modeltest.NewServer(t, modeltest.Stream(start+
		use(0, "a", "read_file", `{"n":9007199254740993,`, `"n":1}`)+
		open(1, `{"type":"tool_use","id":"b","name":"read_file","input":{"path":"whole","n":9007199254740993}}`)+shut(1)+
		use(2, "c", "read_file", `{"path":`)+
		reason("tool_use")+stop))
	turn, err := talker(t, s, 1).Talk(t.Context(), prompt("x", tools...), nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{
		`{"n":9007199254740993,"n":1}`, `{"path":"whole","n":9007199254740993}`, `"{\"path\":"`,
	} {
		if got := string(turn.Calls[i].Arguments); got != want {
			t.Errorf("call %d has arguments %s, want %s", i, got, want)
		}
	}
}

func TestWhatBreaksOffIsTriedAgainAndNothingOfItIsATurn(t *testing.T) {
	half := start + text(0, "First try.") + open(1, `{"type":"tool_use","id":"a","name":"read_file","input":{}}`) +
		delta(1, "input_json_delta", "partial_json", `{"path":"/etc`)
	for name, broken := range map[string]modeltest.Answer{
		"the connection breaks":           modeltest.CutStream(half),
		"the stream ends in a call":       modeltest.Stream(half),
		"the stream ends before its end":  modeltest.Stream(start + use(0, "a", "read_file", `{"path":"x"}`) + reason("tool_use")),
		"it ends in the middle of a line": modeltest.CutStream(half + "event: content_blo"),
		"a call is never finished":        modeltest.Stream(half + reason("tool_use") + stop),
		"a chunk is not JSON":             modeltest.Stream(half + event("content_block_delta", `{"type":"content_block_delta","index":1,"del`) + stop),
		"a part without a beginning":      modeltest.Stream(start + delta(3, "text_delta", "text", "x") + reason("end_turn") + stop),
		"no reason for the end":           modeltest.Stream(start + use(0, "a", "read_file", `{"path":"x"}`) + stop),
		"a call without a name":           modeltest.Stream(start + use(0, "a", "", `{"path":"x"}`) + reason("tool_use") + stop),
		"nothing at all":                  modeltest.Stream(""),
		"an error in the stream":          modeltest.Stream(half + event("error", `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`)),
		"a page of a proxy":               modeltest.Refuse(200, "<html>please log in</html>"),
	} {
		t.Run(name, func(t *testing.T) {
			s := modeltest.NewServer(t, broken, modeltest.Stream(said("Second try.")))
			var l modeltest.Listener
			turn, err := talker(t, s, 2).Talk(t.Context(), prompt("x", tools...), &l)
			if err != nil {
				t.Fatal(err)
			}
			if turn.Text != "Second try." || len(turn.Calls) != 0 || len(l.Waits) != 1 {
				t.Errorf("turn %+v, heard %q", turn, l.Heard.String())
			}
			if !strings.HasSuffix(l.Heard.String(), "#Second try.|") {
				t.Errorf("heard %q", l.Heard.String())
			}
		})
	}
}

func TestABrokenStreamThatStaysBrokenIsAnError(t *testing.T) {
	cut := modeltest.CutStream(start + open(0, `{"type":"tool_use","id":"a","name":"read_file","input":{}}`))
	s := modeltest.NewServer(t, cut, cut, cut)
	turn, err := talker(t, s, 3).Talk(t.Context(), prompt("x", tools...), nil)
	if f := fault(t, err); f.Kind != model.FaultBroken || len(turn.Calls) != 0 || !strings.Contains(err.Error(), "tried 3 times") {
		t.Errorf("turn %+v, error %v", turn, err)
	}
}

func TestWhatAProviderRefuses(t *testing.T) {
	body := func(kind, message string) string {
		return `{"type":"error","error":{"type":"` + kind + `","message":"` + message + `"}}`
	}
	modeltest.TestRefusals(t, opened(t), prompt("x", tools...), secret, map[string]modeltest.Refusal{
		"the key":   modeltest.TakenAs(model.FaultKey, modeltest.Refuse(401, body("authentication_error", "invalid x-api-key "+secret)), "ANTHROPIC_API_KEY", "401"),
		"access":    modeltest.TakenAs(model.FaultKey, modeltest.Refuse(403, body("permission_error", "no")), "ANTHROPIC_API_KEY", "anthropic:claude-test"),
		"the model": modeltest.TakenAs(model.FaultModel, modeltest.Refuse(404, body("not_found_error", "model: claude-test")), `"claude-test"`, `"anthropic:"`, "base_url"),
		"request":   modeltest.TakenAs(model.FaultRequest, modeltest.Refuse(400, body("invalid_request_error", "prompt is too long")), "prompt is too long"),
		"money":     modeltest.TakenAs(model.FaultQuota, modeltest.Refuse(402, body("billing_error", "pay")), "nothing left"),
		"redirect":  modeltest.TakenAs(model.FaultUnreachable, modeltest.Refuse(302, "", "Location: http://127.0.0.1:1/"), "base_url"),
		"a limit":   modeltest.TakenAs(model.FaultCut, modeltest.Stream(start+use(0, "a", "read_file", `{"path":"x`)+reason("max_tokens")+stop), "max_tokens"),
		"refusal":   modeltest.TakenAs(model.FaultRefused, modeltest.Stream(start+use(0, "a", "read_file", `{"path":"x"}`)+reason("refusal")+stop), "refusal"),
		"something": modeltest.TakenAs(model.FaultRefused, modeltest.Stream(start+use(0, "a", "read_file", `{"path":"x"}`)+reason("brand_new")+stop), "brand_new"),
	})
}

func TestWhatPassesIsWaitedFor(t *testing.T) {
	limited := modeltest.Refuse(429, `{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}`, "Retry-After: 7")
	s := modeltest.NewServer(t, limited, modeltest.Refuse(500, "oops"), modeltest.Refuse(529, ""), modeltest.Stream(said("At last.")))
	var l modeltest.Listener
	turn, err := talker(t, s, 4).Talk(t.Context(), prompt("x"), &l)
	if err != nil || turn.Text != "At last." {
		t.Fatalf("turn %+v, error %v", turn, err)
	}
	if len(l.Waits) != 3 || l.Waits[0] != 7*time.Second || !strings.Contains(l.Why[0], "slow down") {
		t.Errorf("waits %v, why %v", l.Waits, l.Why)
	}
}

func TestAProviderThatWantsMuchTimeIsLeftAlone(t *testing.T) {
	s := modeltest.NewServer(t, modeltest.Refuse(429, "", "Retry-After: 3600"))
	_, err := talker(t, s, 4).Talk(t.Context(), prompt("x"), nil)
	if f := fault(t, err); f.Kind != model.FaultLimit || !strings.Contains(err.Error(), "1h0m0s") {
		t.Errorf("error %v", err)
	}
}

func TestACancelInTheMiddleEndsTheTurn(t *testing.T) {
	modeltest.TestCancel(t, opened(t), prompt("x", tools...), start+text(0, "One")+open(1, `{"type":"tool_use","id":"a","name":"read_file","input":{}}`))
}

func TestSilenceIsABreak(t *testing.T) {
	s := modeltest.NewServer(t, modeltest.Stall(start, nil))
	m, err := anthropic.New(model.Endpoint{Model: "m", BaseURL: s.URL, Silence: 20 * time.Millisecond, Retry: modeltest.Hasty(1)})
	if err != nil {
		t.Fatal(err)
	}
	_, err = m.Talk(t.Context(), prompt("x"), nil)
	if f := fault(t, err); f.Kind != model.FaultBroken || !strings.Contains(err.Error(), "for too long") {
		t.Errorf("error %v", err)
	}
}

func TestNobodyAtTheAddress(t *testing.T) {
	const address = modeltest.Nowhere
	m, err := anthropic.New(model.Endpoint{Model: "m", BaseURL: address, Retry: modeltest.Hasty(3)})
	if err != nil {
		t.Fatal(err)
	}
	_, err = m.Talk(t.Context(), prompt("x"), nil)
	if f := fault(t, err); f.Kind != model.FaultUnreachable || !strings.Contains(err.Error(), "nothing answers at "+address) {
		t.Errorf("error %v", err)
	}
}

func TestTheEnvironmentIsNotAsked(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "sk-ant-from-the-environment")
	t.Setenv("ANTHROPIC_AUTH_TOKEN", "token-from-the-environment")
	t.Setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")
	t.Setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Strange: yes")
	s := modeltest.NewServer(t, modeltest.Stream(said("Hi.")))
	if _, err := talker(t, s, 1).Talk(t.Context(), prompt("x"), nil); err != nil {
		t.Fatal(err)
	}
	h := s.Requests()[0].Header
	if h.Get("X-Api-Key") != secret || h.Get("Authorization") != "" || h.Get("X-Strange") != "" {
		t.Errorf("headers %v", http.Header(h))
	}
}
