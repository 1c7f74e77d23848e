package inside

import (
	"os"
	"runtime"
	"slices"
	"sync"

	"github.com/assent-dev/assent/sandbox/wall"
)

// A cell is a thread that the kernel holds to what the command was judged to do: programs are
// started from it, and files are opened to be written. Everything else of this process stays
// free, so that a file which the command was judged to make can be made and then granted.
//
// A nil cell holds nothing: what is done in it is done as everywhere.
type cell struct {
	mu    sync.Mutex
	rules wall.Rules
	set   *wall.Set     // the rules, once they are needed
	files []os.FileInfo // those that were granted
	work  chan func()   // of the thread that holds now; nil if another one is needed
}

// do does something on the thread.
func (c *cell) do(f func()) error {
	if c == nil {
		f()
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.work == nil {
		if err := c.begin(); err != nil {
			return err
		}
	}
	done := make(chan struct{})
	c.work <- func() {
		defer close(done)
		f()
	}
	<-done
	return nil
}

// begin starts the thread.
func (c *cell) begin() error {
	if err := c.open(); err != nil {
		return err
	}
	work, ready := make(chan func()), make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with this function
		err := ownMask()
		if err == nil {
			err = c.set.Restrict()
		}
		ready <- err
		if err != nil {
			return
		}
		for f := range work {
			f()
		}
	}()
	if err := <-ready; err != nil {
		return err
	}
	c.work = work
	return nil
}

// open makes the rules, once: names may lead elsewhere later.
func (c *cell) open() (err error) {
	if c.set != nil {
		return nil
	}
	if c.rules.Writes {
		for _, dir := range c.rules.Private {
			_ = os.MkdirAll(dir, 0o700) // where it cannot be made, nothing can be written either
		}
	}
	c.set, err = wall.Open(c.rules)
	return err
}

// grant lets programs that start from now on write a file that the shell has opened. A thread
// cannot be given more than it has, so another one takes its place.
func (c *cell) grant(f *os.File) {
	if c == nil || !c.rules.Writes {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	info, err := f.Stat()
	same := func(o os.FileInfo) bool { return os.SameFile(o, info) }
	if err != nil || !info.Mode().IsRegular() || slices.ContainsFunc(c.files, same) {
		return
	}
	if c.open() != nil || c.set.Grant(f) != nil {
		return // then programs cannot open it once more
	}
	c.files = append(c.files, info)
	if c.work != nil {
		close(c.work)
		c.work = nil
	}
}

// names reports whether a file is one that the shell was judged to open for writing.
func (c *cell) names(real string) bool {
	return c != nil && c.rules.Writes && slices.Contains(c.rules.Files, real)
}
