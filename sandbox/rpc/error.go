package rpc

import (
	"errors"
	"io/fs"
)

// An Error is what a call inside failed with. It matches the errors of package fs that the
// original matched.
type Error struct {
	Text string `json:"text"`
	Kind string `json:"kind,omitempty"`
}

// kinds are the errors that keep their identity on the way out.
var kinds = map[string]error{
	"not-exist":  fs.ErrNotExist,
	"exist":      fs.ErrExist,
	"permission": fs.ErrPermission,
	"invalid":    fs.ErrInvalid,
}

func newError(err error) *Error {
	e := &Error{Text: err.Error()}
	for kind, target := range kinds {
		if errors.Is(err, target) {
			e.Kind = kind
		}
	}
	return e
}

func (e *Error) Error() string { return e.Text }

// Is matches the error of package fs that the call failed with.
func (e *Error) Is(target error) bool { return e.Kind != "" && kinds[e.Kind] == target }
