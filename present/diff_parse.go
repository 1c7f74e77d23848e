package present

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ParseDiff reads the unified text of one file, as [LineDiff.String] writes it,
// and marks the words that differ. It is strict: a text that it accepts is
// written back the same to the byte, has exactly the lines that its hunks
// announce, and fits some pair of texts. So a text that was cut is an error.
func ParseDiff(content string) (LineDiff, error) {
	p := diffParser{rest: content}
	d, err := p.parse()
	if err != nil {
		return LineDiff{}, fmt.Errorf("diff: line %d: %w", p.line, err)
	}
	if d.String() != content {
		return LineDiff{}, errors.New("diff: not written in the usual form: a number, a name or a heading has other spellings")
	}
	markWords(d.Hunks)
	return d, nil
}

// A diffParser reads unified text line by line.
type diffParser struct {
	rest string
	line int // the number of the line that was read last

	old, new         int  // the lines of each text that are behind
	oldDone, newDone bool // the end of the text was seen
}

// next returns the next line without its newline.
func (p *diffParser) next() (string, error) {
	p.line++
	line, rest, ok := strings.Cut(p.rest, "\n")
	switch {
	case p.rest == "":
		return "", errors.New("the text ends too early")
	case !ok:
		return "", errors.New("the line has no newline")
	}
	p.rest = rest
	return line, nil
}

func (p *diffParser) parse() (d LineDiff, err error) {
	if p.rest == "" {
		return LineDiff{}, nil
	}
	if d.Old, err = p.name("--- ", "a/"); err != nil {
		return d, err
	}
	if d.New, err = p.name("+++ ", "b/"); err != nil {
		return d, err
	}
	for p.rest != "" || len(d.Hunks) == 0 {
		h, err := p.hunk()
		if err != nil {
			return d, err
		}
		d.Hunks = append(d.Hunks, h)
	}
	return d, nil
}

func (p *diffParser) name(sign, prefix string) (string, error) {
	line, err := p.next()
	if err != nil {
		return "", err
	}
	text, ok := strings.CutPrefix(line, sign)
	if !ok {
		return "", fmt.Errorf("want a name after %q", sign)
	}
	return parseName(prefix, text)
}

func (p *diffParser) hunk() (Hunk, error) {
	line, err := p.next()
	if err != nil {
		return Hunk{}, err
	}
	h, err := parseHunkHeader(line)
	if err != nil {
		return h, err
	}
	if err := p.skipTo(h); err != nil {
		return h, err
	}
	h.Lines, err = p.lines(p.old+h.Old.Count, p.new+h.New.Count)
	return h, err
}

// skipTo passes the lines before h, which are the same in both texts.
func (p *diffParser) skipTo(h Hunk) error {
	same := h.Old.first() - p.old
	switch {
	case h.Old.Count == 0 && h.New.Count == 0:
		return errors.New("the hunk is empty")
	case same < 0 || h.New.first()-p.new != same:
		return errors.New("the line numbers do not continue those before")
	case same > 0 && (p.oldDone || p.newDone):
		return errors.New("lines after the end of the file")
	}
	p.old, p.new = p.old+same, p.new+same
	return nil
}

// lines reads lines until so many of the old and the new text are behind.
func (p *diffParser) lines(old, new int) ([]Line, error) {
	var lines []Line
	changes := false
	for p.old < old || p.new < new {
		l, err := p.hunkLine()
		if err != nil {
			return nil, err
		}
		if p.old > old || p.new > new {
			return nil, errors.New("the hunk announces fewer lines of this kind")
		}
		changes = changes || l.Kind != LineContext
		lines = append(lines, l)
	}
	if !changes {
		return nil, errors.New("the hunk changes nothing")
	}
	return lines, nil
}

// hunkLine reads a line of a hunk, with the marker for a missing newline.
func (p *diffParser) hunkLine() (Line, error) {
	text, err := p.next()
	if err != nil {
		return Line{}, err
	}
	kind := -1
	if text != "" {
		kind = bytes.IndexByte(lineSigns[:], text[0])
	}
	if kind < 0 {
		return Line{}, errors.New(`want a line that starts with " ", "-" or "+"`)
	}
	l := Line{Kind: LineKind(kind), Text: text[1:]}
	if rest, ok := strings.CutPrefix(p.rest, noNewline); ok {
		p.line, p.rest, l.NoNewline = p.line+1, rest, true
	}
	return p.count(l)
}

// count numbers l and keeps track of where the texts end.
func (p *diffParser) count(l Line) (Line, error) {
	inOld, inNew := l.Kind != LineAdded, l.Kind != LineRemoved
	if inOld && p.oldDone || inNew && p.newDone {
		return l, errors.New("a line after the end of the file")
	}
	if inOld {
		p.old++
		l.Old, p.oldDone = p.old, l.NoNewline
	}
	if inNew {
		p.new++
		l.New, p.newDone = p.new, l.NoNewline
	}
	return l, nil
}

// parseHunkHeader reads the line that a hunk starts with.
func parseHunkHeader(line string) (h Hunk, err error) {
	rest, ok := strings.CutPrefix(line, "@@ -")
	old, rest, ok2 := strings.Cut(rest, " +")
	new, section, ok3 := strings.Cut(rest, " @@")
	if !ok || !ok2 || !ok3 {
		return h, errors.New("want a hunk: @@ -START,COUNT +START,COUNT @@")
	}
	if h.Old, err = parseRange(old); err != nil {
		return h, err
	}
	if h.New, err = parseRange(new); err != nil {
		return h, err
	}
	h.Section = strings.TrimPrefix(section, " ")
	return h, nil
}

// parseRange reads START or START,COUNT.
func parseRange(text string) (r Range, err error) {
	start, count, ok := strings.Cut(text, ",")
	if !ok {
		count = "1"
	}
	if r.Start, err = parseCount(start); err != nil {
		return r, err
	}
	if r.Count, err = parseCount(count); err != nil {
		return r, err
	}
	if r.Count > 0 && r.Start == 0 {
		return r, fmt.Errorf("the lines %s start at 0: the first line is 1", text)
	}
	return r, nil
}

// parseCount reads a number of lines. Two of them can be added.
func parseCount(text string) (int, error) {
	n, err := strconv.ParseUint(text, 10, 30)
	if err != nil {
		return 0, fmt.Errorf("%q is not a number of lines", text)
	}
	return int(n), nil
}
