package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"strings"
	"sync"
	"syscall"
	"time"
)

// makeCertificates makes an authority and a certificate for localhost, as PEM files.
func (s *stage) makeCertificates() {
	now := time.Now()
	authority := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "assent demo"}, NotBefore: now.Add(-time.Minute),
		NotAfter: now.AddDate(0, 2, 0), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	server := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "localhost"}, NotBefore: now.Add(-time.Minute),
		NotAfter: now.AddDate(0, 1, 0), DNSNames: []string{"localhost"}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	top, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(err)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(err)
	topDER, err := x509.CreateCertificate(rand.Reader, authority, authority, &top.PublicKey, top)
	must(err)
	serverDER, err := x509.CreateCertificate(rand.Reader, server, authority, &key.PublicKey, top)
	must(err)
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	must(err)
	block := func(kind string, der []byte) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
	}
	s.write(block("CERTIFICATE", topDER), "ca.pem")
	s.write(block("CERTIFICATE", serverDER), "serve", "tls.pem")
	s.write(block("PRIVATE KEY", keyDER), "serve", "tls.key")
	s.roots.AppendCertsFromPEM([]byte(block("CERTIFICATE", topDER)))
}

// A replica is one assent serve.
type replica struct {
	*command
	name, address string
}

// serve starts a replica and puts it behind the front. It says itself where it listens.
func (s *stage) serve(name string) {
	r := &replica{command: s.command(s.path("serve"), nil, "serve", "--config", s.path("serve", "serve.yaml")), name: name}
	logged := &lines{seen: make(chan string, 1)}
	r.Stderr = io.MultiWriter(logged, &r.errors)
	s.start(r.command)
	select {
	case r.address = <-logged.seen:
	case <-r.ended:
		fail("%s ended: %s", name, r.said())
	case <-time.After(patience):
		fail("%s does not start", name)
	}
	s.replicas = append(s.replicas, r)
	s.front.lead(s.replicas)
}

// stopServers ends all replicas, as an administrator does.
func (s *stage) stopServers() {
	for _, r := range s.replicas {
		must(r.Process.Signal(syscall.SIGTERM))
	}
	for _, r := range s.replicas {
		if status := s.finish(r.command); status != 0 {
			fail("%s ended with status %d: %s", r.name, status, tail(r.said()))
		}
	}
	s.replicas = nil
	s.front.lead(nil)
}

// lines finds in the log of a server where it listens.
type lines struct {
	rest []byte
	seen chan string
}

func (l *lines) Write(data []byte) (int, error) {
	l.rest = append(l.rest, data...)
	for {
		line, rest, whole := strings.Cut(string(l.rest), "\n")
		if !whole {
			return len(data), nil
		}
		l.rest = []byte(rest)
		var said struct{ Msg, Address string }
		if json.Unmarshal([]byte(line), &said) == nil && said.Msg == "serving" {
			l.seen <- said.Address
		}
	}
}

// A front leads each connection to one of the replicas, as a load balancer does. It sees only what TLS leaves to see.
type front struct {
	url      string
	listener net.Listener

	mu    sync.Mutex
	to    []string
	count int
}

func newFront() *front {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(err)
	f := &front{listener: l, url: fmt.Sprintf("https://localhost:%d", l.Addr().(*net.TCPAddr).Port)}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go f.pass(c)
		}
	}()
	return f
}

// lead has new connections led to these.
func (f *front) lead(to []*replica) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.to = nil
	for _, r := range to {
		f.to = append(f.to, r.address)
	}
}

// next is whose turn it is; empty if nobody is there.
func (f *front) next() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.to) == 0 {
		return ""
	}
	f.count++
	return f.to[f.count%len(f.to)]
}

func (f *front) pass(c net.Conn) {
	defer c.Close()
	to, err := net.Dial("tcp", f.next())
	if err != nil {
		return
	}
	defer to.Close()
	go func() {
		_, _ = io.Copy(to, c)
		_ = to.(*net.TCPConn).CloseWrite()
	}()
	_, _ = io.Copy(c, to)
}
