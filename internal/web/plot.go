package web

import (
	"strconv"

	"github.com/assent-dev/assent/present"
)

// A plot is a drawing, as numbers and words that a template puts into SVG.
type plot struct {
	Label         string
	Width, Height int
	Bars          []bar
	Words         []word
}

type bar struct {
	Class      string
	X, Y, W, H int
	Title      string
}

type word struct {
	X, Y int
	Text string
}

const plotWidth = 640

// daysPlot draws the questions of each day, by how they were answered.
func daysPlot(days []Day) *plot {
	const most, height, left, thick = 30, 160, 40, 14
	days = days[max(len(days)-most, 0):]
	if len(days) == 0 {
		return nil
	}
	top := int64(1)
	for _, d := range days {
		top = max(top, d.Asked)
	}
	p := &plot{Label: "Questions and answers a day", Width: plotWidth, Height: height + 24}
	p.Words = append(p.Words, word{0, 14, strconv.FormatInt(top, 10)}, word{0, height, "0"})
	for i, d := range days {
		x, y := left+i*(plotWidth-left)/len(days), height
		other := max(0, d.Asked-d.Approved-d.Denied)
		title := d.Day.Format("Jan 2") + ": " + strconv.FormatInt(d.Asked, 10) + " asked, " + strconv.FormatInt(d.Approved, 10) +
			" approved, " + strconv.FormatInt(d.Denied, 10) + " denied"
		for _, part := range []struct {
			class string
			n     int64
		}{{"approved", d.Approved}, {"denied", d.Denied}, {"other", other}} {
			h := int(part.n * (height - 16) / top)
			y -= h
			p.Bars = append(p.Bars, bar{part.class, x, y, thick, h, title})
		}
		if i == 0 || i == len(days)-1 || len(days) <= 8 {
			p.Words = append(p.Words, word{x, height + 16, d.Day.Format("Jan 2")})
		}
	}
	return p
}

// asksPlot draws what asks most, with the rule that would answer it.
func asksPlot(all []Suggested) *plot {
	const most, line, right = 10, 36, 60
	all = all[:min(len(all), most)]
	if len(all) == 0 {
		return nil
	}
	top := 1
	for _, s := range all {
		top = max(top, s.Answers)
	}
	p := &plot{Label: "What asks most, with the rule that would answer it", Width: plotWidth, Height: line * len(all)}
	for i, s := range all {
		w := (plotWidth - right) * s.Answers / top
		p.Words = append(p.Words, word{0, i*line + 14, present.SafeLine(s.Rule)}, word{w + 6, i*line + 28, strconv.Itoa(s.Answers)})
		p.Bars = append(p.Bars, bar{"approved", 0, i*line + 20, w, 8, present.SafeLine(s.Rule)})
	}
	return p
}
