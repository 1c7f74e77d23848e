package stage

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/assent-dev/assent/internal/reexec"
	"github.com/assent-dev/assent/sandbox"
)

// starts is how many commands of each kind one round of BenchmarkStart starts.
const starts = 200

// BenchmarkStart starts a program that does nothing, in turns: in the plain sandbox, in a network
// of its own, and in the network of a command that runs. It reports medians and their ratio.
func BenchmarkStart(b *testing.B) {
	// The helper as it is shipped: how large it is counts.
	program := filepath.Join(b.TempDir(), "assent-shell")
	build := exec.Command("go", "build", "-o", program, "-trimpath", "-ldflags", "-s -w", "../../cmd/assent-shell")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	shipped := func(o *Options) { o.Helper = []string{program, "stage"} }
	s, joined := newFixture(b, nil, shipped), newFixture(b, nil, shipped)
	hold := joined.background(b.Context(), "read go")
	defer hold.Wait()
	defer hold.say("go")
	plain := s.command("")
	plain.Argv, plain.Profile.Network = []string{"/bin/true"}, sandbox.Network{}
	on := s.command("")
	on.Argv = plain.Argv
	also := joined.command("")
	also.Argv = plain.Argv
	for b.Loop() {
		var without, with, joining []time.Duration
		for range starts {
			without = append(without, timed(b, s.runner, plain))
			with = append(with, timed(b, s.runner, on))
			joining = append(joining, timed(b, joined.runner, also))
		}
		b.ReportMetric(ms(median(without)), "plain-ms")
		b.ReportMetric(ms(median(with)), "stage-ms")
		b.ReportMetric(ms(median(joining)), "joined-ms")
		b.ReportMetric(float64(median(with))/float64(median(without)), "stage/plain")
		b.ReportMetric(float64(median(joining))/float64(median(without)), "joined/plain")
	}
}

func timed(b *testing.B, r sandbox.Runner, c sandbox.Command) time.Duration {
	b.Helper()
	start := time.Now()
	exit, err := sandbox.Run(context.Background(), r, c)
	if err != nil || exit != (sandbox.Exit{}) {
		b.Fatalf("%+v %v", exit, err)
	}
	return time.Since(start)
}

func median(list []time.Duration) time.Duration {
	slices.Sort(list)
	return list[len(list)/2]
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// client is what this program does as a client: it connects some times, reads from each
// connection to its end, and prints the median time until the first byte, in microseconds, and
// the bytes that came in a second.
func client(times int, address string) int {
	var first []time.Duration
	var total int64
	began := time.Now()
	for range times {
		start := time.Now()
		c, err := net.Dial("tcp4", address)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		if _, err := io.ReadFull(c, make([]byte, 1)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		first = append(first, time.Since(start))
		n, err := io.Copy(io.Discard, struct{ io.Reader }{c})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		total += n
		c.Close()
	}
	fmt.Printf("%d %.0f\n", median(first).Microseconds(), float64(total)/time.Since(began).Seconds())
	return 0
}

// sender is a server that sends so many bytes on each connection.
func sender(b *testing.B, size int) string {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { l.Close() })
	block := make([]byte, min(size, 256<<10))
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				for left := size; left > 0; {
					n, err := c.Write(block[:min(left, len(block))])
					if err != nil {
						return
					}
					left -= n
				}
			}()
		}
	}()
	return l.Addr().String()
}

// measure runs the client in the network, or outside of it.
func (s *fixture) measure(b *testing.B, inside bool, times int, address string) (first, rate float64) {
	b.Helper()
	var out bytes.Buffer
	program := filepath.Join(s.root, "client")
	args := []string{program, "client", strconv.Itoa(times), address}
	if inside {
		c := s.command("")
		c.Argv, c.Stdout, c.Stderr = args, &out, &out
		if exit, err := sandbox.Run(b.Context(), s.runner, c); err != nil || exit != (sandbox.Exit{}) {
			b.Fatalf("%+v %v %s", exit, err, out.String())
		}
	} else {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Run(); err != nil {
			b.Fatal(err, out.String())
		}
	}
	if _, err := fmt.Sscan(strings.TrimSpace(out.String()), &first, &rate); err != nil {
		b.Fatal(err, out.String())
	}
	return first, rate
}

// installClient puts this program where commands find it, as client.
func (s *fixture) installClient(b testing.TB) {
	b.Helper()
	data, err := os.ReadFile(reexec.Self())
	if err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.root, "client"), data, 0o755); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkConnect measures the time until the first byte of a connection: directly, in a network
// by address, and in a network by name, with the question for the name each time.
func BenchmarkConnect(b *testing.B) {
	at := sender(b, 1)
	s := newFixture(b, map[string]string{"9.9.9.9:443": at, "host.example:443": at})
	s.installClient(b)
	const rounds, times = 5, 300
	for b.Loop() {
		var direct, address, name []float64
		for range rounds {
			for list, f := range map[*[]float64]func() (float64, float64){
				&direct:  func() (float64, float64) { return s.measure(b, false, times, at) },
				&address: func() (float64, float64) { return s.measure(b, true, times, "9.9.9.9:443") },
				&name:    func() (float64, float64) { return s.measure(b, true, times, "host.example:443") },
			} {
				first, _ := f()
				*list = append(*list, first)
			}
		}
		for _, list := range [][]float64{direct, address, name} {
			slices.Sort(list)
		}
		b.ReportMetric(direct[rounds/2], "direct-µs")
		b.ReportMetric(address[rounds/2], "stage-µs")
		b.ReportMetric(name[rounds/2], "name-µs")
	}
}

// BenchmarkThroughput measures how much comes through in a second: directly, and in a network.
func BenchmarkThroughput(b *testing.B) {
	at := sender(b, 1<<30)
	s := newFixture(b, map[string]string{"9.9.9.9:443": at, "host.example:443": at})
	s.installClient(b)
	for b.Loop() {
		var direct, staged []float64
		for range 3 {
			_, rate := s.measure(b, false, 1, at)
			direct = append(direct, rate/1e9)
			_, rate = s.measure(b, true, 1, "host.example:443")
			staged = append(staged, rate/1e9)
		}
		slices.Sort(direct)
		slices.Sort(staged)
		b.ReportMetric(direct[1], "direct-GB/s")
		b.ReportMetric(staged[1], "stage-GB/s")
		b.ReportMetric(staged[1]/direct[1], "stage/direct")
	}
}

// BenchmarkWho measures how long it takes to find out which program connects.
func BenchmarkWho(b *testing.B) {
	s := newFixture(b, nil, func(o *Options) {
		o.Dial = func(ctx context.Context, h Host) (net.Conn, error) { <-ctx.Done(); return nil, ctx.Err() }
	})
	p := s.background(b.Context(), `/usr/bin/python3 -c '
import socket
c = socket.create_connection(("9.9.9.9", 443)); print(c.getsockname()[0], c.getsockname()[1], flush=True); input()'; true`)
	defer p.Wait()
	defer p.say("end")
	from := netip.MustParseAddrPort(strings.Replace(p.line(), " ", ":", 1))
	to := netip.MustParseAddrPort("9.9.9.9:443")
	s.network.mu.Lock()
	g := s.network.namespace
	s.network.mu.Unlock()
	for b.Loop() {
		if _, name := g.who(from, to); name != "python3" {
			b.Fatal(name)
		}
	}
}
