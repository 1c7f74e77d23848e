package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// patience is how long one command may take.
const patience = 2 * time.Minute

// works runs the days for real under the quiet policy, each command once outside in bash and
// once inside, in two copies of the project. It fails if a command works outside and not inside.
func works(ctx context.Context, out io.Writer, program string) error {
	program, err := filepath.Abs(program)
	if err != nil {
		return err
	}
	days, err := readDays()
	if err != nil {
		return err
	}
	broken := 0
	for _, d := range days {
		n, err := d.work(ctx, out, program)
		if err != nil {
			return fmt.Errorf("%s day: %w", d.name, err)
		}
		broken += n
	}
	if broken > 0 {
		return fmt.Errorf("%d commands work outside and fail inside", broken)
	}
	return nil
}

// A copy is a project of its own, with a home.
type copyOf struct{ dir, home string }

func (d day) copy(top, name string) (copyOf, error) {
	c := copyOf{home: filepath.Join(top, name+"-home")}
	if err := write(filepath.Join(c.home, ".gitconfig"), "[user]\n\tname = A\n\temail = a@example.org\n"); err != nil {
		return c, err
	}
	if err := os.Mkdir(filepath.Join(top, name), 0o700); err != nil {
		return c, err
	}
	var err error
	c.dir, err = d.unpack(filepath.Join(top, name))
	return c, err
}

// command is one in the copy, with nothing of the person's own settings.
func (c copyOf) command(ctx context.Context, argv ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = c.dir
	cmd.Env = append(os.Environ(), "HOME="+c.home, "XDG_CONFIG_HOME=", "XDG_STATE_HOME=", "XDG_CACHE_HOME=",
		"PWD="+c.dir, "GIT_PAGER=cat", "PAGER=cat",
		"npm_config_fetch_retries=0", "npm_config_fetch_timeout=2000") // there is no network: it is not waited for
	cmd.WaitDelay = time.Second
	return cmd
}

// work does the calls of the day in two copies, and returns how many commands are broken inside.
func (d day) work(ctx context.Context, out io.Writer, program string) (broken int, err error) {
	top, err := os.MkdirTemp("/var/tmp", "assent-quiet-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, exec.Command("chmod", "-R", "u+w", top).Run(), os.RemoveAll(top)) }()
	outside, err := d.copy(top, "outside")
	if err != nil {
		return 0, err
	}
	inside, err := d.copy(top, "inside")
	if err != nil {
		return 0, err
	}
	for _, c := range []copyOf{outside, inside} { // a policy is a part of its project
		for _, argv := range [][]string{
			{program, "init", "--policy", "quiet"}, {program, "trust", "--yes", ".assent/policy.yaml"},
			{"git", "add", "-A"}, {"git", "commit", "-qm", "Policy"},
		} {
			if said, err := c.command(ctx, argv...).CombinedOutput(); err != nil {
				return 0, fmt.Errorf("%q: %w\n%s", argv, err, said)
			}
		}
	}
	ran, refused, worked := 0, 0, 0
	for _, c := range d.calls {
		if c.Tool != "shell" {
			// The same text is there only as far as the commands before did the same.
			_ = errors.Join(c.change(outside.dir), c.change(inside.dir))
			continue
		}
		got, err := c.inside(ctx, inside, program)
		if err != nil {
			return broken, fmt.Errorf("%s: %w", c.ID, err)
		}
		if got == nil {
			refused++
			continue // not outside either: the copies must stay alike
		}
		status := c.outside(ctx, outside)
		ran++
		if status == 0 {
			worked++
		}
		if status == 0 && got.ExitCode != 0 {
			broken++
			fmt.Fprintf(out, "%s works outside and ends with %d inside: %s\n  %s%s  %s\n", c.ID, got.ExitCode, c.Args,
				got.Stdout, got.Stderr, got.Note)
		}
	}
	fmt.Fprintf(out, "%8s: %d commands ran, %d worked outside, %d were refused, %d are broken inside\n", d.name, ran,
		worked, refused, broken)
	return broken, nil
}

// A result is how a command ended inside.
type result struct {
	Stdout   string `json:"stdout"`
	Stderr   string `json:"stderr"`
	ExitCode int    `json:"exit_code"`
	Note     string `json:"note"`
}

// inside runs the command through assent; nil if it is refused.
func (c call) inside(ctx context.Context, p copyOf, program string) (*result, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	args := bytes.ReplaceAll(c.Args, []byte("@PROJ@"), []byte(p.dir))
	cmd := p.command(ctx, program, "call", "--strict", "shell", string(args))
	said, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 3 {
		return nil, nil
	}
	var r result
	if json.Unmarshal(said, &r) != nil {
		return nil, fmt.Errorf("assent call said %q: %w", said, err)
	}
	return &r, nil
}

// outside runs the command in bash, with no more network than inside.
func (c call) outside(ctx context.Context, p copyOf) int {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var args struct{ Command string }
	if json.Unmarshal(bytes.ReplaceAll(c.Args, []byte("@PROJ@"), []byte(p.dir)), &args) != nil {
		return -1
	}
	cmd := p.command(ctx, "bwrap", "--dev-bind", "/", "/", "--unshare-net", "--die-with-parent", "bash",
		"-c", args.Command)
	_ = cmd.Run()
	return cmd.ProcessState.ExitCode()
}
