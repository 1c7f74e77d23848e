package present

import (
	"strings"

	"znkr.io/diff"
)

const (
	// maxCompare bounds the pairs of lines that are searched for a short diff
	// where unique lines alone do not align two texts.
	maxCompare = 60_000_000
	// maxAlign is how often a part is aligned again by the lines unique in it.
	maxAlign = 8
)

// splitLines cuts a text after each newline. Only the last line may lack one.
func splitLines(s string) []string {
	lines := make([]string, 0, strings.Count(s, "\n")+1)
	for s != "" {
		end := strings.IndexByte(s, '\n') + 1
		if end == 0 {
			end = len(s)
		}
		lines = append(lines, s[:end])
		s = s[end:]
	}
	return lines
}

// A change replaces the lines x0 up to x1 of the old text with the lines y0 up
// to y1 of the new one, counted from 0. Lines between changes are the same.
type change struct {
	x0, x1, y0, y1 int
}

// compareLines returns the changes from x to y, in order and apart from each
// other, and whether some of them are coarse.
func compareLines(x, y []string) (changes []change, coarse bool) {
	c := comparer{x: x, y: y, budget: maxCompare}
	for _, h := range diff.Hunks(x, y, diff.Fast(), diff.Context(0)) {
		c.refine(change{h.PosX, h.EndX, h.PosY, h.EndY}, maxAlign)
	}
	return slideAll(x, y, c.changes), c.coarse
}

// A comparer turns the changes that unique lines leave into shorter ones.
type comparer struct {
	x, y    []string
	budget  int // pairs of lines that may still be searched
	changes []change
	coarse  bool
}

// refine adds p in its shortest form that the budget allows.
func (c *comparer) refine(p change, align int) {
	x, y := c.x[p.x0:p.x1], c.y[p.y0:p.y1]
	nx, ny := countCommon(x, y)
	switch {
	case nx == 0:
		c.changes = append(c.changes, p)
	case nx <= c.budget/ny:
		c.budget -= nx * ny
		for _, h := range diff.Hunks(x, y, diff.Context(0)) {
			c.changes = append(c.changes, p.part(h))
		}
	case align == 0:
		c.giveUp(p)
	default:
		c.align(p, align-1)
	}
}

// align refines the parts of p between the lines that are unique inside of it.
func (c *comparer) align(p change, align int) {
	hunks := diff.Hunks(c.x[p.x0:p.x1], c.y[p.y0:p.y1], diff.Fast(), diff.Context(0))
	if len(hunks) == 1 && p.part(hunks[0]) == p {
		c.giveUp(p)
		return
	}
	for _, h := range hunks {
		c.refine(p.part(h), align)
	}
}

func (c *comparer) giveUp(p change) {
	c.changes = append(c.changes, p)
	c.coarse = true
}

// part returns the change that h, found inside of p, is in the whole texts.
func (p change) part(h diff.Hunk[string]) change {
	return change{p.x0 + h.PosX, p.x0 + h.EndX, p.y0 + h.PosY, p.y0 + h.EndY}
}

// countCommon counts the lines of each text that are somewhere in the other.
func countCommon(x, y []string) (nx, ny int) {
	if len(x) == 0 || len(y) == 0 {
		return 0, 0
	}
	inX := make(map[string]bool, len(x)) // true once the line was found in y
	for _, line := range x {
		inX[line] = false
	}
	for _, line := range y {
		if _, ok := inX[line]; ok {
			inX[line] = true
			ny++
		}
	}
	for _, line := range x {
		if inX[line] {
			nx++
		}
	}
	return nx, ny
}
