package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/assent-dev/assent/store"
)

// askWrites is a policy under which reading is free and the rest is asked.
const askWrites = `sandbox:
  paths:
    notes:
      mode: rw
      approval: {read: allow, write: ask, delete: ask}
    archive:
      mode: ro
`

// story is a folder of the demonstration with a policy and a model of the test's own.
type story struct {
	t   *testing.T
	dir string
	env []string
}

// call is a call of the model.
type call struct {
	ID   string         `json:"id"`
	Tool string         `json:"tool"`
	Args map[string]any `json:"args"`
}

// write is a call that writes a file.
func write(id, path, content string) call {
	return call{id, "write_file", map[string]any{"path": path, "content": content}}
}

// tell makes the folder as people do, with a demonstration in a pipe, and then changes its
// policy and lets the model say the turns.
func tell(t *testing.T, policy string, turns ...[]call) *story {
	t.Helper()
	t.Parallel()
	s := &story{t: t, dir: filepath.Join(t.TempDir(), "demo")}
	if out, err := assent(t, nil, "demo", "--dir", s.dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	s.put("policy.yaml", policy)
	s.turns(turns...)
	return s
}

// turns writes the model's turns, and a last one that says that it is done.
func (s *story) turns(turns ...[]call) {
	s.t.Helper()
	type turn struct {
		Say   string `json:"say"`
		Calls []call `json:"calls,omitempty"`
	}
	var all []turn
	for _, t := range turns {
		all = append(all, turn{Say: "I go on.", Calls: t})
	}
	// JSON is YAML.
	data, err := json.Marshal(map[string]any{"turns": append(all, turn{Say: "That was all."})})
	if err != nil {
		s.t.Fatal(err)
	}
	s.put("script.yaml", string(data))
}

func (s *story) put(name, content string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(content), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// run plays the story at a terminal.
func (s *story) run(flags ...string) *tty {
	s.t.Helper()
	return s.runAt(100, 40, flags...)
}

func (s *story) runAt(columns, rows uint16, flags ...string) *tty {
	s.t.Helper()
	return start(s.t, columns, rows, assent(s.t, s.env, append([]string{"demo", "--dir", s.dir}, flags...)...))
}

// has wants a file to have the content.
func (s *story) has(name, content string) {
	s.t.Helper()
	data, err := os.ReadFile(filepath.Join(s.dir, name))
	if err != nil || string(data) != content {
		s.t.Errorf("%s is %q (%v), want %q", name, data, err, content)
	}
}

// remembers wants that these rules are kept, and no others.
func (s *story) remembers(want ...string) {
	s.t.Helper()
	kept, err := store.Open(s.t.Context(), filepath.Join(s.dir, "state"), store.Options{})
	if err != nil {
		s.t.Fatal(err)
	}
	defer kept.Close()
	set, err := kept.Rules(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	var got []string
	for _, r := range set.Rules() {
		got = append(got, r.String())
	}
	if !slices.Equal(got, want) {
		s.t.Errorf("the rules are %q, want %q", got, want)
	}
}

// hasNot wants that there is no such file.
func (s *story) hasNot(name string) {
	s.t.Helper()
	if _, err := os.Lstat(filepath.Join(s.dir, name)); !os.IsNotExist(err) {
		s.t.Errorf("%s is there (%v)", name, err)
	}
}

// script makes a program for PAGER or EDITOR, and returns its path.
func (s *story) script(lines ...string) string {
	s.t.Helper()
	path := filepath.Join(s.t.TempDir(), "script")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+strings.Join(lines, "\n")+"\n"), 0o700); err != nil {
		s.t.Fatal(err)
	}
	return path
}

// containsAny reports whether one of the words is in the text.
func containsAny(text string, words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
}
