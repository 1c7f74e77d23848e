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
	Matches   []match `json:"matches"`
	Searched  int     `json:"searched"` // files
	Truncated bool    `json:"truncated"`
	LeftOut   int     `json:"left_out"`
}

type match struct {
	Path string `json:"path"`
	Line int    `json:"line"`
	Text string `json:"text"`
}

func (t *toolset) search(_ context.Context, in searchArgs) (tool.Action, error) {
	if len(in.Pattern) > maxPattern {
		return tool.Action{}, fmt.Errorf("the pattern has %d bytes; %d are taken at most", len(in.Pattern), maxPattern)
	}
	re, err := regexp.Compile(in.Pattern)
	if err != nil {
		return tool.Action{}, fmt.Errorf("the pattern is no regular expression: %w", err)
	}
	sc, err := t.scope(in.Path)
	if err != nil {
		return tool.Action{}, err
	}
	if blocked(sc.acts...) {
		return refused(sc.acts...)
	}
	if p := sc.folders[0]; p.Info == nil {
		return doomed(p, errMissing)
	}
	do := func(ctx context.Context) (any, error) { return t.grep(ctx, sc, re) }
	view := present.View{Kind: present.Text, Content: fmt.Sprintf("The agent is told which lines of the files below %s match\n%s", sc.name, in.Pattern)}
	return tool.Free(do).On(sc.acts...).Titled(fmt.Sprintf("Search %s for %q", sc.name, in.Pattern)).ShowingView(view), nil
}

func (t *toolset) grep(ctx context.Context, sc scope, re *regexp.Regexp) (searchResult, error) {
	result := searchResult{Matches: []match{}}
	w, left := walk{toolset: t}, t.opts.Limits.Bytes
	err := w.each(ctx, sc, func(p roots.Place, _ string) error {
		if result.Searched == t.opts.Limits.Files || p.Info.Size() > left {
			return errEnough
		}
		if t.fits(p, p.Info.Size()) != nil {
			w.leftOut++
			return nil
		}
		s, err := t.load(p)
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
	result.Truncated, result.LeftOut = w.cut, w.leftOut
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
			continue // no line that anybody wrote, and it could take for ever
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
