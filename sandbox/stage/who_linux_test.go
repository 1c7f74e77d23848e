package stage

import (
	"bufio"
	"net/netip"
	"os/exec"
	"testing"
	"time"
)

// TestAConnectionOfACommandThatHasEnded is accepted when another command is the only one left:
// it is not that one's.
func TestAConnectionOfACommandThatHasEnded(t *testing.T) {
	s := newFixture(t, nil)
	first := s.background(WithCommand(t.Context(), "first"), "echo; read go")
	first.line()
	second := s.background(WithCommand(t.Context(), "second"), `exec python3 -c '
import os, socket
for i in range(900):
    c = socket.socket(); c.setblocking(False)
    try: c.connect(("9.9.9.9", 80))
    except OSError: pass
    globals()[f"c{i}"] = c
os._exit(0)
'`)
	if _, err := second.Wait(); err != nil {
		t.Error(err)
	}
	first.say("go")
	if _, err := first.Wait(); err != nil {
		t.Error(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	seen := map[any]int{}
	for _, h := range s.asked {
		seen[h.Command]++
	}
	if seen["first"] > 0 || len(s.asked) == 0 {
		t.Errorf("connections by command: %v", seen)
	}
	g := &namespace{network: s.network, members: []*member{{command: "only"}}}
	for _, tt := range []struct {
		left time.Time
		want any
	}{{time.Time{}, "only"}, {time.Now(), nil}, {time.Now().Add(-2 * orphaned), "only"}} {
		g.left = tt.left
		if got, _ := g.who(netip.AddrPort{}, netip.AddrPort{}); got != tt.want {
			t.Errorf("left %v: %v", tt.left, got)
		}
	}
}

// TestTheNameOfAProgram has a program choose its name: nothing of it moves a terminal's cursor,
// or looks like another line.
func TestTheNameOfAProgram(t *testing.T) {
	s := newFixture(t, nil)
	s.run(`python3 -c '
import ctypes, socket
ctypes.CDLL(None).prctl(15, b"\x1b[2J\n\xff\xe2\x80\xaecurl", 0, 0, 0)
try: socket.create_connection(("9.9.9.9", 80)).recv(1)
except OSError: pass
'`)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.asked) != 1 || s.asked[0].Program != "?[2J???curl" {
		t.Errorf("%+v", s.asked)
	}
}

// TestACommandThatIsStillStarting has a child that sees the machine's own processes, as that of
// bubblewrap does at first: none of them is taken for one of the command.
func TestACommandThatIsStillStarting(t *testing.T) {
	cmd := exec.Command("/bin/sh", "-c", "exec 3<&0; cat <&3 & echo; wait")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	m := &member{}
	m.started(cmd.Process.Pid)
	m.mu.Lock()
	if m.look() {
		t.Error("the machine's processes are taken for those of the command")
	}
	m.mu.Unlock()
	m.close()
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}
