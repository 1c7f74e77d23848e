package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/agents/staged"
)

// What only a person may answer is not left to a mode of the agent that answers by itself.
func TestStageModesDoNotLeaveTheSandbox(t *testing.T) {
	s := newStage(t)
	s.write("outside/secret.txt", "outside\n")
	command := "cat ../outside/secret.txt"
	for _, mode := range []string{"bypassPermissions", "dontAsk", "default"} {
		s.mode = mode
		r := s.judge("s", command)
		if output, status := s.agentRuns(r.Out.Input.Command); status == 0 || !strings.Contains(output, "once more") {
			t.Fatalf("%s: the sandbox does not hold it: %d %s", mode, status, output)
		}
		r = s.judge("s", command)
		if want := map[bool]string{true: "ask", false: "deny"}[mode == "default"]; r.Out.Decision != want || !strings.Contains(r.Out.Reason, "leave the sandbox") {
			t.Errorf("%s: %+v, want %s", mode, r, want)
		}
	}
}

// A command that was judged does not run by a policy that does not hold any more.
func TestStageChangedMeanwhile(t *testing.T) {
	for name, text := range map[string]string{
		"config/assent/config.yaml":    "hook: {shell: stage}\nrules: [deny shell(touch made)]\n",
		"project/.assent/policy.yaml":  "rules: [deny shell(touch made)]\n",
		"project/.assent/project.yaml": "", // nothing that holds
	} {
		s := newStage(t)
		replaced := s.text("touch made")
		s.write(name, text)
		output, status := s.agentRuns(replaced)
		if changed := text != ""; s.exists("made") == changed || changed && (status != 125 || !strings.Contains(output, "was changed")) {
			t.Errorf("%s: %d %s", name, status, output)
		}
	}
}

// Who connects and says nothing does not keep a keeper.
func TestStageEndsBesideASilentOne(t *testing.T) {
	s := newStage(t)
	s.runs("true")
	sockets, err := filepath.Glob(filepath.Join(s.top, "state/assent/keepers/*", staged.SocketName))
	if err != nil || len(sockets) != 1 {
		t.Fatal(sockets, err)
	}
	state, key := filepath.Join(s.top, "state", "assent"), filepath.Base(filepath.Dir(sockets[0]))
	conn, err := staged.Dial(state, key)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	s.event("SessionEnd", "s", "")
	s.eventually("the keeper ends", func() bool { return len(s.keepers()) == 0 })
}

// No command sees the state folder, also where that lies in the project: the sockets are there.
func TestStageHidesTheState(t *testing.T) {
	s := newStage(t)
	state := filepath.Join(s.project, "state")
	if err := os.Rename(filepath.Join(s.top, "state"), state); err != nil {
		t.Fatal(err)
	}
	s.env["XDG_STATE_HOME"] = state
	output, status := s.runs("ls state; ls -R state/assent; cat state/assent/hooks/*/*")
	if status == 0 || !strings.HasPrefix(output, "assent\n") || strings.Contains(output, staged.SocketName) || strings.Contains(output, "arguments") {
		t.Errorf("%d %s", status, output)
	}
}

// A project folder that was made anew is the project, and what was judged for the old one does not
// run there.
func TestStageOfAProjectMadeAnew(t *testing.T) {
	s := newStage(t)
	waits := s.text("echo old > old")
	if err := os.Rename(s.project, s.project+"-old"); err != nil {
		t.Fatal(err)
	}
	s.write("project/new.txt", "new\n")
	if output, status := s.agentRuns(waits); status != 125 || s.exists("old") {
		t.Errorf("%d %s", status, output)
	}
	if output, status := s.agentRuns(s.judge("s", "cat new.txt").Out.Input.Command); status != 0 || output != "new\n" {
		t.Errorf("%d %s", status, output)
	}
}

// An agent that runs the command itself, and not what stands for it, is in the record.
func TestStageThatWasNotTaken(t *testing.T) {
	s := newStage(t)
	s.text("echo hi")
	s.calls-- // the same call
	s.event("PostToolUse", "s", "echo hi")
	all := s.recorded()
	if last := all[len(all)-1]; last.Kind != approval.EventDiffered || !strings.Contains(last.Why, "in assent's sandbox") {
		t.Errorf("%+v", last)
	}
}

// A hook limits its own memory, and not that of commands.
func TestStageHasTheMemoryOfTheUser(t *testing.T) {
	s := newStage(t)
	var own syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_DATA, &own); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprint(own.Cur)
	if own.Cur == ^uint64(0) {
		want = "unlimited"
	}
	output, _ := s.runs("grep 'Max data size' /proc/self/limits")
	if fields := strings.Fields(output); len(fields) < 4 || fields[3] != want {
		t.Errorf("%s, want %s", output, want)
	}
}
