package runner_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/assent-dev/assent/sandbox"
	"github.com/assent-dev/assent/tool/shell/runner"
)

func TestExitCodes(t *testing.T) {
	for text, want := range map[string]struct {
		code            int
		signal, problem string
	}{
		"true":                     {0, "", ""},
		"exit 3":                   {3, "", "exit code 3"},
		"no-such-program-anywhere": {127, "", "not found"},
		"/etc/passwd":              {126, "", "cannot be executed"},
		"/":                        {126, "", "cannot be executed"},
		"kill -9 $$":               {137, "SIGKILL", "SIGKILL"},
		"kill -TERM $$":            {143, "SIGTERM", "SIGTERM"},
		"sh -c 'kill -9 $$'; exit": {137, "", "SIGKILL"},
		"exit 255":                 {255, "", "exit code 255"},
		"-x":                       {127, "", "not found"}, // not an option of bash
		"--version":                {127, "", "not found"},
	} {
		r := run(t, command(t, text))
		if r.Ending != runner.Exited || r.ExitCode != want.code || r.Signal != want.signal ||
			!strings.Contains(r.Problem(), want.problem) || (want.problem == "") != (r.Problem() == "") {
			t.Errorf("%s: %+v, %q; want %+v", text, r, r.Problem(), want)
		}
	}
}

func TestStreams(t *testing.T) {
	c := command(t, `echo out; echo err >&2; pwd; echo "$0 $# $-"; cat; echo $PWD`)
	r := run(t, c)
	if want := "out\n" + c.Dir + "\nbash 0 hBc\n" + c.Dir + "\n"; r.Stdout.Text != want || r.Stderr.Text != "err\n" {
		t.Errorf("stdout %q, want %q; stderr %q", r.Stdout.Text, want, r.Stderr.Text)
	}
	if r.Stdout.Truncated || r.Stdout.Bytes != int64(len(r.Stdout.Text)) || r.Background || r.Duration <= 0 {
		t.Errorf("%+v", r)
	}
}

// Where both streams go to one writer, what is printed keeps its order.
func TestOneWriterForBothStreams(t *testing.T) {
	c, want := command(t, "for i in $(seq 200); do echo out $i; echo err $i >&2; done"), ""
	for i := range 200 {
		want += fmt.Sprintf("out %d\nerr %[1]d\n", i+1)
	}
	var got bytes.Buffer
	c.Stdout, c.Stderr = &got, &got
	if r := run(t, c); got.String() != want || r.Stdout.Text != "" || !strings.HasSuffix(r.Stderr.Text, "out 200\nerr 200\n") {
		t.Errorf("printed %.80q, stdout %.80q, stderr %.80q", got.String(), r.Stdout.Text, r.Stderr.Text)
	}
}

