//go:build all

package toolbox_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/cgi"
	"net/netip"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/network"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/store"
	"github.com/assent-dev/assent/tool/shell"
)

// A site is a network for tests: hosts by name, each of which is a server on this machine's
// loopback. Who dials one that is not there gets an error.
type site struct {
	t     *testing.T
	dir   string
	ca    string // a file with the certificate of the authority that all trust
	cert  tls.Certificate
	where map[string]string // host:port to the address of its server
	names []string          // of hosts, each of which has an address of its own

	mu     sync.Mutex
	dialed map[string]int
}

func newSite(t *testing.T, dir string) *site {
	s := &site{t: t, dir: dir, where: map[string]string{}, dialed: map[string]int{}}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		DNSNames: []string{"curls.test", "git.test", "tls.test"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	must(t, err)
	s.cert = tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
	s.ca = filepath.Join(dir, "ca.pem")
	must(t, os.WriteFile(s.ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o644))
	return s
}

// dialer opens connections on this network, and no others.
func (s *site) dialer() network.Dialer {
	return network.Dialer{
		Lookup: func(_ context.Context, name string) ([]netip.Addr, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			i := slices.Index(s.names, name)
			if i < 0 {
				i = len(s.names)
				s.names = append(s.names, name)
			}
			return []netip.Addr{netip.AddrFrom4([4]byte{93, 184, 1, byte(i)})}, nil
		},
		Dial: func(ctx context.Context, at netip.AddrPort) (net.Conn, error) {
			s.mu.Lock()
			host := at.String()
			if b := at.Addr().As4(); b[2] == 1 && int(b[3]) < len(s.names) {
				host = fmt.Sprintf("%s:%d", s.names[b[3]], at.Port())
			}
			s.dialed[host]++
			address := s.where[host]
			s.mu.Unlock()
			if address == "" {
				return nil, fmt.Errorf("no server stands for %s", host)
			}
			return (&net.Dialer{}).DialContext(ctx, "tcp", address)
		},
	}
}

func (s *site) dials(host string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dialed[host]
}

// serve gives a host a server of HTTP, with TLS where the port is 443.
func (s *site) serve(host string, h http.Handler) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(s.t, err)
	s.where[host] = l.Addr().String()
	if strings.HasSuffix(host, ":443") {
		l = tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{s.cert}})
	}
	server := &http.Server{Handler: h, ErrorLog: nil}
	go func() { _ = server.Serve(l) }()
	s.t.Cleanup(func() { server.Close() })
}

// speak gives a host a server that says a line to whoever connects.
func (s *site) speak(host, line string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(s.t, err)
	s.where[host] = l.Addr().String()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(c, line+"\n")
			c.Close()
		}
	}()
	s.t.Cleanup(func() { l.Close() })
}

// daemon gives a host a real program that listens on the port it is told.
func (s *site) daemon(host string, argv func(port string) []string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(s.t, err)
	address := l.Addr().String()
	_, port, _ := net.SplitHostPort(address)
	l.Close()
	args := argv(port)
	cmd := exec.Command(args[0], args[1:]...)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	must(s.t, cmd.Start())
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	s.t.Cleanup(func() { _ = cmd.Process.Kill(); <-ended })
	for began := time.Now(); ; {
		c, err := net.Dial("tcp", address)
		if err == nil {
			c.Close()
			break
		}
		select {
		case <-ended:
			s.t.Fatalf("%v has ended: %s", args, said.String())
		case <-time.After(20 * time.Millisecond):
		}
		if time.Since(began) > 20*time.Second {
			s.t.Fatalf("%v does not listen: %s", args, said.String())
		}
	}
	s.where[host] = address
}

func text(line string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, line) })
}

// A visitor is a tool that talks to a host: what it is called with, and a word of what it then
// prints or makes.
type visitor struct {
	name, host, command, says string
	prepare                   func(t *testing.T, s *site, w *world)
}

