package config

import (
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/assent-dev/assent/policy"
)

// A User is what config.yaml says: a policy, and defaults. Zero fields leave it to whoever
// uses them.
type User struct {
	*Policy
	// Model is for workers that name none.
	Model string
	// Providers are by name: anthropic, openai.
	Providers map[string]Provider
	Mode      policy.Mode
	// ApprovalsOff is the master switch: what would be asked runs.
	ApprovalsOff bool
	StopOnDeny   bool
	AskTimeout   time.Duration
	// MaxRules is how many rules are kept.
	MaxRules int
	// ViewLines and ViewChars are how much of a view is shown before it is cut.
	ViewLines, ViewChars int
	Audit                Audit
	// Notify is a program that is told when a request has waited for NotifyAfter.
	Notify      []string
	NotifyAfter time.Duration
	// Webhook is an address that is told as well; empty for none.
	Webhook Webhook
	Hook    Hook
	Gateway Gateway
}

// Switched returns the mode with the master switch of the file counted in: off, what would
// be asked runs. A mode that asks nobody stays as it is.
func (u *User) Switched(m policy.Mode) policy.Mode {
	if u.ApprovalsOff && m == policy.ModeAsk {
		return policy.ModeApproveAll
	}
	return m
}

// A Provider is where models are.
type Provider struct {
	BaseURL     string
	KeyVariable string
	MaxTokens   int64
}

// Audit is what the audit log keeps.
type Audit struct {
	KeepArguments string // none, redacted or full; empty is redacted
	FsyncAll      bool
	KeepDays      int
	KeepBytes     int64
}

// Hook is how other agents are answered.
type Hook struct {
	// Ask is agent, defer, inbox or deny; empty is agent.
	Ask      string
	Deadline time.Duration
	Observe  bool
	// Shell is [HookStage] or [HookJudge]; empty is judge.
	Shell string
	// Policy is [HookQuiet] or [HookCareful]; empty is careful.
	Policy string
}

// The words for a hook's shell and policy.
const (
	HookStage   = "stage"
	HookJudge   = "judge"
	HookQuiet   = "quiet"
	HookCareful = "careful"
)

// Gateway is how MCP clients are answered.
type Gateway struct {
	Elicitation bool
	Hold        time.Duration
}

// A Webhook is an address that is told when a request waits.
type Webhook struct{ URL, SecretFile string }

// LoadUser reads a user's config. Its paths are absolute, or begin with ~/. The error, if
// any, is of type [Problems] and has them all.
func LoadUser(file string, data []byte) (*User, error) {
	r := &report{file: file}
	root, err := r.parse(data)
	if err != nil {
		return nil, err
	}
	o := r.object(root, "the file", userShape)
	u := r.user(o)
	u.Policy = r.policy(o)
	if err := r.err(); err != nil {
		return nil, err
	}
	return u, nil
}

func (r *report) user(o *object) *User {
	u := &User{}
	o.each(map[string]func(ast.Node, string){
		"model":        func(n ast.Node, what string) { u.Model = r.text(n, what) },
		"providers":    func(n ast.Node, what string) { u.Providers = r.providers(n, what) },
		"mode":         func(n ast.Node, what string) { u.Mode = r.answerMode(n, what) },
		"approvals":    func(n ast.Node, what string) { u.ApprovalsOff = !r.bool(n, what) },
		"on_deny":      func(n ast.Node, what string) { u.StopOnDeny = o.oneOf(n, what) == "stop" },
		"ask_timeout":  func(n ast.Node, what string) { u.AskTimeout = r.duration(n, what) },
		"notify":       func(n ast.Node, what string) { u.Notify = r.texts(n, what) },
		"webhook":      func(n ast.Node, what string) { u.Webhook = r.webhook(n) },
		"notify_after": func(n ast.Node, what string) { u.NotifyAfter = r.duration(n, what) },
		"limits":       func(n ast.Node, what string) { r.limits(n, u) },
		"view":         func(n ast.Node, what string) { r.view(n, u) },
		"audit":        func(n ast.Node, what string) { u.Audit = r.audit(n) },
		"hook":         func(n ast.Node, what string) { u.Hook = r.hook(n) },
		"gateway":      func(n ast.Node, what string) { u.Gateway = r.gateway(n) },
	})
	return u
}

