//go:build teame2e && linux

package e2e

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/assent-dev/assent/internal/pgtest"
	"github.com/assent-dev/assent/internal/reexec"
	"github.com/assent-dev/assent/internal/team/bridgetest"
	"github.com/assent-dev/assent/internal/team/bundle"
	"github.com/assent-dev/assent/internal/team/db"
	"github.com/assent-dev/assent/internal/team/link"
	"github.com/assent-dev/assent/internal/team/member"
	"github.com/assent-dev/assent/internal/team/server"
	"github.com/assent-dev/assent/store"

	"github.com/assent-dev/assent/approval"
)

func TestMain(m *testing.M) {
	reexec.Main(map[string]reexec.Role{"gate": gateRole})
	os.Exit(m.Run())
}

const (
	tenant   = "acme"
	patience = 60 * time.Second // for a busy machine
	// serverIP is on the loopback interface of the server's namespace, and reached through the link of each machine.
	serverIP = "10.77.0.1"
)

// answerers are those who vote. The first of the team is the sponsor, whose vote does not count.
var answerers = strings.Fields("bob cleo dan eve fay gus hal ivy")

// A stage is a whole team.
type stage struct {
	*testing.T
	top     string
	program string // assent, with an administrator's file of its own
	name    string // of the namespaces
	pg      *pgtest.Server
	team    *bridgetest.Team
	signed  *bundle.Bundle // what is published
	db      *db.DB

	machines []*machine
	replicas []*process
	gates    []*gate

	mu      sync.Mutex
	taken   map[string]bool // calls that a gate has
	ends    map[string]said
	changed chan struct{} // closed and made anew when a call has ended
	settled map[string]time.Time
	told    map[string]time.Time // when the vote that settled was given
}

// A machine is a network namespace with a state folder.
type machine struct {
	n      int
	state  string
	runs   string // what ran
	saved  string // calls that wait
	url    string
	joined *member.Machine
	store  *store.Store
	bridge *process
}

// A process is a program in a namespace, which can be killed and started again.
type process struct {
	stage *stage
	make  func() *exec.Cmd
	ready func(line string) bool
	line  func(string)
	cmd   *exec.Cmd
	ended chan struct{}
	input *os.File
}

// newStage makes a team of three machines and two replicas. Setup is called before anything is written.
func newStage(t *testing.T, pg *pgtest.Options, setup func(*stage)) *stage {
	t.Helper()
	s := &stage{T: t, top: t.TempDir(), name: "assent-" + strings.ToLower(rand.Text()[:8]), taken: map[string]bool{}, ends: map[string]said{},
		changed: make(chan struct{}), settled: map[string]time.Time{}, told: map[string]time.Time{}}
	for i := range 3 {
		m := &machine{n: i + 1, url: fmt.Sprintf("https://%s:%d", serverIP, 8443+i%2), runs: filepath.Join(s.top, fmt.Sprint("runs", i+1)),
			saved: s.folder(fmt.Sprint("saved", i+1)), state: s.folder(fmt.Sprint("state", i+1))}
		s.machines = append(s.machines, m)
	}
	if setup != nil {
		setup(s)
	}
	s.build()
	s.network()
	s.pg = pgtest.Start(t, *pg)
	dsn := s.pg.DSN()
	s.write("dsn", dsn)
	var err error
	s.db, err = db.Open(context.Background(), dsn, tenant)
	s.must(err)
	t.Cleanup(s.db.Close)
	s.team = bridgetest.New(append([]string{"ann"}, answerers...)...)
	for i := range s.team.Bundle.People {
		p := &s.team.Bundle.People[i]
		row, err := s.db.AddPerson(t.Context(), "https://idp.example.org", p.Name, p.Name)
		s.must(err)
		p.ID = row.ID
	}
	s.team.Bundle.Deciders = []bundle.Decider{{Acts: []string{toolDeploy}, Need: []bundle.From{{From: "sre", Count: 2}},
		Not: []string{approval.NotSponsor}, Proof: approval.StrengthDevice, Expires: bundle.Duration(time.Hour)}}
	s.write("admin.yaml", s.team.Admin())
	s.certificates()
	_, err = server.MakeLogKey(filepath.Join(s.top, "log.key"), tenant)
	s.must(err)
	for i := range 2 {
		s.replica(8443 + i)
	}
	for _, m := range s.machines {
		s.join(m)
	}
	s.publish()
	for _, m := range s.machines {
		s.must(m.bridge.start())
		of := member.Load(m.state, *s.of(), time.Now)
		s.eventually("the bundle is on machine "+fmt.Sprint(m.n), func() bool { return of.Status().Serial > 0 && of.Status().Why == "" })
	}
	return s
}

