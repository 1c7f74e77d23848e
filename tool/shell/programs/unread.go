package programs

import (
	"strings"
	"sync"
)

// An unread subcommand is parsed when it is first used: git has a hundred, and a
// run of it needs one.
type unread struct {
	parser parser // as it was where the subcommand begins
	parent *entry
	text   string // its lines
	line   int    // the number of the first
	once   sync.Once
	err    error
}

// add adds the line that begins at a byte of the entry's text, behind those it has.
func (u *unread) add(entry string, at, end, line int) {
	if u.text == "" {
		u.line = line
	}
	u.text = entry[at-len(u.text) : end]
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
		if u.err = p.replay(u); u.err == nil {
			e.finish(u.parent)
		}
	})
	return u.err
}

// replay reads the lines that were kept.
func (p *parser) replay(u *unread) error {
	p.line = u.line - 1
	for text := range strings.Lines(u.text) {
		p.line++
		if err := p.readText(text); err != nil {
			return err
		}
	}
	return nil
}
