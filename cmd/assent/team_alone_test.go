//go:build all && linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// traced runs a command under strace, and returns what it and its children did with files, processes and the network, one
// system call a line.
func (s *teamScene) traced(c *exec.Cmd, input string) (calls []string, said string) {
	s.Helper()
	file := filepath.Join(s.TempDir(), "trace")
	strace, err := exec.LookPath("strace")
	if err != nil {
		s.Fatalf("%v: run sh scripts/need.sh all", err)
	}
	options := []string{"strace", "-f", "-qq", "-s", "4096", "-e", "trace=%file,%process,%network", "-o", file}
	c.Args = slices.Concat(options, []string{c.Path}, c.Args[1:])
	c.Path, c.Stdin = strace, strings.NewReader(input)
	out, err := c.CombinedOutput()
	if err != nil {
		s.Fatalf("%q: %v\n%s", c.Args, err, out)
	}
	trace, err := os.ReadFile(file)
	if err != nil {
		s.Fatal(err)
	}
	if calls = strings.Split(string(trace), "\n"); len(calls) < 50 {
		s.Fatalf("strace saw %d calls:\n%s", len(calls), trace)
	}
	return calls, string(out)
}

// justLooks are calls that only look whether a file is there.
var justLooks = regexp.MustCompile(`^\d+ +(newfstatat|lstat|stat|statx|access|faccessat2?|readlinkat?)\(`)

// reaches are calls that reach for an address; own is one that a program has bound itself, which the sandbox's test of itself
// does and tries to reach from inside.
var (
	reaches = regexp.MustCompile(`(connect|sendto|sendmsg)\(.*(AF_INET|AF_UNIX)`)
	port    = regexp.MustCompile(`sin6?_port=htons\((\d+)\)`)
	own     = regexp.MustCompile(`getsockname\(.*sin6?_port=htons\((\d+)\)`)
)

// ofATeam are the calls that only a machine of a team makes: with the files of a team, to an address, to a bridge.
func (s *teamScene) ofATeam(calls []string) (out []string) {
	bound := map[string]bool{}
	for _, call := range calls {
		if m := own.FindStringSubmatch(call); m != nil {
			bound[m[1]] = true
		}
	}
	for _, call := range calls {
		to := port.FindStringSubmatch(call)
		switch {
		case strings.Contains(call, filepath.Join(s.state, "team")) && !justLooks.MatchString(call),
			strings.Contains(call, "execve(") && strings.Contains(call, `"bridge"`):
			out = append(out, call)
		case !reaches.MatchString(call), to != nil && bound[to[1]],
			strings.Contains(call, "/nscd/"), strings.Contains(call, "@.assent-self-test-"):
		default:
			out = append(out, call)
		}
	}
	return out
}

// A single person on one machine notices nothing of teams: where the administrator's file names none, no program opens or
// makes a file of one, reaches for an address or starts a bridge, and what lies in the folder of a team changes no answer.
// That the questions are the same as ever, TestDoors shows: it has no team.
func TestASinglePersonNoticesNothing(t *testing.T) {
	s := newTeamScene(t)
	s.put("admin/policy.yaml", "version: 1\nrules:\n  - deny read_file(secrets/**)\n")
	s.put("project/w.worker", "---\nmodel: script:none.yaml\nsandbox:\n  paths:\n    .: {root: ., mode: rw}\n---\nYou work.\n")
	s.put("project/a.txt", "a\n")
	s.must("trust", "--yes", ".")
	s.must("trust", "--yes", "w.worker")
	hook := func(tool, key, value string) (*exec.Cmd, string) {
		c := s.command("claude-code")
		c.Path = filepath.Join(filepath.Dir(s.program), "assent-hook")
		return c, fmt.Sprintf(`{"session_id":"one","hook_event_name":"PreToolUse","cwd":%q,"tool_name":%q,`+
			`"tool_input":{%q:%q,"content":"x"}}`, s.path(""), tool, key, value)
	}
	programs := map[string]func() (*exec.Cmd, string){
		"call that is free": func() (*exec.Cmd, string) { return s.command("call", "read_file", `{"path":"a.txt"}`), "" },
		"call that is approved": func() (*exec.Cmd, string) {
			return s.command("call", "--approve-all", "write_file", writes("b.txt")), ""
		},
		"run": func() (*exec.Cmd, string) {
			return s.command("run", "--ask", "inbox", "--ask-timeout", "20ms", "--model", s.script("c.txt"), "w.worker", "Go on."), ""
		},
		"explain":          func() (*exec.Cmd, string) { return s.command("explain", "write_file", writes("d.txt")), "" },
		"hook that allows": func() (*exec.Cmd, string) { return hook("Read", "file_path", s.path("a.txt")) },
		"hook that asks":   func() (*exec.Cmd, string) { return hook("Write", "file_path", s.path("e.txt")) },
	}
	// What differs from one run to the next.
	varies := regexp.MustCompile(`\b[A-Z2-7]{26}\b|\b[a-z2-7]{10}\b|\d+(\.\d+)?m?s\b|sha256:\w+`)
	once := func(name string) string {
		c, input := programs[name]()
		calls, said := s.traced(c, input)
		if found := s.ofATeam(calls); len(found) > 0 {
			t.Errorf("%s:\n%s", name, strings.Join(found, "\n"))
		}
		return varies.ReplaceAllString(said, "…")
	}
	said := map[string]string{}
	for name := range programs {
		said[name] = once(name)
		_ = os.Remove(s.path("b.txt"))
	}
	if _, err := os.Stat(filepath.Join(s.state, "team")); err == nil {
		t.Error("there is a folder of a team")
	}
	// A policy that somebody left there is not read.
	s.put("state/assent/team/bundle", "not a policy")
	for name, before := range said {
		if after := once(name); after != before {
			t.Errorf("%s says with a folder of a team\n%s\nand without\n%s", name, after, before)
		}
		_ = os.Remove(s.path("b.txt"))
	}
	// With a team the same programs open it: this test would see that.
	s.put("admin/policy.yaml", s.team.Admin())
	for _, name := range []string{"explain", "hook that asks"} {
		c, input := programs[name]()
		if calls, _ := s.traced(c, input); len(s.ofATeam(calls)) == 0 {
			t.Errorf("%s of a team opens nothing of it", name)
		}
	}
}
