package tool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/assent-dev/assent/approval"
	"github.com/google/jsonschema-go/jsonschema"
)

// A Set is the tools that an agent may call, each under a name of its own. It
// is safe for concurrent use. It implements [approval.Preparer].
type Set struct {
	tools []Tool

	mu     sync.Mutex
	states map[string]*toolState // by full name
}

// A toolState is what was worked out from a tool's definition.
type toolState struct {
	tool       Tool
	spec       Spec
	definition approval.Digest
	schema     *jsonschema.Resolved
}

var _ approval.Preparer = (*Set)(nil)

// NewSet returns the set of the given tools. Names that differ in case only are
// the same name, because rules do not tell them apart.
func NewSet(tools ...Tool) (*Set, error) {
	s := &Set{tools: slices.Clone(tools), states: make(map[string]*toolState, len(tools))}
	seen := make(map[string]bool, len(tools))
	for i, t := range tools {
		if t == nil {
			return nil, fmt.Errorf("tool %d is nil", i+1)
		}
		if f, ok := t.(interface{ check() error }); ok {
			if err := f.check(); err != nil {
				return nil, err
			}
		}
		state, err := newToolState(t, t.Spec())
		if err != nil {
			return nil, err
		}
		name := state.spec.FullName()
		if key := strings.ToLower(name); seen[key] {
			return nil, fmt.Errorf("tool %s: there are two tools of this name", name)
		} else {
			seen[key] = true
		}
		s.states[name] = state
	}
	return s, nil
}

func newToolState(t Tool, spec Spec) (*toolState, error) {
	if err := checkName(spec.Name); err != nil {
		return nil, fmt.Errorf("tool %q: %w", spec.FullName(), err)
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
	if name == "" {
		return errors.New("the name is empty")
	}
	if i := strings.IndexFunc(name, func(r rune) bool {
		return strings.ContainsRune("*?[](): ", r) || !unicode.IsPrint(r)
	}); i >= 0 {
		return fmt.Errorf("the name has a character that rules cannot name at byte %d", i)
	}
	return nil
}

// Specs returns the definitions of the tools, in order, for the model.
func (s *Set) Specs() []Spec {
	out := make([]Spec, len(s.tools))
	for i, t := range s.tools {
		out[i] = t.Spec()
	}
	return out
}

// Prepare implements [approval.Preparer].
func (s *Set) Prepare(ctx context.Context, call approval.Call) (approval.Proposal, error) {
	_, p, err := s.prepare(ctx, call)
	return p, err
}

func (s *Set) prepare(ctx context.Context, call approval.Call) (Action, approval.Proposal, error) {
	state, err := s.state(call.Connector, call.Tool)
	if err != nil {
		return Action{}, approval.Proposal{}, err
	}
	if err := checkArguments(call.Name(), state.schema, call.Arguments); err != nil {
		return Action{}, approval.Proposal{}, err
	}
	action, err := state.tool.Prepare(ctx, call.Arguments)
	if err != nil {
		return Action{}, approval.Proposal{}, err
	}
	return action, action.proposal(state, call.Arguments), nil
}

// ErrUnknownTool says that there is no tool of a name.
var ErrUnknownTool = errors.New("unknown tool")

// state returns what the tool's definition amounts to, worked out anew if the
// definition has changed.
func (s *Set) state(connector, name string) (*toolState, error) {
	full := Spec{Connector: connector, Name: name}.FullName()
	s.mu.Lock()
	defer s.mu.Unlock()
	state, ok := s.states[full]
	if !ok {
		return nil, fmt.Errorf("%w %q; there is %s", ErrUnknownTool, full, s.names())
	}
	spec := state.tool.Spec()
	if spec.same(state.spec) {
		return state, nil
	}
	if spec.FullName() != full {
		return nil, fmt.Errorf("%w %q: it calls itself %q now", ErrUnknownTool, full, spec.FullName())
	}
	fresh, err := newToolState(state.tool, spec)
	if err != nil {
		return nil, err
	}
	s.states[full] = fresh
	return fresh, nil
}

func (s Spec) same(o Spec) bool {
	return s.Connector == o.Connector && s.Name == o.Name && s.Description == o.Description && bytes.Equal(s.Schema, o.Schema)
}

func (s *Set) names() string {
	if len(s.states) == 0 {
		return "no tool at all"
	}
	var names []string
	for name := range s.states {
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}
