//go:build all

package people_test

import (
	"bytes"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/assent-dev/assent/internal/proof"
	"github.com/assent-dev/assent/internal/rounds"
)

// Whatever somebody who is signed in sends, the server answers, and says what is wrong with it: it neither fails nor blames
// the database.
func TestAttack_RandomCalls(t *testing.T) {
	x, g, _, bob, _ := three(t)
	tool, args, p := edit()
	out := g.Calls(tool, args, p)
	r := <-g.Asked
	signed := bob.touch(proof.Answer(bob.states(r.ID)))
	signed.Statement = bob.states(r.ID)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	paths := []string{"/me", "/requests", "/requests/" + r.ID, "/requests/" + r.ID + "/deny", "/history", "/people", "/bundle", "/votes",
		"/keys", "/keys/begin", "/keys/" + credentialOf(bob), "/invitations", "/openapi.json", "/openapi.yaml", "/page/request/" + r.ID,
		"/page/votes/" + r.ID, "/page/history", "/page/keys", "/signin", "/signin/callback"}
	bodies := []any{
		object{"votes": []object{{"request": r.ID, "proof": signed, "note": "x", "arguments": object{"a": 1}}}},
		object{"name": "n", "credential": object{"id": "x", "rawId": "eA", "type": "public-key",
			"response": object{"clientDataJSON": "e30", "attestationObject": "oA"}}, "invitation": "x"},
		object{"person": "p", "proof": signed}, object{"note": "no", "fingerprint": "x"}, object{},
	}
	odd := []string{"\\u0000", "\\ud800", "\xff", "null", "[]", "{}", "1e999", "-1", strings.Repeat("[", 2000),
		"\"", "\\", "", "true", strings.Repeat("9", 400)}
	for range rounds.N(400, 20000) {
		path := paths[random.IntN(len(paths))]
		if !strings.HasPrefix(path, "/page") && !strings.HasPrefix(path, "/signin") {
			path = "/api/v1" + path
		}
		for range random.IntN(3) {
			i := 1 + random.IntN(len(path))
			path = path[:i] + url.PathEscape(string(rune([]int{0, '/', '.', '%', ';', 0xe9, 'a', '\\'}[random.IntN(8)]))) + path[i:]
		}
		path += []string{"", "", "?after=1-%00", "?after=99999999999999999-", "?after=%ff",
			"?limit=-1", "?limit=1&limit=2", "?after=9223372036854775807-x", "?to=//x", "?code=%00&state=%00"}[random.IntN(10)]
		var body []byte
		method := []string{"GET", "POST", "DELETE", "HEAD", "PUT"}[random.IntN(5)]
		if method == "POST" {
			body, _ = json.Marshal(bodies[random.IntN(len(bodies))])
			for range random.IntN(4) {
				i := random.IntN(len(body) + 1)
				end := min(len(body), i+random.IntN(20))
				body = append(append(bytes.Clone(body[:i]), odd[random.IntN(len(odd))]...), body[end:]...)
			}
		}
		q, err := http.NewRequest(method, x.URL+path, bytes.NewReader(body))
		if err != nil {
			continue
		}
		q.Header.Set("Content-Type", "application/json")
		if random.IntN(8) == 0 {
			q.Header.Set("If-None-Match", "\"x")
			q.Header.Set("Accept-Encoding", "gzip;q=x")
			q.Header.Set("Accept", "application/cbor, */*")
		}
		client := *bob.client
		client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		answer, err := client.Do(q)
		if err != nil {
			t.Errorf("%s %s %.300q: %v", method, path, body, err)
			continue
		}
		said, _ := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
		answer.Body.Close()
		if answer.StatusCode >= 500 {
			t.Errorf("%s %s %.300q: %d %.200s", method, path, body, answer.StatusCode, said)
		}
		if to := answer.Header.Get("Location"); to != "" && !strings.HasPrefix(to, "/") && !strings.HasPrefix(to, x.Issuer.URL) ||
			strings.HasPrefix(to, "//") {
			t.Errorf("%s %s: it sends elsewhere, to %s", method, path, to)
		}
	}
	select {
	case o := <-out:
		if o.Runs() && o.Decision.Note != "x" {
			t.Errorf("%+v", o)
		}
	default:
	}
}
