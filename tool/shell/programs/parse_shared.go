package programs

import "fmt"

// shared adds the flags of other entries, such as git/diff, which stands for no
// program but for what several subcommands have in common.
func (p *parser) shared(names []string) error {
	for _, name := range names {
		s := p.find(name)
		if s == nil {
			return fmt.Errorf("flags %s: there is no such entry", name)
		}
		if p.depth >= likeDepth {
			return fmt.Errorf("flags %s: too many entries share the flags of one another", name)
		}
		other, err := parseSlot(s, p.find, p.depth+1)
		if err != nil {
			return err
		}
		for _, f := range other.flags {
			p.level.addFlag(f)
		}
	}
	return nil
}
