//go:build !linux

package stage

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"

	"github.com/assent-dev/assent/sandbox"
)

var errElsewhere = errors.New("a network by name needs network namespaces, which only Linux has")

// A Stage makes nothing here.
type Stage struct{}

// New returns a network on which nothing starts.
func New(Options) *Stage { return &Stage{} }

// Captured is empty.
func (s *Stage) Captured() []uint16 { return nil }

// Over returns a runner that refuses commands with network by name.
func (s *Stage) Over(r Through) sandbox.Runner { return &runner{r} }

type runner struct{ Through }

// Start refuses a command with network by name.
func (r *runner) Start(ctx context.Context, c sandbox.Command) (sandbox.Process, error) {
	if n := c.Profile.Network; n.On || !n.ByName {
		return r.Through.Start(ctx, c)
	}
	return nil, errElsewhere
}

// Available says that there is no network here.
func Available([]string) error { return errElsewhere }

// Proxy refuses.
func Proxy(context.Context, net.Listener, Options) error { return errElsewhere }

// Main refuses.
func Main([]string) int {
	fmt.Fprintln(os.Stderr, "assent:", errElsewhere)
	return StatusFailed
}
