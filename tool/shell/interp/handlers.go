package interp

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// DefaultHandlers do what bash would do, and refuse nothing. They serve tests and
// programs that judge in Call alone.
func DefaultHandlers() Handlers {
	return Handlers{
		Exec: func(_ context.Context, req *ExecRequest) (func() (Process, error), error) {
			return func() (Process, error) { return Start(req) }, nil
		},
		Open: func(ctx context.Context, req *OpenRequest) (func() (*os.File, error), error) {
			if req.Network != "" {
				// The connection is made before the function acts, since it takes time.
				f, err := dial(ctx, req)
				return func() (*os.File, error) { return f, nil }, err
			}
			return func() (*os.File, error) { return OpenFile(req) }, nil
		},
		ReadDir: func(_ context.Context, req *PathRequest) ([]fs.DirEntry, error) {
			return os.ReadDir(req.Path)
		},
		Stat: func(_ context.Context, req *StatRequest) (fs.FileInfo, error) {
			if req.NoFollow {
				return os.Lstat(req.Path)
			}
			return os.Stat(req.Path)
		},
		Access: func(_ context.Context, req *AccessRequest) error {
			return unix.Faccessat(unix.AT_FDCWD, req.Path, req.Mode, unix.AT_EACCESS)
		},
	}
}

// refusing fills every handler that is missing with one that refuses.
func (h Handlers) refusing() Handlers {
	no := &Refused{errors.New("no handler decides about this act")}
	if h.Exec == nil {
		h.Exec = func(context.Context, *ExecRequest) (func() (Process, error), error) { return nil, no }
	}
	if h.Open == nil {
		h.Open = func(context.Context, *OpenRequest) (func() (*os.File, error), error) { return nil, no }
	}
	if h.ReadDir == nil {
		h.ReadDir = func(context.Context, *PathRequest) ([]fs.DirEntry, error) { return nil, no }
	}
	if h.Stat == nil {
		h.Stat = func(context.Context, *StatRequest) (fs.FileInfo, error) { return nil, no }
	}
	if h.Access == nil {
		h.Access = func(context.Context, *AccessRequest) error { return no }
	}
	return h
}

// Start starts a program as the request says, without asking anybody.
func Start(req *ExecRequest) (Process, error) {
	var pid int
	var err error
	start := func() {
		pid, err = startProcess(req)
		// A sibling that was just forked may still hold the file open for writing,
		// until it executes its own program (go.dev/issue/22315).
		for wait := time.Millisecond; errors.Is(err, syscall.ETXTBSY) && wait < 300*time.Millisecond; wait *= 2 {
			time.Sleep(wait)
			pid, err = startProcess(req)
		}
	}
	if masked := onThread(req.On, req.Umask, start); masked != nil {
		return nil, masked
	}
	if err != nil {
		return nil, err
	}
	return &process{pid: pid}, nil
}

// onThread calls f with a file creation mask, on the thread that a request names.
func onThread(on func(func()) error, mask int, f func()) error {
	if on == nil {
		return withUmask(mask, f)
	}
	return on(func() {
		if mask >= 0 {
			defer syscall.Umask(syscall.Umask(mask))
		}
		f()
	})
}

// attributes are those of the program. It is started with package syscall: package os would
// first start one of its own, to find out what the kernel can do.
func attributes(req *ExecRequest) *syscall.ProcAttr {
	attr := &syscall.ProcAttr{Dir: folderPath(req.Act), Env: req.Env, Sys: &syscall.SysProcAttr{}}
	for _, f := range req.Files {
		fd := ^uintptr(0) // a closed one
		if f != nil {
			fd = f.Fd()
		}
		attr.Files = append(attr.Files, fd)
	}
	return attr
}

type process struct {
	pid   int
	mu    sync.Mutex
	ended bool // its number may mean another process by now
}

func (p *process) Pid() int { return p.pid }

func (p *process) Signal(sig syscall.Signal) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return os.ErrProcessDone
	}
	return syscall.Kill(p.pid, sig)
}

func (p *process) Wait() (syscall.WaitStatus, *syscall.Rusage, error) {
	awaitEnd(p.pid)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
	var status syscall.WaitStatus
	var usage syscall.Rusage
	for {
		_, err := syscall.Wait4(p.pid, &status, 0, &usage)
		if err != syscall.EINTR {
			return status, &usage, err
		}
	}
}

// OpenFile opens a file as the request says, without asking anybody. It never waits:
// a fifo is opened without blocking, and ENXIO says that its other end is still missing.
func OpenFile(req *OpenRequest) (*os.File, error) {
	if req.Network != "" {
		return nil, syscall.EINVAL
	}
	var fd int
	var err error
	masked := onThread(req.On, req.Umask, func() {
		for {
			fd, err = openPath(req)
			if err != syscall.EINTR {
				return
			}
		}
	})
	if masked != nil {
		return nil, masked
	}
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), req.Path), nil
}

func dial(ctx context.Context, req *OpenRequest) (*os.File, error) {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, req.Network, req.Address)
	if err != nil {
		var errno syscall.Errno
		if errors.As(err, &errno) {
			return nil, errno
		}
		return nil, syscall.EINVAL // as bash says of a host that it does not find
	}
	defer conn.Close()
	return conn.(interface{ File() (*os.File, error) }).File()
}
