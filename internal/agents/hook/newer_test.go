package hook

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/assent-dev/assent/internal/agents"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/team/bundle"
	"github.com/assent-dev/assent/internal/team/member"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/shell"
)

// A teamKey signs bundles as a note.Signer of golang.org/x/mod does, which a hook must not import.
type teamKey struct{ ed25519.PrivateKey }

func (k teamKey) Name() string { return "acme" }

func (k teamKey) Sign(text []byte) ([]byte, error) { return ed25519.Sign(k.PrivateKey, text), nil }

func (k teamKey) KeyHash() uint32 {
	sum := sha256.Sum256(append([]byte("acme\n"), k.public()...))
	return binary.BigEndian.Uint32(sum[:])
}

// public is the public half after the number of its algorithm.
func (k teamKey) public() []byte { return append([]byte{1}, k.Public().(ed25519.PublicKey)...) }

// A hook waits in the inbox while the team publishes a policy that denies the call: the yes does not let it run.
func TestAHookThatWaitsFollowsANewerPolicyOfTheTeam(t *testing.T) {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	signer := teamKey{private}
	public := fmt.Sprintf("acme+%08x+%s", signer.KeyHash(), base64.StdEncoding.EncodeToString(signer.public()))
	p := newPlace(t)
	p.write("admin/policy.yaml", "team: {trust: \""+public+"\", name: acme}\n")
	publish := func(serial int64, rules string) {
		now := time.Now()
		data, err := bundle.Sign(&bundle.Bundle{
			Version: bundle.Version, Tenant: "acme", Serial: serial, Issued: now, Expires: now.Add(time.Hour),
			MaxAge: bundle.DefaultMaxAge, Stale: bundle.StaleAsk, Policy: rules,
		}, signer)
		if err == nil {
			_, err = member.SaveBundle(p.state, config.Team{Trust: public, Name: "acme"}, data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for serial, c := range []struct{ rules, want string }{
		{"rules: [deny shell(shred)]\n", "allow"},
		{"rules: [deny shell(make *)]\n", "deny"},
	} {
		publish(int64(2*serial+1), "rules: [deny shell(shred)]\n")
		s := p.inbox()
		o := p.options(claude(t), bash("t"+c.want, "make deploy"))
		o.Places.Admin = filepath.Join(p.top, "admin", "policy.yaml")
		got := make(chan agents.Reply, 1)
		go func() { got <- Run(t.Context(), o) }()
		d := p.next(s).Approve("")
		publish(int64(2*serial+2), c.rules)
		d.By = policy.Who{User: "u", Via: policy.ViaInbox}
		if err := s.Answer(t.Context(), d); err != nil {
			t.Fatal(err)
		}
		wantDecision(t, <-got, c.want)
		if err := s.EndSession(t.Context(), "inbox"); err != nil {
			t.Fatal(err)
		}
	}
}

// In plan mode the words of a newer policy allow no more than those of the one before.
func TestPlanModeAndNewerWordsOnTools(t *testing.T) {
	words := []tool.Named{{Name: "a", Approval: tool.WordAllow}, {Name: "b", Approval: tool.WordDeny}}
	_, tools := planning(shell.Config{}, tool.Config{Tools: words, Now: func() ([]tool.Named, error) { return words, nil }})
	now, err := tools.Now()
	if err != nil || len(now) != 1 || now[0].Name != "b" || !slices.Equal(tools.Tools, now) {
		t.Errorf("%+v, and newer ones are %+v (%v)", tools.Tools, now, err)
	}
	if len(words) != 2 || words[0].Name != "a" {
		t.Errorf("the words themselves were changed: %+v", words)
	}
}
