//go:build likebash

package interp_test

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"mvdan.cc/sh/v3/syntax"

	"github.com/assent-dev/assent/internal/rounds"
	"github.com/assent-dev/assent/tool/shell/interp"
)

// A sample is a command that both shells run.
type sample struct {
	id, group, command string
}

// readSamples reads the commands of agents, and those of this package, which are grouped
// by what they use.
func readSamples(t *testing.T) []sample {
	t.Helper()
	var list []sample
	other := os.Getenv("ASSENT_LIKE_FILE")
	data, err := os.ReadFile(cmp.Or(other, "../testdata/commands.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.SplitSeq(bytes.TrimSpace(data), []byte("\n")) {
		var c struct {
			ID, Kind, Command string
			Runs              bool
		}
		if err := json.Unmarshal(line, &c); err != nil {
			t.Fatal(err)
		}
		if c.Runs || other != "" {
			list = append(list, sample{c.ID, c.Kind, c.Command})
		}
	}
	if other != "" {
		return list
	}
	archive, err := txtar.ParseFile("testdata/like.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range archive.Files {
		n := 0
		add := func(command string) {
			n++
			list = append(list, sample{fmt.Sprintf("%s-%d", f.Name, n), f.Name, command})
		}
		long, inside := "", false
		for line := range strings.SplitSeq(strings.TrimSuffix(string(f.Data), "\n"), "\n") {
			switch {
			case line == "<<<":
				long, inside = "", true
			case line == ">>>":
				add(long)
				inside = false
			case inside:
				long += line + "\n"
			default:
				add(line)
			}
		}
	}
	return list
}

// TestLikeBash runs commands in bash and in the interpreter, each in a fresh copy of a
// small project, and compares standard output, exit status and files.
//
// ASSENT_LIKE=all runs all of them, and a regular expression those whose id or group it
// matches. ASSENT_LIKE_FILE names another list, of JSON objects with id, kind and command;
// run what you do not know in a sandbox. ASSENT_LIKE_PATIENCE is how long one may take.
func TestLikeBash(t *testing.T) {
	samples := readSamples(t)
	if step := rounds.N(8, 1); step > 1 && os.Getenv("ASSENT_LIKE") == "" {
		var some []sample
		for i, s := range samples {
			if i%step == 0 {
				some = append(some, s)
			}
		}
		samples = some
	}
	if only := os.Getenv("ASSENT_LIKE"); only != "" && only != "all" {
		re := regexp.MustCompile("^(?:" + only + ")$")
		samples = slices.DeleteFunc(samples, func(s sample) bool { return !re.MatchString(s.id) && !re.MatchString(s.group) })
	}
	if d, err := time.ParseDuration(os.Getenv("ASSENT_LIKE_PATIENCE")); err == nil {
		patience = d
	}
	fixture := makeFixture(t)
	known := readDifferences(t)
	type outcome struct {
		sample
		diff       string
		sameErrors bool
		bash, ours result
	}
	work := make(chan sample)
	outcomes := make(chan outcome)
	var wg sync.WaitGroup
	for n := range 2 {
		wg.Go(func() {
			p := &place{t: t, root: filepath.Join(t.TempDir(), fmt.Sprint("w", n)), fixture: fixture}
			for s := range work {
				bash, ours := p.run(s.command, runBash), p.run(s.command, runInterp)
				diff := difference(bash, ours)
				if diff != "" {
					// What bash does differently each time says nothing about us.
					again := p.run(s.command, runBash)
					if difference(bash, again) != "" {
						bash, ours = again, p.run(s.command, runInterp)
						diff = difference(bash, ours)
					}
				}
				outcomes <- outcome{s, diff, plainErrors(bash.stderr) == plainErrors(ours.stderr), bash, ours}
			}
		})
	}
	go func() {
		for _, s := range samples {
			work <- s
		}
		close(work)
		wg.Wait()
		close(outcomes)
	}()
	var differ, unsupported int
	errorsDiffer := map[string]int{}
	total := 0
	for o := range outcomes {
		total++
		if !o.sameErrors {
			errorsDiffer[o.group]++
			if testing.Verbose() {
				t.Logf("%s: standard error differs\n%s\nbash: %s\nours: %s", o.id, o.command, plainErrors(o.bash.stderr), plainErrors(o.ours.stderr))
			}
		}
		var u *interp.UnsupportedError
		if errors.As(o.ours.err, &u) {
			unsupported++
		}
		reason, listed := known[o.id]
		switch {
		case o.diff == "":
			if listed && !strings.HasPrefix(reason, "sometimes") {
				t.Errorf("%s no longer differs; remove it from testdata/differences.txt", o.id)
			}
		case !listed:
			t.Errorf("%s (%s) differs from bash:\n%s\n%s\nbash stderr: %s\nour stderr: %s", o.id, o.group, o.command, o.diff, o.bash.stderr, o.ours.stderr)
			differ++
		default:
			differ++
		}
	}
	messages := 0
	for _, n := range errorsDiffer {
		messages += n
	}
	t.Logf("%d commands: %d the same, %d differ (%d of them unsupported); messages on standard error differ in %d %v",
		total, total-differ, differ, unsupported, messages, errorsDiffer)
	if differ*100 > total {
		t.Errorf("%d of %d commands differ, more than 1 %%", differ, total)
	}
}

// readDifferences reads the known differences: an id and a reason a line.
func readDifferences(t *testing.T) map[string]string {
	t.Helper()
	data, err := os.ReadFile("testdata/differences.txt")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]string{}
	for line := range strings.Lines(string(data)) {
		if id, reason, ok := strings.Cut(strings.TrimSpace(line), " "); ok && !strings.HasPrefix(id, "#") {
			known[id] = reason
		}
	}
	return known
}