// Bash reads nothing before the command: no file that a variable names, no options
// and no functions.
func TestBashStartsPlain(t *testing.T) {
	dir := folder(t)
	must(t, os.WriteFile(dir+"/rc", []byte("echo startup file\n"), 0o600))
	for _, name := range []string{".bashrc", ".bash_profile", ".profile"} {
		must(t, os.WriteFile(dir+"/"+name, []byte("echo "+name+"\n"), 0o600))
	}
	own := []string{
		"HOME=" + dir, "PATH=/usr/bin:/bin", "BASH_ENV=" + dir + "/rc", "ENV=" + dir + "/rc", "SHELLOPTS=xtrace:verbose", "BASHOPTS=extglob",
		"BASH_FUNC_echo%%=() { printf function; }", "CDPATH=/etc", "IFS=x", "PS4=$(echo ps4 >&2)", "POSIXLY_CORRECT=1", "GLOBIGNORE=*",
	}
	names := []string{"BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "BASH_FUNC_echo%%", "CDPATH", "IFS", "PS4", "POSIXLY_CORRECT", "GLOBIGNORE"}
	c := command(t, "echo plain; shopt -q extglob || echo no extglob; compgen -A function")
	c.Env = runner.NewEnvironment(own, names)
	if r := run(t, c); r.Stdout.Text != "plain\nno extglob\n" || r.Stderr.Text != "" {
		t.Errorf("%+v", r)
	}
}

func TestNoTerminalAndNoInput(t *testing.T) {
	r := run(t, command(t, `[ -t 0 ] || [ -t 1 ] || : < /dev/tty; ps -o sid= -o pgid= -p $$; echo $$; readlink /proc/self/fd/0`))
	fields := strings.Fields(r.Stdout.Text)
	if len(fields) != 4 || fields[0] != fields[2] || fields[1] != fields[2] || fields[3] != "/dev/null" {
		t.Errorf("session, group, process, input: %q", fields)
	}
	if !strings.Contains(r.Stderr.Text, "/dev/tty") {
		t.Errorf("there is a terminal: %q", r.Stderr.Text)
	}
}

func TestNoInheritedDescriptors(t *testing.T) {
	dir := folder(t)
	must(t, os.WriteFile(dir+"/secret", []byte("secret"), 0o600))
	for _, flags := range []int{unix.O_RDONLY, unix.O_RDONLY | unix.O_CLOEXEC} {
		fd, err := unix.Open(dir+"/secret", flags, 0)
		must(t, err)
		defer unix.Close(fd)
	}
	// The last one is the folder that ls reads.
	if got := lines(t, "ls /proc/self/fd; true"); strings.Join(got, " ") != "0 1 2 3" {
		t.Errorf("descriptors %q", got)
	}
}

func TestWhatCannotBeStarted(t *testing.T) {
	fine := command(t, "true")
	gone := folder(t) + "/gone"
	for name, tt := range map[string]struct {
		change func(*prepared)
		want   string
	}{
		"nothing":     {func(c *prepared) { *c = prepared{} }, "no command"},
		"no text":     {func(c *prepared) { c.Text = "" }, "no command"},
		"a NUL":       {func(c *prepared) { c.Text = "a\x00b" }, "NUL"},
		"no folder":   {func(c *prepared) { c.Dir = "" }, "not an absolute path"},
		"relative":    {func(c *prepared) { c.Dir = "x" }, "not an absolute path"},
		"gone":        {func(c *prepared) { c.Dir = gone }, gone},
		"a file":      {func(c *prepared) { c.Dir = "/etc/passwd" }, "not a folder"},
		"no shell":    {func(c *prepared) { c.Shell = nil }, "interprets commands"},
		"gone shell":  {func(c *prepared) { c.Shell = []string{gone + "/shell"} }, gone},
		"no sandbox":  {func(c *prepared) { c.Sandbox = noSandbox{} }, "there is no sandbox"},
		"file exists": {func(c *prepared) { c.File = "/etc/passwd" }, "cannot be kept"},
		"too long":    {func(c *prepared) { c.Text, c.Bash = strings.Repeat("true;", 1<<16), true }, "too long"},
	} {
		c := fine
		tt.change(&c)
		if r, err := runner.Run(context.Background(), c.Command, c.Options); err == nil || !strings.Contains(err.Error(), tt.want) || r != (runner.Result{}) {
			t.Errorf("%s: %+v, %v; want an error with %q", name, r, err, tt.want)
		}
	}
	if r, err := runner.Run(cancelled(), fine.Command, fine.Options); !errors.Is(err, context.Canceled) || r != (runner.Result{}) {
		t.Errorf("cancelled before: %+v, %v", r, err)
	}
	if got := (runner.Result{}).Problem(); got != "did not run" {
		t.Errorf("the zero result says %q", got)
	}
}

// noSandbox holds nothing and starts nothing.
type noSandbox struct{}

func (noSandbox) Name() string                   { return "none" }
func (noSandbox) Needs(sandbox.Profile) []string { return nil }

func (noSandbox) Start(context.Context, sandbox.Command) (sandbox.Process, error) {
	return nil, errors.New("there is no sandbox")
}

func cancelled() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// A file for the output that could not be used is not left behind.
func TestNothingIsLeftOfWhatDidNotStart(t *testing.T) {
	c := command(t, "true")
	c.Shell = []string{c.Dir + "/gone"}
	c.File = c.Dir + "/output"
	if _, err := runner.Run(context.Background(), c.Command, c.Options); err == nil {
		t.Fatal("it started")
	}
	if _, err := os.Lstat(c.File); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file is there: %v", err)
	}
}
