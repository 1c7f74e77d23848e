package auditview

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/assent-dev/assent/internal/rulebook"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/store"
)

// Stats prints numbers as tables with a bar for each, as far as there is room.
func Stats(w io.Writer, s Style, st store.Stats, rules []policy.Rule) error {
	p := &figures{style: s}
	p.title(fmt.Sprintf("%d calls, %d prompts", st.Calls, st.Prompts))
	if st.Unended > 0 {
		p.line(fmt.Sprintf("%d calls started and no end was seen.", st.Unended))
	}
	if st.Unexpected > 0 {
		p.line(fmt.Sprintf("%d times a call was about to do something that was not foreseen, and was asked about or "+
			"stopped.", st.Unexpected))
	}
	if st.Tripped > 0 {
		p.line(fmt.Sprintf("%d times the operating system refused what was not foreseen.", st.Tripped))
	}
	if st.Connections > 0 {
		p.line(fmt.Sprintf("%d connections, %d of them refused; %d bytes sent, %d received.", st.Connections,
			st.Refused, st.Sent, st.Received))
	}
	p.days(st.Days)
	p.bars("Prompts per session", sessionBars(st.Sessions))
	p.bars("How prompts were answered", answerBars(st.Answers, func(a store.AnswerStats) int64 { return a.Asked }))
	p.bars("How calls were decided", answerBars(st.Answers, func(a store.AnswerStats) int64 { return a.Calls }))
	p.bars("Slowest answers", slowBars(st.Slowest))
	p.bars("Rules and grants that do work", ruleBars(st.Rules, rules))
	p.idle(st.Idle)
	_, err := io.WriteString(w, p.String())
	return err
}

// figures are numbers on a page.
type figures struct {
	strings.Builder
	style Style
}

func (p *figures) line(text string) { p.WriteString(text + "\n") }

func (p *figures) title(text string) {
	if p.Len() > 0 {
		p.line("")
	}
	p.line(text)
}

func (p *figures) bars(title string, bars []bar) {
	if len(bars) == 0 {
		return
	}
	p.title(title)
	for _, l := range drawBars(p.narrow(), bars) {
		p.line("  " + l)
	}
}

// narrow is the style of what is drawn two columns in.
func (p *figures) narrow() Style {
	s := p.style
	s.Width = max(20, s.width()-2)
	return s
}

// days draws the prompts of each day, also of days without any.
func (p *figures) days(days []store.DayStats) {
	if len(days) == 0 {
		return
	}
	prompts := map[string]int64{}
	for _, d := range days {
		prompts[d.Day] = d.Prompts
	}
	first, err := time.Parse(time.DateOnly, days[0].Day)
	last, err2 := time.Parse(time.DateOnly, days[len(days)-1].Day)
	if err != nil || err2 != nil {
		return
	}
	const most = 366
	if last.Sub(first) > most*24*time.Hour {
		first = last.AddDate(0, 0, -most)
	}
	var values []int64
	for d := first; !d.After(last); d = d.AddDate(0, 0, 1) {
		values = append(values, prompts[d.Format(time.DateOnly)])
	}
	p.title(fmt.Sprintf("Prompts a day, %s to %s (UTC)", first.Format(time.DateOnly), last.Format(time.DateOnly)))
	p.line("  " + spark(p.narrow(), values))
}

func sessionBars(sessions []store.SessionStats) []bar {
	var out []bar
	for _, s := range sessions {
		text := fmt.Sprintf("%d of %d calls", s.Prompts, s.Calls)
		out = append(out, bar{label: s.Session, value: s.Prompts, text: text})
	}
	return out
}

func answerBars(answers []store.AnswerStats, value func(store.AnswerStats) int64) []bar {
	var out []bar
	for _, a := range answers {
		if n := value(a); n > 0 {
			label := string(a.State)
			if a.Via != "" {
				label += ", " + string(a.Via)
			}
			out = append(out, bar{label: label, value: n})
		}
	}
	return out
}

func slowBars(slow []store.SlowAnswer) []bar {
	var out []bar
	for _, s := range slow[:min(len(slow), 10)] {
		out = append(out, bar{
			label: fmt.Sprintf("%d %s, %s", s.Seq, s.Tool, s.State),
			value: int64(s.Waited), text: s.Waited.Round(time.Millisecond).String(),
		})
	}
	return out
}

func ruleBars(used []store.RuleStats, rules []policy.Rule) []bar {
	names := map[string]string{}
	for _, r := range rules {
		names[r.ID] = r.String()
	}
	var out []bar
	for _, u := range used {
		label := rulebook.ShortID(u.ID)
		if name := names[u.ID]; name != "" {
			label += " " + name
		}
		out = append(out, bar{label: label, value: u.Calls})
	}
	return out
}

// idle lists the rules that never matched.
func (p *figures) idle(rules []policy.Rule) {
	if len(rules) == 0 {
		return
	}
	p.title("Rules that never decided anything")
	for _, r := range rules {
		p.line("  " + present.SafeLine(rulebook.ShortID(r.ID)+" "+r.String()))
	}
}
