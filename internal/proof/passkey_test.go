package proof_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/descope/virtualwebauthn"
	"github.com/go-webauthn/webauthn/protocol"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/proof"
	"github.com/assent-dev/assent/policy"
)

const statement = `{"version":1,"request":"r"}`

// A passkey is a credential and what holds its private half: a browser with an authenticator.
type passkey struct {
	proof.Credential
	private *ecdsa.PrivateKey
	virtual virtualwebauthn.Credential
	rp      virtualwebauthn.RelyingParty
	auth    virtualwebauthn.Authenticator
}

func newPasskey(t testing.TB, rp, origin string) *passkey {
	t.Helper()
	k := &passkey{virtual: virtualwebauthn.NewCredential(virtualwebauthn.KeyTypeEC2),
		rp: virtualwebauthn.RelyingParty{ID: rp, Name: "assent", Origin: origin}, auth: virtualwebauthn.NewAuthenticator()}
	key, err := x509.ParsePKCS8PrivateKey(k.virtual.Key.Data)
	if err != nil {
		t.Fatal(err)
	}
	k.private = key.(*ecdsa.PrivateKey)
	if point, err := k.private.PublicKey.Bytes(); err != nil {
		t.Fatal(err)
	} else if point[1] == 0 || point[33] == 0 {
		return newPasskey(t, rp, origin) // the authenticator writes these keys too short
	}
	public, err := x509.MarshalPKIXPublicKey(&k.private.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	k.Credential = proof.Credential{ID: base64.RawURLEncoding.EncodeToString(k.virtual.ID), Person: "p_ann", Kind: proof.KindPasskey,
		Public: public, RP: rp, Since: time.Unix(1, 0)}
	return k
}

// signs has the virtual authenticator sign a message.
func (k *passkey) signs(t testing.TB, message []byte) approval.Proof {
	t.Helper()
	challenge := sha256.Sum256(message)
	made := virtualwebauthn.CreateAssertionResponse(k.rp, k.auth, k.virtual, virtualwebauthn.AssertionOptions{Challenge: challenge[:]})
	var out struct {
		Response struct {
			AuthenticatorData, ClientDataJSON, Signature string
		}
	}
	if err := json.Unmarshal([]byte(made), &out); err != nil {
		t.Fatal(err)
	}
	decode := func(s string) []byte {
		b, err := base64.RawURLEncoding.DecodeString(s)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	return approval.Proof{Credential: k.ID, Public: k.Public, Statement: statement, Signature: decode(out.Response.Signature),
		Authenticator: decode(out.Response.AuthenticatorData), Client: decode(out.Response.ClientDataJSON)}
}

// resign signs other data with the same key.
func (k *passkey) resign(t testing.TB, p approval.Proof) approval.Proof {
	t.Helper()
	client := sha256.Sum256(p.Client)
	sum := sha256.Sum256(slices.Concat(p.Authenticator, client[:]))
	var err error
	if p.Signature, err = ecdsa.SignASN1(rand.Reader, k.private, sum[:]); err != nil {
		t.Fatal(err)
	}
	return p
}

// oracle is what go-webauthn says about a proof.
func (k *passkey) oracle(t testing.TB, p approval.Proof) error {
	t.Helper()
	encode := base64.RawURLEncoding.EncodeToString
	data, err := json.Marshal(map[string]any{"id": k.ID, "rawId": k.ID, "type": "public-key", "response": map[string]any{
		"authenticatorData": encode(p.Authenticator), "clientDataJSON": encode(p.Client), "signature": encode(p.Signature)}})
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := protocol.ParseCredentialRequestResponseBytes(data)
	if err != nil {
		return err
	}
	challenge := sha256.Sum256(proof.Answer(p.Statement))
	return parsed.Verify(encode(challenge[:]), k.RP, "", []string{k.rp.Origin}, nil, nil, protocol.TopOriginExplicitVerificationMode,
		false, true, true, k.virtual.Key.AttestationData(), protocol.SignaturePolicy{})
}

func TestAPasskeySignsAnAnswer(t *testing.T) {
	for origin, rp := range map[string]string{
		"https://assent.example.org": "assent.example.org", "https://assent.example.org:8443": "assent.example.org",
		"http://localhost:7777": "localhost", "https://localhost": "localhost",
	} {
		k := newPasskey(t, rp, origin)
		p := k.signs(t, proof.Answer(statement))
		strength, err := proof.Verify(k.Credential, p)
		if err != nil || strength != approval.StrengthPasskey {
			t.Errorf("%s: %s %v", origin, strength, err)
		}
		if err := k.oracle(t, p); err != nil {
			t.Errorf("%s: go-webauthn says %v", origin, err)
		}
	}
}

func TestWhatAPasskeyDidNotSign(t *testing.T) {
	const rp, origin = "assent.example.org", "https://assent.example.org"
	client := func(change func(map[string]any)) func(*passkey, *approval.Proof) {
		return func(k *passkey, p *approval.Proof) {
			var said map[string]any
			_ = json.Unmarshal(p.Client, &said)
			change(said)
			p.Client, _ = json.Marshal(said)
			*p = k.resign(t, *p)
		}
	}
	flags := func(f byte) func(*passkey, *approval.Proof) {
		return func(k *passkey, p *approval.Proof) {
			p.Authenticator[32] = f
			*p = k.resign(t, *p)
		}
	}
	for name, change := range map[string]func(*passkey, *approval.Proof){
		"another statement":              func(_ *passkey, p *approval.Proof) { p.Statement += " " },
		"another credential":             func(_ *passkey, p *approval.Proof) { p.Credential += "x" },
		"another key":                    func(_ *passkey, p *approval.Proof) { p.Public = newSigner(t).public },
		"revoked":                        func(k *passkey, _ *approval.Proof) { k.Revoked = time.Unix(2, 0) },
		"another host":                   func(k *passkey, p *approval.Proof) { p.Authenticator[0] ^= 1; *p = k.resign(t, *p) },
		"not touched":                    flags(0x04),
		"not verified":                   flags(0x01),
		"a new key":                      flags(0x45),
		"an extension that is not there": flags(0x85),
		"backed up, and cannot be":       flags(0x15),
		"more data": func(k *passkey, p *approval.Proof) {
			p.Authenticator = append(p.Authenticator, 0)
			*p = k.resign(t, *p)
		},
		"less data":                     func(k *passkey, p *approval.Proof) { p.Authenticator = p.Authenticator[:36]; *p = k.resign(t, *p) },
		"another kind":                  client(func(m map[string]any) { m["type"] = "webauthn.create" }),
		"no kind":                       client(func(m map[string]any) { delete(m, "type") }),
		"a kind that is no text":        client(func(m map[string]any) { m["type"] = nil }),
		"another challenge":             client(func(m map[string]any) { m["challenge"] = "x" }),
		"padded challenge":              client(func(m map[string]any) { m["challenge"] = m["challenge"].(string) + "=" }),
		"another origin":                client(func(m map[string]any) { m["origin"] = "https://evil.example.org" }),
		"a longer origin":               client(func(m map[string]any) { m["origin"] = origin + ".evil.org" }),
		"an origin with a path":         client(func(m map[string]any) { m["origin"] = origin + "/" }),
		"an origin with a strange port": client(func(m map[string]any) { m["origin"] = origin + ":0443" }),
		"without TLS":                   client(func(m map[string]any) { m["origin"] = "http://" + rp }),
		"a frame":                       client(func(m map[string]any) { m["crossOrigin"] = true }),
		"a page around it":              client(func(m map[string]any) { m["topOrigin"] = origin }),
		"a kind in capitals":            client(func(m map[string]any) { m["Type"] = m["type"]; delete(m, "type") }),
		"a key twice": func(k *passkey, p *approval.Proof) {
			p.Client = []byte(strings.Replace(string(p.Client), "{", `{"type":"webauthn.create",`, 1))
			*p = k.resign(t, *p)
		},
		"no signature": func(_ *passkey, p *approval.Proof) { p.Signature = nil },
		"a signature of 64 bytes": func(k *passkey, p *approval.Proof) {
			p.Signature = signer{k.private, k.Public}.sign(t, proof.Answer(statement))
		},
		"a batch without it": func(_ *passkey, p *approval.Proof) { p.Batch = []policy.Digest{{1}} },
		"an empty batch":     func(_ *passkey, p *approval.Proof) { p.Batch = []policy.Digest{} },
		"of a device":        func(k *passkey, _ *approval.Proof) { k.Kind = proof.KindDevice },
		"for no host":        func(k *passkey, _ *approval.Proof) { k.RP = "" },
		"of no kind":         func(k *passkey, _ *approval.Proof) { k.Kind = "" },
	} {
		k := newPasskey(t, rp, origin)
		p := k.signs(t, proof.Answer(statement))
		change(k, &p)
		if strength, err := proof.Verify(k.Credential, p); err == nil || strength != "" {
			t.Errorf("%s is accepted as a %q (%v)", name, strength, err)
		}
	}
	// What browsers may add does not matter.
	k := newPasskey(t, rp, origin)
	p := k.signs(t, proof.Answer(statement))
	client(func(m map[string]any) { m["crossOrigin"] = false; m["other_keys_can_be_added_here"] = "x" })(k, &p)
	if _, err := proof.Verify(k.Credential, p); err != nil || k.oracle(t, p) != nil {
		t.Error(err, k.oracle(t, p))
	}
}

// What go-webauthn refuses is refused here, whatever is changed and then signed again.
func TestNoMoreThanGoWebauthn(t *testing.T) {
	k := newPasskey(t, "localhost", "https://localhost")
	good := k.signs(t, proof.Answer(statement))
	accepted := 0
	for i := range good.Authenticator {
		for bit := range 8 {
			p := good
			p.Authenticator = bytes.Clone(good.Authenticator)
			p.Authenticator[i] ^= 1 << bit
			p = k.resign(t, p)
			_, ours := proof.Verify(k.Credential, p)
			if theirs := k.oracle(t, p); ours == nil && theirs != nil {
				t.Errorf("byte %d, bit %d: go-webauthn says %v", i, bit, theirs)
			} else if ours == nil {
				accepted++
			}
		}
	}
	for i := range good.Client {
		p := good
		p.Client = bytes.Clone(good.Client)
		p.Client[i] ^= 1
		p = k.resign(t, p)
		if _, err := proof.Verify(k.Credential, p); err == nil && k.oracle(t, p) != nil {
			t.Errorf("byte %d of the browser's data: %s", i, p.Client)
		}
	}
	if accepted < 32 { // the counter and what is not in use yet
		t.Errorf("only %d are accepted", accepted)
	}
}

func TestOneTouchForABatch(t *testing.T) {
	k := newPasskey(t, "localhost", "http://localhost:1")
	batch := []policy.Digest{policy.DigestOf([]byte("a")), policy.DigestOf([]byte(statement)), policy.DigestOf([]byte("b"))}
	p := k.signs(t, proof.Batch(batch))
	p.Batch = batch
	if _, err := proof.Verify(k.Credential, p); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(*approval.Proof){
		"another order": func(p *approval.Proof) { slices.Reverse(p.Batch) },
		"one less":      func(p *approval.Proof) { p.Batch = p.Batch[:2] },
		"not in it":     func(p *approval.Proof) { p.Statement = "c" },
		"twice":         func(p *approval.Proof) { p.Batch = append(p.Batch, p.Batch[1]) },
		"no batch":      func(p *approval.Proof) { p.Batch = nil },
	} {
		q := p
		q.Batch = slices.Clone(batch)
		change(&q)
		if _, err := proof.Verify(k.Credential, q); err == nil {
			t.Errorf("%s: it is accepted", name)
		}
	}
	// One who is in it twice was not shown each once.
	double := append(slices.Clone(batch), batch[1])
	p = k.signs(t, proof.Batch(double))
	p.Batch = double
	if _, err := proof.Verify(k.Credential, p); err == nil {
		t.Error("a statement that is there twice is accepted")
	}
}

func TestTheKeyOfADevice(t *testing.T) {
	s := newSigner(t)
	c := proof.Credential{ID: proof.ID(s.public), Kind: proof.KindDevice, Public: s.public, Since: time.Unix(100, 0)}
	p := approval.Proof{Credential: c.ID, Statement: statement, Signature: s.sign(t, proof.Answer(statement))}
	if strength, err := proof.Verify(c, p); err != nil || strength != approval.StrengthDevice {
		t.Errorf("%s %v", strength, err)
	}
	p.Client = []byte("{}")
	if _, err := proof.Verify(c, p); err == nil {
		t.Error("a device with the data of a browser is accepted")
	}
	c.Kind, c.RP = proof.KindPasskey, "localhost"
	p.Client = nil
	if _, err := proof.Verify(c, p); err == nil {
		t.Error("the key of a device passes for a passkey")
	}
	if c.Holds(time.Unix(99, 0)) || !c.Holds(time.Unix(100, 0)) {
		t.Error("it holds too early, or never")
	}
}

// Nothing that is changed in a proof verifies.
func FuzzChangedProof(f *testing.F) {
	k := newPasskey(f, "localhost", "http://localhost:1")
	good := k.signs(f, proof.Answer(statement))
	good.Public = nil
	s := newSigner(f)
	device := proof.Credential{ID: proof.ID(s.public), Kind: proof.KindDevice, Public: s.public}
	plain := approval.Proof{Credential: device.ID, Statement: statement, Signature: s.sign(f, proof.Answer(statement))}
	f.Add(uint8(0), uint16(0), byte(1), false)
	for part := range uint8(8) {
		for at := range uint16(40) {
			f.Add(part, at, byte(1<<(at%8)), at%5 == 0)
		}
	}
	f.Fuzz(func(t *testing.T, part uint8, at uint16, flip byte, cut bool) {
		c, p := k.Credential, good
		if part %= 8; part >= 4 {
			c, p = device, plain
		}
		texts := map[uint8]*[]byte{0: &p.Authenticator, 1: &p.Client, 2: &p.Signature, 6: &p.Signature}
		field, known := texts[part]
		text := []byte(p.Statement)
		if !known {
			field = &text
		}
		changed := bytes.Clone(*field)
		i := int(at) % len(changed)
		if changed[i] ^= flip; cut {
			changed = append(changed[:i], changed[i+1:]...)
		}
		if bytes.Equal(changed, *field) {
			return
		}
		if *field = changed; !known {
			p.Statement = string(changed)
		}
		if _, err := proof.Verify(c, p); err == nil {
			t.Errorf("part %d with byte %d changed is accepted", part, i)
		}
	})
}

func BenchmarkVerifyPasskey(b *testing.B) {
	k := newPasskey(b, "localhost", "http://localhost:1")
	p := k.signs(b, proof.Answer(statement))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := proof.Verify(k.Credential, p); err != nil {
			b.Fatal(err)
		}
	}
}
