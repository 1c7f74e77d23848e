package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
)

func TestParseWord(t *testing.T) {
	spellings := map[tool.Word][]string{
		tool.WordAllow: {"allow", "none", "preApproved", "pre_approved", "false"},
		tool.WordAsk:   {"ask", "required", "true", "approve"},
		tool.WordDeny:  {"deny", "blocked"},
		tool.WordOnce:  {"once_per_session"},
	}
	for word, texts := range spellings {
		for _, text := range texts {
			if got, err := tool.ParseWord(text); got != word || err != nil {
				t.Errorf("ParseWord(%q) = %q, %v, want %q", text, got, err, word)
			}
		}
	}
	for _, text := range []string{"", "Allow", "yes", "allow ", "preapproved"} {
		if got, err := tool.ParseWord(text); got != tool.WordDeny || err == nil {
			t.Errorf("ParseWord(%q) = %q, %v, want deny and an error", text, got, err)
		}
	}
	if tool.WordFor(true) != tool.WordAsk || tool.WordFor(false) != tool.WordAllow {
		t.Errorf("approval as a bool: true %q, false %q", tool.WordFor(true), tool.WordFor(false))
	}
}

func entries(pairs ...string) tool.Config {
	var cfg tool.Config
	for i := 0; i < len(pairs); i += 2 {
		cfg.Tools = append(cfg.Tools, tool.Named{Name: pairs[i], Approval: tool.Word(pairs[i+1])})
	}
	return cfg
}

func TestConfigureEntries(t *testing.T) {
	const free, asked, blocked = policy.StateFree, policy.StateApproved, policy.StateBlocked
	github := func(p *probe) *probe {
		p.spec = func() tool.Spec { return tool.Spec{Connector: "github", Name: p.name} }
		return p
	}
	tests := map[string]struct {
		cfg  tool.Config
		tool *probe
		want policy.State
	}{
		"nothing, asks":              {entries(), asks("send_mail"), asked},
		"nothing, free":              {entries(), frees("send_mail"), free},
		"empty entry":                {entries("send_mail", ""), asks("send_mail"), asked},
		"allow":                      {entries("send_mail", "allow"), asks("send_mail"), free},
		"ask":                        {entries("send_mail", "ask"), frees("send_mail"), asked},
		"deny":                       {entries("send_mail", "deny"), frees("send_mail"), blocked},
		"other tool":                 {entries("send_fax", "deny"), frees("send_mail"), free},
		"without case":               {entries("SEND_Mail", "ask"), frees("send_mail"), asked},
		"glob":                       {entries("send_*", "ask"), frees("send_mail"), asked},
		"first match":                {entries("send_mail", "allow", "send_*", "ask"), asks("send_mail"), free},
		"first match, other way":     {entries("send_*", "ask", "send_mail", "allow"), frees("send_mail"), asked},
		"empty entry is no match":    {entries("send_mail", "", "send_*", "ask"), frees("send_mail"), asked},
		"a later deny wins":          {entries("send_mail", "allow", "*", "deny"), asks("send_mail"), blocked},
		"connector":                  {entries("github:send_mail", "ask"), github(frees("send_mail")), asked},
		"connector glob":             {entries("github:*", "deny"), github(frees("send_mail")), blocked},
		"connector, built-in tool":   {entries("github:*", "deny"), frees("send_mail"), free},
		"bare name, connector":       {entries("send_mail", "ask"), github(frees("send_mail")), asked},
		"built-in name, connector":   {entries("write_file", "allow"), github(asks("write_file")), asked},
		"deny built-in, connector":   {entries("write_file", "deny"), github(asks("write_file")), blocked},
		"pre-approved":               {tool.Config{PreApproved: []string{"send_mail"}}, asks("send_mail"), free},
		"pre-approved, asked":        {tool.Config{PreApproved: []string{"send_mail"}, Tools: entries("send_*", "ask").Tools}, frees("send_mail"), asked},
		"pre-approved, empty entry":  {tool.Config{PreApproved: []string{"send_mail"}, Tools: entries("send_mail", "").Tools}, asks("send_mail"), free},
		"pre-approved, denied":       {tool.Config{PreApproved: []string{"send_mail"}, Tools: entries("send_*", "deny").Tools}, frees("send_mail"), blocked},
		"once, and a yes is a grant": {entries("send_mail", "once_per_session"), frees("send_mail"), asked},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			tools, _, err := tool.Configure(test.cfg, test.tool)
			if err != nil {
				t.Fatal(err)
			}
			d := newFixture(t, yes, tools...)
			spec := test.tool.Spec()
			r := tool.Call(context.Background(), d.gate, policy.Call{Connector: spec.Connector, Tool: spec.Name})
			if r.Outcome.State != test.want {
				t.Errorf("it is %s, want %s", r.Outcome.State, test.want)
			}
		})
	}
}

