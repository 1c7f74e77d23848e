package connector

import (
	"context"
	"encoding/json"
	"maps"
	"sync"
)

// A Pin is the definition of a tool as it was first met, or as a person last agreed to it.
type Pin struct {
	// Hash covers the definition and how its server is started or reached.
	Hash string `json:"hash"`
	// Launch is how the server was started or reached, for a person.
	Launch string `json:"launch"`
	// Tool is the definition, in canonical JSON.
	Tool json.RawMessage `json:"tool,omitempty"`
	// Agreed says that a person agreed to it. Otherwise it is as it was first met.
	Agreed bool `json:"agreed,omitempty"`
	// Doubt is why a person had to look at it when it was first met, and has not.
	Doubt string `json:"doubt,omitempty"`

	// Of a connector as such: Server is the digest of what is launched, As the name under
	// which the pins of the last command line are kept, and Before those of the one before.
	Server string `json:"server,omitempty"`
	As     string `json:"as,omitempty"`
	Before string `json:"before,omitempty"`
}

// Pins keeps definitions. The pin of the tool "" says that the connector as such is
// known. Pins are never removed: a tool that goes away and comes back is compared with
// what it was. Implementations are safe for concurrent use.
type Pins interface {
	// Get returns the pin of a tool, and whether there is one. With an error the tool is
	// refused.
	Get(ctx context.Context, connector, tool string) (Pin, bool, error)
	// Put keeps a pin in the place of the one before.
	Put(ctx context.Context, connector, tool string, p Pin) error
}

// MemoryPins keeps definitions as long as the program runs.
type MemoryPins struct {
	mu   sync.Mutex
	pins map[[2]string]Pin
}

// NewMemoryPins returns pins that know nothing yet.
func NewMemoryPins() *MemoryPins { return &MemoryPins{pins: map[[2]string]Pin{}} }

var _ Pins = (*MemoryPins)(nil)

// Get implements [Pins].
func (m *MemoryPins) Get(_ context.Context, connector, tool string) (Pin, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p, ok := m.pins[[2]string{connector, tool}]
	return p, ok, nil
}

// Put implements [Pins].
func (m *MemoryPins) Put(_ context.Context, connector, tool string, p Pin) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pins[[2]string{connector, tool}] = p
	return nil
}

// All returns what is kept, by connector and tool.
func (m *MemoryPins) All() map[[2]string]Pin {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.pins)
}