func (s *stage) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func (s *stage) folder(name string) string {
	s.Helper()
	path := filepath.Join(s.top, name)
	s.must(os.MkdirAll(path, 0o700))
	return path
}

func (s *stage) write(name, text string) {
	s.Helper()
	s.must(os.WriteFile(filepath.Join(s.top, name), []byte(text), 0o600))
}

// eventually waits until f holds.
func (s *stage) eventually(what string, f func() bool) {
	s.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	over := time.After(patience)
	for !f() {
		select {
		case <-tick.C:
		case <-over:
			s.Fatalf("it never happened: %s", what)
		}
	}
}

// build makes the real program, whose administrator's file is the team's.
func (s *stage) build() {
	s.Helper()
	s.program = filepath.Join(s.folder("bin"), "assent")
	c := exec.Command("go", "build", "-buildvcs=false", "-ldflags", "-s -w -X github.com/assent-dev/assent/internal/setup.Administrator="+
		filepath.Join(s.top, "admin.yaml"), "-o", s.program, "../../../cmd/assent")
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := c.CombinedOutput(); err != nil {
		s.Fatalf("%v\n%s", err, out)
	}
}

// ip changes the network. It ends with the test, with all that was made.
func (s *stage) ip(args string) {
	s.Helper()
	if out, err := exec.Command("ip", strings.Fields(args)...).CombinedOutput(); err != nil {
		s.Fatalf("ip %s: %v: %s", args, err, out)
	}
}

func (s *stage) space(n int) string { return fmt.Sprintf("%s-%d", s.name, n) }

// network makes the namespaces: 0 is the server's, to which each machine has a link of its own. All addresses are inside.
func (s *stage) network() {
	s.Helper()
	for n := range 4 {
		s.ip("netns add " + s.space(n))
		s.Cleanup(func() { s.ip("netns delete " + s.space(n)) })
		s.ip("-n " + s.space(n) + " link set lo up")
	}
	s.ip("-n " + s.space(0) + " address add " + serverIP + "/32 dev lo")
	for _, m := range s.machines {
		here, there := s.space(m.n), s.space(0)
		s.ip(fmt.Sprintf("-n %s link add up type veth peer name m%d netns %s", here, m.n, there))
		s.ip(fmt.Sprintf("-n %s address add 10.77.%d.2/30 dev veth0", here, m.n))
		s.ip(fmt.Sprintf("-n %s address add 10.77.%d.1/30 dev m%d", there, m.n, m.n))
		s.ip(fmt.Sprintf("-n %s link set m%d up", there, m.n))
		s.ip(fmt.Sprintf("-n %s route add default via 10.77.%d.1", here, m.n))
	}
}

// link takes the link of a machine away, or brings it back. It is cut at the server's end, so that the machine
// hears nothing.
func (s *stage) link(m *machine, state string) {
	s.Helper()
	s.ip(fmt.Sprintf("-n %s link set m%d %s", s.space(0), m.n, state))
}

// inside is a command in a namespace.
func (s *stage) inside(n int, name string, args ...string) *exec.Cmd {
	c := exec.Command("nsenter", append([]string{"--net=/run/netns/" + s.space(n), name}, args...)...)
	c.Dir = s.top
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.top, "TMPDIR=" + s.top, "XDG_STATE_HOME=" + s.top, "XDG_CONFIG_HOME=" + s.top, "LANG=C.UTF-8"}
	return c
}

// certificates makes an authority, and with it the certificate of the server.
func (s *stage) certificates() {
	s.Helper()
	sign := func(of, by *x509.Certificate, key, byKey *ecdsa.PrivateKey) []byte {
		der, err := x509.CreateCertificate(rand.Reader, of, by, &key.PublicKey, byKey)
		s.must(err)
		return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	}
	root, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	s.must(err)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	s.must(err)
	from, until := time.Now().Add(-time.Hour), time.Now().Add(90*24*time.Hour)
	authority := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Acme"}, NotBefore: from, NotAfter: until,
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	leaf := &x509.Certificate{SerialNumber: big.NewInt(2), NotBefore: from, NotAfter: until, IPAddresses: []net.IP{net.ParseIP(serverIP)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	s.write("ca.pem", string(sign(authority, authority, root, root)))
	s.write("tls.pem", string(sign(leaf, authority, key, root)))
	private, err := x509.MarshalPKCS8PrivateKey(key)
	s.must(err)
	s.write("tls.key", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})))
}