var visitors = []visitor{
	{name: "curl", host: "curl.test:80", command: "curl -sS --max-time 30 http://curl.test/", says: "hello curl"},
	{name: "wget", host: "wget.test:80", command: "wget -T 30 -t 1 -qO- http://wget.test/", says: "hello wget"},
	{name: "curl with TLS", host: "curls.test:443", command: "curl -sS --max-time 30 --cacert ca.pem https://curls.test/", says: "hello curls"},
	{name: "git over https", host: "git.test:443", command: "git -c http.sslCAInfo=$PWD/ca.pem clone -q https://git.test/repo.git out && cat out/file", says: "in the repository", prepare: gitServer},
	{
		name: "git over ssh", host: "gitssh.test:22", prepare: sshServer("gitssh.test:22"), says: "in the repository",
		command: "GIT_SSH_COMMAND=\"ssh -F none -i $PWD/key -o UserKnownHostsFile=$PWD/known -o StrictHostKeyChecking=accept-new\" git clone -q ssh://ME@gitssh.test/TOP/served/repo.git out && cat out/file",
	},
	{name: "npm", host: "npm.test:80", command: "npm install --no-audit --no-fund --registry http://npm.test/ leaf && cat node_modules/leaf/index.js", says: "hello from leaf", prepare: npmRegistry},
	{name: "node fetch", host: "node.test:80", command: "node -e \"fetch('http://node.test/').then(r => r.text()).then(t => console.log(t))\"", says: "hello node"},
	{name: "python urllib", host: "python.test:80", command: "python3 -c 'import urllib.request; print(urllib.request.urlopen(\"http://python.test/\").read())'", says: "hello python"},
	{
		name: "go mod download", host: "goproxy.test:80", prepare: goProxy, says: `"Sum": "h1:`,
		command: "cd mod && GOPROXY=http://goproxy.test GONOSUMDB=example.test GOFLAGS=-mod=mod GOTOOLCHAIN=local GOPATH=/tmp/go GOCACHE=/tmp/gocache GOBIN " +
			"GOROOT_go mod download -json example.test/leaf@v1.0.0",
	},
	{
		name: "apt-get", host: "apt.test:80", prepare: aptRepository, says: "_Packages",
		command: "mkdir -p apt/lists/partial apt/archives/partial && apt-get -o Dir::Etc=$PWD/apt/etc -o Dir::State::Lists=$PWD/apt/lists -o Dir::Cache=$PWD/apt -o Dir::Cache::archives=$PWD/apt/archives " +
			"-o APT::Sandbox::User=ME -o Acquire::Retries=0 -o Debug::NoLocking=1 update && grep -l leaf apt/lists/*Packages",
	},
	{name: "openssl s_client", host: "tls.test:443", command: "openssl s_client -connect tls.test:443 -CAfile ca.pem -verify_return_error -brief </dev/null 2>&1", says: "Verification: OK"},
	{name: "a raw socket", host: "raw.test:7001", command: "python3 -c 'import socket; print(socket.create_connection((\"raw.test\", 7001)).recv(100))'", says: "hello raw"},
	{name: "an address", host: "93.184.215.14:80", command: "curl -sS --max-time 30 http://93.184.215.14/", says: "hello address"},
	{name: "nc", host: "nc.test:7002", command: "nc -d nc.test 7002", says: "hello nc"},
	{name: "rsync", host: "rsync.test:873", command: "rsync -q rsync://rsync.test/served/file out && cat out", says: "over rsync", prepare: rsyncServer},
	{
		name: "ssh", host: "ssh.test:2222", prepare: sshServer("ssh.test:2222"), says: "over ssh",
		command: "ssh -F none -i key -o UserKnownHostsFile=$PWD/known -o StrictHostKeyChecking=accept-new -p 2222 ME@ssh.test echo over ssh",
	},
	{name: "java", host: "java.test:80", command: "java -XX:TieredStopAtLevel=1 Get.java", says: "hello java", prepare: func(_ *testing.T, _ *site, w *world) {
		w.write("proj/Get.java", `public class Get { public static void main(String[] a) throws Exception {
  System.out.println(new String(new java.net.URL("http://java.test/").openStream().readAllBytes())); } }`)
	}},
}

const networkPolicy = `
sandbox:
  paths: {.: {root: TOP/proj, mode: rw, approval: {read: allow, write: allow, delete: allow}}}
  network: true
  limits: {}
shell:
  default: {approval: ask}
`

// Each tool is judged by the name of the host that it talks to, whether it knows proxies or not:
// denied, asked and answered, allowed by a rule.
func TestToolsAreJudgedByName(t *testing.T) {
	for _, v := range visitors {
		if _, err := exec.LookPath("java"); v.name == "java" && err != nil {
			continue // it is too large to be installed for this
		}
		t.Run(v.name, func(t *testing.T) {
			for _, how := range []string{"denied", "asked", "allowed"} {
				t.Run(how, func(t *testing.T) { v.visit(t, how) })
			}
		})
	}
}

