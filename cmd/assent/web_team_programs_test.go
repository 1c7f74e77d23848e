//go:build webe2e

package main

import (
	"bufio"
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/assent-dev/assent/internal/pgtest"
	"github.com/assent-dev/assent/internal/rounds"
	"github.com/assent-dev/assent/internal/team/link"
	"github.com/assent-dev/assent/internal/team/testissuer"
)

// A wholeTeam has nothing of its own between the person and the call: a machine with the real programs, the real server
// with a sign-in service, and real commands of an administrator.
type wholeTeam struct {
	*teamScene
	url, trust string
}

func newWholeTeam(t *testing.T, people ...string) *wholeTeam {
	t.Helper()
	dsn := pgtest.Start(t).DSN()
	w := &wholeTeam{teamScene: newMachineScene(t)}
	var all []testissuer.Person
	for _, name := range people {
		all = append(all, testissuer.Person{Subject: strings.ToLower(name), Name: name})
	}
	issuer, err := testissuer.Start("127.0.0.1:0", all...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = issuer.Close() })
	w.certificate()
	w.put("serve/dsn", dsn)
	w.put("serve/oidc.secret", issuer.Secret)
	w.trust = w.administers("policy", "key", "acme", "--file", w.file("serve/acme.key"))
	w.administers("serve", "key", w.file("serve/log.key"), "--tenant", "acme")
	address := freeAddress(t)
	w.url = strings.Replace("https://"+address, "127.0.0.1", "localhost", 1)
	// A passkey would wait a day before it counts, and the test has no day.
	w.put("serve/serve.yaml", fmt.Sprintf("tenant: acme\nteam: Acme\nlisten: %s\nurl: %s\n"+
		"tls: {certificate: tls.pem, key: tls.key}\ndatabase: {dsn_file: dsn}\n"+
		"trust: %s\nlog_key: log.key\nmetrics: \"off\"\npasskey_wait: 0s\n"+
		"oidc: {issuer: %q, client_id: %s, client_secret_file: oidc.secret}\n", address, w.url, w.trust, issuer.URL, issuer.Client))
	w.serves()
	for _, p := range all {
		w.admin("people", "add", p.Subject, "--name", p.Name, "--issuer", issuer.URL, "--subject", p.Subject)
		w.admin("groups", "add", "sre", p.Subject)
	}
	return w
}

func (w *wholeTeam) file(name string) string { return filepath.Join(w.top, name) }

// certificate makes the server's certificate, which is its own authority.
func (w *wholeTeam) certificate() {
	w.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		w.Fatal(err)
	}
	now := time.Now()
	c := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: now.Add(-time.Hour), NotAfter: now.AddDate(0, 3, 0),
		DNSNames: []string{"localhost"}, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		w.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		w.Fatal(err)
	}
	w.put("serve/tls.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	w.put("serve/tls.key", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})))
}

// beside is a command of the computer of the server, whose home is not that of the machine.
func (w *wholeTeam) beside(c *exec.Cmd) *exec.Cmd {
	home := w.file("serve")
	c.Dir = home
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + w.top, "LANG=C.UTF-8",
		"XDG_STATE_HOME=" + filepath.Join(home, "state"), "XDG_CONFIG_HOME=" + filepath.Join(home, "config")}
	return c
}

// administers runs a command beside the server, and returns what it prints.
func (w *wholeTeam) administers(args ...string) string {
	w.Helper()
	c := w.beside(w.command(args...))
	var problems bytes.Buffer
	c.Stderr = &problems
	out, err := c.Output()
	if err != nil {
		w.Fatalf("assent %s: %v\n%s%s", strings.Join(args, " "), err, out, &problems)
	}
	return strings.TrimSpace(string(out))
}

// admin is administers with the server's file.
func (w *wholeTeam) admin(args ...string) string {
	w.Helper()
	return w.administers(append(args, "--config", w.file("serve/serve.yaml"))...)
}

