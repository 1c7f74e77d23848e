package runner_test

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/assent-dev/assent/tool/shell/runner"
)

func TestLongOutput(t *testing.T) {
	r := run(t, command(t, "seq 1 100000; seq 1 20000 >&2; printf end >&2"))
	for name, got := range map[string]runner.Output{"stdout": r.Stdout, "stderr": r.Stderr} {
		if !got.Truncated || len(got.Text) > runner.DefaultKeep || len(got.Text) < runner.DefaultKeep-100 ||
			!strings.HasPrefix(got.Text, "1\n2\n3\n") || !strings.Contains(got.Text, "bytes left out …\n") {
			t.Errorf("%s: %d bytes of %d, truncated %v", name, len(got.Text), got.Bytes, got.Truncated)
		}
	}
	if !strings.HasSuffix(r.Stdout.Text, "\n99999\n100000\n") || !strings.HasSuffix(r.Stderr.Text, "\n20000\nend") {
		t.Error("the end is missing")
	}
}

func TestEndlessOutputTakesNoMemory(t *testing.T) {
	const size = 1_000_000_000
	r := run(t, command(t, "head -c "+strconv.Itoa(size)+" /dev/zero"))
	if r.Stdout.Bytes != size || !r.Stdout.Truncated || len(r.Stdout.Text) > runner.DefaultKeep || r.ExitCode != 0 {
		t.Errorf("%d bytes, %d kept, exit code %d", r.Stdout.Bytes, len(r.Stdout.Text), r.ExitCode)
	}
}

func TestTooMuchOutput(t *testing.T) {
	c := command(t, "yes; echo never")
	c.MaxOutput = 1_000_000
	if r := run(t, c); r.Ending != runner.TooMuch || r.Stdout.Bytes < c.MaxOutput || r.Problem() != "ended: it printed too much" {
		t.Errorf("%v after %d bytes: %q", r.Ending, r.Stdout.Bytes, r.Problem())
	}
}

func TestAllOutputInAFile(t *testing.T) {
	c := command(t, "seq 1 50000; seq 1 5 >&2")
	c.File = c.Dir + "/output"
	r := run(t, c)
	text, err := os.ReadFile(c.File)
	must(t, err)
	info, err := os.Stat(c.File)
	must(t, err)
	if int64(len(text)) != r.Stdout.Bytes+r.Stderr.Bytes || info.Mode() != 0o600 || r.File != c.File || r.Ending != runner.Exited {
		t.Errorf("%d bytes, %v, %+v", len(text), info.Mode(), r.Ending)
	}
}

func TestTooMuchForTheFile(t *testing.T) {
	c := command(t, "yes; echo never")
	c.File, c.MaxFile = c.Dir+"/output", 1_000_001
	r := run(t, c)
	info, err := os.Stat(c.File)
	must(t, err)
	if info.Size() != c.MaxFile || r.Ending != runner.TooMuch || !strings.Contains(r.Problem(), c.File) {
		t.Errorf("%d bytes, %+v, %q", info.Size(), r.Ending, r.Problem())
	}
	c = command(t, "head -c 2000 /dev/zero") // it ends before it can be ended
	c.File, c.MaxFile = c.Dir+"/output", 1999
	if r := run(t, c); r.Ending != runner.TooMuch {
		t.Errorf("%+v", r)
	}
}

// The file is always a new one: nothing that is there is written to, nor where a link
// leads.
func TestOnlyNewFiles(t *testing.T) {
	c := command(t, "echo x")
	must(t, os.WriteFile(c.Dir+"/file", []byte("old"), 0o600))
	must(t, os.Symlink(c.Dir+"/new", c.Dir+"/link"))
	for _, name := range []string{"/dev/null", c.Dir + "/file", c.Dir + "/link", c.Dir + "/none/x"} {
		c.File = name
		if _, err := runner.Run(t.Context(), c.Command, c.Options); err == nil || !strings.Contains(err.Error(), "cannot be kept") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

type lastLines []string

func (l *lastLines) Write(p []byte) (int, error) {
	*l = append(*l, string(p))
	return len(p), nil
}

func TestProgress(t *testing.T) {
	var got lastLines
	c := command(t, "seq 1 100000; printf 'the end' >&2")
	c.Progress = &got
	run(t, c)
	if all := strings.Join(got, "|") + "|"; !strings.Contains(all, "100000\n|") || !strings.Contains(all, "the end\n|") {
		t.Errorf("told %q", got)
	}
	for _, line := range got {
		if text, ok := strings.CutSuffix(line, "\n"); !ok || len(text) > runner.MaxLine || strings.ContainsAny(text, "\r\n") || text == "" {
			t.Errorf("told %q", line)
		}
	}
}
