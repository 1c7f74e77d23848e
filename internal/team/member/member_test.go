package member_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/proof"
	"github.com/assent-dev/assent/internal/team/bundle"
	"github.com/assent-dev/assent/internal/team/member"
	"github.com/assent-dev/assent/policy"
)

// A scene is a machine of a team whose clock the test holds.
type scene struct {
	t      testing.TB
	state  string
	signer note.Signer
	team   config.Team
	key    ed25519.PrivateKey
	now    time.Time
	*member.Member
}

func newScene(t testing.TB) *scene {
	t.Helper()
	private, public, err := note.GenerateKey(rand.Reader, "acme")
	if err != nil {
		t.Fatal(err)
	}
	signer, err := note.NewSigner(private)
	if err != nil {
		t.Fatal(err)
	}
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	s := &scene{t: t, state: t.TempDir(), signer: signer, team: config.Team{Trust: public, Name: "acme"}, key: key, now: time.Now()}
	s.Member = member.Load(s.state, s.team, func() time.Time { return s.now })
	return s
}

func (s *scene) bundle(serial int64) *bundle.Bundle {
	return &bundle.Bundle{
		Version: bundle.Version, Tenant: "acme", Serial: serial, Issued: s.now, Expires: s.now.AddDate(0, 1, 0),
		MaxAge: bundle.DefaultMaxAge, Stale: bundle.StaleAsk, Policy: "rules:\n  - allow shell(make *)\n  - deny shell(shred)\n",
		Deciders: []bundle.Decider{{Acts: []string{"shell(kubectl delete *)"}, Need: []bundle.From{{From: "sre", Count: 1}}, Proof: approval.StrengthDevice}},
		People:   []bundle.Person{{ID: "p_ann", Name: "Ann", Groups: []string{"sre"}}, {ID: "p_ben", Name: "Ben"}},
		Machines: []bundle.Machine{{ID: "g_1", Public: s.key.Public().(ed25519.PublicKey), Host: "h", Sponsor: "p_ben", Agents: []bundle.Agent{{Name: "codex", Sponsor: "p_ann"}}}},
	}
}

func (s *scene) sign(b *bundle.Bundle) []byte {
	s.t.Helper()
	data, err := bundle.Sign(b, s.signer)
	if err != nil {
		s.t.Fatal(err)
	}
	return data
}

func (s *scene) save(b *bundle.Bundle) error {
	_, err := member.SaveBundle(s.state, s.team, s.sign(b))
	return err
}

func (s *scene) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *scene) join() {
	s.t.Helper()
	s.must(member.SaveMachine(s.state, &member.Machine{Tenant: "acme", Gate: "g_1", Server: "https://x.example", Private: s.key}))
}

// request is one for a command.
func request(agent string, words ...string) *approval.Request {
	target := policy.Target{Kind: policy.KindWords}
	for _, w := range words {
		target.Words = append(target.Words, policy.Word{Text: w})
	}
	act := policy.Act{Name: policy.ActShell, Target: target, Known: true, Verdict: policy.VerdictAsk}
	return &approval.Request{ID: "r", Call: policy.Call{Tool: "shell"}, Acts: []policy.Act{act}, Origin: approval.Origin{Agent: agent}}
}

// judged is what happens to a command.
func (s *scene) judged(r *approval.Request) policy.Judgement {
	s.t.Helper()
	reserved, err := s.Reserved()
	s.must(err)
	allow, err := policy.ParseRule("allow *")
	s.must(err)
	rules, err := policy.CompileRules([]policy.Rule{allow})
	s.must(err)
	return policy.Policy{Rules: rules, Reserved: reserved}.Judge(policy.Question{Call: &r.Call, Acts: r.Acts, Now: s.now})
}

