package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/approval/approvaltest"
	"github.com/assent-dev/assent/internal/gateway"
	"github.com/assent-dev/assent/internal/mcptest"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/sandbox/launch"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/connector"
)

// A request is one that a client makes besides calls of tools, of a gateway in front of the
// library as connector one.
type request struct {
	method string
	free   bool // nothing in it is chosen by the model
	make   func(ctx context.Context, s *mcp.ClientSession) error
}

func read(uri string) func(context.Context, *mcp.ClientSession) error {
	return func(ctx context.Context, s *mcp.ClientSession) error {
		_, err := s.ReadResource(ctx, &mcp.ReadResourceParams{URI: uri})
		return err
	}
}

func prompt(name string, arguments map[string]string) func(context.Context, *mcp.ClientSession) error {
	return func(ctx context.Context, s *mcp.ClientSession) error {
		_, err := s.GetPrompt(ctx, &mcp.GetPromptParams{Name: name, Arguments: arguments})
		return err
	}
}

func complete(ref mcp.CompleteReference) func(context.Context, *mcp.ClientSession) error {
	return func(ctx context.Context, s *mcp.ClientSession) error {
		_, err := s.Complete(ctx, &mcp.CompleteParams{Ref: &ref, Argument: mcp.CompleteParamsArgument{Name: "to", Value: "a secret"}})
		return err
	}
}

func subscribe(uri string) func(context.Context, *mcp.ClientSession) error {
	return func(ctx context.Context, s *mcp.ClientSession) error {
		return s.Subscribe(ctx, &mcp.SubscribeParams{URI: uri})
	}
}

var requests = map[string]request{
	"read listed":           {"resources/read", true, read("test://motto")},
	"read by template":      {"resources/read", false, read("test://page/7")},
	"read unlisted":         {"resources/read", false, read("test://linked/x")},
	"prompt":                {"prompts/get", true, prompt("one__greet", nil)},
	"prompt with arguments": {"prompts/get", false, prompt("one__letter", map[string]string{"to": "a secret"})},
	"complete a prompt":     {"completion/complete", false, complete(mcp.CompleteReference{Type: "ref/prompt", Name: "one__letter"})},
	"complete a template":   {"completion/complete", false, complete(mcp.CompleteReference{Type: "ref/resource", URI: "test://page/{+n}"})},
	"subscribe":             {"resources/subscribe", true, subscribe("test://motto")},
	"subscribe to unlisted": {"resources/subscribe", false, subscribe("test://page/7")},
}

// saw reports whether a request reached a server.
func (w *world) saw(t *testing.T, server, method string) bool {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(w.seen, server))
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(strings.Split(string(data), "\n"), func(line string) bool { return strings.HasPrefix(line, method+" ") })
}

// ended returns how the call of a method ended in the records; empty if it is not there.
func (w *world) ended(method string) (states []policy.State) {
	for _, e := range w.records.all() {
		if e.Kind == approval.EventEnded && e.Connector == "one" && e.Tool == method {
			states = append(states, e.State)
		}
	}
	return states
}

// Every method passes the gate, under every mode and rule, and is recorded.
func TestEveryMethodPassesTheGate(t *testing.T) {
	ask := approval.Config{}
	strict := approval.Config{Mode: policy.ModeStrict}
	all := approval.Config{Mode: policy.ModeApproveAll}
	with := func(c approval.Config, rules ...string) approval.Config {
		c.Policy = approvaltest.Rules(t, rules...)
		return c
	}
	for _, c := range []struct {
		name        string
		gate        approval.Config
		free, asked bool // whether what is free runs, and what is asked
	}{
		{"nobody to ask", ask, true, false},
		{"strict", strict, true, false},
		{"approve all", all, true, true},
		{"deny connector", with(all, "deny connector one"), false, false},
		{"deny all", with(all, "deny one:*"), false, false},
		{"deny connector beside an allow", with(all, "allow one:*", "deny connector one"), false, false},
		{"deny another", with(all, "deny connector other"), true, true},
		{"allow connector", with(strict, "allow connector one"), true, true},
		{"allow all", with(strict, "allow one:*"), true, true},
		{"allow tools only", with(strict, "allow one:read_*", "allow one:touch"), true, false},
		{"allow another", with(strict, "allow connector other"), true, false},
	} {
		for _, version := range []string{"2025-06-18", "2026-07-28"} {
			t.Run(c.name+" "+version, func(t *testing.T) {
				w := start(t, gateway.Options{Gate: c.gate}, one(mcptest.Library))
				w.everyMethod(t, version, c.free, c.asked)
			})
		}
	}
}

