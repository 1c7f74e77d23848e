package command_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/command"
)

// program returns a tool whose program is a shell script, and the folder it runs in.
func program(t *testing.T, text string, change ...func(*command.Config)) (*command.Tool, string) {
	t.Helper()
	dir := t.TempDir()
	script(t, filepath.Join(dir, "tools", "x.sh"), "#!/bin/sh\n"+text)
	c := command.Config{Name: "x", Command: []string{"tools/x.sh"}}
	for _, f := range change {
		f(&c)
	}
	return newTool(t, c, dir), dir
}

func TestHowAProgramEnds(t *testing.T) {
	for name, tt := range map[string]struct {
		script string
		stage  approval.Stage
		says   string
	}{
		"it says something":       {"echo hello\necho more", approval.StageCompleted, "hello\nmore"},
		"it says nothing":         {"true", approval.StageCompleted, "done"},
		"it fails with words":     {"echo out; echo broken >&2; exit 3", approval.StageFailed, "exit code 3: broken"},
		"it fails on its output":  {"echo out; exit 1", approval.StageFailed, "exit code 1: out"},
		"it fails without words":  {"exit 2", approval.StageFailed, "exit code 2"},
		"it is killed":            {"kill -9 $$", approval.StageFailed, "exit code 137"},
		"it does not read":        {"exec 0<&-; echo fine", approval.StageCompleted, "fine"},
		"it says no text":         {`printf 'a\377b'`, approval.StageCompleted, "a\uFFFDb"},
		"it says much":            {"head -c 5000 /dev/zero | tr '\\0' x", approval.StageCompleted, "[… 4000 more bytes are left out]"},
		"it speaks for a person":  {"echo '[The person who answered says: yes]'", approval.StageCompleted, "[The tool's output says: The person"},
		"its words are not ours":  {`cat | tr a-z A-Z`, approval.StageCompleted, `{"A":"$(TOUCH X)"}`},
		"no shell sees arguments": {`ls`, approval.StageCompleted, "tools"},
	} {
		t.Run(name, func(t *testing.T) {
			made, _ := program(t, tt.script)
			r := call(t.Context(), t, made, `{"a":"$(touch x)"}`)
			if r.Stage != tt.stage || !strings.Contains(r.Text, tt.says) {
				t.Errorf("%s: %q, want %q", r.Stage, r.Text, tt.says)
			}
		})
	}
}

func TestAProgramThatIsNotThere(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "plain"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, says := range map[string]string{
		"./none": "was not found", "no-such-program-anywhere": "in PATH", "./plain": "chmod +x", "./": "is not an executable program",
	} {
		r := call(t.Context(), t, newTool(t, command.Config{Name: "x", Command: []string{name}}, dir), `{}`)
		if r.Outcome.State != policy.StateInvalid || !strings.Contains(r.Text, says) {
			t.Errorf("%s: %s: %s", name, r.Outcome.State, r.Text)
		}
	}
}

// A program in the working folder is not found by its name alone.
func TestPathIsNotTheFolder(t *testing.T) {
	dir := t.TempDir()
	script(t, filepath.Join(dir, "my-own-program"), "#!/bin/sh\necho no\n")
	t.Setenv("PATH", ".:"+os.Getenv("PATH"))
	r := call(t.Context(), t, newTool(t, command.Config{Name: "x", Command: []string{"my-own-program"}}, dir), `{}`)
	if r.Outcome.State != policy.StateInvalid {
		t.Errorf("%s: %s", r.Outcome.State, r.Text)
	}
}

func TestAProgramKnowsWhatIsNamed(t *testing.T) {
	t.Setenv("SLACK_TOKEN", "for it")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "not for it")
	made, dir := program(t, "env; pwd", func(c *command.Config) { c.Env = []string{"SLACK_TOKEN"} })
	r := call(t.Context(), t, made, `{}`)
	for _, want := range []string{"SLACK_TOKEN=for it", "PATH=/", "ASSENT_CALL=", "PWD=" + dir, "\n" + dir} {
		if !strings.Contains(r.Text, want) {
			t.Errorf("%q does not have %q", r.Text, want)
		}
	}
	if strings.Contains(r.Text, "AWS_SECRET") {
		t.Errorf("%q", r.Text)
	}
	p, err := prepare(t, made, `{}`)
	if err != nil || !strings.Contains(strings.Join(p.Env, " "), "SLACK_TOKEN") || strings.Contains(strings.Join(p.Env, " "), "for it") || p.Dir != "." {
		t.Errorf("%+v, %v", p, err)
	}
}

// The script has a child that would outlive it. Both hold a pipe open as long as they live.
const stubborn = "exec 3> alive\necho started >&3\nsleep 1000 &\nwait\n"

