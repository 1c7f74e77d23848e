package programs

import (
	"fmt"
	"slices"
	"sync"
)

// sharedFlags are the flags of entries that others share, by slot: git alone asks
// twenty times for those of diff.
var sharedFlags sync.Map

// shared adds the flags of other entries, such as git/diff, which stands for no
// program but for what several subcommands have in common.
func (p *parser) shared(names []string) error {
	for _, name := range names {
		flags, err := p.flagsOf(name)
		if err != nil {
			return err
		}
		if len(p.level.flags) == 0 {
			p.level.flags = slices.Clone(flags) // none can stand twice
			continue
		}
		for _, f := range flags {
			p.level.addFlag(f)
		}
	}
	return nil
}

// flagsOf returns the flags of another entry.
func (p *parser) flagsOf(name string) ([]*flag, error) {
	s := p.find(name)
	if s == nil {
		return nil, fmt.Errorf("flags %s: there is no such entry", name)
	}
	if flags, ok := sharedFlags.Load(s); ok {
		return flags.([]*flag), nil
	}
	if p.depth >= likeDepth {
		return nil, fmt.Errorf("flags %s: too many entries share the flags of one another", name)
	}
	other, err := parseSlot(s, p.find, p.depth+1)
	if err != nil {
		return nil, err
	}
	sharedFlags.Store(s, other.flags)
	return other.flags, nil
}
