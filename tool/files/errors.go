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
	errSpecial   = errors.New("it is neither a file nor a folder")
)

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

// tooLarge refuses a file by its size.
func tooLarge(name string, size, limit int64) error {
	return &roots.Refusal{Why: fmt.Sprintf("%s is too large: %d bytes, and file tools take %d bytes at most", name, size, limit)}
}

// told names what an error is about, and shows no host path. A change stays one.
func told(what string, err error) error {
	if !errors.Is(err, approval.ErrChanged) {
		err = roots.Plain(err)
	}
	return fmt.Errorf("%s: %w", what, err)
}
