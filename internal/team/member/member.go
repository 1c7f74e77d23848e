package member

import (
	"cmp"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/team/bundle"
	"github.com/assent-dev/assent/policy"
)

// A Member is what a gate of this machine knows of its team. It implements [approval.Team]: it looks at the
// files again whenever they have changed. It is safe for concurrent use.
type Member struct {
	state string
	team  config.Team
	clock func() time.Time

	mu    sync.Mutex
	stamp [3]stamp
	held  *held
	stale staleSet
}

// Load reads what the machine holds of the team that the administrator's file names. There is always a member:
// one without a policy that can be used is stricter.
func Load(state string, team config.Team, clock func() time.Time) *Member {
	return &Member{state: state, team: team, clock: clock}
}

// held is what the files say, whatever the time.
type held struct {
	machine *Machine
	bundle  *bundle.Bundle // nil if none can be used, and why
	policy  *config.Policy
	// reserved are the acts that somebody decides about.
	reserved  *policy.Reserved
	confirmed time.Time
	why       string
	// lost says that there was a policy once, and none can be used: nobody knows what it reserves.
	lost bool
}

// A staleSet is what is reserved while the policy cannot be used: everything.
type staleSet struct {
	held *held
	why  string
	all  *policy.Reserved
}

// A stamp changes with a file.
type stamp struct {
	size  int64
	time  time.Time
	inode any
}

func stampOf(name string) stamp {
	info, err := os.Stat(name)
	if err != nil {
		return stamp{size: -1}
	}
	return stamp{info.Size(), info.ModTime(), inode(info)}
}

// now returns what is held, and why it cannot be used as it is; empty if it can.
func (m *Member) now() (*held, string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var now [3]stamp
	for i, name := range []string{machineName, bundleName, seenName} {
		now[i] = stampOf(filepath.Join(Folder(m.state), name))
	}
	if m.held == nil || now != m.stamp {
		m.held, m.stamp = m.read(), now
	}
	return m.held, m.held.unusable(m.clock())
}

func (m *Member) read() *held {
	h := new(held)
	var err error
	if h.machine, err = LoadMachine(m.state); err == nil && h.machine.Tenant != m.team.Name {
		h.machine, err = nil, fmt.Errorf("this machine has joined the team %q instead", h.machine.Tenant)
	}
	joined := ""
	switch {
	case errors.Is(err, fs.ErrNotExist):
		joined = "; this machine has not joined: run 'assent join URL'"
	case err != nil:
		joined = "; " + err.Error()
	}
	if err := h.readPolicy(m.state, m.team, m.held); err != nil {
		h.bundle = nil
		why := err.Error()
		if errors.Is(err, fs.ErrNotExist) {
			why = "the bundle is missing"
		}
		h.lost = m.hadPolicy()
		h.why = fmt.Sprintf("the policy of the team %s cannot be used: %s%s", m.team.Name, why,
			cmp.Or(joined, "; run 'assent bridge' to fetch it"))
	}
	return h
}

// hadPolicy reports whether this machine ever had a policy of its team. What cannot be found out counts as one.
func (m *Member) hadPolicy() bool {
	for _, name := range []string{bundleName, seenName} {
		if _, err := os.Lstat(filepath.Join(Folder(m.state), name)); !errors.Is(err, fs.ErrNotExist) {
			return true
		}
	}
	return false
}

// readPolicy reads the bundle. If it says what the one before said, and was only confirmed again, the policy stays the same
// value. So whoever holds that value sees that nothing has changed.
func (h *held) readPolicy(state string, team config.Team, before *held) (err error) {
	if h.bundle, h.confirmed, err = readBundle(state, team); err != nil {
		return err
	}
	if before != nil && reflect.DeepEqual(before.bundle, h.bundle) {
		h.policy, h.reserved = before.policy, before.reserved
		return nil
	}
	if h.policy, err = config.LoadSigned(h.bundle.Name(), h.bundle.Policy); err != nil {
		return err
	}
	h.reserved, err = policy.Reserve(config.Ground(), h.bundle.Reservations())
	return err
}