// makeFixture makes the project that commands run in, in a folder around it.
func makeFixture(t *testing.T) string {
	t.Helper()
	archive, err := txtar.ParseFile("../testdata/project.txtar")
	if err != nil {
		t.Fatal(err)
	}
	outer := filepath.Join(t.TempDir(), "fixture")
	project := filepath.Join(outer, "project")
	for _, f := range archive.Files {
		path := filepath.Join(project, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("bash", ".fixture/init.sh")
	cmd.Dir = project
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("the project cannot be made: %v\n%s", err, out)
	}
	return outer
}

// A place is where one worker runs commands, one after another under the same path.
type place struct {
	t             *testing.T
	root, fixture string
	snap          string // the stamps of a copy that no command has changed
}

// stamps describes a tree such that any change to it shows.
func stamps(root string) string {
	var sb strings.Builder
	filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			fmt.Fprintln(&sb, path, err)
			return nil
		}
		if info, err := d.Info(); err == nil {
			st := info.Sys().(*syscall.Stat_t)
			fmt.Fprintln(&sb, path, st.Ino, st.Mode, st.Size, info.ModTime().UnixNano(), st.Ctim)
		}
		return nil
	})
	return sb.String()
}

type result struct {
	stdout, stderr string
	status         int
	files          map[string]string
	err            error
}

func (p *place) run(command string, run func(dir, command string, env []string, out, err *os.File) (int, error)) result {
	must := func(err error) {
		if err != nil {
			p.t.Error(err)
		}
	}
	if p.snap == "" || p.snap != stamps(p.root) {
		exec.Command("chmod", "-R", "u+rwx", p.root).Run()
		must(os.RemoveAll(p.root))
		must(os.MkdirAll(filepath.Join(p.root, "home"), 0o755))
		must(os.MkdirAll(filepath.Join(p.root, "tmp"), 0o755))
		if out, err := exec.Command("cp", "-a", p.fixture, filepath.Join(p.root, "outer")).CombinedOutput(); err != nil {
			p.t.Errorf("cp: %s", out)
		}
		p.snap = stamps(p.root)
	}
	env := []string{
		"HOME=" + filepath.Join(p.root, "home"), "PATH=/usr/bin:/bin", "LANG=C.UTF-8", "TZ=UTC", "TERM=dumb", "NO_COLOR=1",
		"PYTHONDONTWRITEBYTECODE=1", "GIT_AUTHOR_DATE=2026-01-21T10:00:00Z", "GIT_COMMITTER_DATE=2026-01-21T10:00:00Z",
		"TMPDIR=" + filepath.Join(p.root, "tmp"), "USER=ada", "LOGNAME=ada",
	}
	read := func() (*os.File, func() string) {
		r, w, err := os.Pipe()
		must(err)
		got := make(chan string, 1)
		go func() {
			data, _ := io.ReadAll(r)
			r.Close()
			got <- string(data)
		}()
		return w, func() string { return <-got }
	}
	outW, out := read()
	errW, errs := read()
	var res result
	res.status, res.err = run(filepath.Join(p.root, "outer", "project"), command, env, outW, errW)
	res.stdout, res.stderr = out(), errs()
	res.files = listFiles(p.t, p.root)
	return res
}

// patience is how long a command may take; some of other lists are servers.
var patience = 30 * time.Second

