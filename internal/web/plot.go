package web

import (
	"fmt"

	"github.com/assent-dev/assent/present"
)

// The plots are bars in SVG. Their words are HTML around them, so that they keep their size on a small
// screen and wrap.

// A daysPlot shows the questions of each day, by how they were answered.
type daysPlot struct {
	Width, Height int
	Bars          []bar
	Days          []dayRow // the same as a table
	First, Last   string
	Most          int64
}

type bar struct {
	Class      string
	X, Y, W, H int
	Title      string
}

type dayRow struct {
	Day                            string
	Asked, Approved, Denied, Other int64
}

func plotDays(days []Day) *daysPlot {
	const most, height, step, thick = 30, 100, 20, 14
	days = days[max(len(days)-most, 0):]
	if len(days) == 0 {
		return nil
	}
	p := &daysPlot{Width: max(len(days), 7) * step, Height: height, Most: 1}
	for _, d := range days {
		p.Days = append(p.Days, dayRow{d.Day.Format("Jan 2"), d.Asked, d.Approved, d.Denied, max(0, d.Asked-d.Approved-d.Denied)})
		p.Most = max(p.Most, d.Asked)
	}
	p.First, p.Last = p.Days[0].Day, p.Days[len(days)-1].Day
	for i, d := range p.Days {
		y := height
		title := fmt.Sprintf("%s: %d asked, %d approved, %d denied", d.Day, d.Asked, d.Approved, d.Denied)
		for _, part := range []struct {
			class string
			n     int64
		}{{"approved", d.Approved}, {"denied", d.Denied}, {"other", d.Other}} {
			if part.n > 0 {
				h := max(1, int(part.n*height/p.Most))
				y -= h
				p.Bars = append(p.Bars, bar{part.class, i*step + (step-thick)/2, y, thick, h, title})
			}
		}
	}
	return p
}

// An asksBar is something that asks often, with the rule that would answer it.
type asksBar struct {
	Rule    string
	Answers int
	Width   int // of 100
}

func plotAsks(all []Suggested) []asksBar {
	const most = 10
	top := 1
	var out []asksBar
	for _, s := range all[:min(len(all), most)] {
		top = max(top, s.Answers)
		out = append(out, asksBar{Rule: present.SafeLine(s.Rule), Answers: s.Answers})
	}
	for i := range out {
		out[i].Width = max(1, out[i].Answers*100/top)
	}
	return out
}