// maxSkew is how far in the future a file's time may lie before it says nothing.
const maxSkew = 15 * time.Minute

// unusable says why the policy does not let anything run at that time; empty if it does.
func (h *held) unusable(now time.Time) string {
	if h.bundle == nil {
		return h.why
	}
	name, age := h.bundle.Name(), now.Sub(h.confirmed)
	switch {
	case !now.Before(h.bundle.Expires):
		return fmt.Sprintf("%s expired at %s; the team must publish a newer one, which 'assent bridge' then fetches",
			name, h.bundle.Expires.UTC().Format(time.RFC3339))
	case age > time.Duration(h.bundle.MaxAge):
		return fmt.Sprintf("%s was last confirmed %s ago, and max_age is %s; run 'assent bridge' to ask the server",
			name, bundle.Duration(age.Round(time.Minute)), h.bundle.MaxAge)
	case age < -maxSkew:
		return fmt.Sprintf("%s was confirmed in the future; set the clock, then run 'assent bridge' to ask the server", name)
	}
	return ""
}

// denies reports whether calls are denied, and not asked, while the policy cannot be used. Any call may be reserved by
// one that was taken away or spoiled: an answer at the machine must not stand in for those whom it names.
func (m *Member) denies(h *held) bool {
	return m.team.Deny || h.lost || h.bundle != nil && h.bundle.Stale == bundle.StaleDeny
}

// Policy returns what the team's policy says about calls, and whether its allows count now; nil if there is none
// that can be read.
func (m *Member) Policy() (p *config.Policy, fresh bool) {
	h, why := m.now()
	if h.bundle == nil {
		return nil, false
	}
	return h.policy, why == ""
}

// Newest is [Member.Policy] for programs that keep running: it looks at the bundle alone, and reads it if it has changed.
func (m *Member) Newest() (p *config.Policy, fresh bool) {
	m.mu.Lock()
	h := m.held
	if h == nil || h.bundle == nil || stampOf(BundleFile(m.state)) != m.stamp[1] {
		h = nil
	}
	m.mu.Unlock()
	if h == nil {
		return m.Policy()
	}
	return h.policy, h.unusable(m.clock()) == ""
}

// Seen is [Member.Newest] without a look at any file. It is for callers that have just called another method, such as
// [Member.Reserved], which looked.
func (m *Member) Seen() (p *config.Policy, fresh bool) {
	m.mu.Lock()
	h := m.held
	m.mu.Unlock()
	if h == nil || h.bundle == nil {
		return m.Policy()
	}
	return h.policy, h.unusable(m.clock()) == ""
}

// Reservations are the acts that the newest policy names deciders for, whether it is fresh or not.
func (m *Member) Reservations() []policy.Reservation {
	h, _ := m.now()
	if h.bundle == nil {
		return nil
	}
	return h.bundle.Reservations()
}