func TestWhoDecides(t *testing.T) {
	s := newScene(t)
	s.join()
	s.must(s.save(s.bundle(7)))
	free, theirs := request("codex", "ls"), request("claude-code", "kubectl", "delete", "pod", "x")
	if j := s.judged(free); j.State != policy.StateAutoApproved {
		t.Errorf("free: %+v", j)
	}
	if j := s.judged(theirs); j.State != policy.StatePending || !j.PersonOnly || !strings.Contains(j.Why, "1 of sre") {
		t.Errorf("reserved: %+v", j)
	}
	r, err := s.Route(free)
	if err != nil || !r.Need.Here || r.Sponsor != "p_ann" || r.Gate != "g_1" || r.Serial != 7 || r.Tenant != "acme" {
		t.Errorf("free: %+v %v", r, err)
	}
	if r, err = s.Route(theirs); err != nil || r.Need.Here || r.Sponsor != "p_ben" || r.Need.From[0].Group != "sre" {
		t.Errorf("reserved: %+v %v", r, err)
	}
}

// While the policy is too old, everything asks at the machine, and what is reserved is refused. Where a policy was taken
// away or spoiled nobody knows what it reserves, and all is.
func TestStale(t *testing.T) {
	free, theirs := request("codex", "ls"), request("codex", "kubectl", "delete", "x")
	for name, c := range map[string]struct {
		spoil  func(s *scene)
		why    string
		nobody bool // no decider is known either
		denies bool
	}{
		"too old":       {func(s *scene) { s.now = s.now.Add(25 * time.Hour) }, "was last confirmed 25h ago, and max_age is 24h", false, false},
		"expired":       {func(s *scene) { s.now = s.now.AddDate(0, 2, 0) }, "expired at", false, false},
		"in the future": {func(s *scene) { s.now = s.now.Add(-time.Hour) }, "in the future", false, false},
		"no bundle":     {func(s *scene) { s.must(os.Remove(member.BundleFile(s.state))) }, "the bundle is missing; run 'assent bridge' to fetch it", false, true},
		"stripped": {func(s *scene) {
			data, err := os.ReadFile(member.BundleFile(s.state))
			s.must(err)
			text, _, _ := strings.Cut(string(data), "\n\n")
			s.must(os.WriteFile(member.BundleFile(s.state), []byte(text+"\n"), 0o600))
		}, "refused", false, true},
		"rolled back": {func(s *scene) { s.must(os.WriteFile(member.BundleFile(s.state), s.sign(s.bundle(6)), 0o600)) }, "had 7 already", false, true},
		"another of the same serial": {func(s *scene) {
			b := s.bundle(7)
			b.Policy = ""
			s.must(os.WriteFile(member.BundleFile(s.state), s.sign(b), 0o600))
		}, "another policy 7", false, true},
		"nothing seen": {func(s *scene) { s.must(os.Remove(filepath.Join(member.Folder(s.state), "seen"))) }, "cannot be used", false, true},
		"damaged seen": {func(s *scene) {
			s.must(os.WriteFile(filepath.Join(member.Folder(s.state), "seen"), []byte("1"), 0o600))
		}, "damaged", false, true},
		"a policy that cannot be read": {func(s *scene) {
			b := s.bundle(8)
			b.Policy = "rules: [nonsense]\n"
			s.must(s.save(b))
		}, "nonsense", false, true},
		"too old and denied": {func(s *scene) {
			b := s.bundle(8)
			b.Stale = bundle.StaleDeny
			s.must(s.save(b))
			s.now = s.now.Add(25 * time.Hour)
		}, "was last confirmed", false, true},
		"no bundle, and none before": {func(s *scene) {
			s.must(os.RemoveAll(member.Folder(s.state)))
			s.join()
		}, "the bundle is missing; run 'assent bridge' to fetch it", true, false},
		"left": {func(s *scene) { s.must(member.Forget(s.state)) }, "the bundle is missing; this machine has not joined", false, true},
		"no bundle, and the administrator denies": {func(s *scene) {
			s.team.Deny = true
			s.Member = member.Load(s.state, s.team, func() time.Time { return s.now })
			s.must(os.Remove(member.BundleFile(s.state)))
		}, "the bundle is missing", true, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			s.join()
			s.must(s.save(s.bundle(7)))
			s.judged(free)
			c.spoil(s)
			j := s.judged(free)
			if j.State != policy.StatePending || !j.PersonOnly || !strings.Contains(j.Why, c.why) {
				t.Errorf("%+v", j)
			}
			if _, fresh := s.Policy(); fresh {
				t.Error("its allows count")
			}
			r, err := s.Route(free)
			if c.denies {
				if err == nil || !strings.Contains(err.Error(), c.why) {
					t.Errorf("%+v %v", r, err)
				}
			} else if err != nil || !r.Need.Here {
				t.Errorf("%+v %v", r, err)
			}
			if r, err := s.Route(theirs); (err == nil) != (c.nobody && !c.denies) {
				t.Errorf("reserved: %+v %v", r, err)
			}
			if _, err := s.People(); err == nil {
				t.Error("somebody of the team could answer")
			}
			if why := s.Status().Why; !strings.Contains(why, c.why) {
				t.Errorf("status: %s", why)
			}
		})
	}
}

