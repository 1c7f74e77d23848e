package toolbox

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/assent-dev/assent/sandbox"
	"github.com/assent-dev/assent/sandbox/rpc"
	"github.com/assent-dev/assent/tool/files"
)

// sandboxedFiles finds copies of this program in the sandbox, for the file tools. The one that
// reads stays: its profile has nothing to write, so that nothing needs to be protected. One
// that writes lives for a call.
type sandboxedFiles struct {
	hold Hold

	mu     sync.Mutex
	reader *rpc.Client
}

var _ files.Inside = (*sandboxedFiles)(nil)

// Reader implements [files.Inside].
func (i *sandboxedFiles) Reader(ctx context.Context) (files.Caller, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.reader != nil && i.reader.Alive() {
		return i.reader, nil
	}
	if err := i.closeReader(); err != nil {
		return nil, err
	}
	c, err := i.start(ctx, readOnly(i.hold.Profile))
	if err != nil {
		return nil, err
	}
	i.reader = c
	return c, nil
}

// Writer implements [files.Inside].
func (i *sandboxedFiles) Writer(ctx context.Context) (files.Caller, func() error, error) {
	c, err := i.start(ctx, i.hold.Profile)
	if err != nil {
		return nil, nil, err
	}
	return c, c.Close, nil
}

func (i *sandboxedFiles) start(ctx context.Context, p sandbox.Profile) (*rpc.Client, error) {
	p.Network, p.Sockets = sandbox.Network{}, nil // files need neither
	return rpc.Start(ctx, i.hold.Runner, sandbox.Command{
		Argv: i.hold.Serve, Dir: "/", Env: []string{"HOME=/tmp"}, Profile: rpc.Visible(p, i.hold.Serve[0]),
	})
}

func (i *sandboxedFiles) closeReader() error {
	if i.reader == nil {
		return nil
	}
	err := i.reader.Close()
	i.reader = nil
	return err
}

// Close ends the copy that reads.
func (i *sandboxedFiles) Close() error {
	if i == nil {
		return nil
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.closeReader()
}

// readOnly is the profile with nothing to write.
func readOnly(p sandbox.Profile) sandbox.Profile {
	p.Roots = slices.Clone(p.Roots)
	for i := range p.Roots {
		p.Roots[i].Mode = sandbox.ModeReadOnly
	}
	return p
}

// Close gives back the roots, and ends what serves the file tools and what commands left running.
func (b *Box) Close() error {
	if b.commands != nil {
		b.staying.end()
		b.commands.Wait()
	}
	return errors.Join(b.inside.Close(), b.Roots.Close())
}
