package openai_test

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/assent-dev/assent/internal/model"
	"github.com/assent-dev/assent/internal/model/modeltest"
	"github.com/assent-dev/assent/internal/model/openai"
	"github.com/assent-dev/assent/internal/worker"
)

var tools = []worker.Spec{
	{Name: "read_file", Description: "Reads.", Schema: []byte(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`)},
	{Connector: "github", Name: "create_issue"},
}

func TestATurnOfTextAndCalls(t *testing.T) {
	s := modeltest.NewServer(t, modeltest.Stream(text("I will ")+text("look.")+
		begin(0, "call_1", "read_file", "")+more(0, `{"pa`)+
		begin(1, "call_2", "github__create_issue", "")+more(0, `th":"a.md"}`)+
		reason("tool_calls")+usage+done))
	var l modeltest.Listener
	turn, err := talker(t, s, 1).Talk(t.Context(), prompt("look", tools...), &l)
	if err != nil {
		t.Fatal(err)
	}
	if turn.Text != "I will look." || l.Heard.String() != "I will |look.|" || len(turn.Calls) != 2 {
		t.Fatalf("turn %+v, heard %q", turn, l.Heard.String())
	}
	if c := turn.Calls[0]; c.ID != "call_1" || c.Name() != "read_file" || string(c.Arguments) != `{"path":"a.md"}` || c.Definition.IsZero() {
		t.Errorf("first call %+v", c)
	}
	if c := turn.Calls[1]; c.Connector != "github" || c.Tool != "create_issue" || string(c.Arguments) != "{}" {
		t.Errorf("second call %+v", c)
	}
	if want := (worker.Usage{Input: 120, CacheRead: 100, Output: 42}); turn.Usage != want {
		t.Errorf("usage %+v, want %+v", turn.Usage, want)
	}
}

// Servers of other people differ in small things.
func TestOtherPeoplesServers(t *testing.T) {
	for name, tt := range map[string]struct {
		stream string
		ids    string
		args   string
	}{
		"one index for all calls":      {begin(0, "x", "read_file", `{"a":1}`) + begin(0, "y", "read_file", `{"a":2}`) + reason("tool_calls") + done, "x y", `{"a":1} {"a":2}`},
		"calls without ids":            {begin(0, "", "read_file", `{"a":1}`) + begin(1, "", "read_file", `{"a":2}`) + reason("stop") + done, "call-1 call-2", `{"a":1} {"a":2}`},
		"the same id twice":            {begin(0, "x", "read_file", `{"a":1}`) + begin(1, "x", "read_file", `{"a":2}`) + reason("stop") + done, "x call-2", `{"a":1} {"a":2}`},
		"the id in every piece":        {begin(0, "x", "read_file", `{"a"`) + begin(0, "x", "", `:1}`) + reason("tool_calls") + done, "x", `{"a":1}`},
		"no [DONE]":                    {begin(0, "x", "read_file", `{"a":1}`) + reason("tool_calls"), "x", `{"a":1}`},
		"arguments that are not JSON":  {begin(0, "x", "read_file", `{"a":`) + reason("tool_calls") + done, "x", `"{\"a\":"`},
		"comments between the chunks":  {": keep-alive\n\n" + begin(0, "x", "read_file", `{"a":1}`) + ": OPENROUTER PROCESSING\n\n" + reason("tool_calls") + done, "x", `{"a":1}`},
		"more choices than asked for":  {chunk(`{"index":1,"delta":{"content":"other"},"finish_reason":"stop"}`) + begin(0, "x", "read_file", `{}`) + reason("tool_calls") + done, "x", `{}`},
		"lines that end as on Windows": {strings.ReplaceAll(begin(0, "x", "read_file", `{}`)+reason("tool_calls")+done, "\n", "\r\n"), "x", `{}`},
	} {
		t.Run(name, func(t *testing.T) {
			s := modeltest.NewServer(t, modeltest.Stream(tt.stream))
			turn, err := talker(t, s, 1).Talk(t.Context(), prompt("x", tools...), nil)
			if err != nil {
				t.Fatal(err)
			}
			var ids, args []string
			for _, c := range turn.Calls {
				ids, args = append(ids, c.ID), append(args, string(c.Arguments))
			}
			if strings.Join(ids, " ") != tt.ids || strings.Join(args, " ") != tt.args || turn.Text != "" {
				t.Errorf("turn %+v", turn)
			}
		})
	}
}

func TestWhatBreaksOffIsTriedAgainAndNothingOfItIsATurn(t *testing.T) {
	half := text("First try.") + begin(0, "x", "read_file", `{"path":"/etc`)
	for name, broken := range map[string]modeltest.Answer{
		"the connection breaks":            modeltest.CutStream(half),
		"the stream ends in a call":        modeltest.Stream(half),
		"it says that it is done too soon": modeltest.Stream(half + done),
		"it ends in the middle of a line":  modeltest.CutStream(half + `data: {"cho`),
		"a chunk is not JSON":              modeltest.Stream(half + "data: {\"choices\":[{\n\n" + reason("tool_calls") + done),
		"a call without a name":            modeltest.Stream(begin(0, "x", "", `{}`) + reason("tool_calls") + done),
		"a call that begins in the middle": modeltest.Stream(more(0, `{}`) + reason("tool_calls") + done),
		"nothing at all":                   modeltest.Stream(""),
		"an error in the stream":           modeltest.Stream(half + "data: {\"error\":{\"message\":\"out of memory\"}}\n\n"),
		"an error after its end":           modeltest.Stream(half + reason("tool_calls") + "data: {\"error\":{\"message\":\"out of memory\"}}\n\n"),
	} {
		t.Run(name, func(t *testing.T) {
			s := modeltest.NewServer(t, broken, modeltest.Stream(said("Second try.")))
			var l modeltest.Listener
			turn, err := talker(t, s, 2).Talk(t.Context(), prompt("x", tools...), &l)
			if err != nil {
				t.Fatal(err)
			}
			if turn.Text != "Second try." || len(turn.Calls) != 0 || len(l.Waits) != 1 || !strings.HasSuffix(l.Heard.String(), "#Second try.|") {
				t.Errorf("turn %+v, heard %q", turn, l.Heard.String())
			}
		})
	}
}

func TestWhatAProviderRefuses(t *testing.T) {
	body := func(code, message string) string {
		return `{"error":{"message":"` + message + `","type":"t","param":null,"code":"` + code + `"}}`
	}
	modeltest.TestRefusals(t, opened(t), prompt("x", tools...), secret, map[string]modeltest.Refusal{
		"the key":   modeltest.TakenAs(model.FaultKey, modeltest.Refuse(401, body("invalid_api_key", "Incorrect API key provided: "+secret)), "OPENAI_API_KEY", "401"),
		"the model": modeltest.TakenAs(model.FaultModel, modeltest.Refuse(404, body("model_not_found", "The model does not exist")), `"gpt-test"`, `"openai:"`, "base_url"),
		"request":   modeltest.TakenAs(model.FaultRequest, modeltest.Refuse(400, body("context_length_exceeded", "too long")), "too long"),
		"money":     modeltest.TakenAs(model.FaultQuota, modeltest.Refuse(429, body("insufficient_quota", "quota")), "nothing left"),
		"plain":     modeltest.TakenAs(model.FaultRequest, modeltest.Refuse(400, "what?"), "400"),
		"redirect":  modeltest.TakenAs(model.FaultUnreachable, modeltest.Refuse(307, "", "Location: http://127.0.0.1:1/"), "base_url"),
		"a limit":   modeltest.TakenAs(model.FaultCut, modeltest.Stream(begin(0, "x", "read_file", `{"path":"x`)+reason("length")+done), "max_tokens"),
		"filter":    modeltest.TakenAs(model.FaultRefused, modeltest.Stream(begin(0, "x", "read_file", `{}`)+reason("content_filter")+done), "content_filter"),
		"refusal":   modeltest.TakenAs(model.FaultRefused, modeltest.Stream(chunk(`{"index":0,"delta":{"refusal":"I will not."}}`)+reason("stop")+done), "I will not."),
	})
}

func TestWhatPassesIsWaitedFor(t *testing.T) {
	s := modeltest.NewServer(t,
		modeltest.Refuse(429, `{"error":{"message":"slow down","type":"t","code":"rate_limit_exceeded"}}`, "Retry-After-Ms: 7500"),
		modeltest.Refuse(503, "oops"), modeltest.Stream(said("At last.")))
	var l modeltest.Listener
	turn, err := talker(t, s, 3).Talk(t.Context(), prompt("x"), &l)
	if err != nil || turn.Text != "At last." {
		t.Fatalf("turn %+v, error %v", turn, err)
	}
	if len(l.Waits) != 2 || l.Waits[0] != 7500*time.Millisecond || !strings.Contains(l.Why[0], "slow down") {
		t.Errorf("waits %v, why %v", l.Waits, l.Why)
	}
}

func TestACancelInTheMiddleEndsTheTurn(t *testing.T) {
	modeltest.TestCancel(t, opened(t), prompt("x", tools...), text("One")+begin(0, "x", "read_file", `{}`))
}

func TestNobodyAtTheAddress(t *testing.T) {
	const address = modeltest.Nowhere + "/v1"
	m, err := openai.New(model.Endpoint{Model: "m", BaseURL: address, Retry: modeltest.Hasty(3)})
	if err != nil {
		t.Fatal(err)
	}
	_, err = m.Talk(t.Context(), prompt("x"), nil)
	if f := fault(t, err); f.Kind != model.FaultUnreachable || !strings.Contains(err.Error(), "nothing answers at "+address) {
		t.Errorf("error %v", err)
	}
}

func TestACertificateThatIsNotTrusted(t *testing.T) {
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	m, err := openai.New(model.Endpoint{Model: "m", BaseURL: s.URL, Retry: modeltest.Hasty(3)})
	if err != nil {
		t.Fatal(err)
	}
	_, err = m.Talk(t.Context(), prompt("x"), nil)
	if f := fault(t, err); f.Kind != model.FaultUnreachable || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("error %v", err)
	}
}

func TestTheEnvironmentIsNotAsked(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "sk-from-the-environment")
	t.Setenv("OPENAI_BASE_URL", "http://127.0.0.1:1")
	t.Setenv("OPENAI_ORG_ID", "org")
	t.Setenv("OPENAI_CUSTOM_HEADERS", "X-Strange: yes")
	s := modeltest.NewServer(t, modeltest.Stream(said("Hi.")), modeltest.Stream(said("Hi.")))
	if _, err := talker(t, s, 1).Talk(t.Context(), prompt("x"), nil); err != nil {
		t.Fatal(err)
	}
	m, err := openai.New(model.Endpoint{Model: "m", BaseURL: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Talk(t.Context(), prompt("x"), nil); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"Bearer " + secret, ""} {
		h := s.Requests()[i].Header
		if h.Get("Authorization") != want || h.Get("X-Strange") != "" || h.Get("Openai-Organization") != "" {
			t.Errorf("headers %v", h)
		}
	}
}