func TestConfigureRefuses(t *testing.T) {
	tests := map[string]struct {
		cfg  tool.Config
		want string
	}{
		"unknown word":  {entries("send_mail", "maybe"), `config for tool "send_mail": unknown approval "maybe": it is allow, ask, deny or once_per_session`},
		"empty name":    {entries("", "allow"), `config for tool "": `},
		"broken glob":   {entries("send_[", "deny"), `config for tool "send_[": `},
		"with a target": {entries("write_file(notes/**)", "allow"), `config for tool "write_file(notes/**)": `},
		"pre-approved":  {tool.Config{PreApproved: []string{""}}, `config for tool "": `},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			tools, _, err := tool.Configure(test.cfg, frees("send_mail"))
			if err == nil || tools != nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}

// An allow never lifts what the tool blocks, what is answered by name only, and
// what only a person may answer.
func TestConfigAllowHasLimits(t *testing.T) {
	act := func(change func(*policy.Act)) policy.Act {
		a := policy.Act{Name: policy.ActWriteFile, Target: policy.PathTarget("out/a"), Known: true, Verdict: policy.VerdictAsk}
		change(&a)
		return a
	}
	tests := map[string]struct {
		act     policy.Act
		want    policy.State
		verdict policy.Verdict
	}{
		"plain":       {act(func(*policy.Act) {}), policy.StateFree, policy.VerdictFree},
		"by name":     {act(func(a *policy.Act) { a.ByName = true }), policy.StateApproved, policy.VerdictAsk},
		"person only": {act(func(a *policy.Act) { a.PersonOnly = true }), policy.StateApproved, policy.VerdictAsk},
		"blocked":     {act(func(a *policy.Act) { a.Verdict = policy.VerdictBlock }), policy.StateBlocked, policy.VerdictBlock},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p := asks("copy")
			p.prepare = func(_ json.RawMessage, do tool.Do) (tool.Action, error) { return tool.Ask(do).On(test.act), nil }
			d := configured(t, entries("copy", "allow"), p)
			r := d.call("copy", `{}`)
			if verdict := r.Outcome.Acts[0].Verdict; r.Outcome.State != test.want || verdict != test.verdict {
				t.Errorf("it is %s and the act %s, want %s and %s", r.Outcome.State, verdict, test.want, test.verdict)
			}
		})
	}
}

func TestConfigDenySaysWhy(t *testing.T) {
	for reason, want := range map[string]string{"": "blocked by policy", "not on Fridays": "not on Fridays"} {
		p := frees("send_mail")
		d := configured(t, tool.Config{Tools: []tool.Named{{Name: "send_mail", Approval: "deny", Reason: reason}}}, p)
		var blocked *approval.BlockedError
		if r := d.call("send_mail", `{}`); !errors.As(r.Err, &blocked) || blocked.Why != want {
			t.Errorf("error %v, want blocked: %s", r.Err, want)
		}
		p.wantRan(t)
	}
}

// The person who is asked sees which line of the config asks, even if the tool
// had a reason to be free.
func TestConfigAskSaysWhere(t *testing.T) {
	p := frees("send_mail")
	p.prepare = func(_ json.RawMessage, do tool.Do) (tool.Action, error) {
		return tool.Free(do).Because("mail is harmless"), nil
	}
	d := configured(t, tool.Config{Tools: []tool.Named{{Name: "send_*", Approval: "ask", Source: "policy.yaml:7"}}}, p)
	d.call("send_mail", `{}`)
	d.wantAsked(1)
	if why := d.asked[0].Why; why != "config says tools send_*: ask at policy.yaml:7" {
		t.Errorf("why: %s", why)
	}
}

// once_per_session: a yes holds for exactly these acts in this session.
func TestOncePerSession(t *testing.T) {
	p := frees("send_mail")
	d := configured(t, entries("send_mail", "once_per_session"), p)
	for _, args := range []string{`{"to":"ann"}`, `{"to":"ann"}`, `{"to":"bob"}`, `{"to":"ann"}`} {
		d.call("send_mail", args)
	}
	d.wantAsked(2)
	p.wantRan(t, `{"to":"ann"}`, `{"to":"ann"}`, `{"to":"bob"}`, `{"to":"ann"}`)
}

// Configure leaves the entries that it was given alone.
func TestConfigureKeepsItsInput(t *testing.T) {
	backing := entries("a", "allow", "b", "required", "c", "deny").Tools
	if _, _, err := tool.Configure(tool.Config{Tools: backing[:2], PreApproved: []string{"x"}}, frees("a")); err != nil {
		t.Fatal(err)
	}
	if backing[2].Name != "c" || backing[1].Approval != "required" {
		t.Errorf("entries are %+v now", backing)
	}
}

// A function that cannot tell whether to ask refuses.
func TestNeedsApprovalIfFails(t *testing.T) {
	p := frees("t")
	broken := func(context.Context, policy.Call) (bool, error) { return false, errors.New("no table of paths") }
	d := newFixture(t, yes, tool.NeedsApprovalIf(broken, p)...)
	r := d.call("t", `{}`)
	wantText(t, r, "[ERROR] t did not run: unknown whether t needs approval: no table of paths. Correct the call and try again.")
	p.wantRan(t)
	d.wantAsked(0)
}

// The word of an inner layer is kept by an outer one that says no.
func TestLayersKeepTheStricterWord(t *testing.T) {
	p := asks("t")
	d := newFixture(t, yes, tool.NeedsApproval(false, tool.NeedsApproval(true, p)...)...)
	d.call("t", `{}`)
	d.wantAsked(1)
	blocks := asks("u")
	blocks.prepare = func(json.RawMessage, tool.Do) (tool.Action, error) { return tool.Block("never"), nil }
	d = newFixture(t, yes, tool.RequireApproval(tool.NeedsApproval(true, blocks)[0], tool.Approval[struct{}]{}))
	if r := d.call("u", `{}`); !errors.Is(r.Err, approval.ErrBlocked) {
		t.Errorf("error %v", r.Err)
	}
}
