package programs

import (
	_ "embed" // for the files below
	"fmt"
	"strings"
	"sync"
)

// The files of the table, as they are in the program: nothing is copied.
var (
	//go:embed data/archive.txt
	archiveText string
	//go:embed data/core.txt
	coreText string
	//go:embed data/dev.txt
	devText string
	//go:embed data/find.txt
	findText string
	//go:embed data/git.txt
	gitText string
	//go:embed data/interpreters.txt
	interpretersText string
	//go:embed data/net.txt
	netText string
	//go:embed data/ops.txt
	opsText string
	//go:embed data/packages.txt
	packagesText string
	//go:embed data/shells.txt
	shellsText string
	//go:embed data/system.txt
	systemText string
	//go:embed data/text.txt
	textText string
	//go:embed data/wrappers.txt
	wrappersText string
)

// dataFiles are those files by their names.
var dataFiles = []struct{ name, text string }{
	{"data/archive.txt", archiveText},
	{"data/core.txt", coreText},
	{"data/dev.txt", devText},
	{"data/find.txt", findText},
	{"data/git.txt", gitText},
	{"data/interpreters.txt", interpretersText},
	{"data/net.txt", netText},
	{"data/ops.txt", opsText},
	{"data/packages.txt", packagesText},
	{"data/shells.txt", shellsText},
	{"data/system.txt", systemText},
	{"data/text.txt", textText},
	{"data/wrappers.txt", wrappersText},
}

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

// namesExpected is about how many names the table has, so that the index grows once.
const namesExpected = 1200

// scanFiles finds where the entries begin, and the names that stand twice.
func scanFiles() (map[string]*slot, []error) {
	slots := make(map[string]*slot, namesExpected)
	var errs []error
	for _, f := range dataFiles {
		errs = append(errs, scanFile(f.name, f.text, slots)...)
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
			for n := range strings.FieldsSeq(content[at+len("program ") : end]) {
				if n[0] == '#' {
					break
				}
				if other := slots[n]; other != nil {
					errs = append(errs, fmt.Errorf("%s:%d: program %s stands in %s:%d "+
						"already: remove one", name, line, n, other.file, other.line))
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
