package command_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/sandbox/launch"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/command"
)

func put(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, to, from string) {
	t.Helper()
	_ = os.Remove(from) // it may not be there
	if err := os.Symlink(to, from); err != nil {
		t.Fatal(err)
	}
}

const hello, evil = "#!/bin/sh\necho hello\n", "#!/bin/sh\necho evil!\n"

// A tool runs what was there when it was made. Whatever somebody does to a file that its
// command line names, the call is blocked and says which file it is.
func TestAToolRunsOnlyWhatItWasMadeFor(t *testing.T) {
	for name, c := range map[string]struct {
		command []string
		change  func(t *testing.T, dir string)
		says    string // empty: it runs
	}{
		"nothing changes": {[]string{"./tool.sh"}, func(*testing.T, string) {}, ""},
		"the program":     {[]string{"./tool.sh"}, func(t *testing.T, dir string) { put(t, dir+"/tool.sh", evil) }, "tool.sh changed since assent started"},
		"as many bytes, at the same time": {[]string{"./tool.sh"}, func(t *testing.T, dir string) {
			info, err := os.Stat(dir + "/tool.sh")
			if err != nil {
				t.Fatal(err)
			}
			put(t, dir+"/tool.sh", strings.Replace(hello, "hello", "evil!", 1))
			if err := os.Chtimes(dir+"/tool.sh", info.ModTime(), info.ModTime()); err != nil {
				t.Fatal(err)
			}
		}, "tool.sh changed"},
		"a program by its full path": {[]string{"DIR/tool.sh"}, func(t *testing.T, dir string) { put(t, dir+"/tool.sh", evil) }, "tool.sh changed"},
		"a script of an interpreter": {[]string{"sh", "tool.sh"}, func(t *testing.T, dir string) { put(t, dir+"/tool.sh", evil) }, "tool.sh changed"},
		"a link elsewhere": {[]string{"./tool.sh"}, func(t *testing.T, dir string) {
			put(t, dir+"/other.sh", evil)
			link(t, dir+"/other.sh", dir+"/tool.sh")
		}, "tool.sh was created"},
		"a script that was not there": {[]string{"sh", "later.sh"}, func(t *testing.T, dir string) { put(t, dir+"/later.sh", evil) }, "later.sh was created"},
		"a program that was not there": {[]string{"./later.sh"}, func(t *testing.T, dir string) { put(t, dir+"/later.sh", evil) },
			"later.sh was created"},
		"another program of that name, earlier in PATH": {[]string{"hi"}, func(t *testing.T, dir string) { put(t, dir+"/first/hi", evil) }, "hi was created"},
		"the program in PATH":                           {[]string{"hi"}, func(t *testing.T, dir string) { put(t, dir+"/second/hi", evil) }, "hi changed"},
		"the definition":                                {[]string{"./tool.sh"}, func(t *testing.T, dir string) { put(t, dir+"/tool.yaml", "description: other") }, "tool.yaml changed"},
		"a log":                                         {[]string{"./tool.sh", "out.log"}, func(t *testing.T, dir string) { put(t, dir+"/out.log", "more") }, ""},
		"a program that is called like a log": {[]string{"./tool.log"}, func(t *testing.T, dir string) { put(t, dir+"/tool.log", evil) },
			"tool.log changed"},
		"a file that is not named": {[]string{"./tool.sh"}, func(t *testing.T, dir string) { put(t, dir+"/other.sh", evil) }, ""},
		"a file of many megabytes": {[]string{"./tool.sh", "large.bin"}, func(t *testing.T, dir string) { overwrite(t, dir+"/large.bin") }, "large.bin changed"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for _, file := range []string{"tool.sh", "tool.log", "first/x", "second/hi"} {
				script(t, filepath.Join(dir, file), hello)
			}
			put(t, dir+"/tool.yaml", "description: this")
			sparse(t, dir+"/large.bin")
			cfg := command.Config{Name: "x", Command: c.command, Approval: "allow", Definition: dir + "/tool.yaml"}
			cfg.Command[0] = strings.ReplaceAll(cfg.Command[0], "DIR", dir)
			path := "PATH=" + dir + "/first:" + dir + "/second:" + os.Getenv("PATH")
			made, err := command.New(cfg, command.Options{Dir: dir, Name: ".", Runner: launch.None{}, Environ: []string{path}})
			if err != nil {
				t.Fatal(err)
			}
			c.change(t, dir)
			r := call(t.Context(), t, made, `{}`)
			switch {
			case c.says == "" && (r.Err != nil || r.Text != "hello"):
				t.Errorf("%+v", r)
			case c.says != "" && (r.Outcome.State != policy.StateBlocked || !strings.Contains(r.Text, c.says) || !strings.Contains(r.Text, "read it, and start again")):
				t.Errorf("%s: %s", r.Outcome.State, r.Text)
			}
			if strings.Contains(r.Text, dir) {
				t.Errorf("the model is told a path of this machine: %s", r.Text)
			}
		})
	}
}

