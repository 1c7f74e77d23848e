package subset

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/assent-dev/assent/internal/reexec"
)

// The test program also runs texts, as the first process of a sandbox.
func TestMain(m *testing.M) {
	reexec.Main(map[string]reexec.Role{
		"run-texts": func([]string) error { return runTexts(os.Stdin, os.Stdout) },
	})
	code := m.Run()
	closeBoxes()
	os.Exit(code)
}

// A trial is a text for a real shell. Every program that it starts ends with the status.
type trial struct {
	Shell  string
	Text   string
	Status int
}

// A result is what a shell did: the programs that it started, and the files that it made.
type result struct {
	Started [][]string
	Files   []string
	Late    bool // it was killed, as it did not end
	Error   string
}

const (
	trialTime   = 2 * time.Second
	endOfRecord = "end of record 5f1c"
)

// runTexts answers each trial with its result. It is the first process of a sandbox with
// nothing in it but the shells: any other program is a script that notes how it was started.
func runTexts(in io.Reader, out io.Writer) error {
	for _, dir := range []string{"/tmp/w", "/tmp/bin", "/tmp/log"} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			return err
		}
	}
	note := "#!/bin/dash\nprintf '%s\\0' \"${0##*/}\" \"$@\" '" + endOfRecord + "' >> /tmp/log/log\nexit $STATUS\n"
	if err := os.WriteFile("/tmp/note", []byte(note), 0o755); err != nil {
		return err
	}
	limit := syscall.Rlimit{Cur: 200, Max: 200}
	if err := syscall.Setrlimit(6 /* NPROC */, &limit); err != nil {
		return err
	}
	signal.Notify(make(chan os.Signal, 1)) // a text may send some to everybody
	read := json.NewDecoder(bufio.NewReader(in))
	write := json.NewEncoder(out)
	for {
		var t trial
		if err := read.Decode(&t); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		r, err := runText(t)
		if err != nil {
			r.Error = err.Error()
		}
		if err := write.Encode(r); err != nil {
			return err
		}
	}
}

// runText runs one text in a folder with a few files, and waits until everything that it
// started has ended.
func runText(t trial) (result, error) {
	if err := prepare(t.Text); err != nil {
		return result{}, err
	}
	null, err := os.OpenFile("/dev/null", os.O_RDWR, 0)
	if err != nil {
		return result{}, err
	}
	defer null.Close()
	var r result
	var mu sync.Mutex
	over := false
	timer := time.AfterFunc(trialTime, func() {
		mu.Lock()
		defer mu.Unlock()
		if !over {
			r.Late = true
			_ = syscall.Kill(-1, syscall.SIGKILL) // everything in this sandbox but the first process
		}
	})
	defer timer.Stop()
	_, err = os.StartProcess("/bin/dash", []string{"dash", "-c", `ulimit -t 2; ulimit -v 500000; ulimit -f 256; exec "$@"`, "x", "/bin/" + t.Shell, "-c", t.Text},
		&os.ProcAttr{Dir: "/tmp/w", Sys: &syscall.SysProcAttr{Setsid: true}, Files: []*os.File{null, null, null},
			Env: []string{"PATH=/tmp/bin", "HOME=/tmp/w", "LANG=C.UTF-8", fmt.Sprintf("STATUS=%d", t.Status)}})
	if err != nil {
		return result{}, err
	}
	for {
		_, err := syscall.Wait4(-1, nil, 0, nil)
		if errors.Is(err, syscall.ECHILD) {
			break
		}
		if err != nil && !errors.Is(err, syscall.EINTR) {
			return result{}, err
		}
	}
	mu.Lock()
	over = true
	mu.Unlock()
	r.Started, err = records()
	if err != nil {
		return result{}, err
	}
	err = filepath.WalkDir("/tmp/w", func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !original[path] {
			r.Files = append(r.Files, strings.TrimPrefix(path, "/tmp/w/"))
		}
		return err
	})
	return r, err
}

// original are the files that each trial begins with.
var original = map[string]bool{"/tmp/w/a.txt": true, "/tmp/w/b.txt": true, "/tmp/w/d/c.go": true}

var wordlike = regexp.MustCompile(`[^\s;&|<>()'"$\x60\\/\x00]+`)

