package model

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/assent-dev/assent/internal/worker"
)

// maxName is the longest name of a tool that every provider takes.
const maxName = 64

// Names gives each tool a name that every provider takes: letters, digits, _ and -. The
// tool create_issue of the connector github becomes github__create_issue. What a name
// stands for is looked up, never read out of it: a tool may be called so by itself.
type Names struct {
	tools map[string]offered // by their names at the provider
	names map[pair]string
}

type pair struct{ connector, tool string }

type offered struct {
	pair
	call worker.Call // with everything but id and arguments
}

// NewNames names the tools. It fails if a definition cannot be pinned.
func NewNames(specs []worker.Spec) (*Names, error) {
	n := &Names{tools: map[string]offered{}, names: map[pair]string{}}
	// A tool without a connector keeps its own name, so those come first.
	for _, foreign := range []bool{false, true} {
		for _, s := range specs {
			if (s.Connector != "") != foreign {
				continue
			}
			if err := n.add(s); err != nil {
				return nil, err
			}
		}
	}
	return n, nil
}

func (n *Names) add(s worker.Spec) error {
	definition, err := s.Definition()
	if err != nil {
		return err
	}
	p := pair{s.Connector, s.Name}
	name := p.name()
	if _, taken := n.tools[name]; taken {
		name = p.unique()
	}
	if _, taken := n.tools[name]; taken {
		return fmt.Errorf("tool %s: there is another one of that name", s.FullName())
	}
	call := worker.Call{Connector: s.Connector, Tool: s.Name, Definition: definition}
	n.tools[name], n.names[p] = offered{p, call}, name
	return nil
}

// Of returns the name of a tool at the provider, also of one that is no longer offered.
func (n *Names) Of(connector, tool string) string {
	p := pair{connector, tool}
	if name, ok := n.names[p]; ok {
		return name
	}
	return p.name()
}

// Call returns the call that a model wants by a name at the provider. If no tool has it,
// the call is of a tool by that very name, which nobody will find.
func (n *Names) Call(id, name string, arguments json.RawMessage) worker.Call {
	call := worker.Call{Tool: name}
	if t, ok := n.tools[name]; ok {
		call = t.call
	}
	call.ID, call.Arguments = id, arguments
	return call
}

// name joins the pair. If that takes more than joining, the digest of the pair keeps it
// apart from others.
func (p pair) name() string {
	joined := p.joined()
	if plain := plainName(joined); plain != joined || len(plain) > maxName {
		return p.unique()
	}
	return joined
}

func (p pair) joined() string {
	if p.connector == "" {
		return p.tool
	}
	return p.connector + "__" + p.tool
}

func (p pair) unique() string {
	sum := sha256.Sum256([]byte(p.connector + "\x00" + p.tool))
	end := "_" + hex.EncodeToString(sum[:4])
	begin := plainName(p.joined())
	return begin[:min(len(begin), maxName-len(end))] + end
}

func plainName(name string) string {
	return string(bytes.Map(func(r rune) rune {
		if r == '_' || r == '-' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '_'
	}, []byte(name)))
}

// Schema returns the schema of a tool's arguments as providers want it: an object with
// properties, even if there are none.
func Schema(s worker.Spec) (map[string]any, error) {
	schema := map[string]any{}
	if len(s.Schema) > 0 {
		if err := json.Unmarshal(s.Schema, &schema); err != nil {
			return nil, fmt.Errorf("tool %s: schema: %w", s.FullName(), err)
		}
	}
	if schema["type"] == nil {
		schema["type"] = "object"
	}
	if schema["properties"] == nil {
		schema["properties"] = map[string]any{}
	}
	return schema, nil
}