// everyMethod makes all requests, of which those run that are free, or asked, or both.
func (w *world) everyMethod(t *testing.T, version string, free, asked bool) {
	s := w.connectAs(t, version, nil)
	for name, r := range requests {
		want := asked
		if r.free {
			want = free
		}
		before := len(w.ended(r.method))
		err := r.make(t.Context(), s)
		// In the newest version nobody waits for a subscription.
		waits := version != "2026-07-28" || r.method != "resources/subscribe"
		for !waits && len(w.ended(r.method)) == before {
			<-w.records.more
		}
		if waits && (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
		states := w.ended(r.method)[before:]
		if len(states) != 1 || states[0].Runs() != want {
			t.Errorf("%s: recorded as %v", name, states)
		}
	}
	for name, r := range requests {
		if reached := w.saw(t, "one", r.method); reached != (asked || free && (r.method != "completion/complete")) {
			t.Errorf("%s: reached the server: %v", name, reached)
		}
	}
}

// A rule of one method, with or without a target, is about that one.
func TestRulesNameMethodsAndTheirTargets(t *testing.T) {
	for _, c := range []struct {
		rule    string
		allowed []string
	}{
		{"allow one:resources/read", []string{"read by template", "read unlisted"}},
		{"allow one:resources/read(test://page/*)", []string{"read by template"}},
		{"allow one:resources/*", []string{"read by template", "read unlisted", "subscribe to unlisted"}},
		{"allow one:prompts/get(letter)", []string{"prompt with arguments"}},
		{"allow one:prompts/get(greet)", nil},
		{"allow one:completion/complete(letter)", []string{"complete a prompt"}},
		{"allow one:completion/complete", []string{"complete a prompt", "complete a template"}},
		{"allow one:resources/subscribe", []string{"subscribe to unlisted"}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			w := start(t, gateway.Options{Gate: approval.Config{Mode: policy.ModeStrict, Policy: approvaltest.Rules(t, c.rule)}}, one(mcptest.Library))
			s := w.connect(t, nil)
			for name, r := range requests {
				want := r.free || slices.Contains(c.allowed, name)
				if err := r.make(t.Context(), s); (err == nil) != want {
					t.Errorf("%s: %v", name, err)
				}
			}
		})
	}
}

// Another spelling of a URI is neither covered by an allow nor out of reach of a deny.
func TestSpellingsOfAURI(t *testing.T) {
	spellings := []string{
		"test://page/../page/secret", "test://page/%73ecret", "test://page/./secret", "test://page//secret", "TEST://page/secret",
		"test://page/secret#x", "test://page/x/..%2Fsecret", "test://page/secret/", `test://page/x\..\secret`,
	}
	for _, uri := range spellings {
		w := start(t, gateway.Options{Gate: approval.Config{Mode: policy.ModeStrict, Policy: approvaltest.Rules(t, "allow one:resources/read(test://page/s*)", "allow one:resources/read(test://page/x*)")}}, one(mcptest.Library))
		if err := read(uri)(t.Context(), w.connect(t, nil)); err == nil {
			t.Errorf("%s: an allow of another spelling covers it", uri)
		}
		w = start(t, gateway.Options{Gate: approval.Config{Mode: policy.ModeApproveAll, Policy: approvaltest.Rules(t, "deny one:resources/read(test://page/secret*)")}}, one(mcptest.Library))
		if err := read(uri)(t.Context(), w.connect(t, nil)); err == nil {
			t.Errorf("%s: a deny of another spelling does not hold", uri)
		}
	}
}

