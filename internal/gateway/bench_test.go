package gateway_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/assent-dev/assent/internal/mcptest"
	"github.com/assent-dev/assent/internal/reexec"
)

// pipe copies bytes to a server and back: what a gateway is compared with.
func pipe() error {
	argv, env := mcptest.Command(mcptest.Ordinary)
	cmd := exec.Command(argv[0])
	cmd.Env = os.Environ()
	for name, value := range env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() {
		copyBytes(in, os.Stdin)
		in.Close()
	}()
	copyBytes(os.Stdout, out)
	return cmd.Wait()
}

// copyBytes copies without letting the kernel do it: a gateway has to see the bytes too.
func copyBytes(to io.Writer, from io.Reader) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if _, failed := to.Write(buffer[:n]); err != nil || failed != nil {
			return
		}
	}
}

// A peer is a program that speaks the protocol, with as little as possible around it.
type peer struct {
	in   io.WriteCloser
	out  *bufio.Reader
	cmd  *exec.Cmd
	name string // of its echo
}

func startPeer(b *testing.B, name string, cmd *exec.Cmd) *peer {
	b.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	p := &peer{in: in, out: bufio.NewReaderSize(out, 1<<20), cmd: cmd, name: name}
	b.Cleanup(func() {
		in.Close()
		_ = cmd.Wait()
	})
	p.ask(b, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}`)
	p.send(b, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return p
}

func (p *peer) send(b *testing.B, line string) {
	if _, err := io.WriteString(p.in, line+"\n"); err != nil {
		b.Fatal(err)
	}
}

// ask sends a request and returns its answer; notifications are passed over.
func (p *peer) ask(b *testing.B, line string) []byte {
	p.send(b, line)
	for {
		answer, err := p.out.ReadBytes('\n')
		if err != nil {
			b.Fatal(err)
		}
		if bytes.Contains(answer, []byte(`"id":`)) {
			return answer
		}
	}
}

// echo makes a call and returns how long it took.
func (p *peer) echo(b *testing.B, id int) time.Duration {
	line := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"%s","arguments":{"text":"hello"}}}`, id, p.name)
	began := time.Now()
	answer := p.ask(b, line)
	took := time.Since(began)
	if !bytes.Contains(answer, []byte(`"text":"hello"`)) {
		b.Fatalf("got %s", answer)
	}
	return took
}

// buildAssent builds the program itself: the measure is with its store and its audit.
func buildAssent(b *testing.B) string {
	b.Helper()
	file := filepath.Join(b.TempDir(), "assent")
	cmd := exec.Command("go", "build", "-o", file, "../../cmd/assent")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	return file
}

// gatewayCommand is `assent mcp` in front of the ordinary server, with a rule that allows.
func gatewayCommand(b *testing.B) *exec.Cmd {
	b.Helper()
	dir := b.TempDir()
	argv, env := mcptest.Command(mcptest.Ordinary)
	var vars []string
	for name, value := range env {
		vars = append(vars, fmt.Sprintf("%s: %q", name, value))
	}
	policy := fmt.Sprintf("connectors:\n  one: {command: [%q], env: {%s}}\nrules:\n  - allow one:echo\n", argv[0], strings.Join(vars, ", "))
	file := filepath.Join(dir, "policy.yaml")
	if err := os.WriteFile(file, []byte(policy), 0o600); err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command(buildAssent(b), "mcp", "-c", file, "--state", filepath.Join(dir, "state"))
	cmd.Env = append(os.Environ(), "XDG_CONFIG_HOME="+dir)
	return cmd
}

// BenchmarkEcho makes the same call through a pipe that copies bytes and through the
// gateway, in turn, and reports the median of each and what the gateway adds.
func BenchmarkEcho(b *testing.B) {
	plain := startPeer(b, "echo", reexec.Command("pipe"))
	gate := startPeer(b, "one__echo", gatewayCommand(b))
	for i := range 200 {
		plain.echo(b, i+1)
		gate.echo(b, i+1)
	}
	var through, over []time.Duration
	for i := 0; b.Loop(); i++ {
		over = append(over, plain.echo(b, i+1000))
		through = append(through, gate.echo(b, i+1000))
	}
	report := func(name string, d time.Duration) { b.ReportMetric(float64(d.Nanoseconds())/1000, name) }
	report("pipe-µs", median(over))
	report("gateway-µs", median(through))
	report("added-µs", median(through)-median(over))
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}

// BenchmarkRate has sixty-four calls under way at all times.
func BenchmarkRate(b *testing.B) {
	for name, p := range map[string]*peer{
		"via=pipe":    startPeer(b, "echo", reexec.Command("pipe")),
		"via=gateway": startPeer(b, "one__echo", gatewayCommand(b)),
	} {
		b.Run(name, func(b *testing.B) {
			const window = 64
			next := 0
			send := func() {
				next++
				p.send(b, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"%s","arguments":{"text":"hello"}}}`, next, p.name))
			}
			for range window {
				send()
			}
			for b.Loop() {
				if _, err := p.out.ReadBytes('\n'); err != nil {
					b.Fatal(err)
				}
				send()
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
			for range window {
				if _, err := p.out.ReadBytes('\n'); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
