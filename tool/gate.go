package tool

import (
	"crypto/rand"
	"errors"
	"time"

	"github.com/assent-dev/assent/approval"
)

// A Gate is an [approval.Gate] in front of a set of tools.
type Gate struct {
	*approval.Gate
	set   *Set
	newID func() string
	late  lateParts
}

// Guard puts a gate in front of the tools: [NewSet] and [NewGate] in one step.
func Guard(cfg approval.Config, tools ...Tool) (*Gate, error) {
	set, err := NewSet(tools...)
	if err != nil {
		return nil, err
	}
	return NewGate(set, cfg)
}

// NewGate returns a gate for the tools of the set. Of the config, Preparer is
// the set; Clock and NewID, if they are not set, are the system's.
func NewGate(set *Set, cfg approval.Config) (*Gate, error) {
	if set == nil {
		return nil, errors.New("tool: a gate needs a set of tools")
	}
	cfg.Preparer = set
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	if cfg.NewID == nil {
		cfg.NewID = rand.Text
	}
	g, err := approval.New(cfg)
	if err != nil {
		return nil, err
	}
	return &Gate{Gate: g, set: set, newID: cfg.NewID}, nil
}

// Specs returns the definitions of the tools, in order, for the model.
func (g *Gate) Specs() []Spec { return g.set.Specs() }
