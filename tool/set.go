package tool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
)

// A Set is the tools that an agent may call, each under a name of its own. It
// is safe for concurrent use. It implements [approval.Preparer].
type Set struct {
	tools []Tool
	own   map[string]bool // names of the program's own tools, in lower case

	mu     sync.Mutex
	states map[toolKey]*toolState
}

// A toolState is what was worked out from a tool's definition.
type toolState struct {
	tool       Tool
	spec       Spec
	definition policy.Digest
	schema     *jsonschema.Resolved
	fitted     atomic.Pointer[[]byte] // the last arguments that fitted
}

// maxFitted is how large arguments are remembered.
const maxFitted = 4 << 10

// check reports with an [*ArgumentError] arguments that do not fit. A call is prepared
// when it is reviewed and again right before it runs: what fitted then fits now.
func (s *toolState) check(args []byte) error {
	if last := s.fitted.Load(); last != nil && bytes.Equal(*last, args) {
		return nil
	}
	err := checkArguments(s.spec.FullName(), s.schema, args)
	if err == nil && len(args) <= maxFitted {
		kept := bytes.Clone(args)
		s.fitted.Store(&kept)
	}
	return err
}

type toolKey struct{ connector, name string }

var _ approval.TurnPreparer = (*Set)(nil)

// NewSet returns the set of the given tools. Names that differ in case only are
// the same name, because rules do not tell them apart.
func NewSet(tools ...Tool) (*Set, error) {
	s := &Set{tools: slices.Clone(tools), states: make(map[toolKey]*toolState, len(tools)), own: map[string]bool{}}
	seen := make(map[string]bool, len(tools))
	for i, t := range tools {
		state, err := firstState(t)
		if err != nil {
			return nil, fmt.Errorf("tool %d: %w", i+1, err)
		}
		name := state.spec.FullName()
		key := strings.ToLower(name)
		if seen[key] {
			return nil, fmt.Errorf("tool %d: there is a tool %q already; names that differ in case only are the same", i+1, name)
		}
		seen[key] = true
		s.states[toolKey{state.spec.Connector, state.spec.Name}] = state
		if state.spec.Connector == "" {
			s.own[key] = true
		}
	}
	return s, nil
}

// A checker is a tool that knows whether it was built well.
type checker interface{ check() error }

func firstState(t Tool) (*toolState, error) {
	if t == nil {
		return nil, errNilTool
	}
	if c, ok := t.(checker); ok {
		if err := c.check(); err != nil {
			return nil, err
		}
	}
	return newToolState(t, t.Spec())
}

var errNilTool = errors.New("it is nil")

func newToolState(t Tool, spec Spec) (*toolState, error) {
	if err := checkName(spec.Name); err != nil {
		return nil, fmt.Errorf("the name %q %w", spec.Name, err)
	}
	if err := checkName(spec.Connector); err != nil && spec.Connector != "" {
		return nil, fmt.Errorf("the connector's name %q %w", spec.Connector, err)
	}
	definition, err := spec.Definition()
	if err != nil {
		return nil, err
	}
	schema, err := compileSchema(spec.Schema)
	if err != nil {
		return nil, fmt.Errorf("tool %s: %w", spec.FullName(), err)
	}
	return &toolState{tool: t, spec: spec, definition: definition, schema: schema}, nil
}

// checkName refuses names that a rule could not name.
func checkName(name string) error {
	switch {
	case name == "":
		return errors.New("is empty")
	case !utf8.ValidString(name):
		return errors.New("is not valid UTF-8")
	}
	if i := strings.IndexFunc(name, unnameable); i >= 0 {
		return fmt.Errorf("has a character at byte %d that rules cannot name", i)
	}
	return nil
}

func unnameable(r rune) bool {
	return strings.ContainsRune("*?[](): ", r) || !unicode.IsPrint(r)
}

// Specs returns the definitions of the tools, in order, for the model.
func (s *Set) Specs() []Spec {
	out := make([]Spec, len(s.tools))
	for i, t := range s.tools {
		out[i] = t.Spec()
	}
	return out
}

// Turn implements [approval.TurnPreparer]: tools that are a [TurnTool] prepare
// the calls of a turn on top of each other.
func (s *Set) Turn(ctx context.Context) context.Context {
	for _, t := range s.tools {
		if turn, ok := t.(TurnTool); ok {
			ctx = turn.Turn(ctx)
		}
	}
	return ctx
}

// Prepare implements [approval.Preparer]. A tool that panics is an error.
func (s *Set) Prepare(ctx context.Context, call policy.Call) (approval.Proposal, error) {
	_, p, err := s.prepareSafely(ctx, call)
	return p, err
}

func (s *Set) prepareSafely(ctx context.Context, call policy.Call) (a Action, p approval.Proposal, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("preparing %s panicked: %v", call.Name(), r)
		}
	}()
	return s.prepare(ctx, call)
}

func (s *Set) prepare(ctx context.Context, call policy.Call) (Action, approval.Proposal, error) {
	if c := connectingIn(ctx, &call); c != nil {
		return c.prepare(call)
	}
	state, err := s.state(call.Connector, call.Tool)
	if err != nil {
		return Action{}, approval.Proposal{}, err
	}
	if err := state.check(call.Arguments); err != nil {
		return Action{}, approval.Proposal{}, err
	}
	action, err := state.tool.Prepare(ctx, call.Arguments)
	if err != nil {
		return Action{}, approval.Proposal{}, err
	}
	p := action.proposal(state, call.Arguments)
	p.SharesName = call.Connector != "" && s.own[strings.ToLower(call.Tool)]
	return action, p, nil
}

// ErrUnknownTool says that there is no tool of a name.
var ErrUnknownTool = errors.New("unknown tool")

// state returns what the tool's definition amounts to, worked out anew if the
// definition has changed.
func (s *Set) state(connector, name string) (*toolState, error) {
	full := Spec{Connector: connector, Name: name}.FullName()
	s.mu.Lock()
	state, ok := s.states[toolKey{connector, name}]
	s.mu.Unlock()
	if !ok {
		return nil, fmt.Errorf("%w %q; there is %s", ErrUnknownTool, full, s.names())
	}
	spec := state.tool.Spec()
	if spec.same(state.spec) {
		return state, nil
	}
	if spec.Connector != connector || spec.Name != name {
		return nil, fmt.Errorf("%w %q: it calls itself %q now", ErrUnknownTool, full, spec.FullName())
	}
	fresh, err := newToolState(state.tool, spec)
	if err != nil {
		return nil, fmt.Errorf("the definition changed: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.states[toolKey{connector, name}] = fresh
	return fresh, nil
}

func (s Spec) same(o Spec) bool {
	return s.Connector == o.Connector && s.Name == o.Name && s.Description == o.Description &&
		bytes.Equal(s.Schema, o.Schema)
}

// names lists the tools for somebody who named none of them.
func (s *Set) names() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.states) == 0 {
		return "no tool at all"
	}
	names := make([]string, 0, len(s.states))
	for _, state := range s.states {
		names = append(names, state.spec.FullName())
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}
