package group_test

import (
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/assent-dev/assent/store/group"
)

// What waits while a group is committed is committed together, in its order and not more than so many at once.
func TestThoseWhoWaitAreCommittedTogether(t *testing.T) {
	var groups [][]int
	first, waiting := make(chan struct{}), make(chan struct{})
	c := group.New(3, func(items []int) error {
		if len(groups) == 0 {
			close(first)
			<-waiting
		}
		groups = append(groups, items)
		return nil
	})
	var all sync.WaitGroup
	all.Go(func() { _ = c.Do(0) })
	<-first
	for i := range 7 {
		all.Go(func() { _ = c.Do(i + 1) })
	}
	group.Waiting(c, 8) // the first counts until it is committed
	close(waiting)
	all.Wait()
	c.Close()
	done := slices.Sorted(slices.Values(slices.Concat(groups...)))
	if len(done) != 8 || len(groups) != 4 || done[7] != 7 {
		t.Errorf("committed %v", groups)
	}
	if err := c.Do(9); !errors.Is(err, group.ErrClosed) {
		t.Errorf("after the end: %v", err)
	}
}

func TestAFailureReachesAllOfTheGroup(t *testing.T) {
	full := errors.New("the disk is full")
	c := group.New(10, func([]int) error { return full })
	for range 3 {
		if err := c.Do(1); !errors.Is(err, full) {
			t.Errorf("got %v", err)
		}
	}
}
