package runner_test

import (
	"net"
	"os"
	"os/exec"
	"testing"

	"github.com/assent-dev/assent/tool/shell/runner"
)

// A connection that a process of a tool call shares is one of a tool call, whoever made it.
func TestPeerInside(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	inside, err := runner.PeerInside(c.LocalAddr(), c.RemoteAddr())
	if inside || err != nil {
		t.Fatalf("this process: %v, %v", inside, err)
	}
	file, err := c.(*net.TCPConn).File()
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	call := exec.Command("cat")
	call.Env, call.ExtraFiles = []string{runner.Marker + "=1"}, []*os.File{file}
	in, err := call.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := call.Start(); err != nil {
		t.Fatal(err)
	}
	inside, err = runner.PeerInside(c.LocalAddr(), c.RemoteAddr())
	if !inside || err != nil {
		t.Errorf("with a process of a tool call: %v, %v", inside, err)
	}
	in.Close()
	if err := call.Wait(); err != nil {
		t.Fatal(err)
	}
}
