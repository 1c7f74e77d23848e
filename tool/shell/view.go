package shell

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/tool/roots"
	"github.com/assent-dev/assent/tool/shell/analysis"
)

// view shows the canonical command and, where it differs, what the model wrote.
func view(s *analysis.Script, dir roots.Place) present.View {
	v := present.View{Kind: present.KindCommand, Content: s.Text.String(), Language: "bash"}
	v.Facts = v.Facts.With(present.TextFact(present.FactCwd, dir.Name()))
	if s.Text.Changed() {
		v.Original = s.Text.Original()
	}
	return v
}

// summary is the description of the rules that matched, or the command.
func (j *judging) summary() string {
	if len(j.described) > 0 {
		return strings.Join(j.described, "; ")
	}
	return "Execute: " + firstLine(j.script.Text.String())
}

// maxLine is how much of a line is shown where it only names a command.
const maxLine = 2000

func firstLine(text string) string {
	line, rest, more := strings.Cut(text, "\n")
	if len(line) > maxLine {
		line = strings.ToValidUTF8(line[:maxLine], "") + fmt.Sprintf(" … (%d bytes)", len(line))
	}
	if more && strings.TrimSpace(rest) != "" {
		return fmt.Sprintf("%s … (%d lines)", line, strings.Count(strings.TrimRight(text, "\n"), "\n")+1)
	}
	return line
}

// away reports whether a command that asks runs where no rule holds.
func (j *judging) away() bool {
	return slices.ContainsFunc(j.acts, func(a policy.Act) bool { return a.Away && a.Verdict != policy.VerdictFree })
}

// athome reports whether rules about commands hold in the folder.
func (j *judging) athome(dir string) bool {
	if dir == "" {
		return false
	}
	p := j.places.at(dir)
	if p.err != nil || !p.inside {
		return false
	}
	written, resolved := p.Within(j.cwd)
	return written && resolved
}

// freeGit reports whether git runs without a question.
func (j *judging) freeGit() bool {
	for i := range j.script.Parts {
		p := &j.script.Parts[i]
		if p.Kind == analysis.Runs && p.Reading.Program == "git" && j.act[i] > 0 &&
			j.acts[j.act[i]-1].Verdict == policy.VerdictFree {
			return true
		}
	}
	return false
}

// scriptState is the digest of the scripts and programs that a command runs by name: an answer
// is for their content too. They are read as a stream, whatever their size.
func scriptState(ctx context.Context, files []string) (policy.Digest, error) {
	if len(files) == 0 {
		return policy.Digest{}, nil
	}
	h := sha256.New()
	for _, name := range files {
		fmt.Fprintf(h, "%d %s ", len(name), name)
		if err := hashFile(ctx, h, name); err != nil {
			return policy.Digest{}, err
		}
	}
	return policy.Digest(h.Sum(nil)), nil
}

func hashFile(ctx context.Context, to io.Writer, name string) error {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe must not hold us
	if errors.Is(err, fs.ErrPermission) {
		_, err = io.WriteString(to, "unreadable")
		return err
	}
	var info fs.FileInfo
	if err == nil {
		defer f.Close()
		info, err = f.Stat()
	}
	if err != nil || !info.Mode().IsRegular() {
		_, err = io.WriteString(to, "none")
		return err
	}
	n, err := io.Copy(to, io.LimitReader(&until{ctx, f}, info.Size()+1))
	switch {
	case err != nil:
		return fmt.Errorf("reading %s, which the command runs: %w", info.Name(), err)
	case n != info.Size():
		return fmt.Errorf("%s, which the command runs, changes while it is read; try again", info.Name())
	}
	return nil
}

// until reads as long as its context lasts: a file may be very large.
type until struct {
	ctx context.Context
	io.Reader
}

func (u *until) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.Reader.Read(p)
}
