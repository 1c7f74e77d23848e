package files

import (
	"errors"
	"io/fs"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/tool/roots"
)

// A fault is an error on its way out of a sandbox. What it is stays; so does its text.
type fault struct {
	Text  string   `json:"text"`
	Is    []string `json:"is,omitempty"`
	Late  bool     `json:"late,omitempty"`  // the change was made all the same
	Aside string   `json:"aside,omitempty"` // of a KeptError
}

// known are the errors that keep their identity.
var known = map[string]error{
	"changed": approval.ErrChanged, "busy": ErrBusy, "folder": errIsFolder, "special": errSpecial, "enough": errEnough,
	"not-exist": fs.ErrNotExist, "exist": fs.ErrExist, "permission": fs.ErrPermission,
}

func faultOf(err error) *fault {
	if err == nil {
		return nil
	}
	var late afterError
	var kept *KeptError
	f := &fault{Text: err.Error(), Late: errors.As(err, &late)}
	if !errors.Is(err, approval.ErrChanged) {
		f.Text = roots.Plain(err).Error()
	}
	if errors.As(err, &kept) {
		f.Aside = kept.Aside
	}
	for name, one := range known {
		if errors.Is(err, one) {
			f.Is = append(f.Is, name)
		}
	}
	return f
}

// err is the error that the fault was made of, as far as it goes.
func (f *fault) err() error {
	switch {
	case f == nil:
		return nil
	case f.Aside != "":
		return &KeptError{Aside: f.Aside}
	}
	out := distantError{text: f.Text}
	for _, name := range f.Is {
		if one := known[name]; one != nil {
			out.is = append(out.is, one)
		}
	}
	if f.Late {
		return afterError{out}
	}
	return out
}

// A distantError is one of the copy inside.
type distantError struct {
	text string
	is   []error
}

func (e distantError) Error() string   { return e.text }
func (e distantError) Unwrap() []error { return e.is }
