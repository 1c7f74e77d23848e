package programs

import "sync"

// An unread subcommand is parsed when it is first used: git has a hundred, and a
// run of it needs one.
type unread struct {
	parser parser // as it was where the subcommand begins
	parent *entry
	lines  []sourceLine
	once   sync.Once
	err    error
}

// A sourceLine is a line of a data file.
type sourceLine struct {
	number int
	text   string
}

// ready parses the lines of a subcommand, once.
func (e *entry) ready() error {
	u := e.unread
	if u == nil {
		return nil
	}
	u.once.Do(func() {
		if u.err = u.parent.ready(); u.err != nil {
			return
		}
		p := u.parser
		p.level = e
		if u.err = p.replay(u.lines); u.err == nil {
			e.finish(u.parent)
		}
	})
	return u.err
}

// replay reads lines that were kept.
func (p *parser) replay(lines []sourceLine) error {
	for _, line := range lines {
		p.line = line.number
		if err := p.readText(line.text); err != nil {
			return err
		}
	}
	return nil
}
