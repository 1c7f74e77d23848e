package present

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

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
	inOld, inNew := l.Kind != AddedLine, l.Kind != RemovedLine
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
