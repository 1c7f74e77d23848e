package agents

import (
	"encoding/json"
	"errors"
	"fmt"
)

// CanaryDenied is the file that a canary wants to write and that the policy beside it
// denies; CanaryFile is one that it may read, and must ask to write.
const (
	CanaryDenied = "assent-canary-denied.txt"
	CanaryFile   = "assent-canary.txt"
)

// A Canary is an event that nobody's tool runs after: it shows what a hook answers.
type Canary struct {
	Name  string
	Want  Verdict
	Input []byte
}

// Canaries are a call that must be allowed, one that must be asked and one that must be
// denied, in a folder, as the agent would send them.
func (a *Agent) Canaries(dir string) ([]Canary, error) {
	var out []Canary
	for _, c := range []struct {
		name  string
		want  Verdict
		write bool
		file  string
	}{
		{"a read in the project", Allow, false, CanaryFile},
		{"a write in the project", Ask, true, CanaryFile},
		{"a write that is denied", Deny, true, CanaryDenied},
	} {
		tool, args := a.canary(dir+"/"+c.file, c.write)
		input, err := json.Marshal(a.event(dir, tool, args))
		if err != nil {
			return nil, fmt.Errorf("a canary for %s: %w", a.Title, err)
		}
		out = append(out, Canary{c.name, c.want, append(input, '\n')})
	}
	return out, nil
}

// canary is a call about a file.
func (a *Agent) canary(file string, write bool) (tool string, args any) {
	if write {
		return a.write(file, "canary\n")
	}
	return a.like["read_file"], map[string]any{"file_path": file}
}

// Understood says what an agent makes of a reply: the verdict, as far as it can be told.
// Codex takes no opinion for a yes, and what it must ask is a no there.
func (a *Agent) Understood(r Reply) (Verdict, error) {
	if r.Exit == exitBlock {
		return Deny, nil
	}
	if r.Exit != 0 {
		return Nothing, fmt.Errorf("it ended with status %d, which lets the call run", r.Exit)
	}
	if len(r.Stdout) == 0 {
		return Nothing, errors.New("it gave no answer")
	}
	o, err := readObject(r.Stdout, "the answer")
	if err != nil {
		return Nothing, err
	}
	if inner, ok := o["hookSpecificOutput"]; ok {
		if o, err = readObject(inner, "the answer"); err != nil {
			return Nothing, err
		}
	}
	word, err := o.optional("permissionDecision", "decision", "permission")
	switch {
	case err != nil:
		return Nothing, err
	case word == "deny":
		return Deny, nil
	case word == "ask":
		return Ask, nil
	case word == "allow", word == "" && a == &codex:
		return Allow, nil
	}
	return Nothing, errors.New("it gave no answer")
}
