package member_test

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
	"github.com/assent-dev/assent/internal/proof"
	"github.com/assent-dev/assent/internal/team/bundle"
	"github.com/assent-dev/assent/policy"
)

// A device is a key that a person answers with.
type device struct {
	*testing.T
	private *ecdsa.PrivateKey
	public  []byte
}

func newDevice(t *testing.T) *device {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	return &device{t, key, public}
}

func (d *device) credential(since time.Time) bundle.Credential {
	return bundle.Credential{ID: proof.ID(d.public), Kind: proof.KindDevice, Public: d.public, Since: since}
}

func (d *device) signs(statement string) approval.Proof {
	d.Helper()
	sum := sha256.Sum256(proof.Answer(statement))
	r, s, err := ecdsa.Sign(rand.Reader, d.private, sum[:])
	if err != nil {
		d.Fatal(err)
	}
	signature := make([]byte, 64)
	r.FillBytes(signature[:32])
	s.FillBytes(signature[32:])
	return approval.Proof{Credential: proof.ID(d.public), Public: d.public, Statement: statement, Signature: signature}
}

// agrees is the yes of the person to a request, as a bridge brings it.
func (d *device) agrees(r *approval.Request, now time.Time) approval.Decision {
	d.Helper()
	view, err := r.ViewDigest(d.Context())
	if err != nil {
		d.Fatal(err)
	}
	yes := r.Approve("")
	said := yes.States(view)
	said.Tenant, said.Serial, said.Expires, said.Nonce = r.Routing.Tenant, r.Routing.Serial, now.Add(time.Hour).Unix(), "n"
	text, err := json.Marshal(said)
	if err != nil {
		d.Fatal(err)
	}
	yes.Votes, yes.By = []approval.Vote{{Proof: d.signs(string(text))}}, policy.Who{Via: policy.ViaTeam}
	return yes
}

// asker is a gate's tools: one command that asks.
type asker struct{}

func (asker) Prepare(context.Context, policy.Call) (approval.Proposal, error) {
	return approval.Proposal{Acts: request("codex", "kubectl", "delete", "pod", "x").Acts}, nil
}

// A gate looks roles up when it takes an answer, and again when the call starts. The bundle stays the same.
func TestAGateGoesByTheDatesOfAMembership(t *testing.T) {
	for name, c := range map[string]struct {
		from, until    time.Duration // of the membership, from now on; 0 is none
		answer, start  time.Duration // when
		resolves, runs bool
	}{
		"all the time":             {0, 0, 0, 0, true, true},
		"not begun":                {10 * time.Minute, 0, 9 * time.Minute, 0, false, false},
		"begun":                    {10 * time.Minute, 0, 10 * time.Minute, 0, true, true},
		"nearly over":              {0, 10 * time.Minute, 9 * time.Minute, 0, true, true},
		"over":                     {0, 10 * time.Minute, 10 * time.Minute, 0, false, false},
		"over before it starts":    {0, 10 * time.Minute, 9 * time.Minute, time.Minute, true, false},
		"nearly over at the start": {0, 10 * time.Minute, 8 * time.Minute, time.Minute, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			s.join()
			ann, b := newDevice(t), s.bundle(7)
			b.People[0].Credentials = []bundle.Credential{ann.credential(s.now)}
			if c.from+c.until > 0 {
				m := bundle.Membership{Group: "sre"}
				if c.from > 0 {
					m.From = s.now.Add(c.from)
				}
				if c.until > 0 {
					m.Until = s.now.Add(c.until)
				}
				b.People[0].Groups, b.People[0].Memberships = nil, []bundle.Membership{m}
			}
			s.must(s.save(b))
			gate, err := approval.New(approval.Config{Preparer: asker{}, Clock: func() time.Time { return s.now }, NewID: rand.Text, Session: "s",
				Team: s.Member, Origin: func(context.Context) approval.Origin { return approval.Origin{Agent: "claude-code"} }})
			s.must(err)
			t.Cleanup(gate.Close)
			batch := gate.Review(t.Context(), policy.Call{ID: "c", Tool: "shell", Arguments: json.RawMessage(`{}`)})
			if len(batch.Pending()) != 1 {
				t.Fatalf("%+v", batch.Outcome(0))
			}
			yes := ann.agrees(batch.Pending()[0], s.now)
			s.now = s.now.Add(c.answer)
			err = batch.Resolve(t.Context(), yes)
			if (err == nil) != c.resolves || err != nil && !strings.Contains(err.Error(), "1 of sre missing") {
				t.Errorf("the answer: %v", err)
			}
			if !c.resolves {
				return
			}
			s.now = s.now.Add(c.start)
			proposal, err := asker{}.Prepare(t.Context(), policy.Call{})
			s.must(err)
			_, err = batch.Start(t.Context(), 0, proposal)
			if (err == nil) != c.runs || err != nil && !errors.Is(err, approval.ErrChanged) {
				t.Errorf("the start: %v", err)
			}
		})
	}
}
