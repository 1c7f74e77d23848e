package present

import (
	"fmt"
	"slices"
)

// Facts are the header of a view, in the order to show them, each name once.
type Facts []Fact

// Get returns the fact of that name.
func (fs Facts) Get(name string) (Fact, bool) {
	if i := fs.index(name); i >= 0 {
		return fs[i], true
	}
	return Fact{}, false
}

// With returns a copy of fs that holds f: in the place of the fact of the same
// name if there is one, else at the end. It never changes fs.
func (fs Facts) With(f Fact) Facts {
	i := fs.index(f.name)
	if i < 0 {
		return append(slices.Clip(fs), f) // clipped, so append has to copy
	}
	out := slices.Clone(fs)
	out[i] = f
	return out
}

func (fs Facts) index(name string) int {
	return slices.IndexFunc(fs, func(f Fact) bool { return f.name == name })
}

// Validate reports the first fact that cannot be shown or written: one without
// a value, with a name that is empty, not plain printable text or already used,
// or with a text that is not valid UTF-8.
func (fs Facts) Validate() error {
	seen := make(map[string]bool, len(fs))
	for _, f := range fs {
		if err := f.validate(); err != nil {
			return fmt.Errorf("fact %q: %w", f.name, err)
		}
		if seen[f.name] {
			return fmt.Errorf("fact %q: name comes twice", f.name)
		}
		seen[f.name] = true
	}
	return nil
}

// safe returns the facts with names and texts made safe to print on one line.
func (fs Facts) safe() Facts {
	out := slices.Clone(fs)
	for i, f := range out {
		out[i] = f.safe()
	}
	return out
}