// A machine that the team does not know can ask nobody.
func TestAMachineThatTheTeamDoesNotKnow(t *testing.T) {
	free, theirs := request("codex", "ls"), request("codex", "kubectl", "delete", "x")
	for name, c := range map[string]struct {
		prepare func(s *scene)
		why     string
	}{
		"not joined": {func(s *scene) {}, "assent join"},
		"not in the policy": {func(s *scene) {
			s.join()
			b := s.bundle(8)
			b.Machines = nil
			s.must(s.save(b))
		}, "does not have this machine"},
		"another key": {func(s *scene) {
			s.join()
			b := s.bundle(8)
			b.Machines[0].Public = make([]byte, ed25519.PublicKeySize)
			s.must(s.save(b))
		}, "another key"},
		"of another team": {func(s *scene) {
			s.must(member.SaveMachine(s.state, &member.Machine{Tenant: "evil", Gate: "g_1", Server: "https://x.example", Private: s.key}))
		}, "assent join"},
	} {
		s := newScene(t)
		s.must(s.save(s.bundle(7)))
		c.prepare(s)
		if j := s.judged(free); j.State != policy.StateAutoApproved {
			t.Errorf("%s: %+v", name, j)
		}
		if r, err := s.Route(free); err != nil || r.Sponsor != bundle.Nobody || !r.Need.Here {
			t.Errorf("%s: %+v %v", name, r, err)
		}
		if r, err := s.Route(theirs); err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s: %+v %v", name, r, err)
		}
	}
}

