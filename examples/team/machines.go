package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// A machine has a home of its own, in which its state and a project are, and a bridge to the server.
type machine struct {
	s    *stage
	name string
}

// joins makes a machine with a project, and has it join the team.
func (s *stage) joins(name, sponsor string) *machine {
	m := &machine{s: s, name: name}
	s.write("version: 1\nsandbox:\n  paths:\n    .: {mode: rw}\n", name, "shop", ".assent", "policy.yaml")
	s.write("apples 3\npears 4\n", name, "shop", "prices.txt")
	s.write("all that was ever sold\n", name, "shop", "data", "shop.db")
	m.trusts(".assent/policy.yaml")
	token := s.admin("gates", "invite", "--sponsor", sponsor)
	m.works("join", s.front.url, "--ca", s.path("ca.pem"), "--token", token)
	s.ending(m.leave)
	return m
}

// state is a file below the state folder of the machine.
func (m *machine) state(parts ...string) string {
	return m.s.path(append([]string{m.name, "state", "assent"}, parts...)...)
}

// file is a file of the project.
func (m *machine) file(name string) string { return m.s.path(m.name, "shop", name) }

// has reports whether the project has a file with that content.
func (m *machine) has(name, content string) bool {
	data, err := os.ReadFile(m.file(name))
	return err == nil && string(data) == content
}

func (m *machine) gone(name string) bool {
	_, err := os.Lstat(m.file(name))
	return os.IsNotExist(err)
}

// starts runs assent on the machine, in the project.
func (m *machine) starts(args ...string) *command {
	c := m.s.command(m.s.path(m.name), nil, args...)
	c.Dir = filepath.Join(c.Dir, "shop")
	return m.s.start(c)
}

func (m *machine) works(args ...string) string { return m.s.works(m.starts(args...)) }

// trusts has the person at the machine trust a file of the project.
func (m *machine) trusts(file string) { m.works("trust", "--yes", file) }

// calls has an agent call a tool.
func (m *machine) calls(tool string, arguments object) *command {
	text, err := json.Marshal(arguments)
	must(err)
	return m.starts("call", "--ask", "inbox", tool, string(text))
}

// waits waits until a question waits at the machine itself, and returns its id.
func (m *machine) waits() (id string) {
	m.s.until("a question at "+m.name, func() bool {
		var list []struct{ ID string }
		if err := json.Unmarshal([]byte(m.works("pending", "--json")), &list); err != nil || len(list) == 0 {
			return false
		}
		id = list[0].ID
		return true
	})
	return id
}

// leave has the bridge end, which assent started by itself and which would outlive the demo: without this file the
// machine has left.
func (m *machine) leave() { _ = os.Remove(m.state("team", "machine.json")) }

// bridgesEnd waits until no bridge runs any more: each locks a file as long as it does.
func (s *stage) bridgesEnd() {
	files, _ := filepath.Glob(s.path("*", "state", "assent", "team", "bridge.lock"))
	over := time.After(patience)
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			continue
		}
		for syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
			select {
			case <-over:
				fmt.Fprintf(os.Stderr, "team: the process that holds %s does not end\n", file)
				_ = f.Close()
				return
			case <-time.After(50 * time.Millisecond):
			}
		}
		_ = f.Close()
	}
}