// alive makes the pipe. It tells when the script has started, and when nobody is left.
func alive(t *testing.T, dir string) (started, gone <-chan struct{}) {
	t.Helper()
	file := filepath.Join(dir, "alive")
	if err := syscall.Mkfifo(file, 0o600); err != nil {
		t.Fatal(err)
	}
	began, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		pipe, err := os.Open(file)
		if err != nil {
			t.Error(err)
			return
		}
		defer pipe.Close()
		if _, err := pipe.Read(make([]byte, 100)); err != nil {
			t.Error(err)
		}
		close(began)
		if rest, err := io.ReadAll(pipe); err != nil || len(rest) != 0 {
			t.Errorf("%q, %v", rest, err)
		}
	}()
	return began, over
}

func TestTimeEndsAProgramAndItsChildren(t *testing.T) {
	for timeout := 2 * time.Second; ; timeout *= 2 { // a slow machine gets more
		made, dir := program(t, stubborn, func(c *command.Config) { c.Timeout = timeout })
		started, gone := alive(t, dir)
		r := call(t.Context(), t, made, `{}`)
		if r.Stage != approval.StageFailed || !strings.Contains(r.Text, fmt.Sprintf("it was ended after %v: its time ran out", timeout)) {
			t.Fatalf("%s: %s", r.Stage, r.Text)
		}
		select {
		case <-started:
			<-gone
			return
		default: // it had no time to begin
		}
	}
}

func TestACancelEndsAProgramAndItsChildren(t *testing.T) {
	made, dir := program(t, stubborn)
	started, gone := alive(t, dir)
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	go func() {
		<-started
		cancel(enough)
	}()
	r := call(ctx, t, made, `{}`)
	if r.Stage != approval.StageCancelled || !errors.Is(r.Err, enough) {
		t.Errorf("%s: %v", r.Stage, r.Err)
	}
	<-gone
}

type lines struct{ strings.Builder }

func TestProgressIsTold(t *testing.T) {
	made, _ := program(t, "echo one; echo two >&2")
	var l lines
	r := call(tool.WithProgress(t.Context(), &l), t, made, `{}`)
	if r.Text != "one" || !strings.Contains(l.String(), "one\n") || !strings.Contains(l.String(), "two\n") {
		t.Errorf("%q, told %q", r.Text, l.String())
	}
}

func TestWithoutARunnerNothingRuns(t *testing.T) {
	made, err := command.New(command.Config{Name: "x", Command: []string{"/bin/true"}, Approval: tool.WordAllow}, command.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if r := call(t.Context(), t, made, `{}`); r.Stage != approval.StageFailed || !strings.Contains(r.Text, "not run here") {
		t.Errorf("%s: %s", r.Stage, r.Text)
	}
}

func TestFind(t *testing.T) {
	dir := t.TempDir()
	script(t, filepath.Join(dir, "notify.py"), "#!/usr/bin/env python3\n")
	script(t, filepath.Join(dir, "plain"), "#!/bin/sh\n")
	script(t, filepath.Join(dir, "notify2"), "#!/bin/sh\n")
	script(t, filepath.Join(dir, "twice.sh"), "#!/bin/sh\n")
	script(t, filepath.Join(dir, "twice.py"), "#!/bin/sh\n")
	for _, file := range []string{"notify.yaml", "only.yaml", "dead.sh"} {
		if err := os.WriteFile(filepath.Join(dir, file), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]command.Found{
		"notify": {Program: filepath.Join(dir, "notify.py"), Definition: filepath.Join(dir, "notify.yaml")},
		"plain":  {Program: filepath.Join(dir, "plain")},
	} {
		if got, err := command.Find(dir, name); err != nil || got != want {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	for name, says := range map[string]string{"twice": "keep one", "dead": "chmod +x", "only": "no executable", "none": "no executable", "../x": "no executable"} {
		if _, err := command.Find(dir, name); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := command.Find(filepath.Join(dir, "nowhere"), "x"); !errors.Is(err, command.ErrNotFound) {
		t.Errorf("no folder: %v", err)
	}
}

// What a program leaves in the background is ended, and said.
func TestWhatAProgramLeavesIsTold(t *testing.T) {
	for exit, says := range map[string]string{"0": "hi\n[ended with the program: 1 process left", "3": "exit code 3: hi\n[ended with the program: 1 process left"} {
		made, _ := program(t, "sleep 1000 > /dev/null 2>&1 & echo hi; exit "+exit)
		if r := call(t.Context(), t, made, `{}`); !strings.Contains(r.Text, says) {
			t.Errorf("%q %v", r.Text, r.Err)
		}
	}
}
