package interp_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"mvdan.cc/sh/v3/syntax"

	"github.com/assent-dev/assent/tool/shell/interp"
)

// A session is a run of a command in a folder of its own, with handlers that record.
type session struct {
	t    *testing.T
	dir  string
	h    interp.Handlers
	r    *interp.Runner
	in   *os.File // its standard input, nil is closed
	out  *os.File
	mu   sync.Mutex
	acts []string // started programs and opened files, in their order
	late []string // what happened after a refusal
	no   bool     // something was refused

	limits interp.Limits
}

// sideBySide matches the tests in which something runs beside what is refused.
var sideBySide = regexp.MustCompile("siblings|pipeline|background|process_substitution")

var errNo = &interp.Refused{Err: errors.New("not allowed here")}

// newSession has a folder with some files, and refuses the program "forbidden" and every
// path that contains that word.
func newSession(t *testing.T) *session {
	t.Helper()
	s := &session{t: t, dir: t.TempDir()}
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { null.Close() })
	s.out = null
	for name, text := range map[string]string{
		"forbidden.sh": "touch after\n", "lib.sh": "touch lib\nforbidden\ntouch after\n", "plain.txt": "a\nb\n",
	} {
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(s.dir, "script"), []byte("touch script-ran\nforbidden\ntouch after\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	std := interp.DefaultHandlers()
	note := func(what string) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.acts = append(s.acts, what)
		if s.no {
			s.late = append(s.late, what)
		}
	}
	refuse := func() error {
		if sideBySide.MatchString(t.Name()) {
			s.r.Stop(errNo) // a sibling may act between the refusal and the closed gate
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.no = true
		return errNo
	}
	s.h = std
	s.h.Exec = func(ctx context.Context, req *interp.ExecRequest) (func() (interp.Process, error), error) {
		if strings.Contains(req.Args[0], "forbidden") {
			return nil, refuse()
		}
		start, err := std.Exec(ctx, req)
		return func() (interp.Process, error) {
			note(strings.Join(req.Args, " "))
			return start()
		}, err
	}
	s.h.Open = func(ctx context.Context, req *interp.OpenRequest) (func() (*os.File, error), error) {
		if strings.Contains(req.Path, "forbidden") {
			return nil, refuse()
		}
		open, err := std.Open(ctx, req)
		return func() (*os.File, error) {
			note("open " + req.Path)
			return open()
		}, err
	}
	s.h.ReadDir = func(ctx context.Context, req *interp.PathRequest) ([]fs.DirEntry, error) {
		if strings.Contains(req.Path, "forbidden") {
			return nil, refuse()
		}
		return std.ReadDir(ctx, req)
	}
	s.h.Stat = func(ctx context.Context, req *interp.StatRequest) (fs.FileInfo, error) {
		if strings.Contains(req.Path, "forbidden-folder") {
			return nil, refuse()
		}
		return std.Stat(ctx, req)
	}
	return s
}

func parse(t *testing.T, text string) *syntax.File {
	t.Helper()
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return file
}

// start makes the runner. PATH has a folder in which "forbidden" is a program, so that
// it is found.
func (s *session) start(text string) *syntax.File {
	s.t.Helper()
	bin := filepath.Join(s.dir, "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bin, "forbidden"), []byte("#!/bin/sh\ntouch after-forbidden\n"), 0o755); err != nil {
		s.t.Fatal(err)
	}
	var err error
	s.r, err = interp.New(interp.Config{
		Dir: s.dir, Env: []string{"PATH=" + bin + ":/usr/bin:/bin", "HOME=" + s.dir, "LANG=C.UTF-8"}, Text: text,
		Stdin: s.in, Stdout: s.out, Stderr: s.out, Handlers: s.h, Limits: s.limits,
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return parse(s.t, text)
}

func (s *session) run(text string) (int, error) {
	s.t.Helper()
	file := s.start(text)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	return s.r.Run(ctx, file)
}

// files lists what the folder has, without what it had at the start.
func (s *session) files() []string {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		s.t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		switch e.Name() {
		case "forbidden.sh", "lib.sh", "plain.txt", "script", "bin":
		default:
			names = append(names, e.Name())
		}
	}
	return names
}

// noneLeft waits until no goroutine of the interpreter is left.
func noneLeft(t *testing.T) {
	t.Helper()
	var sb strings.Builder
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); runtime.Gosched() {
		sb.Reset()
		pprof.Lookup("goroutine").WriteTo(&sb, 1)
		if !strings.Contains(sb.String(), "shell/interp.") {
			return
		}
	}
	t.Errorf("goroutines are left:\n%s", sb.String())
}

// Each text meets a refusal somewhere, and would touch "after" if it went on.
var refusals = map[string]string{
	"plain":                   `forbidden; touch after`,
	"and":                     `forbidden && touch after`,
	"or":                      `forbidden || touch after`,
	"not":                     `! forbidden; touch after`,
	"pipeline, first":         `forbidden | cat; touch after`,
	"pipeline, middle":        `echo | forbidden | cat; touch after`,
	"pipeline, last":          `echo | forbidden; touch after`,
	"substitution":            `echo $(forbidden); touch after`,
	"quoted substitution":     `x="$(forbidden)"; touch after`,
	"backquotes":              "x=`forbidden`; touch after",
	"nested substitution":     `echo $(echo $(forbidden; touch after)); touch after`,
	"in a substitution":       `x=$(forbidden; touch after); touch after`,
	"default value":           `echo ${x:-$(forbidden)}; touch after`,
	"background":              `forbidden & wait; touch after`,
	"background group":        `{ forbidden; touch after; } & wait; touch after`,
	"background, later":       `(forbidden; touch after) & wait $!; touch after`,
	"process substitution":    `cat <(forbidden; touch after); touch after`,
	"process substitution >":  `echo x > >(forbidden; touch after); wait; touch after`,
	"here-document":           "cat <<E\n$(forbidden)\nE\ntouch after",
	"here-string":             `cat <<< "$(forbidden)"; touch after`,
	"function":                `f() { forbidden; touch after; }; f; touch after`,
	"loop":                    `for i in 1 2; do forbidden; touch after; done; touch after`,
	"loop, list":              `for i in $(forbidden) 2; do touch after; done; touch after`,
	"loop, condition":         `while forbidden; do touch after; break; done; touch after`,
	"until":                   `until forbidden; do touch after; done; touch after`,
	"if":                      `if forbidden; then touch after; else touch after; fi; touch after`,
	"case":                    `case $(forbidden) in *) touch after;; esac; touch after`,
	"case pattern":            `case x in $(forbidden)) touch after;; *) touch after;; esac; touch after`,
	"condition":               `[[ -n $(forbidden) ]] || touch after; touch after`,
	"arithmetic":              `((x = $(forbidden; echo 1))) || touch after; touch after`,
	"let":                     `let x=$(forbidden) || touch after; touch after`,
	"array":                   `a=($(forbidden)); touch after`,
	"array index":             `a[$(forbidden)]=1; touch after`,
	"declare":                 `declare x=$(forbidden); touch after`,
	"assignment":              `X=$(forbidden) touch after; touch after`,
	"brace":                   `echo {a,$(forbidden)}; touch after`,
	"subshell":                `(forbidden; touch after); touch after`,
	"group":                   `{ forbidden; touch after; }; touch after`,
	"group, redirected":       `{ forbidden; touch after; } > out; touch after`,
	"exit trap":               `trap 'forbidden; touch after' EXIT; true`,
	"exit trap of others":     `trap 'touch after' EXIT; forbidden; touch after`,
	"exit trap in a subshell": `(trap 'touch after' EXIT; forbidden); touch after`,
	"error trap":              `trap 'forbidden; touch after' ERR; false; touch after`,
	"signal trap":             `trap 'forbidden; touch after' USR1; kill -USR1 $$; touch after`,
	"eval":                    `eval 'forbidden; touch after'; touch after`,
	"source":                  `. ./lib.sh; touch after`,
	"source of the file":      `. ./forbidden.sh; touch after`,
	"script without #!":       `./script; touch after`,
	"exec":                    `exec forbidden; touch after`,
	"command":                 `command forbidden; touch after`,
	"variable":                `x=forbidden; $x; touch after`,
	"by path":                 `bin/forbidden; touch after`,
	"redirection >":           `echo x > forbidden.txt; touch after`,
	"redirection <":           `cat < forbidden.sh; touch after`,
	"redirection of a group":  `{ touch after; } > forbidden.txt; touch after`,
	"redirection in a loop":   `while read l; do touch after; done < forbidden.sh; touch after`,
	"redirection, exec":       `exec 3> forbidden.txt; touch after`,
	"$(<file)":                `x=$(< forbidden.sh); touch after`,
	"glob":                    `mkdir forbidden-dir; echo forbidden-dir/*; touch after`,
	"cd":                      `cd forbidden-folder; touch after`,
	"test":                    `[ -e forbidden-folder ] || touch after; touch after`,
	"value as arithmetic":     `x='a[$(forbidden)]'; echo $((x)); touch after`,
	"value as prompt":         `x='$(forbidden)'; echo "${x@P}"; touch after`,
	"value as subscript":      `read 'a[$(forbidden)]' <<< 1; touch after`,
	"PS4":                     `PS4='$(forbidden) '; set -x; touch after`,
	"mapfile callback":        `mapfile -C 'forbidden' -c 1 < plain.txt; touch after`,
	"not found handle":        `command_not_found_handle() { forbidden; touch after; }; nosuchprogram; touch after`,
	"siblings in a pipeline":  `{ forbidden; } | { cat; touch after; }; touch after`,
	"siblings in background":  `(while :; do :; done; touch after) & (cat /dev/zero > /dev/null; touch after) & forbidden; touch after`,
	"many siblings":           `for i in 1 2 3 4 5 6 7 8; do (while :; do :; done) & done; forbidden; touch after`,
}

// TestRefusal puts a refusal into every place that runs something: nothing happens after it.
func TestRefusal(t *testing.T) {
	for name, text := range refusals {
		t.Run(name, func(t *testing.T) {
			s := newSession(t)
			_, err := s.run(text)
			s.r.Terminate(time.Second)
			if !errors.Is(err, errNo) {
				t.Errorf("Run of %q: %v, want the refusal", text, err)
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			if len(s.late) > 0 {
				t.Errorf("after the refusal of %q: %q", text, s.late)
			}
			for _, name := range s.files() {
				if strings.HasPrefix(name, "after") {
					t.Errorf("%q went on and made %s", text, name)
				}
			}
			noneLeft(t)
		})
	}
}

// TestRefusalIsPossible runs the same texts with everything allowed: each goes on, so that
// TestRefusal tests something.
func TestRefusalIsPossible(t *testing.T) {
	for name, text := range refusals {
		if strings.Contains(text, "while :") || name == "PS4" {
			continue // they would not end, or trace themselves
		}
		t.Run(name, func(t *testing.T) {
			s := newSession(t)
			s.h = interp.DefaultHandlers()
			s.run(text)
			s.r.Wait()
			if !slices.ContainsFunc(s.files(), func(name string) bool { return strings.HasPrefix(name, "after") }) {
				t.Errorf("%q did not go on: %q", text, s.files())
			}
		})
	}
}

// children waits until as many programs are listed: one may run already before it is noted.
func (s *session) children(n int) []interp.Child {
	for end := time.Now().Add(10 * time.Second); ; runtime.Gosched() {
		if list := s.r.Children(); len(list) >= n || time.Now().After(end) {
			return list
		}
	}
}

// TestChildrenAfterRefusal lists what still runs after a refusal, and ends it.
func TestChildrenAfterRefusal(t *testing.T) {
	s := newSession(t)
	_, err := s.run(`sh -c 'echo x > one; exec sleep 1000' & sh -c 'trap "" TERM; echo x > two; exec sleep 1001' &
		until [ -s one ] && [ -s two ]; do :; done; forbidden`)
	if !errors.Is(err, errNo) {
		t.Fatal(err)
	}
	children := s.children(2)
	if len(children) != 2 || children[0].Args[0] != "sh" || !children[0].Background || !children[1].Background {
		t.Errorf("children: %+v", children)
	}
	s.r.Terminate(50 * time.Millisecond)
	if left := s.r.Children(); len(left) > 0 {
		t.Errorf("still running: %+v", left)
	}
	noneLeft(t)
}

// TestCancel ends commands that would never end or that wait for something.
func TestCancel(t *testing.T) {
	for name, text := range map[string]string{
		"endless loop":       `started; while :; do :; done`,
		"endless for":        `started; for ((;;)); do x=1; done`,
		"recursion":          `started; f() { (f); }; f; while :; do :; done`,
		"sleep":              `started; sleep 1000`,
		"sleep in substit":   `started; x=$(sleep 1000)`,
		"pipeline":           `started; sleep 1000 | cat`,
		"builtin pipeline":   `started; while :; do echo x; done | while :; do :; done`,
		"read":               `started; read x`,
		"read in a loop":     `started; while read x; do :; done`,
		"wait":               `sleep 1000 & started; wait`,
		"wait -n":            `sleep 1000 & started; wait -n`,
		"write":              `started; while :; do echo x; done | sleep 1000`,
		"fifo to read":       `mkfifo f; started; cat < f`,
		"fifo to write":      `mkfifo f; started; echo x > f`,
		"fifo in a loop":     `mkfifo f; started; while read x; do :; done < f`,
		"process substitut":  `started; cat <(sleep 1000)`,
		"pattern":            `shopt -s extglob; started; x=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; [[ $x == !(*a*a*a*a*a*a*a*a*a*a*a*a*b)c ]]; while :; do :; done`,
		"mapfile":            `started; mapfile x`,
		"background":         `(while :; do :; done) & started; while :; do :; done`,
		"trap that goes on":  `trap 'while :; do :; done' EXIT; started; exit`,
		"globs":              `started; while :; do echo /usr/*/* > /dev/null; done`,
		"braces":             `started; while :; do echo {1..100000} > /dev/null; done`,
		"programs":           `started; while :; do /bin/true; done`,
		"descriptor of read": `exec 3<&0; started; read -u 3 x`,
	} {
		t.Run(name, func(t *testing.T) {
			s := newSession(t)
			in, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			defer in.Close()
			s.in = in
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			s.h.Call = func(_ context.Context, req *interp.CallRequest) error {
				if req.Args[0] == "started" {
					cancel() // races with what follows, in either order
				}
				return nil
			}
			file := s.start("started() { :; }; " + text)
			done := make(chan error, 1)
			go func() {
				_, err := s.r.Run(ctx, file)
				done <- err
			}()
			select {
			case err := <-done:
				if !errors.Is(err, context.Canceled) {
					t.Errorf("Run: %v", err)
				}
			case <-time.After(20 * time.Second):
				t.Fatal("Run goes on after the context was cancelled")
			}
			s.r.Terminate(10 * time.Millisecond)
			noneLeft(t)
		})
	}
}

// TestNoneLeft checks that an ordinary end leaves no goroutine and no descriptor.
func TestNoneLeft(t *testing.T) {
	count := func() int {
		entries, err := os.ReadDir("/dev/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	text := `x=$(echo a | cat); cat <(echo b) > f; exec 3<f; read -u 3 y; cat <<< "$x"; (exit 3) & wait; echo "$(seq 50000)" | head -1; f() { exec 4>&1; }; f; trap 'echo bye' EXIT; kill -USR2 $BASHPID & coproc=1; exec > g; echo z; exec {n}<f; cd bin; ( cd ..; echo > h ); trap : USR1; kill -USR1 $$; seq 100000 | head -1`
	s := newSession(t)
	s.run(text)
	s.r.Wait()
	noneLeft(t)
	runtime.GC()
	before := count()
	for range 5 {
		s := newSession(t)
		if _, err := s.run(text); err != nil {
			t.Fatal(err)
		}
		s.r.Wait()
		s.r.Terminate(0) // the gate's own pipe
		s.out.Close()
		noneLeft(t)
	}
	var after int
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); runtime.Gosched() {
		runtime.GC()
		if after = count(); after <= before {
			return
		}
	}
	t.Errorf("%d descriptors are open, %d were", after, before)
}

// TestOwnProcess: a redirection reaches nothing of this process, whose memory and descriptors
// are the interpreter's.
func TestOwnProcess(t *testing.T) {
	secret, err := os.Open("gate.go")
	if err != nil {
		t.Fatal(err)
	}
	defer secret.Close()
	for _, path := range []string{
		"/proc/self/mem", "/proc/$$/mem", "/proc/thread-self/mem", "/proc/self/maps", "/proc/self/./fd/%d", "/proc/$$/fd/%d", "//proc/self/fd/%d",
		"/proc/self/task/$$/fd/%d", "link/%d", "other", "/dev/../proc/self/environ", "/proc/self/cwd/gate.go",
	} {
		s := newSession(t)
		for name, target := range map[string]string{"link": "/proc/self/fd", "other": "/proc/self/maps"} {
			if err := os.Symlink(target, filepath.Join(s.dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		path = strings.ReplaceAll(path, "%d", strconv.Itoa(int(secret.Fd())))
		if _, err := s.run("{ : <" + path + "; } && touch opened; { : <>" + path + "; } && touch opened"); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		if slices.Contains(s.files(), "opened") {
			t.Errorf("%s was opened", path)
		}
	}
	s := newSession(t)
	if _, err := s.run(": </proc/1/status && : </proc/version && echo x >/proc/self/fd/1 && touch opened"); err != nil || !slices.Contains(s.files(), "opened") {
		t.Errorf("%v, files %q", err, s.files())
	}
}