func (v visitor) visit(t *testing.T, how string) {
	conf := strings.Replace(networkPolicy, "  limits: {}\n", "", 1)
	switch how {
	case "denied":
		conf += "rules: ['deny connect(" + v.host + ")']\n"
	case "allowed":
		conf += "rules: ['allow connect(" + v.host + ")']\n"
	}
	w := newWorld(t, conf)
	s := newSite(t, w.top+"/proj")
	w.dialer = s.dialer()
	w.box = w.open(conf, nil)
	word := strings.TrimSuffix(strings.Split(v.host, ":")[0], ".test")
	switch {
	case v.prepare != nil:
		v.prepare(t, s, w)
	case strings.Contains(v.name, "address"):
		s.serve(v.host, text("hello address"))
	case strings.HasSuffix(v.host, ":80"), strings.HasSuffix(v.host, ":443"):
		s.serve(v.host, text("hello "+word))
	default:
		s.speak(v.host, "hello "+word)
	}
	if strings.HasSuffix(v.host, ":80") && v.prepare != nil && s.where[v.host] == "" {
		s.serve(v.host, text("hello "+word))
	}
	me, err := user.Current()
	must(t, err)
	command := strings.NewReplacer("ME", me.Username, "/TOP", w.top, "GOBIN GOROOT_go", goProgram(t)).Replace(v.command)
	person := newRecalling(t, w)
	r := w.call(policy.ModeAsk, person, "shell", map[string]any{"command": command, "timeout": 100})
	got, _ := r.Value.(shell.Result)
	seen := strings.Contains(got.Stdout+got.Stderr, v.says)
	switch {
	case how == "denied" && (seen || s.dials(v.host) > 0):
		t.Errorf("it reached the host: %s %v", r.Text, r.Err)
	case how != "denied" && !seen:
		t.Errorf("%s %v", r.Text, r.Err)
	case how == "asked" && !person.named(v.host):
		t.Errorf("nobody was asked about %s: %q", v.host, person.asked)
	case how == "allowed" && person.named(v.host):
		t.Errorf("somebody was asked about %s, which a rule allows: %q", v.host, person.asked)
	}
}

// recalling is a person who finds questions in the inbox of a store, as other processes do, says
// yes, and recalls what was asked.
type recalling struct {
	approval.BatchApprover
	mu    sync.Mutex
	asked []string
	acts  []string
}

func newRecalling(t *testing.T, w *world) *recalling {
	s, err := store.Open(t.Context(), w.top+"/inbox", store.Options{})
	must(t, err)
	p := &recalling{BatchApprover: approval.Queue(s)}
	w.requests = s
	ctx, cancel := context.WithCancel(t.Context())
	var reading sync.WaitGroup
	reading.Go(func() {
		for ctx.Err() == nil {
			open, err := s.Open(ctx, "")
			if err != nil {
				continue // it ends
			}
			for _, q := range open {
				p.answer(ctx, s, q.Request)
			}
			select {
			case <-time.After(20 * time.Millisecond):
			case <-ctx.Done():
			}
		}
	})
	t.Cleanup(func() { cancel(); reading.Wait(); s.Close() })
	return p
}

func (p *recalling) answer(ctx context.Context, s *store.Store, r *approval.Request) {
	d := r.Approve("")
	d.By, d.At = policy.Who{User: "ann", Via: policy.ViaInbox}, time.Now()
	if s.Answer(ctx, d) != nil {
		return // it was withdrawn
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, r.Summary)
	for _, i := range r.Open {
		p.acts = append(p.acts, r.Acts[i].String())
	}
}

// named reports whether somebody was asked about a host.
func (p *recalling) named(host string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Contains(strings.Join(p.acts, "\n"), "connect("+host+")")
}

func goProgram(t *testing.T) string {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	must(t, err)
	return strings.TrimSpace(string(out)) + "/bin/go"
}

// commit makes a bare repository with one file.
func bareRepository(t *testing.T, dir string) {
	work := t.TempDir()
	for _, args := range [][]string{
		{"init", "-q", "-b", "main", work}, {"-C", work, "add", "file"},
		{"-C", work, "-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-qm", "one"}, {"clone", "-q", "--bare", work, dir},
	} {
		if args[0] == "-C" && args[2] == "add" {
			must(t, os.WriteFile(work+"/file", []byte("in the repository\n"), 0o644))
		}
		if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %s", args, out)
		}
	}
}

func gitServer(t *testing.T, s *site, w *world) {
	bareRepository(t, w.top+"/served/repo.git")
	path, err := exec.Command("git", "--exec-path").Output()
	must(t, err)
	s.serve("git.test:443", &cgi.Handler{
		Path: strings.TrimSpace(string(path)) + "/git-http-backend", Env: []string{"GIT_PROJECT_ROOT=" + w.top + "/served", "GIT_HTTP_EXPORT_ALL=1"},
	})
}

