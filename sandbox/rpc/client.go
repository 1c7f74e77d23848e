package rpc

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"

	"github.com/assent-dev/assent/sandbox"
	"github.com/assent-dev/assent/sandbox/launch"
)

// A Client calls a server that runs in a sandbox. It is safe for concurrent use; calls are
// done one after another. Close it.
type Client struct {
	process sandbox.Process
	cancel  context.CancelFunc

	mu     sync.Mutex
	in     *os.File
	out    *os.File
	reader *bufio.Reader
	broken error // set when calls and answers may not belong together any more
}

// Start starts a command that serves on its standard streams, in its sandbox. It lives
// until Close, or until the program ends.
func Start(ctx context.Context, r sandbox.Runner, c sandbox.Command) (*Client, error) {
	theirIn, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer theirIn.Close()
	out, theirOut, err := os.Pipe()
	if err != nil {
		in.Close()
		return nil, err
	}
	defer theirOut.Close()
	c.Stdin, c.Stdout = theirIn, theirOut
	c.Env = append(slices.Clone(c.Env), launch.PartVariable+"=serve")
	live, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, cancel) // only while it starts
	process, err := r.Start(live, c)
	if !stop() && err == nil {
		_, _ = process.Wait()
		err = ctx.Err()
	}
	if err != nil {
		cancel()
		in.Close()
		out.Close()
		return nil, err
	}
	return &Client{process: process, cancel: cancel, in: in, out: out, reader: bufio.NewReader(out)}, nil
}

// Call does one call and decodes its result, unless result is nil. If ctx ends before the
// answer is there, the client is of no more use.
func (c *Client) Call(ctx context.Context, name string, args any, body []byte, result any) ([]byte, error) {
	text, err := json.Marshal(args)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.broken != nil {
		return nil, c.broken
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, c.cancel)
	answer, out, err := c.exchange(header{Name: name, Args: text}, body)
	if !stop() {
		err = errors.Join(err, ctx.Err())
	}
	if err != nil {
		c.broken = fmt.Errorf("the process inside the sandbox does not answer any more: %w", err)
		c.cancel()
		return nil, c.broken
	}
	if answer.Error != nil {
		return nil, answer.Error
	}
	if result == nil {
		return out, nil
	}
	return out, json.Unmarshal(answer.Result, result)
}

// Alive reports whether calls can still be made.
func (c *Client) Alive() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.broken == nil
}

func (c *Client) exchange(call header, body []byte) (header, []byte, error) {
	if err := writeFrame(c.in, call, body); err != nil {
		return header{}, nil, err
	}
	return readFrame(c.reader)
}

// Close ends the process inside and waits until it is gone.
func (c *Client) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.broken == nil {
		c.broken = errors.New("the process inside the sandbox was closed")
	}
	c.in.Close()
	c.cancel()
	_, err := c.process.Wait()
	c.out.Close()
	return err
}

// Visible returns the profile with the program that is to serve in it readable.
func Visible(p sandbox.Profile, program string) sandbox.Profile {
	if p.At(program) == sandbox.ModeHidden {
		p.Roots = append(slices.Clone(p.Roots), sandbox.Root{Path: program, Mode: sandbox.ModeReadOnly, Source: "this program"})
	}
	return p
}
