package interp_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"mvdan.cc/sh/v3/syntax"

	"github.com/assent-dev/assent/tool/shell/interp"
)

// A pretended program ends at once.
type pretended struct{ pid int }

func (p pretended) Pid() int                    { return p.pid }
func (p pretended) Signal(syscall.Signal) error { return os.ErrProcessDone }
func (p pretended) Wait() (syscall.WaitStatus, *syscall.Rusage, error) {
	return syscall.WaitStatus(p.pid % 3 << 8), nil, nil
}

// pretend returns handlers that reach nothing: programs end at once, and every file is
// /dev/null. The act number refuse is refused, and stop is called; acted counts, and late
// counts what happened after that.
func pretend(refuse int, stop func(error), acted, late *atomic.Int64) interp.Handlers {
	no := &interp.Refused{Err: errors.New("refused by number")}
	var asked atomic.Int64
	var refused atomic.Bool
	ask := func() error {
		if int(asked.Add(1)) == refuse {
			stop(no) // a sibling may act between the refusal and the closed gate
			refused.Store(true)
			return no
		}
		return nil
	}
	act := func() {
		acted.Add(1)
		if refused.Load() {
			late.Add(1)
		}
	}
	tree := fstest.MapFS{"a.go": {}, "b c.txt": {}, ".hidden": {}, "dir/x.md": {}}
	return interp.Handlers{
		Exec: func(context.Context, *interp.ExecRequest) (func() (interp.Process, error), error) {
			return func() (interp.Process, error) {
				act()
				return pretended{1<<22 - int(acted.Load())%1000}, nil
			}, ask()
		},
		Open: func(context.Context, *interp.OpenRequest) (func() (*os.File, error), error) {
			return func() (*os.File, error) {
				act()
				return os.OpenFile(os.DevNull, os.O_RDWR, 0)
			}, ask()
		},
		ReadDir: func(context.Context, *interp.PathRequest) ([]fs.DirEntry, error) {
			entries, err := tree.ReadDir(".")
			if e := ask(); e != nil {
				err = e
			}
			return entries, err
		},
		Stat: func(_ context.Context, req *interp.StatRequest) (fs.FileInfo, error) {
			name := "a.go"
			if strings.HasSuffix(req.Path, "dir") {
				name = "dir"
			}
			info, err := tree.Stat(name)
			if e := ask(); e != nil {
				err = e
			}
			return info, err
		},
		Access: func(context.Context, *interp.AccessRequest) error { return ask() },
		Call: func(_ context.Context, req *interp.CallRequest) error {
			if req.Args[0] == "kill" || req.Args[0] == "wait" {
				return no // it could reach, or wait for, what was not pretended
			}
			return nil
		},
	}
}

// FuzzRun runs any tree with handlers that pretend. It must neither panic nor hang, and
// after a refusal nothing may happen, wherever that comes up.
func FuzzRun(f *testing.F) {
	archive, err := txtar.ParseFile("testdata/like.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for i, file := range archive.Files {
		for j, text := range strings.Split(string(file.Data), "\n") {
			f.Add(text, uint8(i+j))
		}
	}
	for _, text := range refusals {
		f.Add(text, uint8(1))
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string, refuse uint8) {
		file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
		if err != nil || strings.Contains(text, "read") {
			return // /dev/null as a terminal's stand-in would only slow down the search
		}
		var acted, late atomic.Int64
		var r *interp.Runner
		r, err = interp.New(interp.Config{
			Dir: "/", Env: []string{"PATH=/bin"}, Text: text, Stdin: null, Stdout: null, Stderr: null,
			Handlers: pretend(int(refuse), func(err error) { r.Stop(err) }, &acted, &late), Limits: interp.Limits{Value: 1 << 16, Total: 1 << 18, Depth: 40},
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_, err = r.Run(ctx, file)
			r.Terminate(0)
		}()
		select {
		case <-ended:
		case <-time.After(20 * time.Second):
			t.Fatalf("%q does not end", text)
		}
		var fault *interp.InternalError
		if errors.As(err, &fault) {
			t.Fatalf("%q: %v\n%s", text, fault, fault.Stack)
		}
		if n := late.Load(); n > 0 {
			t.Errorf("%q: %d acts after act %d was refused", text, n, refuse)
		}
	})
}
