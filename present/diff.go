package present

import "fmt"

// DiffContext is how many unchanged lines a diff usually shows around a change.
const DiffContext = 3

// A Side is one of the two texts that a diff compares.
type Side struct {
	Name string // the path, as a person knows it; "" if there is no such file
	Text string // any bytes
}

// A LineDiff says how one text becomes another, line by line. Taking the old
// text and replacing in it what the hunks remove with what they add gives the
// new text, to the byte. The zero LineDiff changes nothing.
type LineDiff struct {
	Old, New string // the names; "" for a file that does not exist
	Hunks    []Hunk // in the order of the text, never overlapping

	// Coarse says that a part was too costly to compare: lines shown there as
	// removed and added may be the same. It is no part of the unified text, so
	// ParseDiff never sets it.
	Coarse bool
}

// A Hunk is a run of changes with the unchanged lines around them.
type Hunk struct {
	Old, New Range  // the lines of each text that the hunk covers
	Section  string // the nearest line above that looks like a heading; may be ""
	Lines    []Line
}

// A Range is Count lines of a text from line Start, the first being 1. A range
// of no lines starts at the line before it, which is 0 at the start of the text.
type Range struct {
	Start, Count int
}

// A LineKind says in which of the two texts a line is.
type LineKind uint8

const (
	ContextLine LineKind = iota // in both
	RemovedLine                 // in the old text only
	AddedLine                   // in the new text only
)

// A Line is one line of a hunk. A line ends with "\n" and nothing else: of "\r\n"
// the "\r" is part of the text, so that different line ends show as a change.
type Line struct {
	Kind      LineKind
	Text      string // without the newline; any bytes
	Old, New  int    // its number in each text; 0 where it is not
	NoNewline bool   // the text ends here, without a newline

	// Marks are the parts of Text that differ from the line of the other kind
	// that this one was paired with. There are none if no line is similar.
	Marks []Mark
}

// A Mark is the bytes from Start up to End.
type Mark struct {
	Start, End int
}

// DiffLines compares two texts and shows up to context unchanged lines around
// each change. Texts that are the same give the zero LineDiff.
//
// The result is always right, and short for texts as people write them. The work
// is bounded: where two large parts have neither unique lines in common nor a
// size that can be searched, they are shown as replaced whole and Coarse is set.
func DiffLines(old, new Side, context int) LineDiff {
	d := diffUnmarked(old, new, context)
	markWords(d.Hunks)
	return d
}

// diffUnmarked is DiffLines without the marks inside of lines, which unified
// text does not carry.
func diffUnmarked(old, new Side, context int) LineDiff {
	x, y := splitLines(old.Text), splitLines(new.Text)
	changes, coarse := compareLines(x, y)
	if len(changes) == 0 {
		return LineDiff{}
	}
	hunks := makeHunks(x, y, changes, max(0, context))
	return LineDiff{Old: old.Name, New: new.Name, Hunks: hunks, Coarse: coarse}
}

// IsZero reports whether d changes nothing.
func (d LineDiff) IsZero() bool { return len(d.Hunks) == 0 }

// LineStats counts the lines of a diff that are not context.
type LineStats struct {
	Added, Removed int
}

// Stats counts what d adds and removes.
func (d LineDiff) Stats() LineStats {
	var s LineStats
	for _, h := range d.Hunks {
		for _, l := range h.Lines {
			switch l.Kind {
			case AddedLine:
				s.Added++
			case RemovedLine:
				s.Removed++
			}
		}
	}
	return s
}

// String returns the counts for a summary: "+3 −1 lines".
func (s LineStats) String() string {
	return fmt.Sprintf("+%d −%d lines", s.Added, s.Removed)
}