// What is denied is not offered.
func TestWhatIsDeniedIsNotListed(t *testing.T) {
	for _, c := range []struct {
		rule                          string
		prompts, resources, templates int
		speaks                        bool
	}{
		{"deny other:*", 3, 1, 1, true},
		{"deny connector one", 0, 0, 0, false},
		{"deny one:prompts/get", 0, 1, 1, true},
		{"deny one:prompts/get(greet)", 2, 1, 1, true},
		{"deny one:resources/read", 3, 0, 0, true},
		{"deny one:resources/read(test://m*)", 3, 0, 1, true},
	} {
		w := start(t, gateway.Options{Gate: approval.Config{Policy: approvaltest.Rules(t, c.rule)}}, one(mcptest.Library))
		s := w.connect(t, nil)
		prompts, err := s.ListPrompts(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		resources, err := s.ListResources(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		templates, err := s.ListResourceTemplates(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(prompts.Prompts) != c.prompts || len(resources.Resources) != c.resources || len(templates.ResourceTemplates) != c.templates {
			t.Errorf("%s: %d prompts, %d resources, %d templates", c.rule, len(prompts.Prompts), len(resources.Resources), len(templates.ResourceTemplates))
		}
		if said := s.InitializeResult().Instructions; strings.Contains(said, "motto") != c.speaks {
			t.Errorf("%s: the instructions are %q", c.rule, said)
		}
	}
}

// A rule that is made while the gateway runs holds for the next request.
func TestADenyThatComesLaterHolds(t *testing.T) {
	rules := approval.NewMemory(10)
	w := start(t, gateway.Options{Gate: approval.Config{Mode: policy.ModeApproveAll, Rules: rules}}, one(mcptest.Library))
	s := w.connect(t, nil)
	for name, r := range requests {
		if err := r.make(t.Context(), s); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	deny, err := policy.ParseRule("deny connector one")
	if err != nil {
		t.Fatal(err)
	}
	deny.ID = "d"
	if err := rules.AddRules(t.Context(), deny); err != nil {
		t.Fatal(err)
	}
	for name, r := range requests {
		if err := r.make(t.Context(), s); err == nil {
			t.Errorf("%s ran", name)
		}
	}
	if list, err := s.ListPrompts(t.Context(), nil); err != nil || len(list.Prompts) != 0 {
		t.Errorf("listed are %v, %v", list, err)
	}
}

// off is a store whose master switch is off.
type off struct{ *approval.Memory }

func (off) Approvals(context.Context) (bool, error) { return false, nil }

// With approvals off what would be asked runs, is recorded, and denies hold.
func TestMethodsWithApprovalsOff(t *testing.T) {
	for rule, runs := range map[string]bool{"deny other:*": true, "deny connector one": false} {
		w := start(t, gateway.Options{Gate: approval.Config{Rules: off{approval.NewMemory(10)}, Policy: approvaltest.Rules(t, rule)}}, one(mcptest.Library))
		w.everyMethod(t, "2025-06-18", runs, runs)
	}
}

// The operator's word on tools by name is about methods too.
func TestConfigNamesMethods(t *testing.T) {
	for word, runs := range map[tool.Word]bool{tool.WordAllow: true, tool.WordDeny: false, tool.WordAsk: false} {
		configure := func(tools ...tool.Tool) ([]tool.Tool, error) {
			out, _, err := tool.Configure(tool.Config{Tools: []tool.Named{{Name: "one:*", Approval: word}}}, tools...)
			return out, err
		}
		w := start(t, gateway.Options{Configure: configure, Gate: approval.Config{Mode: policy.ModeStrict}}, one(mcptest.Library))
		s := w.connect(t, nil)
		for name, r := range requests {
			if err := r.make(t.Context(), s); (err == nil) != runs {
				t.Errorf("%s, %s: %v", word, name, err)
			}
		}
	}
}

// Without a prefix, and over HTTP with a session each, it is the same.
func TestMethodsOverHTTPAndWithPlainNames(t *testing.T) {
	w := start(t, gateway.Options{Plain: true, Gate: approval.Config{Policy: approvaltest.Rules(t, "deny one:prompts/get(letter)")}}, one(mcptest.Library))
	server := w.serveHTTP(t)
	for _, version := range []string{"2025-06-18", "2026-07-28"} {
		s := connectHTTP(t, server.URL, version)
		if err := prompt("greet", nil)(t.Context(), s); err != nil {
			t.Errorf("%s: %v", version, err)
		}
		if err := read("test://motto")(t.Context(), s); err != nil {
			t.Errorf("%s: %v", version, err)
		}
		for name, r := range map[string]func(context.Context, *mcp.ClientSession) error{
			"denied": prompt("letter", map[string]string{"to": "x"}), "asked": read("test://page/7"), "unlisted": read("test://linked"),
			"completion": complete(mcp.CompleteReference{Type: "ref/prompt", Name: "letter"}),
		} {
			if err := r(t.Context(), s); err == nil {
				t.Errorf("%s: %s ran", version, name)
			}
		}
	}
}

// A read that waits is told so with an error, and taken up by the same read.
func TestAReadThatWaitsIsTakenUp(t *testing.T) {
	p := make(person)
	w := start(t, gateway.Options{Gate: approval.Config{Approver: p}, Hold: time.Millisecond}, one(mcptest.Library))
	s := w.connect(t, nil)
	page := &mcp.ReadResourceParams{URI: "test://page/7"}
	_, err := s.ReadResource(t.Context(), page)
	q := <-p
	var told *jsonrpc.Error
	if !errors.As(err, &told) || !strings.Contains(told.Message, q.request.ID) || !strings.Contains(told.Message, "assent inbox") || !strings.Contains(string(told.Data), "pending") {
		t.Fatalf("told %v", err)
	}
	if q.request.Acts[0].String() != "one:resources/read(test://page/7)" || !strings.Contains(q.request.Why, "does not list") {
		t.Errorf("asked about %v because %s", q.request.Acts, q.request.Why)
	}
	q.yes()
	for {
		r, err := s.ReadResource(t.Context(), page)
		if err == nil {
			if r.Contents[0].Text != "Ask first." {
				t.Errorf("read %v", r.Contents[0])
			}
			return
		}
		if !strings.Contains(err.Error(), q.request.ID) {
			t.Fatal(err)
		}
	}
}

// A person may change what is read, or answer in the server's place.
func TestAPersonChangesOrAnswersAMethod(t *testing.T) {
	p := make(person)
	w := start(t, gateway.Options{Gate: approval.Config{Approver: p}}, one(mcptest.Library))
	s := w.connect(t, nil)
	go func() {
		q := <-p
		q.answer <- q.request.Change([]byte(`{"uri":"test://motto"}`), "that one is fine")
		q = <-p
		q.answer <- q.request.Respond("Page seven.")
		q = <-p
		q.answer <- q.request.Respond("Dear Ann.")
	}()
	for _, want := range []string{"test://motto Ask first.", "test://page/7 Page seven."} {
		r, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "test://page/7"})
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Contents[0].URI + " " + r.Contents[0].Text; got != want {
			t.Errorf("read %q, want %q", got, want)
		}
	}
	letter, err := s.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "one__letter", Arguments: map[string]string{"to": "Ann"}})
	if err != nil || fmt.Sprint(letter.Messages[0].Content.(*mcp.TextContent).Text) != "Dear Ann." {
		t.Errorf("got %v, %v", letter, err)
	}
}

