package terminal

import (
	"slices"
	"strings"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
)

// An actText is an act as it is listed: what it is, and what is said about it and why.
type actText struct {
	act, verdict line
	indent       string
}

// actRows lists the acts of a request that has more than one, so that a person sees which
// part of it is the problem.
func actRows(r *approval.Request, n int) []line {
	if len(r.Acts) < 2 {
		return nil
	}
	return listed(actTexts(r), n)
}

// shortActRows is actRows for below the reason why a request asks, which is not said twice.
// The reasons of what does not ask are left to the key that tells why, if there is no room.
func shortActRows(r *approval.Request, n int) []line {
	if len(r.Acts) < 2 {
		return nil
	}
	texts := actTexts(r)
	for _, i := range r.Open {
		if openWhy(r, i) == r.Why {
			texts[i].verdict = texts[i].verdict[:1]
		}
	}
	if left, right := widths(texts); left+right > n {
		for i := range texts {
			if !slices.Contains(r.Open, i) {
				texts[i].verdict = texts[i].verdict[:1]
			}
		}
	}
	if row, ok := joined(texts); ok && row.width() <= n {
		return []line{row}
	}
	return listed(texts, n)
}

// openRows lists the acts that need an answer, each within a few rows, and says whether one was
// cut. The act of a request that has only that one is its summary, unless that is cut.
func openRows(r *approval.Request, n int, always bool) (rows []line, cut bool) {
	if len(r.Acts) < 2 && !always {
		return nil, false
	}
	all := actTexts(r)
	for _, i := range r.Open {
		t := all[i]
		if openWhy(r, i) == r.Why {
			t.verdict = t.verdict[:1]
		}
		if t.act.width()+2+t.verdict.width() <= n {
			rows = append(rows, slices.Concat(t.act, text("  "), t.verdict))
			continue
		}
		below := text(t.indent + "    ")
		act, short := clipped(wrap(t.act, n, below), maxAct, n)
		rows = slices.Concat(rows, act, wrap(slices.Concat(below, t.verdict), n, below))
		cut = cut || short
	}
	return rows, cut
}

func actTexts(r *approval.Request) []actText {
	texts := make([]actText, len(r.Acts))
	for i := range r.Acts {
		texts[i] = actTextOf(r, i)
	}
	return texts
}

// widths returns how wide two columns have to be for the acts, with a gap, and what is said
// about them.
func widths(texts []actText) (left, right int) {
	for _, t := range texts {
		left, right = max(left, t.act.width()+2), max(right, t.verdict.width())
	}
	return left, right
}

// joined puts acts without reasons in one row.
func joined(texts []actText) (row line, ok bool) {
	for i, t := range texts {
		if len(t.verdict) > 1 {
			return nil, false
		}
		if i > 0 {
			row = append(row, seg{" · ", faint})
		}
		row = slices.Concat(row, t.act, text(" "), t.verdict)
	}
	return row, true
}

// listed puts what is said about an act beside it where there is room for that at every act,
// else below.
func listed(texts []actText, n int) []line {
	left, right := widths(texts)
	var rows []line
	for _, t := range texts {
		if left+right <= n {
			rows = append(rows, append(t.act.padded(left), t.verdict...))
			continue
		}
		below := text(t.indent + "    ")
		rows = append(rows, wrap(t.act, n, below)...)
		rows = append(rows, wrap(slices.Concat(below, t.verdict), n, below)...)
	}
	return rows
}

// actTextOf describes act i. One that another causes is set below it.
func actTextOf(r *approval.Request, i int) actText {
	a := &r.Acts[i]
	mark, name, verdict, why := seg{"✓ ", good}, plain, "free", a.Why
	covered := traced(r, i, "covered")
	switch {
	case slices.Contains(r.Open, i):
		mark, name, verdict, why = seg{"? ", warn}, strong, "asks", openWhy(r, i)
	case a.Verdict == policy.VerdictBlock:
		mark, verdict = seg{"✗ ", bad}, "blocked"
	case covered != "":
		verdict, why = "allowed", covered
	}
	out := actText{verdict: line{{verdict, mark.style}}}
	if a.Cause > 0 {
		out.indent = "  "
	}
	out.act = append(line{{out.indent, plain}, mark}, spanLine(a.String(), name)...)
	if a.Dir != "" && a.Dir != r.Acts[0].Dir {
		out.act = append(out.act, seg{" in " + present.SafeLine(a.Dir), faint})
	}
	if why != "" {
		out.verdict = append(out.verdict, seg{": " + present.SafeLine(why), faint})
	}
	return out
}

// openWhy says why an act needs an answer.
func openWhy(r *approval.Request, i int) string {
	a, denied := &r.Acts[i], traced(r, i, "possibly denied")
	switch {
	case denied != "":
		return "it may do what is denied by " + denied + ", so only a person may answer"
	case a.PersonOnly && a.Why != "":
		return a.Why + ", so only a person may answer"
	case a.PersonOnly:
		return "only a person may answer"
	case a.Why != "":
		return a.Why
	}
	return "no rule allows it"
}

// traced returns what was behind a finding about act i on the way to the question, or "".
func traced(r *approval.Request, i int, found string) string {
	for _, step := range r.Trace {
		if step.Act == i+1 && strings.HasPrefix(step.Found, found) {
			return step.Source
		}
	}
	return ""
}

// spanLine is text of others on one line, with what was made visible in the style escape.
func spanLine(s string, st style) line {
	var out line
	for _, span := range present.LineSpans(s) {
		if span.Escaped {
			out = append(out, seg{span.Text, escape})
		} else {
			out = append(out, seg{span.Text, st})
		}
	}
	return out
}