func sshServer(host string) func(*testing.T, *site, *world) {
	return func(t *testing.T, s *site, w *world) {
		bareRepository(t, w.top+"/served/repo.git")
		dir := w.top + "/sshd"
		must(t, os.MkdirAll(dir, 0o700))
		for _, key := range []string{dir + "/host", w.top + "/proj/key"} {
			if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key).CombinedOutput(); err != nil {
				t.Fatalf("%s", out)
			}
		}
		must(t, os.Rename(w.top+"/proj/key.pub", dir+"/keys"))
		config := fmt.Sprintf("HostKey %s/host\nAuthorizedKeysFile %s/keys\nStrictModes no\nUsePAM no\nPidFile none\nPasswordAuthentication no\n", dir, dir)
		must(t, os.WriteFile(dir+"/config", []byte(config), 0o600))
		_ = os.MkdirAll("/run/sshd", 0o755) // only root needs it
		s.daemon(host, func(port string) []string {
			return []string{"/usr/sbin/sshd", "-D", "-e", "-f", dir + "/config", "-o", "ListenAddress=127.0.0.1:" + port}
		})
	}
}

func rsyncServer(t *testing.T, s *site, w *world) {
	w.write("served/file", "over rsync\n")
	w.write("rsyncd.conf", "use chroot = no\n[served]\npath = "+w.top+"/served\n")
	s.daemon("rsync.test:873", func(port string) []string {
		return []string{"rsync", "--daemon", "--no-detach", "--config", w.top + "/rsyncd.conf", "--address", "127.0.0.1", "--port", port}
	})
}

// npmRegistry has one package.
func npmRegistry(t *testing.T, s *site, w *world) {
	w.write("proj/package.json", `{"name":"top","version":"1.0.0","private":true}`)
	var ball bytes.Buffer
	gz := gzip.NewWriter(&ball)
	tw := tar.NewWriter(gz)
	for name, text := range map[string]string{"package/package.json": `{"name":"leaf","version":"1.0.0","main":"index.js"}`, "package/index.js": "// hello from leaf\n"} {
		must(t, tw.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text))}))
		_, err := io.WriteString(tw, text)
		must(t, err)
	}
	must(t, errors.Join(tw.Close(), gz.Close()))
	sum := sha512.Sum512(ball.Bytes())
	about, err := json.Marshal(map[string]any{
		"name": "leaf", "dist-tags": map[string]string{"latest": "1.0.0"},
		"versions": map[string]any{"1.0.0": map[string]any{"name": "leaf", "version": "1.0.0", "dist": map[string]string{
			"tarball": "http://npm.test/leaf/-/leaf-1.0.0.tgz", "integrity": "sha512-" + base64.StdEncoding.EncodeToString(sum[:]),
		}}},
	})
	must(t, err)
	mux := http.NewServeMux()
	mux.HandleFunc("/leaf", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(about)
	})
	mux.HandleFunc("/leaf/-/leaf-1.0.0.tgz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(ball.Bytes()) })
	s.serve("npm.test:80", mux)
}

// goProxy has one module.
func goProxy(t *testing.T, s *site, w *world) {
	w.write("proj/mod/go.mod", "module example.test/top\n\ngo 1.21\n")
	var archive bytes.Buffer
	z := zip.NewWriter(&archive)
	for name, text := range map[string]string{"go.mod": "module example.test/leaf\n", "leaf.go": "package leaf\n"} {
		f, err := z.Create("example.test/leaf@v1.0.0/" + name)
		must(t, err)
		_, err = io.WriteString(f, text)
		must(t, err)
	}
	must(t, z.Close())
	mux := http.NewServeMux()
	mux.Handle("/example.test/leaf/@v/v1.0.0.info", text(`{"Version":"v1.0.0"}`))
	mux.Handle("/example.test/leaf/@v/v1.0.0.mod", text("module example.test/leaf"))
	mux.HandleFunc("/example.test/leaf/@v/v1.0.0.zip", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(archive.Bytes()) })
	s.serve("goproxy.test:80", mux)
}

// aptRepository has one package, and is not signed.
func aptRepository(t *testing.T, s *site, w *world) {
	w.write("proj/apt/etc/sources.list", "deb [trusted=yes] http://apt.test/ ./\n")
	for _, dir := range []string{"apt.conf.d", "preferences.d", "trusted.gpg.d", "sources.list.d", "auth.conf.d"} {
		must(t, os.MkdirAll(w.top+"/proj/apt/etc/"+dir, 0o755))
	}
	packages := "Package: leaf\nVersion: 1\nArchitecture: all\nMaintainer: t <t@example.org>\nFilename: ./leaf.deb\nSize: 1\nSHA256: " + strings.Repeat("0", 64) + "\nDescription: a leaf\n"
	sum := sha256.Sum256([]byte(packages))
	release := fmt.Sprintf("Origin: test\nSuite: test\nDate: %s\nSHA256:\n %x %d Packages\n", time.Now().UTC().Format("Mon, 02 Jan 2006 15:04:05 MST"), sum, len(packages))
	mux := http.NewServeMux()
	mux.HandleFunc("/Release", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, release) })
	mux.HandleFunc("/./Release", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, release) })
	mux.HandleFunc("/Packages", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, packages) })
	s.serve("apt.test:80", mux)
}