// Nobody comes back to a completion: a question that its client does not wait for is closed.
func TestACompletionThatNobodyWaitsForIsNotAskedAnyMore(t *testing.T) {
	p := make(person)
	w := start(t, gateway.Options{Gate: approval.Config{Approver: p}, Hold: time.Millisecond}, one(mcptest.Library))
	s := w.connect(t, nil)
	failed := make(chan error, 1)
	go func() {
		failed <- complete(mcp.CompleteReference{Type: "ref/prompt", Name: "one__letter"})(t.Context(), s)
	}()
	var err error
	select {
	case q := <-p:
		<-q.request.Done()
		err = <-failed
	case err = <-failed: // it was closed before anybody was asked
	}
	if err == nil || !strings.Contains(err.Error(), "allow one:completion/complete") {
		t.Errorf("told %v", err)
	}
}

// What one connector lists is read there and nowhere else, and another that lists the same
// does not get it.
func TestEachResourceAndPromptHasOneOwner(t *testing.T) {
	w := start(t, gateway.Options{Gate: approval.Config{Mode: policy.ModeApproveAll}}, map[string]string{"one": mcptest.Library, "two": mcptest.Library})
	s := w.connect(t, nil)
	for _, name := range []string{"read listed", "read by template", "prompt", "complete a prompt", "complete a template", "subscribe"} {
		if err := requests[name].make(t.Context(), s); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"read unlisted", "subscribe to unlisted"} {
		if err := requests[name].make(t.Context(), s); err == nil {
			t.Errorf("%s: somebody was picked", name)
		}
	}
	for _, method := range []string{"resources/read", "prompts/get", "completion/complete", "resources/subscribe"} {
		if !w.saw(t, "one", method) || w.saw(t, "two", method) {
			t.Errorf("%s: one %v, two %v", method, w.saw(t, "one", method), w.saw(t, "two", method))
		}
	}
	if err := complete(mcp.CompleteReference{Type: "ref/prompt", Name: "letter"})(t.Context(), s); err == nil {
		t.Error("a prompt that was not offered is completed")
	}
}