// prepare makes the folder anew, and a program for everything in the text that may be a name.
func prepare(text string) error {
	if err := os.RemoveAll("/tmp/w"); err != nil {
		return err
	}
	if err := os.MkdirAll("/tmp/w/d", 0o755); err != nil {
		return err
	}
	for name := range original {
		if err := os.WriteFile(name, []byte("one two\nM three\n"), 0o644); err != nil {
			return err
		}
	}
	if err := os.WriteFile("/tmp/log/log", nil, 0o644); err != nil {
		return err
	}
	for _, name := range append(wordlike.FindAllString(text, 400), "M", "touch", "cat", "more", "less") {
		if len(name) > 60 || name == "." || name == ".." {
			continue
		}
		if err := os.Symlink("/tmp/note", "/tmp/bin/"+name); err != nil && !errors.Is(err, os.ErrExist) {
			return err
		}
	}
	return nil
}

// records are the programs that were started, by name.
func records() ([][]string, error) {
	data, err := os.ReadFile("/tmp/log/log")
	if err != nil {
		return nil, err
	}
	var all [][]string
	var one []string
	for field := range bytes.SplitSeq(data, []byte{0}) {
		if string(field) == endOfRecord {
			all, one = append(all, one), nil
			continue
		}
		one = append(one, string(field))
	}
	return all, nil
}

// A box is a sandbox in which texts run, one after another.
type box struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	read   *json.Decoder
	stderr bytes.Buffer
}

var (
	program     = sync.OnceValues(copyProgram)
	boxesMu     sync.Mutex
	openedBoxes []*box
)

// copyProgram puts this program where another user can read it.
func copyProgram() (string, error) {
	data, err := os.ReadFile(reexec.Self())
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("", "subset-test-")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "texts")
	if err := os.WriteFile(path, data, 0o755); err != nil {
		return "", err
	}
	return path, os.Chmod(dir, 0o755)
}

// newBox starts a sandbox: no network, no files but the shells, and limits. As root it runs as
// nobody, since limits do not hold for root.
func newBox(tb testing.TB) *box {
	tb.Helper()
	path, err := program()
	if err != nil {
		tb.Fatal(err)
	}
	args := []string{"--unshare-all", "--as-pid-1", "--die-with-parent", "--new-session", "--clearenv",
		"--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--ro-bind", path, "/texts", "--dir", "/bin"}
	for _, dir := range []string{"/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/share/zsh"} {
		args = append(args, "--ro-bind-try", dir, dir)
	}
	for _, shell := range shells {
		found, err := exec.LookPath(shell.String())
		if err != nil {
			tb.Fatalf("%v: install %v", err, shell)
		}
		args = append(args, "--ro-bind", found, "/bin/"+shell.String())
	}
	b := &box{cmd: exec.Command("bwrap", append(args, "/texts", "run-texts")...)}
	b.cmd.Stderr = &b.stderr
	if os.Geteuid() == 0 {
		b.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	if b.in, err = b.cmd.StdinPipe(); err != nil {
		tb.Fatal(err)
	}
	out, err := b.cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := b.cmd.Start(); err != nil {
		tb.Fatalf("%v: install bubblewrap", err)
	}
	b.read = json.NewDecoder(bufio.NewReader(out))
	boxesMu.Lock()
	openedBoxes = append(openedBoxes, b)
	boxesMu.Unlock()
	return b
}

func (b *box) run(tb testing.TB, t trial) result {
	tb.Helper()
	if err := json.NewEncoder(b.in).Encode(t); err != nil {
		tb.Fatalf("%v: %s", err, b.stderr.String())
	}
	var r result
	if err := b.read.Decode(&r); err != nil {
		end := b.cmd.Wait()
		tb.Fatalf("%q in %s: %v: the sandbox ended: %v: %s", t.Text, t.Shell, err, end, b.stderr.String())
	}
	if r.Error != "" {
		tb.Fatalf("%q in %s: %s", t.Text, t.Shell, r.Error)
	}
	return r
}

func closeBoxes() {
	boxesMu.Lock()
	defer boxesMu.Unlock()
	for _, b := range openedBoxes {
		b.in.Close()
		_ = b.cmd.Wait()
	}
	if path, err := program(); err == nil && len(openedBoxes) > 0 {
		_ = os.RemoveAll(filepath.Dir(path))
	}
}

// shells are those that the tests need; scripts/need.sh installs them.
var shells = []Shell{Bash, Dash, Zsh}
