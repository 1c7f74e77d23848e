package db

import "sync"

// maxGroup is how many of those who write are committed together at most.
const maxGroup = 512

// A group commits together what came while commits before were under way: writers then share one
// flush of the disk. The zero group with a commit is ready.
type group[T any] struct {
	commit func([]T) // says to each of them how it went
	all    bool      // all that wait are taken, however many there are
	lanes  int       // how many commits are under way at most; 1 if it is 0

	mu      sync.Mutex
	waiting []T
	busy    int
	free    sync.WaitGroup
}

// add lets an item be committed with the next ones.
func (g *group[T]) add(item T) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.waiting = append(g.waiting, item)
	if g.busy < max(g.lanes, 1) {
		g.busy++
		g.free.Go(g.run)
	}
}

func (g *group[T]) run() {
	for {
		items := g.take()
		if len(items) == 0 {
			return
		}
		g.commit(items)
	}
}

// take returns the next items; if there are none, the next one that is added starts anew.
func (g *group[T]) take() []T {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := len(g.waiting)
	if !g.all {
		n = min(n, maxGroup)
	}
	items := g.waiting[:n:n]
	if g.waiting = g.waiting[n:]; n == 0 {
		g.busy--
	}
	return items
}

// close waits until everything is committed. Nothing may be added any more.
func (g *group[T]) close() { g.free.Wait() }