// A resource that one connector lists is not free at another whose template fits it.
func TestAListedResourceOfAnotherIsNotFree(t *testing.T) {
	w := start(t, gateway.Options{Gate: approval.Config{Policy: approvaltest.Rules(t, "deny connector one")}}, map[string]string{"one": mcptest.Library, "two": mcptest.Library})
	s := w.connect(t, nil)
	if err := read("test://motto")(t.Context(), s); err == nil || w.saw(t, "two", "resources/read") {
		t.Errorf("%v; two has seen it: %v", err, w.saw(t, "two", "resources/read"))
	}
}

// Updates reach those who subscribed, from the connector that they subscribed to.
func TestUpdatesComeFromWhereTheyWereAskedFor(t *testing.T) {
	told := make(chan string, 100)
	w := start(t, gateway.Options{Gate: approval.Config{Mode: policy.ModeApproveAll}}, map[string]string{"one": mcptest.Library, "two": mcptest.Library})
	s := w.connect(t, &mcp.ClientOptions{ResourceUpdatedHandler: func(_ context.Context, r *mcp.ResourceUpdatedNotificationRequest) { told <- r.Params.URI }})
	if err := subscribe("test://motto")(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		say(t, s, "two__touch", "test://motto")
	}
	say(t, s, "one__touch", "test://motto")
	if got := <-told; got != "test://motto" || len(told) > 0 {
		t.Errorf("told %q and %d more", got, len(told))
	}
	if err := s.Unsubscribe(t.Context(), &mcp.UnsubscribeParams{URI: "test://motto"}); err != nil || !w.saw(t, "one", "resources/unsubscribe") || w.saw(t, "two", "resources/unsubscribe") {
		t.Errorf("unsubscribed: %v", err)
	}
	if err := s.Unsubscribe(t.Context(), &mcp.UnsubscribeParams{URI: "test://a-secret"}); err != nil {
		t.Error(err)
	}
	if data, err := os.ReadFile(filepath.Join(w.seen, "one")); err != nil || strings.Contains(string(data), "a-secret") {
		t.Errorf("what was not subscribed to reached the server (%v)", err)
	}
}

