package main

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/assent-dev/assent/internal/explain"
)

//go:embed testdata
var testdata embed.FS

// A day is what an agent does in one project from morning to evening.
type day struct {
	name    string
	calls   []call
	project *txtar.Archive
}

// A call is one of a tool.
type call struct {
	ID   string          `json:"id"`
	Tool string          `json:"tool"`
	Args json.RawMessage `json:"args"`
	// Assumes is what an earlier call of the day made and this one uses. Shell commands are only
	// judged, so it is not there when this one is.
	Assumes string `json:"assumes,omitempty"`
}

func readDays() ([]day, error) {
	var days []day
	for _, name := range []string{"go", "node", "python"} {
		d, err := readDay(name)
		if err != nil {
			return nil, fmt.Errorf("%s day: %w", name, err)
		}
		days = append(days, d)
	}
	return days, nil
}

func readDay(name string) (day, error) {
	d := day{name: name}
	text, err := testdata.ReadFile("testdata/" + name + ".txtar")
	if err != nil {
		return d, err
	}
	d.project = txtar.Parse(text)
	lines, err := testdata.ReadFile("testdata/" + name + ".jsonl")
	if err != nil {
		return d, err
	}
	dec := json.NewDecoder(bytes.NewReader(lines))
	dec.DisallowUnknownFields()
	for dec.More() {
		var c call
		if err := dec.Decode(&c); err != nil {
			return d, fmt.Errorf("call %d: %w", len(d.calls)+1, err)
		}
		d.calls = append(d.calls, c)
	}
	return d, nil
}

// unpack writes the project below a folder, as a repository with one commit, and returns its
// folder.
func (d day) unpack(top string) (string, error) {
	top, err := filepath.EvalSymlinks(top)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(top, d.name)
	for _, f := range d.project.Files {
		if err := write(filepath.Join(dir, f.Name), string(f.Data)); err != nil {
			return "", err
		}
	}
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"}, {"add", "-A"},
		{"-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false", "commit", "-q",
			"-m", "begin"},
	} {
		if err := run(dir, "git", args...); err != nil {
			return "", err
		}
	}
	return dir, nil
}

// judge has every call of the day judged, in order. What the file tools write is there for later
// calls; commands do not run.
func (d day) judge(dir string, explained func(explain.Call) (explain.Answer, error)) ([]explain.Answer, error) {
	var answers []explain.Answer
	for _, c := range d.calls {
		args := bytes.ReplaceAll(c.Args, []byte("@PROJ@"), []byte(dir))
		a, err := explained(explain.Call{Tool: c.Tool, Args: args})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.ID, err)
		}
		answers = append(answers, a)
		if err := c.change(dir); err != nil {
			return nil, fmt.Errorf("%s: %w", c.ID, err)
		}
	}
	return answers, nil
}

// change does what a file tool would do.
func (c call) change(dir string) error {
	var args struct {
		Path, Content string
		Old           string `json:"old_text"`
		New           string `json:"new_text"`
	}
	if err := json.Unmarshal(c.Args, &args); err != nil {
		return err
	}
	name := filepath.Join(dir, args.Path)
	switch c.Tool {
	case "write_file":
		return write(name, args.Content)
	case "edit_file":
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if n := strings.Count(string(text), args.Old); n != 1 {
			return fmt.Errorf("%s has old_text %d times, and must have it once", args.Path, n)
		}
		return write(name, strings.Replace(string(text), args.Old, args.New, 1))
	}
	return nil
}

func write(name, content string) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	return os.WriteFile(name, []byte(content), 0o600)
}

func run(dir, program string, args ...string) error {
	c := exec.Command(program, args...)
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", c, err, out)
	}
	return nil
}
