package interp

import (
	"errors"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A desc is an open file of one or more shells. It is closed when the last one lets go.
type desc struct {
	f    *os.File
	fd   int
	refs atomic.Int32
	// waits is set for what a read or write may wait for: pipes, sockets, terminals.
	waits bool
}

// adopt makes a descriptor of a file, which is in blocking mode from then on, because
// children share that mode.
func adopt(f *os.File) *desc {
	d := &desc{f: f, fd: int(f.Fd())}
	d.refs.Store(1)
	unix.SetNonblock(d.fd, false)
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		d.waits = true
	}
	return d
}

func (d *desc) hold() *desc {
	d.refs.Add(1)
	return d
}

func (d *desc) release() {
	if d.refs.Add(-1) == 0 {
		d.f.Close()
	}
}

func fdName(f *os.File) string { return strconv.Itoa(int(f.Fd())) }

// pipe returns a pipe in blocking mode that children do not inherit by chance.
func pipe() (r, w *os.File, err error) {
	var p [2]int
	syscall.ForkLock.RLock()
	err = syscall.Pipe(p[:])
	if err == nil {
		syscall.CloseOnExec(p[0])
		syscall.CloseOnExec(p[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, nil, err
	}
	return os.NewFile(uintptr(p[0]), "pipe"), os.NewFile(uintptr(p[1]), "pipe"), nil
}

// A fdTable has the descriptors of one shell by number.
type fdTable map[int]*desc

func (t fdTable) clone() fdTable {
	for _, d := range t {
		d.hold()
	}
	return maps.Clone(t)
}

// put makes n stand for the descriptor, whose reference it takes over.
func (t fdTable) put(n int, d *desc) {
	if old := t[n]; old != nil {
		old.release()
	}
	t[n] = d
}

func (t fdTable) close(n int) {
	if d := t[n]; d != nil {
		d.release()
		delete(t, n)
	}
}

func (t fdTable) closeAll() {
	for n := range t {
		t.close(n)
	}
}

// free returns the first unused number from n upwards, by steps.
func (t fdTable) free(n, step int) int {
	for t[n] != nil {
		n += step
	}
	return n
}

// files returns the table as a child needs it.
func (t fdTable) files() []*os.File {
	if len(t) == 0 {
		return nil
	}
	files := make([]*os.File, slices.Max(slices.Collect(maps.Keys(t)))+1)
	for n, d := range t {
		files[n] = d.f
	}
	return files
}

var errTimeout = errors.New("timeout")

// wait waits until the descriptor is ready, the gate closes, or the time is over. The
// caller finds out which: a closed gate ends in a panic at the next check.
func (s *shell) wait(d *desc, events int16, until time.Time) error {
	for d.waits {
		s.check()
		timeout := -1
		if !until.IsZero() {
			timeout = max(0, int((time.Until(until)+time.Millisecond-1)/time.Millisecond))
		}
		fds := []unix.PollFd{{Fd: int32(d.fd), Events: events}, {Fd: int32(s.r.gate.wakeFd), Events: unix.POLLIN}}
		if s.box != nil {
			if bell := s.box.poll(); bell != nil {
				fds = append(fds, unix.PollFd{Fd: int32(bell.fd), Events: unix.POLLIN})
			}
		}
		n, err := unix.Poll(fds, timeout)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return err
		case fds[0].Revents != 0:
			return nil
		case n == 0:
			return errTimeout
		case len(fds) == 3 && fds[2].Revents != 0:
			s.runTraps()
		}
	}
	return nil
}

// readFd reads from a descriptor; io.EOF is the end.
func (s *shell) readFd(d *desc, buf []byte, until time.Time) (int, error) {
	for {
		if err := s.wait(d, unix.POLLIN, until); err != nil {
			return 0, err
		}
		n, err := syscall.Read(d.fd, buf)
		switch {
		case err == syscall.EINTR || err == syscall.EAGAIN:
		case err != nil:
			return 0, err
		case n == 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
}

// writeFd writes all of data. A pipe takes at least PIPE_BUF bytes when it is ready, so
// no write of that size blocks where a closing gate could not wake it.
func (s *shell) writeFd(d *desc, data []byte) error {
	const atOnce = 4096
	for len(data) > 0 {
		chunk := data
		if d.waits && len(chunk) > atOnce {
			chunk = chunk[:atOnce]
		}
		if err := s.wait(d, unix.POLLOUT, time.Time{}); err != nil {
			return err
		}
		n, err := syscall.Write(d.fd, chunk)
		if err == syscall.EINTR || err == syscall.EAGAIN {
			continue
		}
		if err != nil {
			return err
		}
		data = data[n:]
	}
	return nil
}