// A server asks the user while it makes a prompt, in every version, unless it is denied.
func TestAConnectorAsksWithinAPrompt(t *testing.T) {
	for _, version := range asking {
		for rule, want := range map[string]string{"deny other:*": "accept Ann", "deny one:elicitation/create": ""} {
			w := start(t, gateway.Options{Plain: true, Gate: approval.Config{Policy: approvaltest.Rules(t, rule)}}, one(mcptest.Library))
			s := w.connectAs(t, version, &mcp.ClientOptions{ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
				return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"name": "Ann"}}, nil
			}})
			r, err := s.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "curious"})
			if (err == nil) != (want != "") || err == nil && r.Description != want {
				t.Errorf("%s, %s: got %+v, %v", version, rule, r, err)
			}
			if states := w.ended("elicitation/create"); len(states) != 1 || states[0].Runs() != (want != "") {
				t.Errorf("%s, %s: recorded as %v", version, rule, states)
			}
		}
	}
}

// The client's user may answer for a method as for a tool.
func TestTheClientsUserAnswersForARead(t *testing.T) {
	for _, version := range asking {
		w := start(t, gateway.Options{Plain: true, ClientAnswers: true}, one(mcptest.Library))
		s := w.connectAs(t, version, &mcp.ClientOptions{ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			if !strings.Contains(r.Params.Message, "one:resources/read on test://page/7") {
				t.Errorf("asked %q", r.Params.Message)
			}
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"answer": "approve"}}, nil
		}})
		if err := read("test://page/7")(t.Context(), s); err != nil {
			t.Errorf("%s: %v", version, err)
		}
	}
}

// An error of the server reaches the client as it came.
func TestAnErrorOfTheServerStaysAsItCame(t *testing.T) {
	w := start(t, gateway.Options{Plain: true, Gate: approval.Config{Mode: policy.ModeApproveAll}}, one(mcptest.Library))
	err := read("other://nothing")(t.Context(), w.connect(t, nil))
	var told *jsonrpc.Error
	if !errors.As(err, &told) || told.Code != jsonrpc.CodeInvalidParams {
		t.Errorf("told %v", err)
	}
}

// No tool can be called by the name of a method.
func TestMethodsAreNoTools(t *testing.T) {
	w := start(t, gateway.Options{Plain: true, Gate: approval.Config{Mode: policy.ModeApproveAll}}, one(mcptest.Hostile))
	s := w.connect(t, nil)
	for _, name := range []string{"resources/read", "Resources/Read", "completion/complete"} {
		r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "add", Arguments: args{"name": name}})
		if text := textIn(t, r, err); text != "done" {
			t.Fatalf("got %q", text)
		}
	}
	list, err := s.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tl := range list.Tools {
		if strings.Contains(tl.Name, "/") {
			t.Errorf("offered is %s", tl.Name)
		}
	}
	if _, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "resources/read", Arguments: args{"uri": "x"}}); err == nil {
		t.Error("a method is called as a tool")
	}
}

// A connector that is launched in another way than before is looked at by a person before
// anything of it is used, also what would be free, and once.
func TestAMethodOfAConnectorLaunchedInAnotherWayAsksAPerson(t *testing.T) {
	pins := connector.NewMemoryPins()
	argv, env := mcptest.Command(mcptest.Library)
	opened := func(command ...string) *connector.Connector {
		c, err := connector.Open(t.Context(), connector.Config{Name: "one", Command: command, Env: env},
			connector.Options{Runner: launch.None{}, Environ: os.Environ(), Pins: pins})
		if err != nil || c.Err() != nil {
			t.Fatal(err, c.Err())
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
	opened(argv...)
	p := make(person)
	g, err := gateway.New(gateway.Options{
		Connectors: []*connector.Connector{opened(append(argv, "--other")...)},
		Gate:       approval.Config{Mode: policy.ModeApproveAll, Approver: p, Policy: approvaltest.Rules(t, "allow connector one")},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	s := (&world{Gateway: g}).connect(t, nil)
	done := make(chan error, 1)
	go func() { done <- read("test://motto")(t.Context(), s) }()
	q := <-p
	if !q.request.PersonOnly || !strings.Contains(q.request.Why, "launched in another way") {
		t.Errorf("asked because %s, person only %v", q.request.Why, q.request.PersonOnly)
	}
	q.yes()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	for name, r := range requests {
		if err := r.make(t.Context(), s); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