// replica starts one more server.
func (s *stage) replica(port int) {
	s.Helper()
	file := fmt.Sprintf("serve%d.yaml", port)
	s.write(file, fmt.Sprintf("tenant: acme\nteam: Acme\nlisten: %[1]s:%[2]d\nurl: https://%[1]s:%[2]d\nmetrics: off\n"+
		"tls: {certificate: tls.pem, key: tls.key}\ndatabase: {dsn_file: dsn}\ntrust: %[3]s\nlog_key: log.key\n", serverIP, port, s.team.Trust))
	p := &process{stage: s, ready: func(line string) bool { return strings.Contains(line, `"msg":"serving"`) },
		line: func(line string) { s.Logf("replica %d: %s", port, line) },
		make: func() *exec.Cmd { return s.inside(0, s.program, "serve", "--config", filepath.Join(s.top, file)) }}
	s.must(p.start())
	s.replicas = append(s.replicas, p)
}

// join has a machine join through the network, as a person does.
func (s *stage) join(m *machine) {
	s.Helper()
	token, err := s.db.JoinToken(s.Context(), s.team.Bundle.People[0].ID, "test", time.Hour)
	s.must(err)
	if out, err := s.inside(m.n, s.program, "join", m.url, "--token", token, "--ca", filepath.Join(s.top, "ca.pem"), "--state", m.state).CombinedOutput(); err != nil {
		s.Fatalf("join: %v\n%s", err, out)
	}
	s.endStray(m)
	m.joined, err = member.LoadMachine(m.state)
	s.must(err)
	s.team.Machine(m.joined.Gate, m.joined.Private.Public().(ed25519.PublicKey))
	m.store, err = store.Open(context.Background(), m.state, store.Options{})
	s.must(err)
	s.Cleanup(func() { m.store.Close() })
	m.bridge = &process{stage: s, line: func(line string) { s.Logf("bridge %d: %s", m.n, line) },
		make: func() *exec.Cmd { return s.inside(m.n, s.program, "bridge", "--state", m.state) }}
}

