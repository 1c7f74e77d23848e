package command

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/sandbox"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/shell/runner"
)

// maxOutput is how much a program may print before it is ended.
const maxOutput = 64 << 20

// profile is what the program may reach: what config gives it, and its own files.
func (t *Tool) profile(p program) sandbox.Profile {
	profile := t.opts.Profile
	profile.Roots = slices.Clone(profile.Roots)
	for _, f := range p.files {
		if profile.At(f.path) == sandbox.ModeHidden && !inSystem(f.path) {
			profile.Roots = append(profile.Roots, sandbox.Root{Path: f.path, Mode: sandbox.ModeReadOnly, Source: t.cfg.Source})
		}
	}
	limits := sandbox.Limits{Output: maxOutput, Time: t.cfg.Timeout}
	profile.Limits = profile.Limits.Within(limits)
	return profile
}

// inSystem reports whether a file is among those that every profile reaches.
func inSystem(file string) bool {
	return slices.ContainsFunc([]string{"/usr", "/bin", "/sbin", "/lib", "/lib64", "/nix/store", "/gnu/store"},
		func(folder string) bool {
			return sandbox.Below(folder, file)
		})
}

// run runs the program with the arguments on its standard input.
func (t *Tool) run(ctx context.Context, p program, args json.RawMessage) (any, error) {
	if t.opts.Runner == nil {
		return nil, errors.New("programs are not run here")
	}
	// Recording the start took time, in which somebody else may have written.
	if now, err := t.pinned.look(); err != nil || now.state != p.state {
		return nil, fmt.Errorf("%w: %s is not what it was", approval.ErrChanged, t.cfg.Name)
	}
	stdout, stderr := &kept{limit: t.opts.MaxOutput}, &kept{limit: t.opts.MaxOutput}
	progress := &shared{to: tool.Progress(ctx)}
	profile := t.profile(p)
	exit, err := sandbox.Run(ctx, t.opts.Runner, sandbox.Command{
		Argv: p.argv, Dir: t.opts.Dir, Env: t.environment(), Profile: profile,
		Stdin:  bytes.NewReader(append(slices.Clone(args), '\n')),
		Stdout: io.MultiWriter(stdout, progress), Stderr: io.MultiWriter(stderr, progress),
	})
	if err != nil {
		return nil, fmt.Errorf("%s was not run: %w", p.argv[0], err)
	}
	left, err := t.left(ctx, exit)
	if err != nil {
		return nil, err
	}
	for _, line := range tool.RunningIn(ctx).Connections().Refused() {
		left += "\n[" + line + "]"
	}
	switch {
	case exit.Ended == sandbox.EndingCancelled:
		return nil, context.Cause(ctx)
	case exit.Ended == sandbox.EndingTime:
		return nil, fmt.Errorf("it was ended after %v: its time ran out%s", profile.Limits.Time, said(stderr, stdout))
	case exit.Ended != "":
		return nil, fmt.Errorf("it was ended: it %s%s%s", exit.Ended, said(stderr, stdout), left)
	case exit.Code != 0:
		return nil, fmt.Errorf("exit code %d%s%s", exit.Code, said(stderr, stdout), left)
	}
	if text := stdout.text() + left; text != "" {
		return text, nil
	}
	return nil, nil
}

// left is a line about what the program left in the background, for the model. The person
// is told too.
func (t *Tool) left(ctx context.Context, exit sandbox.Exit) (string, error) {
	if exit.Left == "" {
		return "", nil
	}
	words := "ended with the program: " + exit.Left
	return "\n[" + words + "]", tool.RunningIn(ctx).Report(ctx, approval.EventConfined, words)
}

// environment is what the program knows, with the marker of a call: nobody approves their
// own calls.
func (t *Tool) environment() []string {
	return append(t.env.Entries(), "PWD="+t.opts.Dir, runner.Marker+"="+rand.Text())
}

// shared lets both streams write to one place.
type shared struct {
	mu sync.Mutex
	to io.Writer
}

func (s *shared) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _ = s.to.Write(p) // who watches does not matter to the program
	return len(p), nil
}

// said returns the end of what a program that failed said, on the first stream that has
// something.
func said(streams ...*kept) string {
	const most = 2000
	for _, s := range streams {
		text := strings.TrimSpace(s.text())
		if len(text) > most {
			text = "…" + strings.ToValidUTF8(text[len(text)-most:], "")
		}
		if text != "" {
			return ": " + text
		}
	}
	return ""
}

// kept keeps the beginning of a stream. It is written by one goroutine and read when that
// has ended.
type kept struct {
	limit int
	data  []byte
	more  int // bytes that are left out
}

func (k *kept) Write(p []byte) (int, error) {
	room := min(k.limit-len(k.data), len(p))
	k.data = append(k.data, p[:room]...)
	k.more += len(p) - room
	return len(p), nil
}

// text returns what is kept, with a line at its end that says what is not.
func (k *kept) text() string {
	text := strings.ToValidUTF8(string(k.data), "\uFFFD")
	if k.more > 0 {
		return fmt.Sprintf("%s\n[… %d more bytes are left out]", text, k.more)
	}
	return strings.TrimSuffix(text, "\n")
}
