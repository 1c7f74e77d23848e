package web

import (
	"encoding/base64"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/assent-dev/assent/present"
)

// A ViewPage is a view laid out for a template. All its texts are safe.
type ViewPage struct {
	Kind     string
	Title    string
	Numbered bool // lines have numbers
	Facts    []string
	Rows     []row
	Image    template.URL // the image itself, if the content is one
	Note     string       // what is left out
	Cut      bool         // something is left out that can be shown
	HeadOnly bool         // the view itself is only the head
	Original []row
	Empty    bool
}

// A row is a line of a view.
type row struct {
	Class    string // added, removed, context, hunk, or none
	Old, New int    // numbers; 0 for none
	Sign     string
	Parts    []part
}

// A part is a piece of a line.
type part struct {
	Class string // marked, escaped, both or none
	Text  string
}

// shownAtFirst is how much of a view is rendered before the person asks for all of it.
var shownAtFirst = present.Limit{Lines: 400, Chars: 60_000}

// LayOut prepares a view for the template "view"; whole leaves nothing out.
func LayOut(v present.View, whole bool) ViewPage {
	limit := shownAtFirst
	if whole {
		limit = present.Limit{}
	}
	cut := v.Cut(limit)
	out := ViewPage{Kind: string(v.Kind), Title: titleOf(v.Kind), Facts: factTexts(v.Facts), Note: cut.Note(), Cut: cut.Chars > 0, Empty: v.Content == ""}
	truncated, _ := v.Facts.Get(present.FactTruncated)
	if out.HeadOnly, _ = truncated.Flag(); out.HeadOnly && out.Note == "" {
		size, _ := v.Facts.Get(present.FactFullSize)
		out.Note = "… only the head; the whole is " + present.SafeLine(size.Value()) + " bytes"
	}
	if image, ok := imageOf(v); ok {
		out.Image = image
	}
	switch {
	case v.Kind == present.KindStructured && v.Content == "{}":
	case v.Kind == present.KindDiff:
		out.Rows = diffRows(v.Content, cut)
	case !utf8.ValidString(v.Content) && !strings.ContainsAny(v.Content[:min(len(v.Content), 512)], "\n"):
		out.Rows = textRows(present.HexDump([]byte(cut.View.Content[:min(len(cut.View.Content), 4096)])), false)
	case v.Kind == present.KindCommand:
		out.Rows = commandRows(cut.View.Content)
	default:
		out.Rows = textRows(cut.View.Content, v.Kind == present.KindFile)
	}
	out.Numbered = slices.ContainsFunc(out.Rows, func(r row) bool { return r.Old+r.New > 0 })
	if v.Original != "" {
		out.Original = textRows(present.View{Content: v.Original}.Cut(limit).View.Content, false)
	}
	return out
}

// titleOf says what a view shows.
func titleOf(k present.Kind) string {
	switch k {
	case present.KindDiff:
		return "The change"
	case present.KindFile:
		return "The content"
	case present.KindCommand:
		return "The command"
	case present.KindStructured:
		return "The values"
	}
	return "Details"
}

// imageOf returns a picture that browsers draw without running anything.
func imageOf(v present.View) (template.URL, bool) {
	const most = 2 << 20
	if v.Kind != present.KindFile || len(v.Content) > most {
		return "", false
	}
	kind := http.DetectContentType([]byte(v.Content))
	if !slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"}, kind) {
		return "", false
	}
	return template.URL("data:" + kind + ";base64," + base64.StdEncoding.EncodeToString([]byte(v.Content))), true
}

func textRows(content string, numbered bool) []row {
	var rows []row
	for i, l := range strings.Split(strings.TrimSuffix(content, "\n"), "\n") {
		r := row{Parts: parts(l, nil)}
		if numbered {
			r.New = i + 1
		}
		rows = append(rows, r)
	}
	return rows
}

func commandRows(content string) []row {
	rows := textRows(content, false)
	for i := range rows {
		if rows[i].Sign = "$"; i > 0 {
			rows[i].Sign = ">"
		}
	}
	return rows
}

// diffRows lays a diff out. It is parsed whole, and cut afterwards: half a diff has no meaning.
func diffRows(content string, cut present.Cut) []row {
	d, err := present.ParseDiff(content)
	if err != nil {
		return textRows(cut.View.Content, false)
	}
	var rows []row
	for _, h := range d.Hunks {
		rows = append(rows, row{Class: "hunk", Parts: parts(fmt.Sprintf("@@ -%s +%s @@ %s", h.Old, h.New, h.Section), nil)})
		for _, l := range h.Lines {
			r := row{Old: l.Old, New: l.New, Parts: parts(l.Text, l.Marks)}
			switch l.Kind {
			case present.LineAdded:
				r.Class, r.Sign = "added", "+"
			case present.LineRemoved:
				r.Class, r.Sign = "removed", "−"
			default:
				r.Class = "context"
			}
			if l.NoNewline {
				r.Parts = append(r.Parts, part{"escaped", " (no newline at the end)"})
			}
			rows = append(rows, r)
		}
	}
	if cut.Chars > 0 {
		rows = rows[:min(len(rows), shownAtFirst.Lines)]
	}
	return rows
}

// parts splits a line where it is marked, and makes each piece safe.
func parts(text string, marks []present.Mark) []part {
	var out []part
	add := func(text string, marked bool) {
		for _, s := range present.LineSpans(text) {
			out = append(out, part{class(marked, s.Escaped), s.Text})
		}
	}
	at := 0
	for _, m := range marks {
		add(text[at:m.Start], false)
		add(text[m.Start:m.End], true)
		at = m.End
	}
	add(text[at:], false)
	return out
}

func class(marked, escaped bool) string {
	switch {
	case marked && escaped:
		return "marked escaped"
	case marked:
		return "marked"
	case escaped:
		return "escaped"
	}
	return ""
}

// factTexts are the facts of a view in words.
func factTexts(facts present.Facts) []string {
	words := map[string]string{
		present.FactSize: "bytes", present.FactLines: "lines", present.FactOldSize: "bytes before", present.FactNewSize: "bytes after",
		present.FactAdded: "lines added", present.FactRemoved: "lines removed",
	}
	names := map[string]string{present.FactCwd: "working directory", present.FactMethod: "method", present.FactURL: "URL"}
	var out []string
	for _, f := range facts {
		value := present.SafeLine(f.Value())
		switch name := f.Name(); {
		case name == present.FactTruncated || name == present.FactFullSize:
		case name == present.FactCoarse:
			out = append(out, "too large to compare line by line")
		case words[name] != "":
			word := words[name]
			if value == "1" {
				word = strings.NewReplacer("lines", "line", "bytes", "byte").Replace(word)
			}
			out = append(out, value+" "+word)
		case names[name] != "":
			out = append(out, names[name]+": "+value)
		default:
			out = append(out, present.SafeLine(name)+": "+value)
		}
	}
	return out
}
