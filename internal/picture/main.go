// Command picture records a real run of assent at a real terminal and draws it as an SVG: an agent wants
// to write a file, the file changes while the person reads the diff, and the person's yes does not count
// for what was never shown. `make picture` uses it.
//
//	go run ./internal/picture bin/assent docs/race.svg
package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/creack/pty"

	"github.com/assent-dev/assent/internal/screen"
)

// The size of the terminal.
const columns, rows = 80, 24

// patience is how long something may take to appear.
const patience = 30 * time.Second

//go:embed ops.worker race.yaml before.yaml meanwhile.yaml
var story embed.FS

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: picture PROGRAM FILE.svg")
		os.Exit(2)
	}
	frames, err := record(context.Background(), os.Args[1])
	if err == nil {
		err = os.WriteFile(os.Args[2], []byte(drawing(frames)), 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
	fmt.Println("Drew", os.Args[2])
}

// A frame is the screen at one moment.
type frame struct {
	caption string
	seconds int
	rows    [][]screen.Cell
}

// record plays the story with a program, in a folder that is removed afterwards.
func record(ctx context.Context, program string) (frames []frame, err error) {
	program, err = filepath.Abs(program)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "assent-picture-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	for file, from := range map[string]string{
		"ops.worker": "ops.worker", "race.yaml": "race.yaml", "shop/deploy.yaml": "before.yaml"} {
		if err := put(filepath.Join(dir, file), from); err != nil {
			return nil, err
		}
	}
	trust := command(ctx, dir, program, "trust", "--yes", "ops.worker")
	if out, err := trust.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	r, err := start(command(ctx, dir, program, "run", "ops.worker", "The shop is slow."))
	if err != nil {
		return nil, err
	}
	defer r.close()
	take := func(caption string, seconds int, words ...string) error {
		err := r.until(words...)
		frames = append(frames, frame{caption, seconds, r.screen.Visible()})
		return err
	}
	const answer = "your answer?"
	if err := take("1. The agent wants to write a file. You read the diff.", 4, "+replicas: 4", answer); err != nil {
		return nil, err
	}
	if err := put(filepath.Join(dir, "shop/deploy.yaml"), "meanwhile.yaml"); err != nil {
		return nil, err
	}
	r.types("y")
	if err := take("2. Meanwhile Ann changed the file. Your yes is not used: assent asks again.", 8,
		"changed since", "paused: true", answer); err != nil {
		return nil, err
	}
	r.types("n")
	return frames, nil
}

// put writes a file of the story.
func put(to, from string) error {
	text, err := story.ReadFile(from)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(to), 0o700)
	}
	if err == nil {
		err = os.WriteFile(to, text, 0o700)
	}
	return err
}

// A recording is a program at a terminal.
type recording struct {
	cmd    *exec.Cmd
	master *os.File
	sent   chan string // closed when the program has ended
	screen *screen.Screen
}

// command is assent with a home of its own.
func command(ctx context.Context, home, program string, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, program, args...)
	c.Dir = home
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "XDG_STATE_HOME=" + home + "/state",
		"XDG_CONFIG_HOME=" + home + "/config", "TERM=xterm-256color", "COLORTERM=truecolor", "LANG=C.UTF-8"}
	return c
}

func start(c *exec.Cmd) (*recording, error) {
	master, err := pty.StartWithSize(c, &pty.Winsize{Cols: columns, Rows: rows})
	if err != nil {
		return nil, err
	}
	r := &recording{c, master, make(chan string), screen.New(columns, rows)}
	go func() {
		defer close(r.sent)
		buffer := make([]byte, 64<<10)
		for {
			n, err := master.Read(buffer)
			if n > 0 {
				r.sent <- string(buffer[:n])
			}
			if err != nil {
				return // the program has ended
			}
		}
	}()
	return r, nil
}

// until waits for words on the screen.
func (r *recording) until(words ...string) error {
	late := time.After(patience)
	for !shows(r.screen, words) {
		select {
		case text, open := <-r.sent:
			if !open {
				return fmt.Errorf("the program ended before %q; the screen:\n%s", words, r.screen)
			}
			r.screen.Draw(text)
		case <-late:
			return fmt.Errorf("no %q in %v; the screen:\n%s", words, patience, r.screen)
		}
	}
	return nil
}

// shows reports whether all words can be seen.
func shows(s *screen.Screen, words []string) bool {
	flat := visibleText(s.Visible())
	for _, w := range words {
		if !strings.Contains(flat, w) {
			return false
		}
	}
	return true
}

func visibleText(rows [][]screen.Cell) string {
	var b strings.Builder
	for _, row := range rows {
		for _, c := range row {
			b.WriteString(c.Text)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func (r *recording) types(keys string) { _, _ = r.master.WriteString(keys) } // until says that nothing came of it

func (r *recording) close() {
	_ = r.cmd.Process.Kill()
	for range r.sent {
	}
	_ = r.cmd.Wait()
	_ = r.master.Close()
}
