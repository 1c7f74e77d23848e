package main

import (
	"fmt"
	"html"
	"strconv"
	"strings"

	"github.com/assent-dev/assent/internal/screen"
)

// Measures of the drawing, in its own units.
const (
	cellWidth  = 8.4
	cellHeight = 18.0
	margin     = 16.0
	barHeight  = 34.0 // with the caption
)

// The colours of a terminal: its own, and the first sixteen of its table.
const (
	paper = "#14181d"
	ink   = "#d5dae0"
	bar   = "#232a32"
)

var table = [16]string{
	"#14181d", "#e5646e", "#86c06c", "#dcb862", "#6aa5e8", "#c58fe0", "#5fbfc4", "#d5dae0",
	"#6b7683", "#ff7f88", "#a3d98a", "#f2d08a", "#8fc1ff", "#dcaef2", "#84dbe0", "#ffffff",
}

// drawing is the frames as an SVG that shows one after the other, without scripts. Where motion is not
// wanted it is the last frame.
func drawing(frames []frame) string {
	used := 0
	for _, f := range frames {
		used = max(used, lastRow(f.rows)+1)
	}
	width := columns*cellWidth + 2*margin
	height := barHeight + float64(used)*cellHeight + 2*margin
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%.0f" role="img" aria-label="%s">`+"\n",
		width, height, width, html.EscapeString(spoken(frames)))
	b.WriteString("<style>\n" +
		"text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace; white-space: pre }\n" +
		".caption { font: 600 14px system-ui, sans-serif }\n" +
		timing(frames) + "</style>\n")
	fmt.Fprintf(&b, `<rect width="%.0f" height="%.0f" rx="8" fill="%s"/>`+"\n", width, height, paper)
	fmt.Fprintf(&b, `<path d="M0 %[2]g V8 Q0 0 8 0 H%[3]g Q%[1]g 0 %[1]g 8 V%[2]g Z" fill="%[4]s"/>`+"\n",
		width, barHeight, width-8, bar)
	for i, f := range frames {
		fmt.Fprintf(&b, `<g class="frame f%d">`+"\n", i)
		fmt.Fprintf(&b, `<text class="caption" x="%g" y="22" fill="#ffffff">%s</text>`+"\n", margin, html.EscapeString(f.caption))
		for y, row := range f.rows[:used] {
			drawRow(&b, row, barHeight+margin+float64(y)*cellHeight)
		}
		b.WriteString("</g>\n")
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// spoken is the story for who cannot see it.
func spoken(frames []frame) string {
	var captions []string
	for _, f := range frames {
		captions = append(captions, f.caption)
	}
	return strings.Join(captions, " ")
}

// timing makes one frame after the other visible.
func timing(frames []frame) string {
	var b strings.Builder
	total, at := 0, 0
	for _, f := range frames {
		total += f.seconds
	}
	percent := func(seconds int) string {
		return strconv.FormatFloat(float64(seconds)*100/float64(total), 'f', 2, 64) + "%"
	}
	for i, f := range frames {
		fmt.Fprintf(&b, "@keyframes f%d { 0%%, 100%% { visibility: hidden } %s { visibility: hidden } %s, %s { visibility: visible } }\n",
			i, percent(at), percent(at), percent(at+f.seconds))
		fmt.Fprintf(&b, ".f%d { animation: f%d %ds steps(1) infinite }\n", i, i, total)
		at += f.seconds
	}
	fmt.Fprintf(&b, "@media (prefers-reduced-motion: reduce) { .frame { animation: none; visibility: hidden } "+
		".f%d { visibility: visible } }\n", len(frames)-1)
	return b.String()
}

// lastRow is the last row with something in it.
func lastRow(rows [][]screen.Cell) int {
	for y := len(rows) - 1; y >= 0; y-- {
		if strings.TrimSpace(visibleText(rows[y:y+1])) != "" {
			return y
		}
	}
	return 0
}

// drawRow draws runs of cells that look the same. Each run says how wide it is, so that columns stay
// columns in any font.
func drawRow(b *strings.Builder, row []screen.Cell, top float64) {
	for x := 0; x < len(row); {
		end := x
		var text strings.Builder
		for end < len(row) && row[end].Style == row[x].Style {
			text.WriteString(row[end].Text)
			end++
		}
		front, back := colours(row[x].Style)
		left, width := margin+float64(x)*cellWidth, float64(end-x)*cellWidth
		if back != paper {
			fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>`+"\n", left, top, width, cellHeight, back)
		}
		if strings.TrimSpace(text.String()) != "" {
			fmt.Fprintf(b, `<text x="%.1f" y="%.1f" textLength="%.1f" lengthAdjust="spacingAndGlyphs" fill="%s"%s>%s</text>`+"\n",
				left, top+13.5, width, front, weight(row[x].Style), html.EscapeString(text.String()))
		}
		x = end
	}
}

func weight(s screen.Style) (out string) {
	if s.Bold {
		out += ` font-weight="bold"`
	}
	if s.Faint {
		out += ` opacity="0.65"`
	}
	if s.Italic {
		out += ` font-style="italic"`
	}
	if s.Underline {
		out += ` text-decoration="underline"`
	}
	return out
}

// colours are those of the text and of what is behind it.
func colours(s screen.Style) (front, back string) {
	front, back = colour(s.Foreground, ink), colour(s.Background, paper)
	if s.Reverse {
		front, back = back, front
	}
	return front, back
}

func colour(name, missing string) string {
	n, err := strconv.Atoi(name)
	switch {
	case name == "":
		return missing
	case err != nil:
		return name // #rrggbb
	case n < 16:
		return table[n]
	case n < 232: // a cube of six steps
		step := func(i int) int { return map[bool]int{true: 55 + 40*i}[i > 0] }
		n -= 16
		return fmt.Sprintf("#%02x%02x%02x", step(n/36), step(n/6%6), step(n%6))
	}
	grey := 8 + 10*(n-232)
	return fmt.Sprintf("#%02x%02x%02x", grey, grey, grey)
}