// sparse makes a file that is too large to be read for each call.
func sparse(t *testing.T, file string) {
	t.Helper()
	put(t, file, "")
	if err := os.Truncate(file, 17<<20); err != nil {
		t.Fatal(err)
	}
}

// overwrite changes a byte in the middle of a file.
func overwrite(t *testing.T, file string) {
	t.Helper()
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteAt([]byte("x"), 9<<20)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

// The files that somebody has trusted count, and not those that the tool finds.
func TestAToolRunsOnlyWhatWasTrusted(t *testing.T) {
	for name, c := range map[string]struct {
		trusted string // what was in the script
		large   bool   // the one that was trusted had zeros in it
		says    string
	}{
		"as it was":    {hello, true, ""},
		"another":      {evil, true, "tool.sh changed since w.worker was trusted; read it, then 'assent trust w.worker' and start again"},
		"not named":    {"", true, "tool.sh was created since w.worker was trusted"},
		"a large file": {hello, false, "large.bin changed since w.worker was trusted"},
	} {
		t.Run(name, func(t *testing.T) {
			dir, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			script(t, dir+"/tool.sh", hello)
			sparse(t, dir+"/large.bin")
			trusted := command.Files{dir + "/large.bin": policy.DigestOf(make([]byte, 17<<20))}
			if !c.large {
				trusted[dir+"/large.bin"] = policy.DigestOf([]byte("x"))
			}
			if c.trusted != "" {
				trusted[dir+"/tool.sh"] = policy.DigestOf([]byte(c.trusted))
			}
			made := newTool(t, command.Config{
				Name: "x", Command: []string{"./tool.sh", "large.bin"}, Approval: "allow", Trusted: trusted, Source: "w.worker:7",
			}, dir)
			r := call(t.Context(), t, made, `{}`)
			if ran := r.Err == nil && r.Text == "hello"; ran != (c.says == "") || !strings.Contains(r.Text, c.says) {
				t.Errorf("%s: %s", r.Outcome.State, r.Text)
			}
		})
	}
}

// What changes while the person reads does not run with that answer.
func TestAProgramThatChangesBeforeTheAnswer(t *testing.T) {
	dir := t.TempDir()
	file := script(t, dir+"/tool.sh", hello)
	a := answerer{answer: func(r *approval.Request) approval.Decision {
		put(t, file, evil)
		return r.Approve("")
	}}
	r := tool.Call(t.Context(), a.gate(t, newTool(t, command.Config{Name: "x", Command: []string{file}}, dir)), policy.Call{ID: "1", Tool: "x", Arguments: json.RawMessage(`{}`)})
	if r.Outcome.State != policy.StateBlocked || len(a.asked) != 1 {
		t.Errorf("asked %d times, %s: %s", len(a.asked), r.Outcome.State, r.Text)
	}
}

// A log that changes while the person reads is asked again.
func TestDataThatChangesBeforeTheAnswer(t *testing.T) {
	dir := t.TempDir()
	script(t, dir+"/tool.sh", hello)
	put(t, dir+"/a.log", "one")
	var a answerer
	a.answer = func(r *approval.Request) approval.Decision {
		if len(a.asked) == 1 {
			put(t, dir+"/a.log", "two")
		}
		return r.Approve("")
	}
	cfg := command.Config{Name: "x", Command: []string{"./tool.sh", "a.log"}}
	r := tool.Call(t.Context(), a.gate(t, newTool(t, cfg, dir)), policy.Call{ID: "1", Tool: "x", Arguments: json.RawMessage(`{}`)})
	if r.Err != nil || r.Text != "hello" || len(a.asked) != 2 || a.asked[0].Fingerprint == a.asked[1].Fingerprint {
		t.Errorf("asked %d times, %+v", len(a.asked), r)
	}
}

// recorder does something when the start of a call is recorded, its last moment.
type recorder func()

// Record implements [approval.Recorder].
func (r recorder) Record(_ context.Context, e approval.Event) error {
	if e.Kind == approval.EventStarted {
		r()
	}
	return nil
}

// The program is looked at once more after the start was recorded: that may take long.
func TestAProgramThatChangesAtTheLastMoment(t *testing.T) {
	dir := t.TempDir()
	file := script(t, dir+"/tool.sh", hello)
	made := newTool(t, command.Config{Name: "x", Command: []string{file}, Approval: "allow"}, dir)
	gate, err := tool.Guard(approval.Config{Recorder: recorder(func() { put(t, file, evil) })}, made)
	if err != nil {
		t.Fatal(err)
	}
	r := tool.Call(t.Context(), gate, policy.Call{ID: "1", Tool: "x", Arguments: json.RawMessage(`{}`)})
	if r.Outcome.State != policy.StateBlocked || !strings.Contains(r.Text, "tool.sh changed") {
		t.Errorf("%s: %s", r.Outcome.State, r.Text)
	}
}

// What one run makes later is what it was when the run began, also when the run went on in
// another process.
func TestToolsOfARunShareItsPrograms(t *testing.T) {
	dir := t.TempDir()
	file := script(t, dir+"/tool.sh", hello)
	made := func(all *command.Programs) tool.Result {
		t.Helper()
		cfg := command.Config{Name: "x", Command: []string{file}, Approval: "allow"}
		tl, err := command.New(cfg, command.Options{Dir: dir, Name: ".", Runner: launch.None{}, Programs: all})
		if err != nil {
			t.Fatal(err)
		}
		return call(t.Context(), t, tl, `{}`)
	}
	var run command.Programs
	if r := made(&run); r.Text != "hello" {
		t.Fatalf("%+v", r)
	}
	put(t, file, evil)
	data, err := json.Marshal(&run)
	if err != nil {
		t.Fatal(err)
	}
	var later command.Programs
	if err := json.Unmarshal(data, &later); err != nil {
		t.Fatal(err)
	}
	for name, all := range map[string]*command.Programs{"the same process": &run, "another": &later} {
		if r := made(all); r.Outcome.State != policy.StateBlocked {
			t.Errorf("%s: %+v", name, r)
		}
	}
	if r := made(nil); r.Text != "evil!" {
		t.Errorf("another run: %+v", r)
	}
}

func TestVerifyLooksAtEachStart(t *testing.T) {
	dir := t.TempDir()
	script(t, dir+"/server.sh", hello)
	var all command.Programs
	verify := all.Verify([]string{"sh", "server.sh", "data.db"}, dir, os.Environ())
	put(t, dir+"/data.db", "what the server keeps")
	if err := verify(); err != nil {
		t.Errorf("nothing changed that it runs: %v", err)
	}
	put(t, dir+"/server.sh", evil)
	var changed *command.ChangedError
	if err := verify(); !errors.As(err, &changed) || changed.File != "server.sh" || changed.New {
		t.Errorf("error %v", err)
	}
	put(t, dir+"/server.sh", hello)
	if err := verify(); err != nil {
		t.Errorf("it is what it was: %v", err)
	}
	if all.Verify(nil, dir, nil) != nil {
		t.Error("there is something to verify about no command")
	}
	missing := all.Verify([]string{"./later"}, dir, nil)
	if err := missing(); err != nil {
		t.Errorf("there is nothing to start: %v", err)
	}
	put(t, dir+"/later", evil)
	if err := missing(); !errors.As(err, &changed) || !changed.New {
		t.Errorf("error %v", err)
	}
}

// A call costs little besides its program, also if that is large.
func BenchmarkPrepare(b *testing.B) {
	for _, argv := range [][]string{{"./tool.sh"}, {"sh", "tool.sh"}, {"./tool.sh", "large.bin"}} {
		b.Run(strings.Join(argv, " "), func(b *testing.B) {
			dir := b.TempDir()
			for name, size := range map[string]int64{"tool.sh": 4 << 10, "large.bin": 64 << 20} {
				if err := os.WriteFile(dir+"/"+name, nil, 0o700); err != nil {
					b.Fatal(err)
				}
				if err := os.Truncate(dir+"/"+name, size); err != nil {
					b.Fatal(err)
				}
			}
			made, err := command.New(command.Config{Name: "x", Command: argv, Timeout: time.Second}, command.Options{Dir: dir, Environ: os.Environ()})
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, err := made.Prepare(b.Context(), json.RawMessage(`{}`)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
