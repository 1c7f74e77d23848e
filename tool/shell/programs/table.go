package programs

import (
	"embed"
	"fmt"
	"strings"
	"sync"
)

//go:embed data/*.txt
var files embed.FS

// A slot is an entry that is parsed when it is first looked up.
type slot struct {
	file  string
	line  int // of its program line
	text  string
	once  sync.Once
	entry *entry
	err   error
}

// index finds the entries' text by every name they have. Nothing is read before
// the first lookup: most runs of the program that links this need one entry.
var index = sync.OnceValue(func() map[string]*slot {
	slots, _ := scanFiles()
	return slots
})

// lookup returns the entry of a program; nil and no error if there is none.
func lookup(name string) (*entry, error) {
	s := index()[name]
	if s == nil {
		return nil, nil
	}
	s.once.Do(func() { s.entry, s.err = parseSlot(s, find, 0) })
	return s.entry, s.err
}

// find returns the slot of a name, for entries that are like another.
func find(name string) *slot { return index()[name] }

// scanFiles finds where the entries begin, and the names that stand twice.
func scanFiles() (map[string]*slot, []error) {
	slots := map[string]*slot{}
	var errs []error
	names, err := files.ReadDir("data")
	if err != nil {
		return slots, []error{err}
	}
	for _, f := range names {
		content, err := files.ReadFile("data/" + f.Name())
		if err != nil {
			errs = append(errs, err)
			continue
		}
		errs = append(errs, scanFile("data/"+f.Name(), string(content), slots)...)
	}
	return slots, errs
}

// scanFile cuts a file at its program lines.
func scanFile(name, content string, slots map[string]*slot) []error {
	var errs []error
	var open *slot
	start := 0 // of the open slot's text
	line := 0
	for at := 0; at < len(content); {
		line++
		end := at + strings.IndexByte(content[at:], '\n')
		if end < at {
			end = len(content)
		}
		if strings.HasPrefix(content[at:], "program ") {
			if open != nil {
				open.text = content[start:at]
			}
			open, start = &slot{file: name, line: line}, at
			for _, n := range fields(content[at:end])[1:] {
				if other := slots[n]; other != nil {
					errs = append(errs, fmt.Errorf("%s:%d: program %s stands in %s:%d already: remove one", name, line, n, other.file, other.line))
					continue
				}
				slots[n] = open
			}
		}
		at = end + 1
	}
	if open != nil {
		open.text = content[start:]
	}
	return errs
}

// fields cuts a line into words and drops its comment.
func fields(line string) []string {
	words := strings.Fields(line)
	for i, w := range words {
		if w[0] == '#' {
			return words[:i]
		}
	}
	return words
}