// endStray ends the bridge that joining has started by itself: the test needs one that it can kill, and that ends with it.
func (s *stage) endStray(m *machine) {
	s.Helper()
	want := strings.Join([]string{s.program, "bridge", "--state", m.state, ""}, "\x00")
	s.eventually("the bridge that joining starts has ended", func() bool {
		found := false
		all, err := filepath.Glob("/proc/[0-9]*/cmdline")
		s.must(err)
		for _, file := range all {
			data, err := os.ReadFile(file)
			var pid int
			if _, bad := fmt.Sscanf(file, "/proc/%d/cmdline", &pid); err == nil && bad == nil && string(data) == want {
				found = true
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
		return !found && !link.Runs(m.state)
	})
}

// publish signs the bundle and gives it to the server.
func (s *stage) publish() {
	s.Helper()
	data := s.team.Sign()
	opened, err := bundle.Open(data, s.team.Trust)
	s.must(err)
	_, err = s.db.Publish(s.Context(), data, func(note []byte) (int64, error) {
		b, err := bundle.Open(note, s.team.Trust)
		if err != nil {
			return 0, err
		}
		return b.Serial, nil
	})
	s.must(err)
	s.signed = opened
}

// court is what the bundle says about who is who.
func (s *stage) court() db.Court {
	return db.Court{People: s.signed.Directory(time.Now()), Gate: func(id string) ed25519.PublicKey {
		if m := s.signed.Machine(id); m != nil {
			return m.Public
		}
		return nil
	}}
}

// start starts a process, and returns when it says that it is ready.
func (p *process) start() error {
	p.cmd = p.make()
	read, write, err := os.Pipe()
	if err != nil {
		return err
	}
	in, input, err := os.Pipe()
	if err != nil {
		return err
	}
	p.cmd.Stdin, p.cmd.Stderr, p.cmd.Stdout, p.input = in, write, write, input
	err = p.cmd.Start()
	write.Close()
	in.Close()
	if err != nil {
		return err
	}
	ready, ended, cmd := make(chan struct{}), make(chan struct{}), p.cmd
	p.ended = ended
	if p.ready == nil {
		close(ready)
	}
	go func() {
		lines, said := bufio.NewScanner(read), p.ready == nil
		for lines.Buffer(nil, 1<<20); lines.Scan(); {
			if !said && p.ready(lines.Text()) {
				said = true
				close(ready)
				continue
			}
			p.line(lines.Text())
		}
		read.Close()
		_ = cmd.Wait()
		close(ended)
	}()
	p.stage.Cleanup(func() { p.end(cmd, ended) })
	select {
	case <-ready:
		return nil
	case <-ended:
		return fmt.Errorf("%s ended before it was ready", p.cmd)
	case <-time.After(patience):
		return fmt.Errorf("%s is not ready", p.cmd)
	}
}

func (p *process) end(cmd *exec.Cmd, ended chan struct{}) {
	_ = cmd.Process.Kill()
	<-ended
	p.input.Close()
}

// kill ends it as a crash does.
func (p *process) kill() { p.end(p.cmd, p.ended) }

// A gate is a process on a machine that calls tools.
type gate struct {
	*process
	on   *machine
	name string
}

// gate starts one more gate.
func (s *stage) gate(m *machine, name string, saves bool, skew time.Duration) *gate {
	s.Helper()
	setup := gateSetup{Name: name, State: m.state, Trust: s.team.Trust, Runs: m.runs, Skew: skew}
	if saves {
		setup.Saved = m.saved
	}
	data, err := json.Marshal(setup)
	s.must(err)
	self, err := os.Executable()
	s.must(err)
	g := &gate{on: m, name: name, process: &process{stage: s, ready: func(line string) bool { return line == "ready" },
		line: func(line string) { s.heard(name, line) },
		make: func() *exec.Cmd { return s.inside(m.n, self, "gate", string(data)) }}}
	s.must(g.start())
	s.gates = append(s.gates, g)
	return g
}

// call has a gate call a tool.
func (g *gate) call(tool, id string) {
	if _, err := fmt.Fprintf(g.input, "%s %s\n", tool, id); err != nil {
		g.stage.Errorf("gate %s: %v", g.name, err)
	}
}

// heard notes how a call ended. A process that goes on after a crash may say it again.
func (s *stage) heard(name, line string) {
	if id, ok := strings.CutPrefix(line, taken); ok {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.taken[id] = true
		return
	}
	var end said
	if json.Unmarshal([]byte(line), &end) != nil || end.Call == "" {
		s.Logf("gate %s: %s", name, line)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.ends[end.Call]; !ok {
		s.ends[end.Call] = end
		close(s.changed)
		s.changed = make(chan struct{})
	}
}

// awaitEnds waits until all these calls have ended.
func (s *stage) awaitEnds(within time.Duration, calls ...string) {
	s.Helper()
	over := time.After(within)
	for {
		var open []string
		s.mu.Lock()
		for _, id := range calls {
			if _, ok := s.ends[id]; !ok {
				open = append(open, id)
			}
		}
		changed := s.changed
		s.mu.Unlock()
		if len(open) == 0 {
			return
		}
		select {
		case <-changed:
		case <-over:
			s.Fatalf("%d calls have no end, such as %s", len(open), s.where(open[0]))
		}
	}
}

// where says what is known of a call that has not ended.
func (s *stage) where(call string) string {
	out := call
	for _, m := range s.machines {
		if saved, _ := filepath.Glob(filepath.Join(m.saved, "*."+call+".json")); len(saved) > 0 {
			out += "; saved as " + filepath.Base(saved[0])
		}
		all, err := m.store.Open(context.Background(), "")
		if err != nil {
			out += fmt.Sprintf("; machine %d: %v", m.n, err)
		}
		for _, p := range all {
			if p.Request.Call.ID == call {
				row, err := s.db.Request(context.Background(), p.Request.ID)
				out += fmt.Sprintf("; open on machine %d as %s (%s); at the server %s, voted %v, %v", m.n, p.Request.ID, p.Problem, row.State, row.Voted, err)
			}
		}
	}
	return out
}