// Reserved implements [approval.Team]. While the policy cannot be used, everything is.
func (m *Member) Reserved() (*policy.Reserved, error) {
	h, why := m.now()
	if why == "" {
		return h.reserved, nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if s := m.stale; s.held == h && s.why == why {
		return s.all, nil
	}
	var entries []policy.Reservation
	if h.bundle != nil {
		entries = h.bundle.Reservations()
	}
	all, err := policy.Reserve(config.Ground(), append(entries, policy.Reservation{Acts: []string{"*"}, Source: "team", Because: why}))
	if err == nil {
		m.stale = staleSet{h, why, all}
	}
	return all, err
}

// Decided reports whether somebody is named who decides about the act, whether the policy is fresh or not.
func (m *Member) Decided(call *policy.Call, act policy.Act) bool {
	h, _ := m.now()
	return h.bundle != nil && len(h.reserved.By(call, []policy.Act{act}, m.clock())) > 0
}

// Need implements [approval.Team].
func (m *Member) Need(r *approval.Request) (approval.Need, error) {
	h, why := m.now()
	return m.need(h, why, r)
}

func (m *Member) need(h *held, why string, r *approval.Request) (approval.Need, error) {
	var met []int
	if h.bundle != nil {
		met = h.reserved.By(&r.Call, r.Acts, m.clock())
	}
	switch {
	case why == "":
		return h.apart(h.bundle.Need(met), r.Origin.Agent), nil
	case len(met) > 0:
		return approval.Need{}, fmt.Errorf("this needs %s, and %s", h.bundle.Need(met), why)
	case m.denies(h):
		return approval.Need{}, errors.New(why)
	}
	return bundle.Unreserved(), nil
}

// apart leaves out the sponsor of the machine where the sponsor of the agent is left out. An agent says its own name, and
// whoever is at the machine could have it say that of an agent with another sponsor.
func (h *held) apart(n approval.Need, agent string) approval.Need {
	if h.machine == nil || !slices.Contains(n.Not, approval.NotSponsor) {
		return n
	}
	at := h.bundle.Machine(h.machine.Gate)
	if at != nil && at.Behind(agent) != at.Sponsor && !slices.Contains(n.Not, at.Sponsor) {
		n.Not = append(slices.Clone(n.Not), at.Sponsor)
	}
	return n
}

// Route implements [approval.Team]. What nobody is named for may be answered at the machine also while the team
// does not know it, or its policy cannot be used; then nobody of the team can answer.
func (m *Member) Route(r *approval.Request) (*approval.Routing, error) {
	h, why := m.now()
	need, err := m.need(h, why, r)
	if err != nil {
		return nil, err
	}
	out := &approval.Routing{Tenant: m.team.Name, Agent: r.Origin.Agent, Sponsor: bundle.Nobody, Need: need}
	if h.machine != nil {
		out.Gate = h.machine.Gate
	}
	if h.bundle == nil {
		return out, nil
	}
	out.Serial = h.bundle.Serial
	switch why := h.unknown(); {
	case why == "":
		out.Sponsor = h.bundle.Machine(out.Gate).Behind(out.Agent)
	case !need.Here:
		return nil, fmt.Errorf("this needs %s, and %s", need, why)
	}
	return out, nil
}

// unknown says why nobody could answer for this machine.
func (h *held) unknown() string {
	if h.machine == nil {
		return "this machine has not joined; run 'assent join URL'"
	}
	at := h.bundle.Machine(h.machine.Gate)
	if at == nil {
		return fmt.Sprintf("%s does not have this machine yet (%s); the team must publish its policy again", h.bundle.Name(), h.machine.Gate)
	}
	if !ed25519.PublicKey(at.Public).Equal(h.machine.Private.Public()) {
		return fmt.Sprintf("%s has another key for this machine (%s); join again", h.bundle.Name(), h.machine.Gate)
	}
	return ""
}

// People implements [approval.Team].
func (m *Member) People() (approval.Directory, error) {
	h, why := m.now()
	if why != "" {
		return nil, errors.New(why)
	}
	return h.bundle.Directory(m.clock()), nil
}

// A Status is how a machine stands to its team, for people.
type Status struct {
	Team   string
	Serial int64 // 0 if there is no policy that can be read
	// Age is how long ago the policy was confirmed, MaxAge how long it may be.
	Age, MaxAge time.Duration
	Expires     time.Time
	Gate        string // empty if the machine has not joined
	Server      string
	// Why says why the policy, or the machine, is not in order; empty if it is.
	Why string
}

// Status returns how the machine stands to its team.
func (m *Member) Status() Status {
	h, why := m.now()
	s := Status{Team: m.team.Name, Why: why}
	if h.bundle != nil {
		s.Serial, s.Age, s.MaxAge = h.bundle.Serial, m.clock().Sub(h.confirmed), time.Duration(h.bundle.MaxAge)
		s.Expires, s.Server = h.bundle.Expires, h.bundle.Server
		s.Why = cmp.Or(why, h.unknown())
	}
	if h.machine != nil {
		s.Gate, s.Server = h.machine.Gate, h.machine.Server
	}
	return s
}