func runBash(dir, command string, env []string, stdout, stderr *os.File) (int, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	// Whatever the command leaves behind holds the leash, so that its end can be seen.
	leash, held, err := os.Pipe()
	if err != nil {
		return -1, err
	}
	defer leash.Close()
	cmd := exec.CommandContext(ctx, "/bin/bash", "-c", command, "bash")
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, append(env, "PWD="+dir), stdout, stderr
	cmd.ExtraFiles = make([]*os.File, 250-2)
	cmd.ExtraFiles[250-3] = held
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	err = cmd.Run()
	stdout.Close()
	stderr.Close()
	held.Close()
	if ctx.Err() == nil {
		leash.SetReadDeadline(time.Now().Add(patience))
		io.Copy(io.Discard, leash)
	}
	if cmd.Process == nil {
		return -1, err
	}
	syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	if ctx.Err() != nil {
		return -1, ctx.Err()
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		status := exit.Sys().(syscall.WaitStatus)
		if status.Signaled() {
			return 128 + int(status.Signal()), nil
		}
		return status.ExitStatus(), nil
	}
	return 0, err
}

func runInterp(dir, command string, env []string, stdout, stderr *os.File) (int, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	defer stdout.Close()
	defer stderr.Close()
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(command), "")
	if err != nil {
		fmt.Fprintln(stderr, "bash: line 1: syntax error", err)
		return 2, err
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return -1, err
	}
	defer null.Close()
	handlers := interp.DefaultHandlers()
	handlers.StandIn = func(context.Context) (interp.Process, error) {
		return interp.Start(&interp.ExecRequest{Path: "/bin/sleep", Args: []string{"sleep", "1000"}, Umask: -1})
	}
	r, err := interp.New(interp.Config{
		Dir: dir, Env: env, Text: command, Stdin: null, Stdout: stdout, Stderr: stderr, Handlers: handlers,
	})
	if err != nil {
		return -1, err
	}
	status, err := r.Run(ctx, file)
	stdout.Close()
	stderr.Close()
	if err != nil {
		r.Terminate(100 * time.Millisecond)
	}
	ended := make(chan struct{})
	go func() {
		r.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(patience):
		r.Terminate(0)
	}
	return status, err
}

// listFiles describes every file below a folder.
func listFiles(t *testing.T, root string) map[string]string {
	files := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // a folder that the command locked
		}
		name := strings.TrimPrefix(path, root)
		if strings.HasSuffix(name, "/.git/index") {
			return nil // has the inodes of the files
		}
		info, err := d.Info()
		if err != nil {
			return nil
		}
		text := info.Mode().String()
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			target, _ := os.Readlink(path)
			text += " " + target
		case info.Mode().IsRegular():
			data, err := os.ReadFile(path)
			if err != nil {
				text += " unreadable"
			} else if len(data) > 500 {
				text += fmt.Sprintf(" %d bytes %x", len(data), sha256.Sum256(data))
			} else {
				text += fmt.Sprintf(" %q", data)
			}
		}
		files[name] = text
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	return files
}

func difference(bash, ours result) string {
	var sb strings.Builder
	if bash.status != ours.status {
		fmt.Fprintf(&sb, "status: bash %d, ours %d (%v)\n", bash.status, ours.status, ours.err)
	}
	if bash.stdout != ours.stdout {
		fmt.Fprintf(&sb, "output of bash:\n%s\nours:\n%s\n", short(bash.stdout), short(ours.stdout))
	}
	names := slices.Sorted(maps.Keys(bash.files))
	for name := range ours.files {
		if _, ok := bash.files[name]; !ok {
			names = append(names, name)
		}
	}
	for _, name := range names {
		if bash.files[name] != ours.files[name] {
			fmt.Fprintf(&sb, "file %s: bash %s, ours %s\n", name, bash.files[name], ours.files[name])
		}
	}
	return sb.String()
}

func short(s string) string {
	if len(s) > 2000 {
		return s[:2000] + "..."
	}
	return s
}

var (
	messagePrefix = regexp.MustCompile(`(?m)^(bash|environment|[\w./-]+\.sh)(: [\w.-]+)?: line \d+: `)
	processIDs    = regexp.MustCompile(`\b\d{3,7} (Killed|Terminated|Aborted|Segmentation)`)
	timings       = regexp.MustCompile(`\d+m\d+\.\d+s`)
)

// plainErrors removes what may differ from messages.
func plainErrors(s string) string {
	s = messagePrefix.ReplaceAllString(s, "$1: ")
	s = processIDs.ReplaceAllString(s, "PID $1")
	return timings.ReplaceAllString(s, "0m0.000s")
}
