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
	// guarded: the command would reach out or change the machine, and runs with programs
	// of which most are stand-ins.
	guarded bool
}

// notRun are commands that no stand-in makes harmless.
var notRun = map[string]string{
	"C0461": "ends the process 12345, whatever it is",
	"C0462": "ends the process 4242, whatever it is",
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
		if notRun[c.ID] == "" || other != "" {
			list = append(list, sample{c.ID, c.Kind, c.Command, !c.Runs && other == ""})
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
			list = append(list, sample{fmt.Sprintf("%s-%d", f.Name, n), f.Name, command, false})
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
// small project, and compares standard output, exit status and files. Commands that give
// another result each time bash runs them are counted apart.
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
		unstable   bool
		sameErrors bool
		bash, ours result
	}
	standIns := makeStandIns(t)
	work := make(chan sample)
	outcomes := make(chan outcome)
	var wg sync.WaitGroup
	for n := range 2 {
		wg.Go(func() {
			p := &place{t: t, root: filepath.Join(t.TempDir(), fmt.Sprint("w", n)), fixture: fixture}
			for s := range work {
				p.path, p.patience = "/usr/bin:/bin", patience
				if s.guarded {
					p.path, p.patience = standIns, min(patience, 8*time.Second)
				}
				o := outcome{sample: s}
				o.bash, o.ours = p.run(s.command, runBash), p.run(s.command, runInterp)
				for range 2 {
					if o.diff = difference(o.bash, o.ours); o.diff == "" {
						break
					}
					// What bash does differently each time says nothing about us, unless we
					// do the same once more.
					again := p.run(s.command, runBash)
					if difference(o.bash, again) == "" {
						o.unstable = false
						break
					}
					o.unstable = true
					o.bash, o.ours = again, p.run(s.command, runInterp)
				}
				o.sameErrors = plainErrors(o.bash.stderr) == plainErrors(o.ours.stderr)
				outcomes <- o
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
	var all, agents tally
	errorsDiffer := map[string]int{}
	for o := range outcomes {
		if !o.sameErrors {
			errorsDiffer[o.group]++
			if testing.Verbose() {
				t.Logf("%s: standard error differs\n%s\nbash: %s\nours: %s", o.id, o.command, plainErrors(o.bash.stderr), plainErrors(o.ours.stderr))
			}
		}
		var u *interp.UnsupportedError
		unsupported := errors.As(o.ours.err, &u)
		all.count(o.diff, o.unstable, unsupported)
		if agentID.MatchString(o.id) {
			agents.count(o.diff, o.unstable, unsupported)
		}
		reason, listed := known[o.id]
		switch {
		case o.diff == "":
			if listed && !strings.HasPrefix(reason, "sometimes") {
				t.Errorf("%s no longer differs; remove it from testdata/differences.txt", o.id)
			}
		case o.unstable:
			if testing.Verbose() {
				t.Logf("%s differs each time in bash itself:\n%s\n%s", o.id, o.command, o.diff)
			}
		case !listed:
			t.Errorf("%s (%s) differs from bash:\n%s\n%s\nbash stderr: %s\nour stderr: %s", o.id, o.group, o.command, o.diff, o.bash.stderr, o.ours.stderr)
		}
	}
	messages := 0
	for _, n := range errorsDiffer {
		messages += n
	}
	t.Logf("all commands: %v; messages on standard error differ in %d %v", all, messages, errorsDiffer)
	t.Logf("commands of agents: %v; %d not run", agents, len(notRun))
	for _, n := range []tally{all, agents} {
		if n.differ*100 > n.total {
			t.Errorf("%d of %d commands differ, more than 1 %%", n.differ, n.total)
		}
		if n.unsupported*1000 > 3*n.total {
			t.Errorf("%d of %d commands are not supported, more than 0.3 %%", n.unsupported, n.total)
		}
	}
}

// agentID matches the ids of testdata/commands.jsonl.
var agentID = regexp.MustCompile(`^C\d{4}$`)

// A tally counts what came of commands.
type tally struct{ total, same, differ, unstable, unsupported int }

func (n *tally) count(diff string, unstable, unsupported bool) {
	n.total++
	switch {
	case diff == "":
		n.same++
	case unstable:
		n.unstable++
	default:
		n.differ++
	}
	if unsupported {
		n.unsupported++
	}
}

func (n tally) String() string {
	return fmt.Sprintf("%d: %d the same, %d differ, %d give another result each time in bash; %d not supported",
		n.total, n.same, n.differ, n.unstable, n.unsupported)
}

// harmless are the programs that guarded commands may really run. Everything else that they
// name is a stand-in or not there.
var harmless = strings.Fields(`awk base64 basename bash bc cat chmod cp cut date df diff dirname du echo env expr false file find git
	grep gzip head hostname id jq ln ls make mkdir mktemp mv nl nohup nproc paste perl printenv printf ps pwd readlink realpath rg rm rmdir sed
	seq sh sha256sum sleep sort sqlite3 stat tac tail tar tee test timeout touch tr true uname uniq wc which whoami xargs xxd yes zip node`)

// standIns are the programs that would reach out or change the machine.
var standInNames = strings.Fields(`apply_patch apt apt-get aws black brew bun cargo cmake createdb crontab curl deno docker dropdb ffmpeg flask gh go
	gofmt golangci-lint journalctl kubectl lsof mypy netstat npm npx pg_dump pgrep pip pip3 pkill pnpm poetry psql pytest redis-server
	rsync ruff scp shellcheck ss ssh ssh-add ssh-agent sudo systemctl terraform uv uvicorn wget yarn yq`)

// makeStandIns makes a folder of programs for guarded commands, as a PATH of its own.
func makeStandIns(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range harmless {
		if path, err := exec.LookPath(filepath.Join("/usr/bin", name)); err == nil {
			if err := os.Symlink(path, filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	// Each prints its words and its input, and fails if it has three words.
	say := "#!/bin/sh\nprintf '%s' \"${0##*/}\"; printf ' <%s>' \"$@\"; echo; cat; [ $# -ne 3 ]\n"
	programs := map[string]string{"python3": "#!/bin/sh\n[ \"$1\" = -m ] || exec /usr/bin/python3 \"$@\"\n" + say[len("#!/bin/sh\n"):]}
	programs["python"] = programs["python3"]
	for _, name := range standInNames {
		programs[name] = say
	}
	for name, text := range programs {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
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
	path          string // PATH of the next command
	patience      time.Duration
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

func (p *place) run(command string, run func(patience time.Duration, dir, command string, env []string, out, err *os.File) (int, error)) result {
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
		"HOME=" + filepath.Join(p.root, "home"), "PATH=" + p.path, "GIT_ALLOW_PROTOCOL=file", "LANG=C.UTF-8", "TZ=UTC", "TERM=dumb", "NO_COLOR=1",
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
	res.status, res.err = run(p.patience, filepath.Join(p.root, "outer", "project"), command, env, outW, errW)
	res.stdout, res.stderr = out(), errs()
	res.files = listFiles(p.t, p.root)
	return res
}

// patience is how long a command may take; some of other lists are servers.
var patience = 30 * time.Second

func runBash(patience time.Duration, dir, command string, env []string, stdout, stderr *os.File) (int, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	// Whatever the command leaves behind holds the leash, so that its end can be seen.
	leash, held, err := os.Pipe()
	if err != nil {
		return -1, err
	}
	defer leash.Close()
	cmd := exec.CommandContext(ctx, "/bin/bash", "-c", "--", command, "bash")
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, append(env, "PWD="+dir), stdout, stderr
	cmd.ExtraFiles = make([]*os.File, 250-2)
	cmd.ExtraFiles[250-3] = held
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	err = cmd.Run()
	late := ctx.Err()
	stdout.Close()
	stderr.Close()
	held.Close()
	if late == nil {
		leash.SetReadDeadline(time.Now().Add(patience))
		io.Copy(io.Discard, leash)
	}
	if cmd.Process == nil {
		return -1, err
	}
	syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	if late != nil {
		return -1, late
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

func runInterp(patience time.Duration, dir, command string, env []string, stdout, stderr *os.File) (int, error) {
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
	if ctx.Err() != nil {
		return -1, err
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
	if len(s) > 1000 {
		return s[:1000] + "..."
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
