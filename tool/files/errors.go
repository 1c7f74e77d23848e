package files

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/tool/roots"
)

// Why a file cannot be used as one.
var (
	errMissing   = errors.New("it does not exist")
	errExists    = errors.New("it exists already")
	errIsFolder  = errors.New("it is a folder and not a file")
	errNotFolder = errors.New("it is a file and not a folder")
	errBelowFile = errors.New("a part of its path is a file and not a folder")
	errSpecial   = errors.New("it is neither a file nor a folder")
)

// ErrBusy says that another program has the file open for writing, so that what
// it writes next would be lost. Nothing was changed, and asking again does not
// help before that program is done.
var ErrBusy = errors.New("another program has it open for writing; nothing was changed, try again when it is closed there")

// changed says that something is not what was shown any more.
func changed(what string) error {
	return fmt.Errorf("%s: %w", what, approval.ErrChanged)
}

// A KeptError reports a version of a file that nobody was shown and that could
// not be put back: it lies beside the file under the name Aside. It is an
// [approval.ErrChanged].
type KeptError struct{ Path string }

func (e *KeptError) Error() string {
	return "it was changed several times; one version of it is kept beside it as " + e.Path
}

func (e *KeptError) Unwrap() error { return approval.ErrChanged }

// An afterError is what went wrong when the change had been made.
type afterError struct{ error }

func (e afterError) Unwrap() error { return e.error }

// after marks errors that came too late to keep the change from happening.
func after(errs ...error) error {
	if err := errors.Join(errs...); err != nil {
		return afterError{fmt.Errorf("it was done, but perhaps not safely on disk: %w", err)}
	}
	return nil
}

// happened reports whether a change was made in spite of the error.
func happened(err error) bool {
	var late afterError
	return err == nil || errors.As(err, &late)
}

// tooLarge refuses a file by its size.
func tooLarge(name string, size, limit int64) error {
	return &roots.Refusal{Why: fmt.Sprintf("%s is too large: %d bytes, and file tools take %d bytes at most",
		name, size, limit)}
}

// failed says what an error is about, and shows no host path. What an error is
// stays visible, be it a change or a file that is busy.
func failed(what string, err error) error {
	if !errors.Is(err, approval.ErrChanged) {
		err = roots.Plain(err)
	}
	return fmt.Errorf("%s: %w", what, err)
}

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
		f.Aside = kept.Path
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
		return &KeptError{Path: f.Aside}
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
