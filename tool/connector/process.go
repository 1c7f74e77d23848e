package connector

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/assent-dev/assent/sandbox"
	"github.com/assent-dev/assent/sandbox/launch"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/shell/runner"
)

// leave is how long a server may take to end by itself once nobody speaks to it, and how
// long its last words are read once it has ended.
const leave = 2 * time.Second

// A process is a server that we started.
type process struct {
	frames *Frames
	over   chan struct{} // closed when it has ended
	exit   error         // how, set before over is closed
}

// start starts the server. It ends with ctx, or when its connection is closed.
func (c *Connector) start(ctx context.Context) (*process, error) {
	if c.opts.Runner == nil {
		return nil, errors.New("programs are not started here")
	}
	if c.opts.Verify != nil {
		if err := c.opts.Verify(); err != nil {
			return nil, err
		}
	}
	theirIn, ourOut, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	ourIn, theirOut, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, theirIn.Close(), ourOut.Close())
	}
	ctx, kill := context.WithCancel(ctx)
	started, err := c.opts.Runner.Start(ctx, sandbox.Command{
		Argv: c.cfg.Command, Dir: c.opts.Dir, Env: c.environment(), Profile: c.opts.Profile,
		Stdin: theirIn, Stdout: theirOut, Stderr: c.stderr,
	})
	_, _ = theirIn.Close(), theirOut.Close() // the server has its own
	if err != nil {
		kill()
		return nil, errors.Join(err, ourIn.Close(), ourOut.Close())
	}
	p := &process{over: make(chan struct{})}
	p.frames = NewFrames(ourIn, ourOut, c.opts.MaxMessage, c.misbehaved, func() error {
		err := ourOut.Close()
		select {
		case <-p.over:
		case <-time.After(leave):
		}
		kill()
		<-p.over
		return errors.Join(err, ourIn.Close())
	})
	p.frames.Mark = tool.QuoteNotesJSON // nothing that a server says speaks for a person
	p.frames.Hear = func(r *jsonrpc.Request) bool { return c.progress.hear(r) || c.hearLog(r) || c.lists.hear(r) }
	go func() {
		exit, err := started.Wait()
		p.exit = exitError(exit, err)
		// What it said last is still read; what it left behind may hold the stream forever.
		_ = ourIn.SetReadDeadline(time.Now().Add(leave))
		kill()
		close(p.over)
	}()
	return p, nil
}

func exitError(exit sandbox.Exit, err error) error {
	switch {
	case err != nil:
		return err
	case exit.Ended != "":
		return fmt.Errorf("it was ended: it %s", exit.Ended)
	}
	return fmt.Errorf("it ended with status %d", exit.Code)
}

// Connect implements [mcp.Transport].
func (p *process) Connect(context.Context) (mcp.Connection, error) { return p.frames, nil }

// environment is what the server knows: the usual few variables, those of its config, and
// the mark of everything that we start. One of a command line gets all that we have, as from
// the client that would have started it without us: what the client's settings give to this
// server cannot be told from the rest.
func (c *Connector) environment() []string {
	var env []string
	if c.cfg.ByCommand {
		env = slices.DeleteFunc(slices.Clone(c.opts.Environ), func(entry string) bool {
			name, _, _ := strings.Cut(entry, "=")
			return name == runner.Marker || name == launch.PartVariable
		})
	} else {
		env = runner.NewEnvironment(c.opts.Environ,
			append([]string{"USER", "LOGNAME", "SHELL", "TMPDIR"}, c.cfg.Pass...)).Entries()
	}
	for _, name := range slices.Sorted(maps.Keys(c.cfg.Env)) {
		env = append(env, name+"="+c.cfg.Env[name])
	}
	return append(env, runner.Marker+"=connector."+c.cfg.Name+"."+rand.Text())
}

// tailSize is how much of a server's standard error is kept.
const tailSize = 64 << 10

// A tail keeps the end of a stream. It is safe for concurrent use.
type tail struct {
	mu   sync.Mutex
	data []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.data = append(t.data, p...)
	if over := len(t.data) - tailSize; over > 0 {
		t.data = append(t.data[:0], t.data[over:]...)
	}
	return len(p), nil
}

// text returns what is kept.
func (t *tail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.ToValidUTF8(string(t.data), "\uFFFD")
}

// said returns the last lines, as the end of a sentence.
func (t *tail) said() string {
	const most = 500
	text := strings.TrimSpace(t.text())
	if len(text) > most {
		text = "…" + strings.ToValidUTF8(text[len(text)-most:], "")
	}
	if text == "" {
		return ""
	}
	return "; it last said: " + text
}
