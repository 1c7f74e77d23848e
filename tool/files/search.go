package files

import (
	"context"
	_ "embed"
	"fmt"
	"regexp"
	"strings"

	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/roots"
)

//go:embed search.md
var searchWords string

// maxLine is how many bytes of a line that matches are given.
const maxLine = 400

// maxSearched is how long a line is searched, and maxPattern a pattern taken.
const (
	maxSearched = 1 << 20
	maxPattern  = 1000
)

type searchArgs struct {
	Pattern string `json:"pattern" jsonschema:"a regular expression (Go, RE2), tried on each line"`
	Path    string `json:"path,omitempty" jsonschema:"the folder or file, as ROOT or ROOT/NAME; nothing means all roots"`
}

type searchResult struct {
	Matches   []match  `json:"matches"`
	Searched  int      `json:"searched"` // files
	Truncated bool     `json:"truncated"`
	LeftOut   int      `json:"left_out"`
	NotInside []string `json:"not_inside,omitempty"`
}

type match struct {
	Path string `json:"path"`
	Line int    `json:"line"`
	Text string `json:"text"`
}

func (t *toolset) search(ctx context.Context, in searchArgs) (tool.Action, error) {
	if len(in.Pattern) > maxPattern {
		return tool.Action{}, fmt.Errorf("the pattern has %d bytes; %d are taken at most", len(in.Pattern), maxPattern)
	}
	re, err := regexp.Compile(in.Pattern)
	if err != nil {
		return tool.Action{}, fmt.Errorf("invalid regular expression: %w", err)
	}
	sc, err := t.scope(in.Path)
	if err != nil {
		return tool.Action{}, err
	}
	if sc.needs.blocked() {
		return sc.needs.refused()
	}
	if err := sc.missing(ctx, true); err != nil {
		return doomed(sc.folders[0], err)
	}
	do := func(ctx context.Context) (any, error) { return t.grep(ctx, sc, re) }
	a := sc.needs.on(tool.Free(do)).Titled(fmt.Sprintf("Search %s for %q", sc.name, in.Pattern))
	if !sc.needs.ask() {
		return a, nil
	}
	// Somebody is asked: they are told what would be searched, and asked again if
	// that is not it any more.
	found, err := t.listFiles(ctx, sc, "")
	if err != nil {
		return tool.Action{}, err
	}
	return a.ShowingView(searchView(in.Pattern, sc, found)).Seeing(found.digest()), nil
}

// searchView shows a person what would be searched, and for what.
func searchView(pattern string, sc scope, found listResult) present.View {
	lines := []string{"Pattern: " + pattern, "Where:   " + sc.name}
	if len(sc.needs) > 1 {
		var names []string
		for _, n := range sc.needs {
			names = append(names, n.place.Name())
		}
		lines = append(lines, "Roots:   "+strings.Join(names, ", "))
	}
	count := plural(len(found.Files), "file")
	if found.Truncated {
		count = "more than " + count
	}
	if found.LeftOut > 0 {
		count += fmt.Sprintf(" (%d left out: secrets, and what may not be read)", found.LeftOut)
	}
	lines = append(lines, "Files:   "+count, "", "The agent is told the lines that match, with their names and numbers.")
	return present.View{Kind: present.KindText, Content: strings.Join(lines, "\n")}
}

func (t *toolset) grep(ctx context.Context, sc scope, re *regexp.Regexp) (searchResult, error) {
	result := searchResult{Matches: []match{}}
	w, left := walk{toolset: t}, t.opts.Limits.Bytes
	err := w.each(ctx, sc, func(p roots.Place, _ []string) error {
		if p.Info == nil {
			return nil // an earlier call of the turn was to make it
		}
		if result.Searched == t.opts.Limits.Files || p.Info.Size() > left {
			return errEnough
		}
		if t.fits(p, p.Info.Size()) != nil {
			w.leftOut++
			return nil
		}
		s, err := t.ops.load(ctx, p, t.opts.MaxBytes)
		if err != nil {
			w.leftOut++ // it went away, or may not be opened
			return nil
		}
		left -= int64(len(s.data))
		result.Searched++
		if s.binary() {
			return nil
		}
		return result.add(ctx, p.Name(), string(s.data), re, t.opts.Limits.Matches)
	})
	result.Truncated, result.LeftOut, result.NotInside = w.cut, w.leftOut, w.skipped
	return result, err
}

// add finds the lines that match.
func (r *searchResult) add(ctx context.Context, name, text string, re *regexp.Regexp, limit int) error {
	n := 0
	for line := range strings.Lines(text) {
		n++
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if line = strings.TrimRight(line, "\r\n"); len(line) > maxSearched {
			continue // no line that anybody wrote, and it could take forever
		}
		if !re.MatchString(line) {
			continue
		}
		if len(r.Matches) == limit {
			return errEnough
		}
		if len(line) > maxLine {
			line = strings.ToValidUTF8(line[:maxLine], "") + "…"
		}
		r.Matches = append(r.Matches, match{Path: name, Line: n, Text: line})
	}
	return nil
}
