package providers

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"

	"github.com/zalando/go-keyring"
)

// service is what our keys are kept under in the keyring.
const service = "assent"

// Keys are where keys come from. Nil functions are the system's own.
type Keys struct {
	// Environ looks a variable up.
	Environ func(name string) (string, bool)
	// Keyring looks an account of a service up. An error that is not
	// [keyring.ErrNotFound] means that there is no keyring to ask.
	Keyring func(service, account string) (string, error)
}

// find returns the key of the name, empty if there is none. Not every system has a
// keyring, so one that cannot be asked has no key. It may ask a person to unlock it; that
// is waited for until ctx is done.
func (k Keys) find(ctx context.Context, name string) (string, error) {
	ring := k.Keyring
	if ring == nil {
		ring = keyring.Get
	}
	if value := k.variable(name); value != "" {
		return value, nil
	}
	type answer struct {
		key string
		err error
	}
	answered := make(chan answer, 1)
	go func() {
		key, err := ring(service, name)
		answered <- answer{key, err}
	}()
	select {
	case a := <-answered:
		if a.err != nil {
			return "", nil
		}
		return strings.TrimSpace(a.key), nil
	case <-ctx.Done():
		return "", fmt.Errorf("asking the keyring for %s: %w", name, context.Cause(ctx))
	}
}

// variable returns a variable of the environment, empty if it is not set.
func (k Keys) variable(name string) string {
	environ := k.Environ
	if environ == nil {
		environ = os.LookupEnv
	}
	value, _ := environ(name)
	return strings.TrimSpace(value)
}

// missing says where a key belongs.
func missing(provider, name string) string {
	text := fmt.Sprintf("there is no key for %s: set the variable %s, or keep it in the system's keyring", provider, name)
	switch runtime.GOOS {
	case "darwin":
		return text + fmt.Sprintf(" (security add-generic-password -s %s -a %s -w)", service, name)
	case "linux":
		return text + fmt.Sprintf(" (secret-tool store --label=%[1]s service %[1]s username %[2]s)", service, name)
	}
	return text + fmt.Sprintf(" (service %s, account %s)", service, name)
}
