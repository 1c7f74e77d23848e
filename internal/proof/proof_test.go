package proof_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/approval/approvaltest"
	"github.com/assent-dev/assent/internal/proof"
	"github.com/assent-dev/assent/policy"
)

// A signer is a browser with a key.
type signer struct {
	private *ecdsa.PrivateKey
	public  []byte
}

func newSigner(t testing.TB) signer {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	public, err := x509.MarshalPKIXPublicKey(&private.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	return signer{private, public}
}

func (s signer) sign(t testing.TB, message []byte) []byte {
	t.Helper()
	sum := sha256.Sum256(message)
	r, v, err := ecdsa.Sign(rand.Reader, s.private, sum[:])
	if err != nil {
		t.Fatal(err)
	}
	out := make([]byte, 64)
	r.FillBytes(out[:32])
	v.FillBytes(out[32:])
	return out
}

// signed returns the decision with the signature of the key.
func (s signer) signed(t *testing.T, r *approval.Request, d approval.Decision, until time.Time) approval.Decision {
	t.Helper()
	view, err := r.ViewDigest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	statement := d.States(view)
	statement.Expires, statement.Nonce = until.Unix(), "nonce-1"
	text, err := json.Marshal(statement)
	if err != nil {
		t.Fatal(err)
	}
	d.By = policy.Who{User: "ann", Via: policy.ViaBrowser}
	d.Proof = &approval.Proof{Credential: proof.ID(s.public), Public: s.public, Statement: string(text), Signature: s.sign(t, proof.Answer(string(text)))}
	return d
}

// A gate that knows one key, and a call that waits.
func gateFor(t *testing.T, s signer) (*approval.Batch, *approval.Request, *approvaltest.Clock) {
	t.Helper()
	clock := new(approvaltest.Clock)
	keys := func(_ context.Context, id string) (proof.Key, bool, error) {
		return proof.Key{Public: s.public, Session: "inbox", Created: clock.Now().Add(-time.Hour)}, id == proof.ID(s.public), nil
	}
	gate, err := approval.New(approval.Config{Preparer: approvaltest.NewTools("send"), Clock: clock.Now, NewID: approvaltest.IDs(),
		Rules: approval.NewMemory(0), Proofs: proof.Verifier(keys)})
	if err != nil {
		t.Fatal(err)
	}
	b := gate.Review(t.Context(), policy.Call{ID: "1", Tool: "send", Arguments: []byte(`{"to":"ann"}`)})
	return b, b.Pending()[0], clock
}

func TestAPersonsAnswerCounts(t *testing.T) {
	key := newSigner(t)
	for name, answer := range map[string]func(*approval.Request) approval.Decision{
		"yes":           func(r *approval.Request) approval.Decision { return r.Approve("go on") },
		"no":            func(r *approval.Request) approval.Decision { return r.Deny("") },
		"instead":       func(r *approval.Request) approval.Decision { return r.Respond("done by hand") },
		"for a session": func(r *approval.Request) approval.Decision { return r.Approve("").ForSession(policy.ReachExact) },
		"always":        func(r *approval.Request) approval.Decision { return r.Approve("").Always() },
	} {
		b, r, clock := gateFor(t, key)
		if err := b.Resolve(t.Context(), key.signed(t, r, answer(r), clock.Now().Add(time.Minute))); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Whatever is changed after it was signed, nothing runs.
func TestWhatIsNotSignedDoesNotCount(t *testing.T) {
	key, other := newSigner(t), newSigner(t)
	for name, change := range map[string]func(d *approval.Decision, r *approval.Request){
		"no proof":        func(d *approval.Decision, _ *approval.Request) { d.Proof = nil },
		"no signature":    func(d *approval.Decision, _ *approval.Request) { d.Proof.Signature = nil },
		"short signature": func(d *approval.Decision, _ *approval.Request) { d.Proof.Signature = d.Proof.Signature[:63] },
		"zero signature":  func(d *approval.Decision, _ *approval.Request) { d.Proof.Signature = make([]byte, 64) },
		"turned bit":      func(d *approval.Decision, _ *approval.Request) { d.Proof.Signature[5] ^= 1 },
		"unknown key":     func(d *approval.Decision, _ *approval.Request) { d.Proof.Credential = proof.ID(other.public) },
		"another's key": func(d *approval.Decision, _ *approval.Request) {
			d.Proof.Signature = other.sign(t, proof.Answer(d.Proof.Statement))
		},
		"call's signature": func(d *approval.Decision, _ *approval.Request) {
			d.Proof.Signature = key.sign(t, []byte("assent-call-v1\x00"+d.Proof.Statement))
		},
		"note":         func(d *approval.Decision, _ *approval.Request) { d.Note = "something else" },
		"arguments":    func(d *approval.Decision, _ *approval.Request) { d.Arguments = []byte(`{"to":"eve"}`) },
		"result":       func(d *approval.Decision, _ *approval.Request) { d.Answer, d.Result = approval.AnswerRespond, "forged" },
		"stop":         func(d *approval.Decision, _ *approval.Request) { d.Stop = true },
		"kept longer":  func(d *approval.Decision, _ *approval.Request) { d.Remember.Keep = approval.KeepAlways },
		"kept further": func(d *approval.Decision, _ *approval.Request) { *d = d.ForSession(policy.ReachTool) },
		"another rule": func(d *approval.Decision, _ *approval.Request) { *d = d.Always("allow send") },
		"yes for no": func(d *approval.Decision, r *approval.Request) {
			*d = key.signed(t, r, r.Deny(""), time.Unix(1<<40, 0))
			d.Answer = approval.AnswerApprove
		},
		"other version":          restated(key, func(s *approval.Statement) { s.Version = 2 }),
		"other tenant":           restated(key, func(s *approval.Statement) { s.Tenant = "x" }),
		"other request":          restated(key, func(s *approval.Statement) { s.Request = "x" }),
		"other fingerprint":      restated(key, func(s *approval.Statement) { s.Fingerprint[0] ^= 1 }),
		"other view":             restated(key, func(s *approval.Statement) { s.View[0] ^= 1 }),
		"other serial":           restated(key, func(s *approval.Statement) { s.Serial = 7 }),
		"expired":                restated(key, func(s *approval.Statement) { s.Expires = 1 }),
		"without nonce":          restated(key, func(s *approval.Statement) { s.Nonce = "" }),
		"with a long nonce":      restated(key, func(s *approval.Statement) { s.Nonce = strings.Repeat("n", 101) }),
		"with a further key":     retexted(key, func(s string) string { return strings.Replace(s, "{", `{"also":1,`, 1) }),
		"with a key twice":       retexted(key, func(s string) string { return strings.Replace(s, "{", `{"version":1,`, 1) }),
		"with a key in capitals": retexted(key, func(s string) string { return strings.Replace(s, `"version"`, `"Version"`, 1) }),
		"without a key":          retexted(key, func(s string) string { return strings.Replace(s, `"tenant":"",`, "", 1) }),
		"with more after it":     retexted(key, func(s string) string { return s + "{}" }),
		"as a list":              retexted(key, func(s string) string { return "[" + s + "]" }),
		"as null":                retexted(key, func(string) string { return "null" }),
	} {
		b, r, clock := gateFor(t, key)
		d := key.signed(t, r, r.Approve("fine"), clock.Now().Add(time.Minute))
		change(&d, r)
		err := b.Resolve(t.Context(), d)
		if err == nil || b.Outcome(0).Runs() {
			t.Errorf("%s: it would run (%v)", name, err)
		}
		if r := b.Pending(); len(r) != 1 {
			t.Errorf("%s: the question is gone", name)
		}
	}
}

// restated signs another statement under the same answer.
func restated(key signer, change func(*approval.Statement)) func(*approval.Decision, *approval.Request) {
	return func(d *approval.Decision, _ *approval.Request) {
		var s approval.Statement
		_ = json.Unmarshal([]byte(d.Proof.Statement), &s)
		change(&s)
		text, _ := json.Marshal(s)
		retexted(key, func(string) string { return string(text) })(d, nil)
	}
}

func retexted(key signer, change func(string) string) func(*approval.Decision, *approval.Request) {
	return func(d *approval.Decision, _ *approval.Request) {
		d.Proof.Statement = change(d.Proof.Statement)
		sum := sha256.Sum256(proof.Answer(d.Proof.Statement))
		r, v, err := ecdsa.Sign(rand.Reader, key.private, sum[:])
		if err != nil {
			panic(err)
		}
		r.FillBytes(d.Proof.Signature[:32])
		v.FillBytes(d.Proof.Signature[32:])
	}
}

// A gate that knows no keys refuses what carries a proof, and what would need one.
func TestAGateWithoutKeysRefuses(t *testing.T) {
	key := newSigner(t)
	clock := new(approvaltest.Clock)
	gate, err := approval.New(approval.Config{Preparer: approvaltest.NewTools("send"), Clock: clock.Now, NewID: approvaltest.IDs()})
	if err != nil {
		t.Fatal(err)
	}
	b := gate.Review(t.Context(), policy.Call{ID: "1", Tool: "send"})
	r := b.Pending()[0]
	d := key.signed(t, r, r.Approve(""), clock.Now().Add(time.Minute))
	if err := b.Resolve(t.Context(), d); !errors.Is(err, approval.ErrUnproven) {
		t.Errorf("with a proof: %v", err)
	}
	d.Proof = nil
	if err := b.Resolve(t.Context(), d); !errors.Is(err, approval.ErrUnproven) {
		t.Errorf("without one: %v", err)
	}
}

// A token of the API can deny, and nothing else.
func TestTheAPIOnlyDenies(t *testing.T) {
	key := newSigner(t)
	for name, answer := range map[string]func(*approval.Request) approval.Decision{
		"yes":     func(r *approval.Request) approval.Decision { return r.Approve("") },
		"instead": func(r *approval.Request) approval.Decision { return r.Respond("x") },
		"always":  func(r *approval.Request) approval.Decision { return r.Deny("").Always() },
	} {
		b, r, _ := gateFor(t, key)
		d := answer(r)
		d.By.Via = policy.ViaAPI
		if err := b.Resolve(t.Context(), d); !errors.Is(err, approval.ErrNotOffered) {
			t.Errorf("%s: %v", name, err)
		}
	}
	b, r, _ := gateFor(t, key)
	d := r.Deny("by a script")
	d.By.Via = policy.ViaAPI
	if err := b.Resolve(t.Context(), d); err != nil {
		t.Error(err)
	}
}

func TestKeys(t *testing.T) {
	key := newSigner(t)
	if _, err := proof.ParseKey(key.public); err != nil {
		t.Error(err)
	}
	p384, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	large, err := x509.MarshalPKIXPublicKey(&p384.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	off := append([]byte{}, key.public...)
	off[40] ^= 1 // most likely not on the curve
	for name, bad := range map[string][]byte{"nothing": nil, "P-384": large, "cut": key.public[:90], "longer": append(key.public, 0), "off the curve": off} {
		if _, err := proof.ParseKey(bad); err == nil {
			t.Errorf("%s is taken for a key", name)
		}
	}
}
