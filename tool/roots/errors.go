package roots

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// A Refusal says why a name cannot be used, whoever consents. It never shows
// where a file lies on the host.
type Refusal struct{ Why string }

func (e *Refusal) Error() string { return e.Why }

func refuse(format string, args ...any) error {
	return &Refusal{Why: fmt.Sprintf(format, args...)}
}

// A RootError says why a root cannot be opened. It is for the operator, who wrote
// the root, and may show where it lies on the host.
type RootError struct {
	Root Root
	Err  error
}

func (e *RootError) Error() string { return fmt.Sprintf("root %q: %v", e.Root.Name, e.Err) }

func (e *RootError) Unwrap() error { return e.Err }

// Plain returns the cause of an error of the file system, without the host path
// that it names.
func Plain(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	var call *os.SyscallError
	switch {
	case errors.As(err, &path):
		return Plain(path.Err)
	case errors.As(err, &link):
		return Plain(link.Err)
	case errors.As(err, &call):
		return Plain(call.Err)
	}
	return err
}
