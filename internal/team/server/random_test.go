//go:build all && linux

package server_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/assent-dev/assent/internal/rounds"
	"github.com/assent-dev/assent/internal/team/wire"
	"github.com/assent-dev/assent/policy"
)

// Whatever a machine, the holder of the team's key or a stranger sends, the server says what is wrong with it. It does not
// fail, and does not have them try again.
func TestAttack_RandomCalls(t *testing.T) {
	f := newTeam(t)
	r := f.serve()
	g := r.join()
	if status, said := r.publish(f.bundle(1, g)); status != 200 {
		t.Fatalf("publish: %d %s", status, said)
	}
	good := f.question(g)
	bodies := map[string]any{
		"/gate/v1/requests":                        []wire.Signed{good},
		"/gate/v1/ended":                           []wire.Ended{{Request: "r", State: policy.StateDenied, Why: "x"}},
		"/gate/v1/audit":                           records("l", 0, make([]byte, sha256.Size), 2),
		"/gate/v1/join":                            wire.Join{Token: "x", Public: make([]byte, 32), Host: "h"},
		"/policy/v1/bundle":                        "x",
		"/gate/v1/wait?after=99&serial=7&serial=7": nil, "/gate/v1/bundle?x": nil, "/policy/v1/directory": nil,
		"/policy/v1/bundles?most=1": nil, "/policy/v1/records?since=2020-01-01T00:00:00Z": nil, "/audit/v1/proof?gate=g&seq=1&since=1": nil,
		"/audit/v1/proof?gate=&seq=0&since=9223372036854775807": nil, "/audit/v1/proof?gate=" + g.id + "&seq=9223372036854775807&since=0": nil,
	}
	var paths []string
	for path := range bodies {
		paths = append(paths, path)
	}
	odd := []string{"\\u0000", "\\ud800", "\xff", "null", "[]", "{}", "1e999", "-1", strings.Repeat("[", 2000),
		"\"", "", "true", "9223372036854775807", "00"}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	for range rounds.N(500, 10000) {
		path := paths[random.IntN(len(paths))]
		method, body := "GET", []byte(nil)
		if in := bodies[path]; in != nil {
			method = "POST"
			body, _ = json.Marshal(in)
			for range random.IntN(4) {
				i := random.IntN(len(body) + 1)
				end := min(len(body), i+random.IntN(20))
				body = append(append(bytes.Clone(body[:i]), odd[random.IntN(len(odd))]...), body[end:]...)
			}
			if random.IntN(4) == 0 && strings.HasSuffix(path, "requests") { // signed, whatever it is
				text := []byte(good.Request)
				i := random.IntN(len(text))
				text = append(append(bytes.Clone(text[:i]), odd[random.IntN(len(odd))]...), text[min(len(text), i+random.IntN(9)):]...)
				if json.Valid(text) {
					body, _ = wire.Encode([]wire.Signed{{Request: text, Signature: wire.SignRequest(g.key, text)}})
				}
			}
		}
		if head, query, ok := strings.Cut(path, "?"); ok && random.IntN(2) == 0 {
			i := random.IntN(len(query))
			path = head + "?" + query[:i] + []string{"%00", "-", "9", "%ff", "&", "=", "%", ";"}[random.IntN(8)] + query[i:]
		}
		who := random.IntN(4)
		status, _, said := r.call(method, path, gate{}, body, func(q *http.Request) {
			switch who {
			case 0, 1:
				wire.SignCall(q, body, g.id, g.key, time.Now())
			case 2:
				f.signedBy(body)(q)
			}
		})
		if status >= 500 {
			t.Errorf("%s %s %.400q: %d %.200s", method, path, body, status, said)
		}
	}
	if text := r.scrape(); !strings.Contains(text, "panics_total 0\n") || !strings.Contains(text, fmt.Sprintf("assent_body_bytes_free %d\n", 64<<20)) {
		t.Error(text)
	}
}
