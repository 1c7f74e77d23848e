package approvaltest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
)

// A Team stands in for the signed policy of one. Its signatures are digests that anybody could make. The fields may
// be changed with [Team.Change].
type Team struct {
	Tenant, Sponsor string
	Serial          int64
	// Deciders say who decides about what. What none of them is about, the sponsor or who is at the machine answers.
	Deciders []Decider
	Persons  []approval.Person
	Wrote    []string // ids of editors
	// Err is what every question is answered with, if it is set.
	Err error

	mu      sync.Mutex
	changed []func()
}

// A Decider is an entry of a team's policy.
type Decider struct {
	Acts []string
	Need approval.Need
}

var (
	_ approval.Team      = (*Team)(nil)
	_ approval.Notifier  = (*Team)(nil)
	_ approval.Directory = (*Team)(nil)
)

// Change changes the team, and tells gates.
func (t *Team) Change(f func(*Team)) {
	t.mu.Lock()
	f(t)
	changed := slices.Clone(t.changed)
	t.mu.Unlock()
	for _, c := range changed {
		if c != nil {
			c()
		}
	}
}

// Notify implements [approval.Notifier].
func (t *Team) Notify(changed func()) (stop func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.changed = append(t.changed, changed)
	i := len(t.changed) - 1
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.changed[i] = nil
	}
}

// Reserved implements [approval.Team].
func (t *Team) Reserved() (*policy.Reserved, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.Err != nil {
		return nil, t.Err
	}
	return t.reserved()
}

func (t *Team) reserved() (*policy.Reserved, error) {
	entries := make([]policy.Reservation, len(t.Deciders))
	for i, d := range t.Deciders {
		entries[i] = policy.Reservation{Acts: d.Acts, Source: fmt.Sprint("deciders ", i+1)}
	}
	return policy.Reserve(policy.Ground{}, entries)
}

// Need implements [approval.Team].
func (t *Team) Need(r *approval.Request) (approval.Need, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.need(r)
}

func (t *Team) need(r *approval.Request) (approval.Need, error) {
	reserved, err := t.reserved()
	if err = errors.Join(err, t.Err); err != nil {
		return approval.Need{}, err
	}
	met := reserved.By(&r.Call, r.Acts, r.Created)
	if len(met) == 0 {
		return approval.Need{From: []approval.Count{{Group: approval.FromSponsor, Count: 1}}, Proof: approval.StrengthDevice, Here: true}, nil
	}
	need := t.Deciders[met[0]].Need
	for _, i := range met[1:] {
		need = need.And(t.Deciders[i].Need)
	}
	return need, nil
}

// Route implements [approval.Team].
func (t *Team) Route(r *approval.Request) (*approval.Routing, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	need, err := t.need(r)
	if err != nil {
		return nil, err
	}
	return &approval.Routing{Tenant: t.Tenant, Gate: "g_1", Sponsor: t.Sponsor, Serial: t.Serial, Need: need}, nil
}

// People implements [approval.Team].
func (t *Team) People() (approval.Directory, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t, t.Err
}

// Editors implements [approval.Directory].
func (t *Team) Editors() []string { return t.Wrote }

// Voter implements [approval.Directory]. A credential is the id of a person, perhaps with a / and more.
func (t *Team) Voter(p approval.Proof) (approval.Person, approval.Strength, error) {
	if string(p.Signature) != string(sign(p)) {
		return approval.Person{}, "", errors.New("the signature does not fit")
	}
	for _, person := range t.Persons {
		if id, device := cutDevice(p.Credential); id == person.ID && device {
			return person, approval.StrengthDevice, nil
		} else if id == person.ID {
			return person, approval.StrengthPasskey, nil
		}
	}
	return approval.Person{}, "", errors.New("nobody of the team has this key")
}

// deviceSuffix marks the credential of a device.
const deviceSuffix = "/device"

func cutDevice(credential string) (id string, device bool) {
	if n := len(credential) - len(deviceSuffix); n > 0 && credential[n:] == deviceSuffix {
		return credential[:n], true
	}
	return credential, false
}

func sign(p approval.Proof) []byte {
	d := policy.DigestOf([]byte(p.Credential + "\x00" + p.Statement))
	return d[:]
}

// Vote signs a decision on a request with a credential, after the statement was changed, until an hour after it was asked.
func (t *Team) Vote(r *approval.Request, d approval.Decision, credential string, change ...func(*approval.Statement)) approval.Vote {
	view, err := r.ViewDigest(context.Background())
	if err != nil {
		panic(err)
	}
	s := d.States(view)
	s.Tenant, s.Serial = r.Routing.Tenant, r.Routing.Serial
	s.Expires, s.Nonce = r.Created.Add(time.Hour).Unix(), "nonce of "+credential
	for _, c := range change {
		c(&s)
	}
	text, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	p := approval.Proof{Credential: credential, Statement: string(text)}
	p.Signature = sign(p)
	return approval.Vote{Proof: p, Note: d.Note}
}

// Voted returns the decision with the votes of these credentials.
func (t *Team) Voted(r *approval.Request, d approval.Decision, credentials ...string) approval.Decision {
	d.By = policy.Who{Via: policy.ViaTeam}
	for _, c := range credentials {
		d.Votes = append(d.Votes, t.Vote(r, d, c))
	}
	return d
}
