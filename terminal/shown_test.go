package terminal

import (
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/reexec"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
)

// TestWrapKeepsEverything says that no character is lost on the way to the screen.
func TestWrapKeepsEverything(t *testing.T) {
	for _, s := range []string{"", "abc", strings.Repeat("wide 漢字 e\u0301 ", 50), strings.Repeat("x", 500)} {
		for n := 2; n < 60; n++ {
			var b strings.Builder
			for _, row := range wrap(text(s), n, nil) {
				if row.width() > n {
					t.Fatalf("a row of %d cells in %d: %q", row.width(), n, row)
				}
				b.WriteString(row.String())
			}
			if b.String() != s {
				t.Fatalf("%q became %q", s, b.String())
			}
		}
	}
}

func TestHighlightChangesNoText(t *testing.T) {
	for _, name := range []string{"go", "python", "json", "yaml", "bash", "markdown", "html", "docker", "makefile", "javascript", "typescript", "rust", "c", "sql", "toml", "nosuch", ""} {
		lines := highlight(name, goFile+"# x: \"y\" <script>var a = 1</script>\nRUN echo $HOME\n")
		if got := joinLines(lines); got != goFile+"# x: \"y\" <script>var a = 1</script>\nRUN echo $HOME\n" {
			t.Errorf("%s: %q", name, got)
		}
	}
	if l := highlight("go", goFile)[0]; l[0].style != keyword {
		t.Errorf("no colours in %v", l)
	}
}

func TestStatusLine(t *testing.T) {
	for n := 10; n < 100; n += 9 {
		l := statusLine(3, "pytest", 83*time.Second, "tests/test_a.py \x1b[31mFAILED", n)
		if l.width() > n {
			t.Errorf("%d cells in %d: %s", l.width(), n, l)
		}
	}
	if got := statusLine(0, strings.Repeat("shell(sleep 1) + ", 20), 83*time.Second, "last", 60).String(); !strings.HasSuffix(got, "… · 1m23s · last") {
		t.Errorf("the label leaves no room: %q", got)
	}
	if got := statusLine(0, "pytest", 83*time.Second, "last", 60).String(); got != "⠋ pytest · 1m23s · last" {
		t.Errorf("%q", got)
	}
}

func TestStatusOnlyAtATerminal(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	s := NewStatus(w, nil)
	task := s.Start("x")
	_, _ = io.WriteString(task, "output\n")
	defer s.pause()()
	task.Done()
	w.Close()
	if data, _ := io.ReadAll(r); len(data) > 0 {
		t.Errorf("%q was written to a pipe", data)
	}
}

func TestStatusDraws(t *testing.T) {
	now := start
	out := &strings.Builder{}
	s := &Status{out: out, width: func() int { return 40 }, clock: func() time.Time { return now }}
	task := &Task{status: s, label: "pytest", began: now, stop: make(chan struct{}), ended: make(chan struct{})}
	close(task.ended)
	s.task = task
	s.draw(task)
	if out.Len() > 0 {
		t.Error("drawn at once")
	}
	now = now.Add(2 * time.Second)
	_, _ = io.WriteString(task, "one\ntwo\nthr")
	s.draw(task)
	if got := ansi.Strip(out.String()); !strings.Contains(got, "pytest · 2s · two") {
		t.Errorf("%q", got)
	}
	resume := s.pause()
	size := out.Len()
	s.draw(task)
	if out.Len() != size || !strings.HasSuffix(out.String(), "\r\x1b[K") {
		t.Error("drawn while paused")
	}
	resume()
	task.Done()
	task.Done()
}

// TestStartsFast keeps what this package does before main small: lexers are read on first
// use.
func TestStartsFast(t *testing.T) {
	cmd := exec.Command(reexec.Self(), "-test.run=^$")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	line := regexp.MustCompile(`init (\S*(?:assent/terminal|chroma\S*)) @\S+ ms, ([0-9.]+) ms clock`)
	for _, m := range line.FindAllStringSubmatch(string(out), -1) {
		if ms, _ := strconv.ParseFloat(m[2], 64); ms > 3 {
			t.Errorf("%s takes %s ms to start", m[1], m[2])
		}
		if strings.HasSuffix(m[1], "chroma/v2/lexers") {
			t.Error("all lexers of chroma are linked")
		}
	}
}

// BenchmarkPrompt is a prompt for a file of 1 MB, from the view to the screen.
func BenchmarkPrompt(b *testing.B) {
	big := strings.Repeat("func f(a int) string { return \"some text\" } // comment\n", 20000)
	for _, kind := range []present.Kind{present.KindFile, present.KindDiff, present.KindCommand} {
		b.Run(string(kind), func(b *testing.B) {
			view := present.View{Kind: kind, Content: big, Language: "go"}
			r := &approval.Request{ID: "1", Summary: "Create big.go", Acts: []policy.Act{{Name: "write_file"}}}
			for b.Loop() {
				s, _ := newState(options{theme: colours, limit: present.DefaultLimit()}, 120, 50, []*approval.Request{r}, start)
				s, _ = s.update(loadedEvent{id: "1", view: view})
				if s.render() == "" {
					b.Fatal("nothing is shown")
				}
			}
		})
	}
}