// serves starts the server, which ends with the test as an administrator ends it.
func (w *wholeTeam) serves() {
	w.Helper()
	c := w.beside(exec.Command(w.program, "serve", "--config", w.file("serve/serve.yaml")))
	log, err := c.StderrPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		w.Fatal(err)
	}
	serving, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for lines := bufio.NewScanner(log); lines.Scan(); {
			w.Logf("server: %s", lines.Text())
			if strings.Contains(lines.Text(), `"msg":"serving"`) {
				close(serving)
			}
		}
	}()
	w.Cleanup(func() {
		_ = c.Process.Signal(syscall.SIGTERM)
		<-ended
		if err := c.Wait(); err != nil {
			w.Errorf("the server ended with %v", err)
		}
	})
	select {
	case <-serving:
	case <-ended:
		w.Fatal("the server ended")
	case <-time.After(patience):
		w.Fatal("the server does not start")
	}
}

// joins makes the machine a member, which starts assent bridge there.
func (w *wholeTeam) joins(sponsor string) {
	w.Helper()
	w.must("trust", "--yes", ".")
	w.must("join", w.url, "--ca", w.file("serve/tls.pem"), "--token", w.admin("gates", "invite", "--sponsor", sponsor))
	w.put("admin/policy.yaml", "version: 1\nteam:\n  name: acme\n  trust: "+w.trust+"\n")
	for over := time.After(patience); !link.Runs(w.state); {
		select {
		case <-over:
			w.Fatal("joining has started no bridge")
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// publishes signs a policy, and waits until the machine has it.
func (w *wholeTeam) publishes(editor, policy string) {
	w.Helper()
	w.put("serve/team.yaml", policy)
	w.admin("policy", "publish", w.file("serve/team.yaml"), "--key", w.file("serve/acme.key"), "--editor", editor, "--yes")
	w.waitStatus("connected", "policy 1, confirmed")
}

// S60 with all the real programs: an agent's call on a machine, the machine's bridge, the server with PostgreSQL and a sign-in
// service, and a browser as a phone.
func TestS60_WithAllThePrograms(t *testing.T) {
	const before, after = "# Today\n\n- call plumber\n", "# Today\n\n- call the plumber\n- buy bread\n"
	w := newWholeTeam(t, "Ann", "Bob")
	w.put("project/notes/today.md", before)
	bob := phoneAt(t, w.url, "Bob").enrolsWith(w.admin("people", "invite", "bob"))
	w.joins("ann")
	w.publishes("ann", "version: 1\ndeciders:\n  - acts: [\"write_file(notes/**)\"]\n    need: [{from: sre, count: 1}]\n"+
		"    not: [sponsor]\n    proof: passkey\n    expires: 1h\nmax_age: 24h\nstale: ask\n")
	wait := w.starts(w.command("call", "write_file", fmt.Sprintf(`{"path":"notes/today.md","content":%q}`, after)), "")
	bob.open("/")
	bob.sees("notes/today.md", "1 of sre, not Ann")
	js[bool](bob.page, "(document.querySelector('.items a').click(), true)") // the list may still move under a pointer
	bob.sees("The change", "buy bread", "2 lines added", "of Ann on")
	bob.reads()
	for _, problem := range js[[]string](bob.page, problemsJS) {
		t.Error(problem)
	}
	if text, err := os.ReadFile(w.path("notes/today.md")); err != nil || string(text) != before {
		t.Fatalf("before anybody agreed the file has %q, %v", text, err)
	}
	began := time.Now()
	bob.do(chromedp.Click("[data-answer=approve]"))
	said := wait()
	text, err := os.ReadFile(w.path("notes/today.md"))
	if err != nil || string(text) != after {
		t.Fatalf("the file has %q, %v; the call says\n%s", text, err, said)
	}
	info, err := os.Stat(w.path("notes/today.md"))
	if err != nil {
		t.Fatal(err)
	}
	took := info.ModTime().Sub(began)
	t.Logf("from the tap to the file that is written: %v; until the program has ended: %v", took, time.Since(began))
	if most := time.Duration(rounds.N(5, 1)) * time.Second; took > most { // on every change other tests run beside it
		t.Errorf("the call ran after %v", took)
	}
	bob.sees("Settled: approved")
	bob.visit("/history")
	bob.sees("approved", "Bob")
	w.must("leave")
}
