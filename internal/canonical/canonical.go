// Package canonical writes JSON in one way only, so that two texts that mean the same arguments
// are the same bytes, and refuses what can be read in two ways. It is pure.
package canonical

import (
	"encoding/json"
	"errors"
	"fmt"
)

// Limits on the arguments of one call.
const (
	MaxBytes = 16 << 20
	MaxDepth = 1000
)

// Why arguments were refused; match with [errors.Is].
var (
	ErrTooLarge      = errors.New("arguments are too large")
	ErrTooDeep       = errors.New("arguments are nested too deeply")
	ErrDuplicateKey  = errors.New("duplicate key")
	ErrInvalidUTF8   = errors.New("text is not valid UTF-8")
	ErrMalformedJSON = errors.New("malformed JSON")
	ErrNotAnObject   = errors.New("arguments must be a JSON object")
)

// An Error says what is wrong with a call's arguments, and where.
type Error struct {
	Err    error  // one of the sentinels above
	Offset int    // byte offset of the fault
	Detail string // what was found or expected, may be empty
}

func (e *Error) Error() string {
	if e.Detail == "" {
		return fmt.Sprintf("arguments: %v at byte %d", e.Err, e.Offset)
	}
	return fmt.Sprintf("arguments: %v at byte %d: %s", e.Err, e.Offset, e.Detail)
}

func (e *Error) Unwrap() error { return e.Err }

// Arguments returns the one spelling of a call's arguments that is
// judged, shown and used. White space, key order and string escapes do not
// matter. Number text is kept as it is: 1, 1.0 and 9007199254740993 are three
// different arguments, whatever a float would make of them. No arguments are {}.
//
// Duplicate keys, invalid UTF-8, lone surrogates, anything but an object, more
// than [MaxBytes] and more than [MaxDepth] levels are refused
// with an [*Error]. The result may share memory with args.
func Arguments(args []byte) (json.RawMessage, error) {
	if len(args) == 0 {
		return json.RawMessage("{}"), nil
	}
	if len(args) > MaxBytes {
		detail := fmt.Sprintf("%d bytes, at most %d are taken", len(args), MaxBytes)
		return nil, &Error{Err: ErrTooLarge, Offset: MaxBytes, Detail: detail}
	}
	s := scanner{data: args}
	if err := s.document(); err != nil {
		return nil, err
	}
	if s.canonical {
		return args, nil
	}
	w := writer{scanner: &s, out: make([]byte, 0, len(args))}
	w.value(s.root)
	return w.out, nil
}
