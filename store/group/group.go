// Package group lets those who write at the same time be committed together: while one of them commits a
// group, the next gathers, and one of those commits it.
package group

import (
	"errors"
	"sync"
)

// ErrClosed says that nothing is taken any more.
var ErrClosed = errors.New("it is closed")

// A Committer commits what many give it, in their order. Make one with [New].
type Committer[T any] struct {
	commit func([]T) error
	most   int

	mu      sync.Mutex
	waiting []*pending[T]
	busy    bool       // somebody commits
	free    *sync.Cond // nobody does any more
	closed  bool
}

type pending[T any] struct {
	item T
	lead chan struct{} // it is its turn to commit those that wait
	done chan error    // it is committed, or is not
}

// New returns a committer whose groups have at most so many. Commit is called by one at a time.
func New[T any](most int, commit func([]T) error) *Committer[T] {
	c := &Committer[T]{commit: commit, most: most}
	c.free = sync.NewCond(&c.mu)
	return c
}

// Do returns when the item is committed, by whoever does it.
func (c *Committer[T]) Do(item T) error {
	p := &pending[T]{item: item, lead: make(chan struct{}, 1), done: make(chan error, 1)}
	if !c.add(p) {
		return ErrClosed
	}
	select {
	case <-p.lead:
		c.commitGroup(c.take())
		c.handOn()
		return <-p.done
	case err := <-p.done:
		return err
	}
}

// add lets an item wait, and lead if nobody does. It is false after Close.
func (c *Committer[T]) add(p *pending[T]) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	c.waiting = append(c.waiting, p)
	if !c.busy {
		c.busy = true
		p.lead <- struct{}{}
	}
	return true
}

// take returns the next group. The first of it is who leads.
func (c *Committer[T]) take() []*pending[T] {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := min(len(c.waiting), c.most)
	group := c.waiting[:n:n]
	c.waiting = c.waiting[n:]
	return group
}

func (c *Committer[T]) commitGroup(group []*pending[T]) {
	items := make([]T, len(group))
	for i, p := range group {
		items[i] = p.item
	}
	err := c.commit(items)
	for _, p := range group {
		p.done <- err
	}
}

// handOn lets the next one lead.
func (c *Committer[T]) handOn() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.busy = len(c.waiting) > 0; c.busy {
		c.waiting[0].lead <- struct{}{}
	} else {
		c.free.Broadcast()
	}
}

// Close waits until everything is committed.
func (c *Committer[T]) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for c.busy {
		c.free.Wait()
	}
}
