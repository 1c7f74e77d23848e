package files

import (
	"errors"
	"fmt"

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
type KeptError struct{ Aside string }

func (e *KeptError) Error() string {
	return "it was changed several times; one version of it is kept beside it as " + e.Aside
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
	return &roots.Refusal{Why: fmt.Sprintf("%s is too large: %d bytes, and file tools take %d bytes at most", name, size, limit)}
}

// told names what an error is about, and shows no host path. What an error is
// stays visible, be it a change or a file that is busy.
func told(what string, err error) error {
	if !errors.Is(err, approval.ErrChanged) {
		err = roots.Plain(err)
	}
	return fmt.Errorf("%s: %w", what, err)
}
