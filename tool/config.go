package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/assent-dev/assent/policy"
)

// Config is the operator's word on tools by name. It wins over a tool's own ask
// and free in both directions, and never over what a tool blocks.
type Config struct {
	// Tools are entries in the order of the file. If any that matches denies,
	// the tool is blocked; otherwise the first that matches decides.
	Tools []Named
	// PreApproved are names that run without asking, unless Tools says
	// otherwise about them.
	//
	// Deprecated: write them into Tools.
	PreApproved []string
	// Now returns what Tools are now, for config that changes while the tools are used; the entries of one slice
	// never change. With an error every call is blocked. Nil means that Tools stay as they are.
	Now func() ([]Named, error)
}

// Named is what config says about the tools of a name.
type Named struct {
	// Name is a tool's name or CONNECTOR:NAME; globs work.
	Name string
	// Approval is allow, ask, deny or once_per_session, in any spelling that
	// [ParseWord] reads. Empty leaves the tool its own word.
	Approval Word
	// Reason is told when the tool is denied; default "blocked by policy".
	Reason string
	// Source is the file and line of the entry, for the person who asks why.
	Source string
}

// Configure returns the tools with the config applied. Warnings say what is
// accepted but should be written otherwise.
func Configure(cfg Config, tools ...Tool) (configured []Tool, warnings []string, err error) {
	w := &wordsByName{now: cfg.Now, entries: cfg.Tools}
	for _, name := range cfg.PreApproved {
		warnings = append(warnings, fmt.Sprintf("pre_approved is deprecated: write tools: {%s: {approval: allow}}", name))
		w.last = append(w.last, Named{Name: name, Approval: WordAllow, Source: "pre_approved"})
	}
	if w.compiled, err = compileAll(slices.Concat(cfg.Tools, w.last)); err != nil {
		return nil, warnings, err
	}
	for _, t := range tools {
		configured = append(configured, configure(t, w))
	}
	return configured, warnings, nil
}

// wordsByName are the entries of a config as they are now.
type wordsByName struct {
	now  func() ([]Named, error) // nil if they stay
	last []Named                 // stand behind all others, always

	mu       sync.Mutex
	entries  []Named // that are compiled
	compiled []namedPattern
}

func (w *wordsByName) current() ([]namedPattern, error) {
	if w.now == nil {
		return w.compiled, nil
	}
	entries, err := w.now()
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(entries) == len(w.entries) && (len(entries) == 0 || &entries[0] == &w.entries[0]) {
		return w.compiled, nil
	}
	compiled, err := compileAll(slices.Concat(entries, w.last))
	if err == nil {
		w.entries, w.compiled = entries, compiled
	}
	return compiled, err
}

func compileAll(entries []Named) (compiled []namedPattern, err error) {
	compiled = make([]namedPattern, len(entries))
	for i, e := range entries {
		if compiled[i], err = compileNamed(e); err != nil {
			return nil, err
		}
	}
	return compiled, nil
}

type namedPattern struct {
	Named
	pattern policy.NamePattern
}

func compileNamed(e Named) (namedPattern, error) {
	if e.Approval != "" {
		word, err := ParseWord(string(e.Approval))
		if err != nil {
			return namedPattern{}, fmt.Errorf("config for tool %q: %w", e.Name, err)
		}
		e.Approval = word
	}
	effect := policy.EffectDeny
	if e.Approval == WordAllow {
		effect = policy.EffectAllow
	}
	p, err := policy.CompileName(effect, e.Name)
	if err != nil {
		return namedPattern{}, fmt.Errorf("config for tool %q: %w", e.Name, err)
	}
	return namedPattern{Named: e, pattern: p}, nil
}

// configure applies the entries that match the tool. The name is looked up for
// each call, because a foreign tool's spec may change.
func configure(t Tool, w *wordsByName) Tool {
	return wrap(t, func(ctx context.Context, args json.RawMessage) (Action, error) {
		entries, err := w.current()
		if err != nil {
			return Block(fmt.Sprintf("what config says about tools cannot be read: %v", err)), nil
		}
		entry := decide(entries, t.Spec())
		if entry != nil && entry.Approval == WordDeny {
			return Block(entry.reason()), nil
		}
		a, err := t.Prepare(ctx, args)
		if err != nil || entry == nil {
			return a, err
		}
		switch entry.Approval {
		case WordAllow:
			a = allowing(a, entry.why())
		case WordAsk:
			a = asking(a, entry.why())
		case WordOnce:
			a = asking(a, entry.why()).OncePerSession()
		}
		return a, nil
	})
}

// decide finds the entry that speaks about the tool.
func decide(entries []namedPattern, s Spec) *namedPattern {
	var first *namedPattern
	for i := range entries {
		e := &entries[i]
		if e.Approval == "" || !e.pattern.Match(s.Connector, s.Name) {
			continue
		}
		if e.Approval == WordDeny {
			return e
		}
		if first == nil {
			first = e
		}
	}
	return first
}

func (e *namedPattern) why() string {
	text := fmt.Sprintf("config says tools %s: %s", e.Name, e.Approval)
	if e.Source != "" {
		text += " at " + e.Source
	}
	return text
}

func (e *namedPattern) reason() string {
	if e.Reason != "" {
		return e.Reason
	}
	return blockedByPolicy
}

// allowing returns the action with every asking act made free, except those
// that are answered by name or by a person only.
func allowing(a Action, why string) Action {
	if a.verdict == policy.VerdictAsk {
		a.verdict, a.why = policy.VerdictFree, why
	}
	return a.mapActs(func(act policy.Act) policy.Act {
		if act.Verdict == policy.VerdictAsk && !act.ByName && !act.PersonOnly {
			act.Verdict, act.Why = policy.VerdictFree, why
		}
		return act
	})
}

// A Word is what config says about a tool: one meaning, in the many spellings
// that people know. The zero Word says nothing.
type Word string

// The words.
const (
	WordAllow Word = "allow"            // runs without asking
	WordAsk   Word = "ask"              // asks
	WordDeny  Word = "deny"             // blocked
	WordOnce  Word = "once_per_session" // asks, and a yes holds for the session
)

var words = map[string]Word{
	"allow": WordAllow, "none": WordAllow, "preApproved": WordAllow, "pre_approved": WordAllow, "false": WordAllow,
	"ask": WordAsk, "required": WordAsk, "approve": WordAsk, "true": WordAsk,
	"deny": WordDeny, "blocked": WordDeny,
	"once_per_session": WordOnce,
}

// ParseWord reads a word in any of its spellings. With an error the word is
// [WordDeny].
func ParseWord(text string) (Word, error) {
	if w, ok := words[text]; ok {
		return w, nil
	}
	return WordDeny, fmt.Errorf("unknown approval %q: it is allow, ask, deny or once_per_session", text)
}

// WordFor reads approval given as a bool: true asks, false allows.
func WordFor(approval bool) Word {
	if approval {
		return WordAsk
	}
	return WordAllow
}
