package trust

import (
	"context"
	"slices"
	"time"

	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/present"
)

// A Record is a bundle that somebody said yes to.
type Record struct {
	Path  string    `json:"path"`
	Parts []Part    `json:"parts"`
	At    time.Time `json:"at"`
	By    string    `json:"by,omitempty"`
}

// A State says whether a bundle is trusted. The zero State is Untrusted.
type State int

// The states.
const (
	Untrusted State = iota // nobody was asked yet
	Changed                // it was trusted, and is another now
	Trusted
)

// A Change is what differs from what was trusted.
type Change struct {
	Path string
	What string // changed, new or gone
	Diff string // as unified text; empty if there is none to show
}

// Compare says whether a bundle is the one that was recorded, and if not, what changed.
func Compare(b Bundle, r Record, known bool) (State, []Change) {
	if !known || r.Path != b.Path || len(r.Parts) == 0 {
		return Untrusted, nil
	}
	var out []Change
	for _, now := range b.Parts {
		was, there := find(r.Parts, now.Path)
		switch {
		case !there:
			out = append(out, Change{Path: now.Path, What: "new", Diff: diff(Part{}, now)})
		case was.Digest != now.Digest:
			out = append(out, Change{Path: now.Path, What: "changed", Diff: diff(was, now)})
		}
	}
	for _, was := range r.Parts {
		if _, there := find(b.Parts, was.Path); !there {
			out = append(out, Change{Path: was.Path, What: "gone"})
		}
	}
	if len(out) > 0 {
		return Changed, out
	}
	return Trusted, nil
}

func find(parts []Part, path string) (Part, bool) {
	i := slices.IndexFunc(parts, func(p Part) bool { return p.Path == path })
	if i < 0 {
		return Part{}, false
	}
	return parts[i], true
}

// diff shows two texts. If one of them was not kept there is nothing to show.
func diff(was, now Part) string {
	if was.Text == "" && was.Path != "" || now.Text == "" {
		return ""
	}
	return present.DiffLines(present.Side{Name: "trusted", Text: was.Text}, present.Side{Name: "now", Text: now.Text},
		3).String()
}

// Standing says whether a file is trusted as it is now, with all that it would load or start.
func Standing(ctx context.Context, known Store, f *config.File) (State, error) {
	_, state, _, err := standing(ctx, known, f)
	return state, err
}

// standing is Standing, with the bundle of the file and what changed in it.
func standing(ctx context.Context, known Store, f *config.File) (b Bundle, s State, changes []Change, err error) {
	if b, err = Of(f); err != nil {
		return b, Untrusted, nil, err
	}
	record, there, err := known.Get(ctx, b.Path)
	if err == nil {
		s, changes = Compare(b, record, there)
	}
	return b, s, changes, err
}
