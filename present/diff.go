package present

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

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
	LineContext LineKind = iota // in both
	LineRemoved                 // in the old text only
	LineAdded                   // in the new text only
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
			case LineAdded:
				s.Added++
			case LineRemoved:
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

// Names of the facts that only a diff has. See [FactOldSize] for the others.
const (
	FactAdded   = "added"   // number: lines that the diff adds
	FactRemoved = "removed" // number: lines that the diff removes
	FactCoarse  = "coarse"  // flag: too large to compare line by line; see [LineDiff]
)

// DiffView returns the view of a change to a file, with the usual context.
func DiffView(old, new Side) View {
	d := diffUnmarked(old, new, DiffContext)
	return d.View(len(old.Text), len(new.Text))
}

// View returns d as a view whose content is its unified text, given the sizes of
// the two texts in bytes. The facts say when d is coarse. Whoever shows the view
// reads the content with [ParseDiff].
func (d LineDiff) View(oldSize, newSize int) View {
	stats := d.Stats()
	facts := Facts{
		NumberFact(FactOldSize, int64(oldSize)),
		NumberFact(FactNewSize, int64(newSize)),
		NumberFact(FactAdded, int64(stats.Added)),
		NumberFact(FactRemoved, int64(stats.Removed)),
	}
	if d.Coarse {
		facts = append(facts, FlagFact(FactCoarse, true))
	}
	return View{Kind: KindDiff, Content: d.String(), Language: "diff", Facts: facts}
}

// noNewline follows a line that ends a text without a newline.
const noNewline = `\ No newline at end of file` + "\n"

// lineSigns are what lines start with in unified text, by kind.
var lineSigns = [...]byte{LineContext: ' ', LineRemoved: '-', LineAdded: '+'}

// String returns d as unified text, as git writes it and as git apply and patch
// read it: the two names, then each hunk. The zero LineDiff is "".
func (d LineDiff) String() string {
	if d.IsZero() {
		return ""
	}
	var b strings.Builder
	b.Grow(d.textSize())
	b.WriteString(oldHeader(d.Old))
	b.WriteString(newHeader(d.New))
	for _, h := range d.Hunks {
		b.WriteString(h.header())
		for _, l := range h.Lines {
			l.write(&b)
		}
	}
	return b.String()
}

// textSize returns about how long the text is, so that it is allocated once.
func (d LineDiff) textSize() int {
	size := 2 * (len(d.Old) + len(d.New) + 16)
	for _, h := range d.Hunks {
		size += 64 + len(h.Section)
		for _, l := range h.Lines {
			size += len(l.Text) + 2
		}
	}
	return size + 2*len(noNewline)
}

// header returns the line that a hunk starts with.
func (h Hunk) header() string {
	text := "@@ -" + h.Old.String() + " +" + h.New.String() + " @@"
	if h.Section != "" {
		text += " " + h.Section
	}
	return text + "\n"
}

// String returns the range as it stands in unified text.
func (r Range) String() string {
	if r.Count == 1 {
		return strconv.Itoa(r.Start)
	}
	return strconv.Itoa(r.Start) + "," + strconv.Itoa(r.Count)
}

func (l Line) write(b *strings.Builder) {
	b.WriteByte(lineSigns[l.Kind])
	b.WriteString(l.Text)
	b.WriteByte('\n')
	if l.NoNewline {
		b.WriteString(noNewline)
	}
}

// noFile stands for a file that does not exist.
const noFile = "/dev/null"

func oldHeader(name string) string { return "--- " + headerName("a/", name) + "\n" }
func newHeader(name string) string { return "+++ " + headerName("b/", name) + "\n" }

// headerName returns a name as git writes it: below a/ or b/, in quotes if it
// could be read as something else, and with a tab after one that has spaces. A
// full path stays as it is.
func headerName(prefix, name string) string {
	if name == "" {
		return noFile
	}
	if isFullPath(name) {
		prefix = ""
	}
	text := prefix + name
	if strings.ContainsFunc(name, isQuoted) {
		text = quoteName(text)
	}
	if strings.Contains(name, " ") {
		text += "\t"
	}
	return text
}

// isFullPath reports whether a name is written without a/ or b/: it says where the file is.
func isFullPath(name string) bool { return strings.HasPrefix(name, "/") && name != noFile }

// isQuoted reports whether a name with r in it is written in quotes.
func isQuoted(r rune) bool { return r < ' ' || r == 0x7f || r == '"' || r == '\\' }

// quoteName returns a name in quotes, as C writes a string.
func quoteName(name string) string {
	valid := utf8.ValidString(name)
	out := []byte{'"'}
	for _, c := range []byte(name) {
		switch short := strings.IndexByte("\a\b\t\n\v\f\r\"\\", c); {
		case short >= 0:
			out = append(out, '\\', `abtnvfr"\`[short])
		case c < ' ' || c == 0x7f || c >= 0x80 && !valid:
			out = fmt.Appendf(out, `\%03o`, c)
		default:
			out = append(out, c)
		}
	}
	return string(append(out, '"'))
}

// parseName reads what headerName writes. It reads other spellings too: the
// caller compares.
func parseName(prefix, text string) (string, error) {
	if text == noFile {
		return "", nil
	}
	text = strings.TrimSuffix(text, "\t")
	if strings.HasPrefix(text, `"`) {
		unquoted, err := strconv.Unquote(text)
		if err != nil {
			return "", errors.New("the name is not quoted as git does")
		}
		text = unquoted
	}
	if isFullPath(text) {
		return text, nil
	}
	name, ok := strings.CutPrefix(text, prefix)
	if !ok || name == "" || isFullPath(name) {
		return "", fmt.Errorf("want %s or a name after %q", noFile, prefix)
	}
	return name, nil
}
