package rpc_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/assent-dev/assent/sandbox"
	"github.com/assent-dev/assent/sandbox/rpc"
)

// here serves in this process: the protocol without a sandbox, which package detect tries.
type here struct{ server *rpc.Server }

func (h here) Name() string                   { return "here" }
func (h here) Needs(sandbox.Profile) []string { return nil }

func (h here) Start(ctx context.Context, c sandbox.Command) (sandbox.Process, error) {
	in, out := dup(c.Stdin.(*os.File)), dup(c.Stdout.(*os.File))
	p := &served{over: make(chan struct{})}
	context.AfterFunc(ctx, func() { in.Close(); out.Close() })
	go func() {
		p.err = h.server.Serve(in, out)
		in.Close()
		out.Close()
		close(p.over)
	}()
	return p, nil
}

func dup(f *os.File) *os.File {
	fd, err := syscall.Dup(int(f.Fd()))
	if err != nil {
		panic(err)
	}
	if err := syscall.SetNonblock(fd, true); err != nil {
		panic(err)
	}
	return os.NewFile(uintptr(fd), f.Name())
}

type served struct {
	over chan struct{}
	err  error
}

func (p *served) Wait() (sandbox.Exit, error) { <-p.over; return sandbox.Exit{}, nil }

func start(t *testing.T, s *rpc.Server) *rpc.Client {
	t.Helper()
	c, err := rpc.Start(t.Context(), here{s}, sandbox.Command{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a b.txt")
	content := bytes.Repeat([]byte("0123456789abcdef\x00\n"), 1000)
	if err := errors.Join(os.WriteFile(file, content, 0o600), os.Chmod(file, 0o640)); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("nowhere", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := start(t, rpc.NewServer())
	ctx := t.Context()
	if data, err := c.ReadFile(ctx, file, 1<<20); err != nil || !bytes.Equal(data, content) {
		t.Errorf("%d bytes, %v", len(data), err)
	}
	if _, err := c.ReadFile(ctx, file, 100); err == nil || !strings.Contains(err.Error(), "more than 100 bytes") {
		t.Errorf("too large: %v", err)
	}
	if _, err := c.ReadFile(ctx, filepath.Join(dir, "no"), 100); !errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		t.Errorf("missing: %v", err)
	}
	for _, odd := range []string{"pipe", "."} {
		if _, err := c.ReadFile(ctx, filepath.Join(dir, odd), 100); err == nil {
			t.Errorf("%s was read", odd)
		}
	}
	list, err := c.List(ctx, dir)
	if err != nil || len(list) != 3 || list[0].Name != "a b.txt" || list[0].Size != int64(len(content)) || list[1].Mode.Type() != fs.ModeSymlink {
		t.Errorf("%+v, %v", list, err)
	}
	if info, err := c.Stat(ctx, file); err != nil || info.Mode != 0o640 || info.ModTime.IsZero() {
		t.Errorf("%+v, %v", info, err)
	}
}

func TestCallsMayComeAtOnce(t *testing.T) {
	s := rpc.NewServer()
	s.Handle("echo", func(args json.RawMessage, body []byte) (any, []byte, error) { return args, body, nil })
	c := start(t, s)
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			body := bytes.Repeat([]byte{byte(i)}, i*1000)
			var n int
			out, err := c.Call(t.Context(), "echo", i, body, &n)
			if err != nil || n != i || !bytes.Equal(out, body) {
				t.Errorf("call %d: %d, %d bytes, %v", i, n, len(out), err)
			}
		})
	}
	wg.Wait()
}

func TestFailuresInside(t *testing.T) {
	s := rpc.NewServer()
	s.Handle("panic", func(json.RawMessage, []byte) (any, []byte, error) { panic("ouch") })
	c := start(t, s)
	if _, err := c.Call(t.Context(), "panic", nil, nil, nil); err == nil || !strings.Contains(err.Error(), "ouch") {
		t.Error(err)
	}
	if _, err := c.Call(t.Context(), "unknown", nil, nil, nil); err == nil || !strings.Contains(err.Error(), `"unknown"`) {
		t.Error(err)
	}
	if _, err := c.Stat(t.Context(), "/"); err != nil {
		t.Errorf("the next call: %v", err)
	}
}

func TestACancelledCallEndsTheClient(t *testing.T) {
	s := rpc.NewServer()
	called, block := make(chan struct{}), make(chan struct{})
	defer close(block)
	s.Handle("hang", func(json.RawMessage, []byte) (any, []byte, error) { close(called); <-block; return nil, nil, nil })
	c, err := rpc.Start(t.Context(), hanging{here{s}}, sandbox.Command{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-called; cancel() }()
	if _, err := c.Call(ctx, "hang", nil, nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := c.Stat(t.Context(), "/"); err == nil {
		t.Error("an answer may now belong to another call, and the client still works")
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// hanging is a process that ends with its context, as every sandboxed one does.
type hanging struct{ here }

func (h hanging) Start(ctx context.Context, c sandbox.Command) (sandbox.Process, error) {
	if _, err := h.here.Start(ctx, c); err != nil {
		return nil, err
	}
	p := &served{over: make(chan struct{})}
	context.AfterFunc(ctx, func() { close(p.over) })
	return p, nil
}

func TestClosed(t *testing.T) {
	c := start(t, rpc.NewServer())
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Stat(t.Context(), "/"); err == nil {
		t.Error("a closed client answers")
	}
}

// Whatever comes in, a server answers or ends; it never reserves memory for what did not
// come.
func FuzzServe(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x0f\x00\x00\x00\x00{\"name\":\"stat\"}"))
	f.Add([]byte("\x03\xff\xff\xff\x03\xff\xff\xff"))
	f.Add([]byte("\xff\xff\xff\xff\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		_ = rpc.NewServer().Serve(bytes.NewReader(data), io.Discard)
	})
}