// each reads the keys that are there.
func (o *object) each(read map[string]func(n ast.Node, what string)) {
	for _, k := range o.shape.keys {
		if do := read[k.name]; do != nil {
			if n, ok := o.take(k.name); ok {
				do(n, k.name)
			}
		}
	}
}

// oneOf reads one of the words that the key of the object takes.
func (o *object) oneOf(n ast.Node, key string) string { return o.one(n, key, o.shape.find(key).shape) }

// number reads a count that fits.
func (r *report) number(n ast.Node, what string) int { return int(min(r.count(n, what), 1<<30)) }

func (r *report) providers(n ast.Node, what string) map[string]Provider {
	out := map[string]Provider{}
	all := r.object(n, what, userShape.find(what).shape)
	for _, k := range all.shape.keys {
		n, ok := all.take(k.name)
		if !ok {
			continue
		}
		var p Provider
		r.object(n, what+"."+k.name, k.shape).each(map[string]func(ast.Node, string){
			"base_url": func(n ast.Node, key string) {
				p.BaseURL = r.text(n, key)
				r.checkURL(n, key, p.BaseURL)
			},
			"key_variable": func(n ast.Node, key string) { p.KeyVariable = r.text(n, key) },
			"max_tokens":   func(n ast.Node, key string) { p.MaxTokens = r.count(n, key) },
		})
		out[k.name] = p
	}
	return out
}

func (r *report) answerMode(n ast.Node, what string) policy.Mode {
	m, err := policy.ParseMode(spelledMode(r.text(n, what)))
	if err != nil {
		r.problem(n, "%v", err)
	}
	return m
}

func (r *report) limits(n ast.Node, u *User) {
	r.object(n, "limits", userShape.find("limits").shape).each(map[string]func(ast.Node, string){
		"rules": func(n ast.Node, key string) { u.MaxRules = r.number(n, key) },
	})
}

func (r *report) view(n ast.Node, u *User) {
	r.object(n, "view", userShape.find("view").shape).each(map[string]func(ast.Node, string){
		"lines": func(n ast.Node, key string) { u.ViewLines = r.number(n, key) },
		"chars": func(n ast.Node, key string) { u.ViewChars = r.number(n, key) },
	})
}

// maxKeepDays is a hundred years: more would overflow a [time.Duration], and could then mean a short time.
const maxKeepDays = 36_525

func (r *report) audit(n ast.Node) Audit {
	var a Audit
	o := r.object(n, "audit", userShape.find("audit").shape)
	o.each(map[string]func(ast.Node, string){
		"keep_arguments": func(n ast.Node, key string) { a.KeepArguments = o.oneOf(n, key) },
		"fsync":          func(n ast.Node, key string) { a.FsyncAll = o.oneOf(n, key) == "all" },
		"keep_days":      func(n ast.Node, key string) { a.KeepDays = min(r.number(n, key), maxKeepDays) },
		"keep_bytes":     func(n ast.Node, key string) { a.KeepBytes = r.count(n, key) },
	})
	return a
}

func (r *report) hook(n ast.Node) Hook {
	var h Hook
	o := r.object(n, "hook", userShape.find("hook").shape)
	o.each(map[string]func(ast.Node, string){
		"ask":      func(n ast.Node, key string) { h.Ask = o.oneOf(n, key) },
		"deadline": func(n ast.Node, key string) { h.Deadline = r.duration(n, key) },
		"observe":  func(n ast.Node, key string) { h.Observe = r.bool(n, key) },
		"shell":    func(n ast.Node, key string) { h.Shell = o.oneOf(n, key) },
		"policy":   func(n ast.Node, key string) { h.Policy = o.oneOf(n, key) },
	})
	return h
}

func (r *report) webhook(n ast.Node) Webhook {
	var w Webhook
	r.object(n, "webhook", userShape.find("webhook").shape).each(map[string]func(ast.Node, string){
		"url":         func(n ast.Node, key string) { w.URL = r.text(n, key) },
		"secret_file": func(n ast.Node, key string) { w.SecretFile = r.text(n, key) },
	})
	return w
}

func (r *report) gateway(n ast.Node) Gateway {
	var g Gateway
	r.object(n, "gateway", userShape.find("gateway").shape).each(map[string]func(ast.Node, string){
		"elicitation": func(n ast.Node, key string) { g.Elicitation = r.bool(n, key) },
		"hold":        func(n ast.Node, key string) { g.Hold = r.duration(n, key) },
	})
	return g
}
