package connector

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// steady is how long a connection must have held for its end to count as the first.
const steady = time.Minute

// supervise keeps the connector connected until ctx is done.
func (c *Connector) supervise(ctx context.Context) {
	defer c.set(nil, fmt.Errorf("it was closed"))
	tried := sync.OnceFunc(func() { close(c.tried) })
	defer tried()
	for failures := 0; ctx.Err() == nil; failures++ {
		began := time.Now()
		if err := c.once(ctx, tried); ctx.Err() == nil {
			wait := c.opts.Backoff(failures)
			c.report(Disconnected, "", fmt.Sprintf("%v; it is tried again in %v", err, wait))
			tried()
			pause(ctx, wait)
		}
		if time.Since(began) > steady {
			failures = -1
		}
	}
}

// once connects, lists the tools, and waits for the end of the connection.
func (c *Connector) once(ctx context.Context, ready func()) error {
	s, err := c.dial(ctx)
	if err != nil {
		c.set(nil, err)
		return err
	}
	closing := context.AfterFunc(ctx, func() { _ = s.Close() }) // its end is waited for below
	defer closing()
	if err := c.lists.refresh(ctx, s); err != nil {
		_ = s.Close() // it is of no use
		_ = s.wait()
		err = fmt.Errorf("its tools cannot be listed: %w", err)
		c.set(nil, err)
		return err
	}
	c.set(s, nil)
	c.report(Connected, "", fmt.Sprintf("%d tools", len(c.lists.current().names)))
	ready()
	err = fmt.Errorf("%w%s", s.wait(), c.stderr.said())
	c.set(nil, err)
	return err
}

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
