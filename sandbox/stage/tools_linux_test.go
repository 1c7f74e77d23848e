package stage

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// authority makes a certificate for a name, writes it to a file for clients to trust, and
// returns it.
func authority(t testing.TB, file string, name string) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o644); err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// greeter is a server that speaks first, and repeats the line that it hears.
func greeter(t testing.TB) string {
	return serveConns(t, func(c net.Conn) {
		fmt.Fprint(c, "SSH-2.0-greeter\r\n")
		line, _ := bufio.NewReader(c).ReadString('\n')
		fmt.Fprintf(c, "heard %s", line)
	})
}

// TestTools has each tool connect to a host that is not allowed, and then to the same host
// allowed. Each time the host is asked for by the name that the tool was given.
func TestTools(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	hello := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/info/refs") {
			fmt.Fprintf(w, "%040d\trefs/heads/main\n", 1)
			return
		}
		switch r.URL.Path {
		case "/leftpad":
			fmt.Fprint(w, `{"name": "leftpad", "dist-tags": {"latest": "7.8.9"}, "versions": {"7.8.9": {"name": "leftpad", "version": "7.8.9"}}}`)
			return
		case "/mod.example/x/@v/list":
			fmt.Fprint(w, "v7.8.9\n")
			return
		}
		fmt.Fprintf(w, "hello %s", strings.Split(r.Host, ":")[0])
	})
	web := httptest.NewServer(hello)
	defer web.Close()
	secure := httptest.NewUnstartedServer(hello)
	secure.TLS = &tls.Config{Certificates: []tls.Certificate{authority(t, filepath.Join(root, "ca.pem"), "good.example")}}
	secure.StartTLS()
	defer secure.Close()
	plain, tlsAt, first := web.Listener.Addr().String(), secure.Listener.Addr().String(), greeter(t)
	const python = `/usr/bin/python3 -c '
import socket, ssl, sys, urllib.request
`
	for _, tt := range []struct {
		tool, script string
		host, at     string
		want         string
	}{
		{"curl", "curl -sS http://good.example/", "good.example:80", plain, "hello good.example"},
		{"curl with capitals and a dot", "curl -sS http://GOOD.example./", "good.example:80", plain, "hello"},
		{"curl on another port", "curl -sS http://good.example:12345/", "good.example:12345", plain, "hello good.example"},
		{"curl over TLS", "curl -sS --cacert ca.pem https://good.example/", "good.example:443", tlsAt, "hello good.example"},
		{"curl that offers HTTP/2", "curl -sS --http2 http://good.example/", "good.example:80", plain, "hello good.example"},
		{"curl that sends much", "head -c 3000000 /dev/zero | curl -sS -T - http://good.example/", "good.example:80", plain, "hello good.example"},
		{"wget", "wget -t 1 -q -O - http://good.example/", "good.example:80", plain, "hello good.example"},
		{"wget over TLS", "wget -t 1 -q -O - --ca-certificate=ca.pem https://good.example/", "good.example:443", tlsAt, "hello good.example"},
		{"python3", python + `print(urllib.request.urlopen("http://good.example/").read())'`, "good.example:80", plain, "hello good.example"},
		{"python3 over TLS", python + `
print(urllib.request.urlopen("https://good.example/", context=ssl.create_default_context(cafile="ca.pem")).read())'`, "good.example:443", tlsAt, "hello good.example"},
		{"a raw socket", python + `
c = socket.create_connection(("good.example", 80)); c.sendall(b"GET / HTTP/1.1\r\nHost: good.example\r\nConnection: close\r\n\r\n")
print(c.makefile().read())'`, "good.example:80", plain, "hello good.example"},
		{"an address", "curl -sS http://203.0.113.7:8080/", "203.0.113.7:8080", plain, "hello 203.0.113.7"},
		{"an address over TLS", "curl -sSk https://203.0.113.7/", "203.0.113.7:443", tlsAt, "hello 203.0.113.7"},
		{"an address of IPv6", "curl -gsS 'http://[2001:db8::7]:8080/'", "[2001:db8::7]:8080", plain, "hello [2001"},
		{"openssl", `printf 'GET / HTTP/1.1\r\nHost: good.example\r\nConnection: close\r\n\r\n' |
			openssl s_client -quiet -CAfile ca.pem -verify_return_error -servername good.example -connect good.example:443`, "good.example:443", tlsAt, "hello good.example"},
		{"nc", `printf 'GET / HTTP/1.0\r\nHost: good.example\r\n\r\n' | nc -N good.example 80`, "good.example:80", plain, "hello good.example"},
		{"nc to a server that speaks first", `echo hi | nc -N good.example 2222`, "good.example:2222", first, "SSH-2.0-greeter\r\nheard hi"},
		{"ssh", `ssh -v -o StrictHostKeyChecking=no -o BatchMode=yes git@good.example`, "good.example:22", first, "remote software version greeter"},
		{"git", `git ls-remote http://good.example/x.git`, "good.example:80", plain, "refs/heads/main"},
		{"node", `node -e 'fetch("http://good.example/").then(r => r.text()).then(console.log, e => { console.log(e.cause); process.exit(1) })'`, "good.example:80", plain, "hello good.example"},
		{"git over ssh", `GIT_SSH_COMMAND="ssh -v -o StrictHostKeyChecking=no" git ls-remote ssh://git@good.example/x.git`, "good.example:22", first, "remote software version greeter"},
		{"npm", `npm view leftpad version --registry http://good.example/ --fetch-retries 0`, "good.example:80", plain, "7.8.9"},
		{"go", `GOPROXY=http://good.example GONOSUMDB=* GOFLAGS=-mod=mod GOTOOLCHAIN=local HOME=/tmp PATH=$PATH:/usr/local/go/bin go list -m -versions mod.example/x`, "good.example:80", plain, "v7.8.9"},
		{"apt-get", `mkdir -p apt/lists/partial apt/cache/archives/partial; echo 'deb [trusted=yes] http://good.example/debian stable main' > apt/list
			apt-get -o Dir::Etc::SourceList=$PWD/apt/list -o Dir::Etc::SourceParts=/dev/null -o Dir::State=$PWD/apt -o Dir::State::Lists=$PWD/apt/lists -o Dir::State::status=/dev/null \
			-o Dir::Cache=$PWD/apt/cache -o APT::Sandbox::User="" -o Acquire::Retries=0 -o Acquire::Languages=none --error-on=any update`, "good.example:80", plain, "igned file isn't valid"},
		{"java", `echo 'import java.net.*; class G { public static void main(String[] a) throws Exception {
			System.out.write(new URI("http://good.example/").toURL().openStream().readAllBytes()); System.out.flush(); } }' > G.java; java G.java`, "good.example:80", plain, "hello good.example"},
		{"java that offers HTTP/2", `echo 'import java.net.*; import java.net.http.*; class H { public static void main(String[] a) throws Exception {
			System.out.println(HttpClient.newHttpClient().send(HttpRequest.newBuilder(new URI("http://good.example/")).build(), HttpResponse.BodyHandlers.ofString()).body()); } }' > H.java; java H.java`,
			"good.example:80", plain, "hello good.example"},
		{"rsync", `timeout 5 rsync rsync://good.example/`, "good.example:873", first, "SSH-2.0-greeter"},
	} {
		t.Run(strings.ReplaceAll(tt.tool, " ", "-"), func(t *testing.T) {
			program := strings.Fields(tt.tool)[0]
			if name, ok := map[string]string{"a": "python3", "an": "curl", "go": "/usr/local/go/bin/go"}[program]; ok {
				program = name
			}
			if _, err := exec.LookPath(program); err != nil {
				t.Log(program + " is not installed")
				return
			}
			if _, err := user.LookupId(strconv.Itoa(os.Getuid())); err != nil && strings.Contains(tt.tool, "ssh") {
				t.Log("ssh runs only for users that have a name")
				return
			}
			s := newFixture(t, map[string]string{})
			ca, err := os.ReadFile(filepath.Join(root, "ca.pem"))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(s.root, "ca.pem"), ca, 0o644); err != nil {
				t.Fatal(err)
			}
			code, out := s.run(tt.script)
			asked, ended := s.take()
			if strings.Contains(out, tt.want) || code == 0 && !strings.HasPrefix(tt.tool, "nc") {
				t.Errorf("denied: status %d, %s", code, out)
			}
			if len(asked) != 1 || asked[0] != tt.host || len(ended) == 0 || ended[0].Err != errNotAllowed {
				t.Errorf("denied: asked for %q, not %q; ended: %v", asked, tt.host, ended)
			}
			s.mu.Lock()
			s.hosts[tt.host] = tt.at
			s.mu.Unlock()
			_, out = s.run(tt.script)
			asked, ended = s.take()
			if !strings.Contains(out, tt.want) {
				t.Errorf("allowed: %s", out)
			}
			if len(asked) != 1 || asked[0] != tt.host || len(ended) == 0 || ended[0].Received == 0 || ended[0].Err != nil {
				t.Fatalf("allowed: asked for %q, not %q; ended: %+v", asked, tt.host, ended)
			}
			if p := ended[0].Host.Program; p != "git-remote-http" && (p == "" || !strings.Contains(tt.script, p)) {
				t.Errorf("the program is %q", p)
			}
		})
	}
	if err := Available(helper()); err != nil {
		t.Error(err)
	}
	if err := Available([]string{"/bin/false"}); err == nil {
		t.Error("a helper that does nothing is one")
	}
}
