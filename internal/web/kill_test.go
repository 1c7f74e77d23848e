package web_test

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	mathrand "math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/assent-dev/assent/internal/inbox"
	"github.com/assent-dev/assent/internal/proof"
	"github.com/assent-dev/assent/internal/reexec"
	"github.com/assent-dev/assent/internal/rounds"
	"github.com/assent-dev/assent/internal/web"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/store"
)

func TestMain(m *testing.M) {
	reexec.Main(map[string]reexec.Role{"server": serverRole})
	os.Exit(m.Run())
}

// serverRole is a server in a process of its own, until it is killed. It prints links, one for each line
// that it reads.
func serverRole(args []string) error {
	ctx := context.Background()
	s, err := store.Open(ctx, args[0], store.Options{})
	if err != nil {
		return err
	}
	in, err := inbox.Open(ctx, s, inbox.Options{Owner: store.ThisProcess()})
	if err != nil {
		return err
	}
	server, err := web.Listen(ctx, 0, web.Config{Desk: desk{in}, Book: proof.NewBook(s), Session: in.Session(), Who: policy.Who{User: "ann"}})
	if err != nil {
		return err
	}
	for scan := bufio.NewScanner(os.Stdin); scan.Scan(); {
		fmt.Println(server.Link())
	}
	return nil
}

// A victim is a server that will be killed, and a browser that it let in.
type victim struct {
	cmd     *exec.Cmd
	url     string
	browser *browser
}

func newVictim(t *testing.T, h *house, folder string) *victim {
	t.Helper()
	v := &victim{cmd: reexec.Command("server", folder)}
	in, err := v.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := v.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	v.cmd.Stderr = os.Stderr
	if err := v.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = v.cmd.Process.Kill(); _ = v.cmd.Wait() })
	fmt.Fprintln(in)
	scan := bufio.NewScanner(out)
	if !scan.Scan() {
		t.Fatal("the server said nothing")
	}
	url, code, _ := strings.Cut(scan.Text(), "/#code=")
	private, public := newKey(t)
	body, _ := json.Marshal(map[string]any{"code": code, "public": public, "name": "test"})
	v.url, v.browser = url, &browser{h, proof.ID(public), private}
	if status, text := v.post("/api/v1/keys", body, http.Header{"Content-Type": {"application/json"}, "Origin": {url}}); status != 200 {
		t.Fatalf("letting in: %d %s", status, text)
	}
	return v
}

func (v *victim) post(path string, body []byte, header http.Header) (int, string) {
	r, err := http.NewRequest(http.MethodPost, v.url+path, strings.NewReader(string(body)))
	if err != nil {
		return -1, err.Error()
	}
	r.Header = header
	got, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return -1, err.Error()
	}
	defer got.Body.Close()
	var said map[string]any
	_ = json.NewDecoder(got.Body).Decode(&said)
	return got.StatusCode, fmt.Sprint(said)
}

// The server is killed at any moment of an answer. What it confirmed took effect; what it did not may have,
// and is never counted twice: the request waits or has ended, and the next server says which.
func TestKilledServer(t *testing.T) {
	folder := t.TempDir()
	s, err := store.Open(t.Context(), folder, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	in, err := inbox.Open(t.Context(), s, inbox.Options{Owner: store.ThisProcess()})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	h := &house{t: t, store: s, book: proof.NewBook(s), in: in}
	h.newGate()
	seed := rounds.Seed()
	random := mathrand.New(mathrand.NewPCG(seed, 1))
	confirmed, unknown := 0, 0
	for range rounds.N(12, 200) {
		v := newVictim(t, h, folder)
		r, outcome := h.asks("hello")
		body, _ := json.Marshal(v.browser.signed(r, r.Approve("")))
		path := "/api/v1/requests/" + r.ID + "/answer"
		header := http.Header{"Content-Type": {"application/json"}, "Idempotency-Key": {rand.Text()},
			"Authorization": {v.browser.authorize("POST", path, body, time.Now(), rand.Text())}}
		delay := time.Duration(random.IntN(6000)) * time.Microsecond
		time.AfterFunc(delay, func() { _ = v.cmd.Process.Kill() })
		status, _ := v.post(path, body, header)
		_ = v.cmd.Wait()
		switch {
		case status == 200:
			confirmed++
		case status != -1:
			t.Fatalf("seed %d: status %d", seed, status)
		default:
			unknown++
			// A person looks with a new server, and says no if it still waits.
			next := newVictim(t, h, folder)
			d := next.browser.signed(r, r.Deny("after all"))
			text, _ := json.Marshal(d)
			got, said := next.post(path, text, http.Header{"Content-Type": {"application/json"}, "Idempotency-Key": {rand.Text()},
				"Authorization": {next.browser.authorize("POST", path, text, time.Now(), rand.Text())}})
			if got != 200 && got != http.StatusConflict {
				t.Fatalf("seed %d: %d %s", seed, got, said)
			}
			_ = next.cmd.Process.Kill()
			_ = next.cmd.Wait()
		}
		o := <-outcome
		if status == 200 && !o.Runs() {
			t.Errorf("seed %d: it was confirmed and ended as %s: %v", seed, o.State, o.Err())
		}
		if o.State != policy.StateApproved && o.State != policy.StateDenied {
			t.Errorf("seed %d: %s", seed, o.State)
		}
	}
	t.Logf("%d confirmed, %d not", confirmed, unknown)
}
