package tool

import (
	"crypto/rand"
	"time"

	"github.com/assent-dev/assent/approval"
)

// A Gate is an [approval.Gate] in front of a set of tools.
type Gate struct {
	*approval.Gate
	set *Set
}

// NewGate returns a gate for the tools of the set. Of the config, Preparer is
// the set; Clock and NewID, if they are not set, are the system's.
func NewGate(set *Set, cfg approval.Config) (*Gate, error) {
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
	return &Gate{Gate: g, set: set}, nil
}