func TestWhatIsNotTaken(t *testing.T) {
	s := newScene(t)
	s.must(s.save(s.bundle(7)))
	other := s.bundle(8)
	other.Tenant = "evil"
	again := s.bundle(7)
	again.Policy = ""
	for name, b := range map[string]*bundle.Bundle{"older": s.bundle(6), "of another team": other, "another of the same serial": again} {
		if err := s.save(b); !errors.Is(err, bundle.ErrRefused) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := s.Status(); got.Serial != 7 || got.Why == "" { // it has not joined
		t.Errorf("%+v", got)
	}
	s.must(member.Forget(s.state))
	if err := s.save(s.bundle(6)); !errors.Is(err, bundle.ErrRefused) {
		t.Errorf("after leaving: %v", err)
	}
}

// The server's word that a policy is still the newest makes it fresh again; a newer one is taken up at once.
func TestFreshAgain(t *testing.T) {
	s := newScene(t)
	s.join()
	s.must(s.save(s.bundle(7)))
	s.now = s.now.Add(30 * time.Hour)
	if s.Status().Why == "" {
		t.Fatal("it is fresh")
	}
	if err := member.Confirm(s.state, s.team, 8, s.now); err == nil {
		t.Error("another serial was confirmed")
	}
	s.must(member.Confirm(s.state, s.team, 7, s.now))
	if why := s.Status().Why; why != "" {
		t.Error(why)
	}
	s.must(s.save(s.bundle(9)))
	if got := s.Status().Serial; got != 9 {
		t.Errorf("serial %d", got)
	}
}

// Of several that are saved at once the newest stays.
func TestSavingAtOnce(t *testing.T) {
	s := newScene(t)
	var all sync.WaitGroup
	for serial := range int64(20) {
		data := s.sign(s.bundle(serial + 1))
		all.Go(func() {
			if _, err := member.SaveBundle(s.state, s.team, data); err != nil && !errors.Is(err, bundle.ErrRefused) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got := s.Status(); got.Serial != 20 {
		t.Errorf("%+v", got)
	}
	entries, err := os.ReadDir(member.Folder(s.state))
	s.must(err)
	for _, e := range entries {
		info, err := e.Info()
		s.must(err)
		if info.Mode().Perm() != 0o600 || strings.Contains(e.Name(), ".") {
			t.Errorf("%s %v", e.Name(), info.Mode())
		}
	}
}

// The people of the policy are known by their keys, once these count.
func TestPeople(t *testing.T) {
	s := newScene(t)
	s.join()
	ann := newDevice(t)
	b := s.bundle(7)
	b.People[0].Credentials = []bundle.Credential{ann.credential(s.now.Add(time.Hour))}
	s.must(s.save(b))
	vote := ann.signs("{}")
	voter := func() (approval.Person, approval.Strength, error) {
		people, err := s.People()
		s.must(err)
		return people.Voter(vote)
	}
	if _, _, err := voter(); !errors.Is(err, proof.ErrUnknownKey) {
		t.Errorf("too early: %v", err)
	}
	s.now = s.now.Add(2 * time.Hour)
	if p, strength, err := voter(); err != nil || p.ID != "p_ann" || strength != approval.StrengthDevice || fmt.Sprint(p.Groups) != "[sre]" {
		t.Errorf("%+v %s %v", p, strength, err)
	}
	vote.Statement = "{ }"
	if _, _, err := voter(); err == nil {
		t.Error("something else than was signed counts")
	}
}

// An agent says its own name. With that of an agent of somebody else, its sponsor still does not count.
func TestAttack_AnAgentWithTheNameOfAnother(t *testing.T) {
	s := newScene(t)
	s.join()
	b := s.bundle(7)
	b.Deciders[0].Not = []string{approval.NotSponsor}
	b.People[1].Groups = []string{"sre"}
	s.must(s.save(b))
	people, err := s.People()
	s.must(err)
	for _, agent := range []string{"claude-code", "codex"} {
		r := request(agent, "kubectl", "delete", "x")
		r.Routing, err = s.Route(r)
		s.must(err)
		for _, p := range b.People {
			err := r.Eligible(r.Routing.Need, approval.Person{ID: p.ID, Name: p.Name, Groups: p.Groups}, people, 0)
			if mayNot := p.ID == "p_ben" || p.ID == r.Routing.Sponsor; mayNot != (err != nil) {
				t.Errorf("%s: %s: %v", agent, p.Name, err)
			}
		}
	}
}

// A second bundle with the same serial, which the machine has not noted as seen, brings its policy and its deciders with it.
func TestAnotherBundleOfTheSameSerial(t *testing.T) {
	s := newScene(t)
	s.join()
	s.must(s.save(s.bundle(7)))
	seen, err := os.ReadFile(filepath.Join(member.Folder(s.state), "seen"))
	s.must(err)
	s.must(s.save(s.bundle(8)))
	s.must(os.WriteFile(filepath.Join(member.Folder(s.state), "seen"), seen, 0o600)) // as if it ended before it was noted
	first, _ := s.Policy()
	other := s.bundle(8)
	other.Policy, other.Deciders[0].Acts = "rules: [deny shell(*)]\n", []string{"shell(make *)"}
	s.must(os.WriteFile(member.BundleFile(s.state), s.sign(other), 0o600))
	p, fresh := s.Policy()
	if p == first || !fresh || len(p.Rules.Rules()) != 1 {
		t.Errorf("the policy is %+v, fresh %v", p, fresh)
	}
	if need, err := s.Need(request("codex", "make", "x")); err != nil || need.Here {
		t.Errorf("make needs %v (%v)", need, err)
	}
}
