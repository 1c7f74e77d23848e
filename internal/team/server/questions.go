package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/team/db"
	"github.com/assent-dev/assent/internal/team/wire"
	"github.com/assent-dev/assent/policy"
)

// maxQuestions is how many questions come with one call, and how long their ids may be.
const (
	maxQuestions = 200
	maxID        = 200
)

// ask takes questions of a machine. One that is refused is not in the way of the others.
func (s *Server) ask(w http.ResponseWriter, r *http.Request, gate *db.Gate, body []byte) error {
	var in []wire.Signed
	if err := read(body, &in); err != nil {
		return err
	}
	if len(in) > maxQuestions {
		return refuse(http.StatusRequestEntityTooLarge, "%d questions in one call; at most %d are taken", len(in), maxQuestions)
	}
	open, err := s.db.CountOpen(r.Context(), gate.ID)
	if err != nil {
		return err
	}
	agents, err := s.agents(r, gate)
	if err != nil {
		return err
	}
	refused := map[string]string{}
	var good []wire.Signed
	for _, q := range in {
		id, err := s.checkQuestion(gate, agents, q)
		if err == nil && open >= s.cfg.Limits.OpenRequests {
			// One that is there already is taken again, so that a machine can repeat itself.
			if known, found := s.db.Request(r.Context(), id); found != nil || known.Routing.Gate != gate.ID {
				err = fmt.Errorf("this machine has %d questions open, which is the limit; answer or withdraw some first", open)
			}
		}
		if err != nil {
			refused[id] = err.Error()
			continue
		}
		good = append(good, q)
		open++
	}
	taken := wire.Taken{}
	if len(good) > 0 {
		if taken, err = s.db.Ask(r.Context(), *gate, good); err != nil {
			return err
		}
	}
	for id, why := range taken.Refused {
		refused[id] = why
	}
	s.metrics.requests.Add(int64(len(taken.Requests)))
	for id, why := range refused {
		s.log.Warn("question refused", "gate", gate.ID, "request", id, "why", why)
	}
	taken.Refused = refused
	return send(w, taken)
}

// checkQuestion reports why a question is not one that this machine may ask. The signature covers all of it;
// who signs may still lie about who is behind the agent.
func (s *Server) checkQuestion(gate *db.Gate, sponsors map[string]string, q wire.Signed) (id string, err error) {
	var claimed struct {
		ID      string            `json:"id"`
		Routing *approval.Routing `json:"routing"`
	}
	if err := json.Unmarshal(q.Request, &claimed); err != nil {
		return "", fmt.Errorf("the question cannot be read: %w", err)
	}
	if claimed.ID == "" || len(claimed.ID) > maxID {
		return "", fmt.Errorf("the id of a question has 1 to %d bytes", maxID)
	}
	id = claimed.ID
	routing := claimed.Routing
	if hasNUL(id) || routing != nil && hasNUL(routingTexts(routing)...) {
		return id, fmt.Errorf("a name in it has a NUL byte")
	}
	switch {
	case !wire.VerifyRequest(gate.Public, q.Request, q.Signature):
		return id, fmt.Errorf("the machine's signature is not valid")
	case routing == nil:
		return id, fmt.Errorf("it does not say who decides")
	case routing.Tenant != s.cfg.Tenant:
		return id, fmt.Errorf("it is for the team %q", routing.Tenant)
	case routing.Gate != gate.ID:
		return id, fmt.Errorf("it is of the machine %q, and this is %s", routing.Gate, gate.ID)
	case !slices.Contains(s.behind(gate, sponsors, routing.Agent), routing.Sponsor):
		return id, fmt.Errorf("%q is not the person behind the agent %q of this machine", routing.Sponsor, routing.Agent)
	}
	if err := routing.Need.Validate(); err != nil {
		return id, fmt.Errorf("who decides: %w", err)
	}
	return id, nil
}

// routingTexts are the texts of a routing that the database stores as text.
func routingTexts(r *approval.Routing) []string {
	out := append([]string{r.Agent, r.Sponsor, r.Need.Source}, r.Need.Not...)
	for _, c := range r.Need.From {
		out = append(out, c.Group)
	}
	for _, e := range r.Need.Escalate {
		out = append(out, e.To)
	}
	return out
}

// hasNUL reports whether PostgreSQL would refuse one of the texts. The whole transaction would fail, with what others have in
// it, and the caller would be told to try again.
func hasNUL(texts ...string) bool {
	return slices.ContainsFunc(texts, func(t string) bool { return strings.IndexByte(t, 0) >= 0 })
}

// agents are the sponsors of the machine's agents, by name, as the directory has them.
func (s *Server) agents(r *http.Request, gate *db.Gate) (map[string]string, error) {
	all, err := s.db.AgentsOf(r.Context(), gate.ID)
	out := map[string]string{}
	for _, a := range all {
		out[a.Name] = a.Sponsor
	}
	return out, err
}

// behind are the persons who may be behind an agent: as the newest bundle has it, and as the directory does,
// which may be ahead of the bundle.
func (s *Server) behind(gate *db.Gate, sponsors map[string]string, agent string) []string {
	out := []string{gate.Sponsor}
	if sponsor, ok := sponsors[agent]; ok {
		out = []string{sponsor}
	}
	if b := s.bundle.newest.Load(); b != nil {
		if m := b.machines[gate.ID]; m != nil {
			out = append(out, m.Behind(agent))
		}
	}
	return out
}

// end closes questions that need no answer any more, and opens those again whose answer had no effect. It cannot make one answered that is open elsewhere: only
// the machine itself goes by it, and it has ended the question already.
func (s *Server) end(w http.ResponseWriter, r *http.Request, gate *db.Gate, body []byte) error {
	var in []wire.Ended
	if err := read(body, &in); err != nil {
		return err
	}
	if len(in) > maxQuestions {
		return refuse(http.StatusRequestEntityTooLarge, "%d questions in one call; at most %d are taken", len(in), maxQuestions)
	}
	for _, e := range in {
		if e.Request == "" || len(e.Request) > maxID || !e.State.Known() {
			return refuse(http.StatusBadRequest, "question %.40q: its id or its state %.40q is invalid",
				e.Request, string(e.State))
		}
		if hasNUL(e.Request, e.By.User, e.By.Host, string(e.By.Via)) {
			return refuse(http.StatusBadRequest, "question %.40q: a text has a NUL byte", e.Request)
		}
	}
	for _, e := range in {
		if e.State == policy.StatePending {
			s.log.Warn("an answer had no effect at the machine", "gate", gate.ID, "request", e.Request, "why", fmt.Sprintf("%.300s", e.Why))
		}
	}
	if err := s.db.End(r.Context(), gate.ID, in); err != nil {
		return err
	}
	return send(w, struct{}{})
}
