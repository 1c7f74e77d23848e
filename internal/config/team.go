package config

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/assent-dev/assent/internal/agents/words"
	"github.com/assent-dev/assent/policy"
)

// A Team is what the administrator's file says about the team that the machine belongs to.
type Team struct {
	// Trust is the public half of the key that signs the team's policy; empty if there is no team.
	Trust string
	// Name is the tenant: no other's policy is taken.
	Name string
	// Deny says that calls that would run unasked are denied, and not asked, while there is no policy of
	// the team that can be used.
	Deny   bool
	Source string
}

// The words for what happens without a policy that can be used.
const (
	StaleAsk  = "ask"
	StaleDeny = "deny"
)

var staleKey = key{name: "stale", about: "what happens to calls that would run unasked while there is no policy of the team, " +
	"or one that is too old: ask (default) or deny", shape: oneOf(StaleAsk, StaleDeny)}

// teamKey is of the administrator's file alone.
var teamKey = key{name: "team", about: "the team that this machine belongs to; only in the administrator's file", shape: mapping([]key{
	{name: "trust", about: "the public half of the key that signs the team's policy: NAME+HASH+KEY", shape: text, needed: true},
	{name: "name", about: "the name of the team, which its policy has too", shape: text, needed: true},
	staleKey,
})}

func (r *report) team(o *object) Team {
	n, ok := o.take("team")
	if !ok {
		return Team{}
	}
	t := Team{Source: r.source(o.keys["team"])}
	in := r.object(n, "team", teamKey.shape)
	t.Trust = valueAt(in, "trust", r.text, "team.trust")
	t.Name = valueAt(in, "name", r.text, "team.name")
	t.Deny = valueAt(in, "stale", in.oneOfStale, "team.stale") == StaleDeny
	if t.Trust == "" || t.Name == "" {
		r.problem(n, "team needs a trust and a name that are not empty")
	}
	return t
}

func (o *object) oneOfStale(n ast.Node, what string) string { return o.one(n, what, staleKey.shape) }

// A TeamSource is what an editor of a team's policy writes: the keys of a policy, and who decides.
type TeamSource struct {
	*Policy
	Deciders []Decider
	// MaxAge, Stale and KeepDays are zero if the file says nothing.
	MaxAge   time.Duration
	Stale    string
	KeepDays int
}

// A Decider says who decides about some acts.
type Decider struct {
	Acts     []string
	Need     []DeciderNeed
	Not      []string
	Proof    string
	Escalate []DeciderEscalation
	Expires  time.Duration
	Source   string
}

// A DeciderNeed is how many of a group must agree.
type DeciderNeed struct {
	From  string
	Count int
}

// A DeciderEscalation lets a group stand in after some time.
type DeciderEscalation struct {
	After time.Duration
	To    string
}

var deciderShape = mapping([]key{
	{name: "acts", about: "what they decide about, as in rules: shell(kubectl delete *)", shape: texts, needed: true},
	{name: "need", about: "who must agree, all of them", needed: true, shape: listOf(mapping([]key{
		{name: "from", about: "a group of the team, or sponsor: the person behind the agent", shape: text, needed: true},
		{name: "count", about: "how many of them; default 1", shape: count},
	}))},
	{name: "not", about: "whose yes does not count: sponsor, editor, or persons by their ids", shape: texts},
	{name: "proof", about: "what a yes is shown with: session, device or passkey (default)", shape: oneOf("session", "device", "passkey")},
	{name: "escalate", about: "groups that may stand in, later", shape: listOf(mapping([]key{
		{name: "after", about: "how long after it was asked, such as 5m", shape: duration, needed: true},
		{name: "to", about: "the group", shape: text, needed: true},
	}))},
	{name: "expires", about: "a request without enough answers is denied after this time, such as 1h", shape: duration},
})

// teamKeys are those that a team's file has besides those of a policy.
var teamKeys = []key{
	{name: "deciders", about: "who decides about some acts, which then nothing else lets run", shape: listOf(deciderShape)},
	{name: "max_age", about: "how long a machine goes by the policy without hearing from the server; default 24h", shape: duration},
	staleKey,
	{name: "keep_days", about: "how many days the server keeps records and settled requests; default all", shape: count},
}

var teamShape = file(teamKeys...)

// maxTeamYAML is more than a person writes by hand: rules of a team may be made by a program. The file is an
// editor's own, or signed.
const maxTeamYAML = 4 << 20

// LoadTeam reads the source of a team's policy. Its paths are absolute, or begin with ~/. The error, if any,
// is of type [Problems] and has them all.
func LoadTeam(file string, data []byte) (*TeamSource, error) {
	r := &report{file: file, limit: maxTeamYAML}
	root, err := r.parse(data)
	if err != nil {
		return nil, err
	}
	o := r.object(root, "the file", teamShape)
	s := &TeamSource{Policy: r.policy(o)}
	if n, ok := o.take("deciders"); ok {
		for _, item := range r.items(n, "deciders") {
			s.Deciders = append(s.Deciders, r.decider(item, s.Policy))
		}
	}
	s.MaxAge = valueAt(o, "max_age", r.duration, "max_age")
	s.Stale = valueAt(o, "stale", o.oneOfStale, "stale")
	s.KeepDays = valueAt(o, "keep_days", r.number, "keep_days")
	if err := r.err(); err != nil {
		return nil, err
	}
	return s, nil
}

// LoadSigned reads the policy of a bundle. It was made by [LoadTeam] elsewhere and is signed, so that it may be
// larger than what anybody could bring.
func LoadSigned(file, text string) (*Policy, error) {
	r := &report{file: file, limit: maxTeamYAML}
	root, err := r.parse([]byte(text))
	if err != nil {
		return nil, err
	}
	p := r.policy(r.object(root, "the file", signedShape))
	if err := r.err(); err != nil {
		return nil, err
	}
	p.Text = text
	return p, nil
}

var signedShape = file()

func (r *report) decider(n ast.Node, p *Policy) Decider {
	o := r.object(n, "a decider", deciderShape)
	d := Decider{Source: r.source(n), Proof: cmp.Or(valueAt(o, "proof", func(n ast.Node, what string) string { return o.oneOf(n, what) }, "proof"), "passkey")}
	if n, ok := o.take("acts"); ok {
		for _, item := range r.items(n, "acts") {
			act := r.text(item, "an act")
			deny := string(policy.EffectDeny) + " " + act // it reaches as far as a deny
			rule, err := ParseRule(deny)
			if refused := words.Refuse(deny); refused != nil && !p.hasCustomTool(rule.Pattern) {
				err = refused
			}
			if err != nil {
				r.problem(item, "%v", err)
				continue
			}
			r.ruleName(item, rule, p)
			d.Acts = append(d.Acts, act)
		}
	}
	if n, ok := o.take("need"); ok {
		for _, item := range r.items(n, "need") {
			d.Need = append(d.Need, r.deciderNeed(item))
		}
	}
	d.Not = valueAt(o, "not", r.texts, "not")
	if n, ok := o.take("escalate"); ok {
		for _, item := range r.items(n, "escalate") {
			in := r.object(item, "escalate", deciderShape.find("escalate").shape.items)
			e := DeciderEscalation{After: valueAt(in, "after", r.duration, "after"), To: valueAt(in, "to", r.text, "to")}
			if e.After == 0 || e.To == "" {
				r.problem(item, "escalate needs a time and a group, such as {after: 5m, to: oncall}")
			}
			d.Escalate = append(d.Escalate, e)
		}
	}
	d.Expires = valueAt(o, "expires", r.duration, "expires")
	if len(d.Acts) == 0 || len(d.Need) == 0 {
		r.problem(n, "a decider needs the keys acts and need")
	}
	return d
}

func (r *report) deciderNeed(n ast.Node) DeciderNeed {
	o := r.object(n, "need", deciderShape.find("need").shape.items)
	out := DeciderNeed{From: valueAt(o, "from", r.text, "from"), Count: 1}
	if n, ok := o.take("count"); ok {
		out.Count = r.number(n, "count")
	}
	if out.From == "" || out.Count < 1 {
		r.problem(n, "need names a group and a count of 1 or more, such as {from: sre, count: 2}")
	}
	return out
}

// TeamPolicy returns the policy alone that stands in a team's file, with the same lines: those of other keys are
// empty.
func TeamPolicy(file string, data []byte) (string, error) {
	r := &report{file: file, limit: maxTeamYAML}
	root, err := r.parse(data)
	if err != nil {
		return "", err
	}
	o := r.object(root, "the file", teamShape)
	var starts []int // of all keys
	for _, n := range o.keys {
		starts = append(starts, n.GetToken().Position.Line)
	}
	slices.Sort(starts)
	lines := strings.SplitAfter(string(data), "\n")
	for _, k := range teamKeys {
		n, ok := o.keys[k.name]
		if !ok {
			continue
		}
		first, end := n.GetToken().Position.Line, len(lines)+1
		at := slices.Index(starts, first)
		if n.GetToken().Position.Column != 1 || at+1 < len(starts) && starts[at+1] == first {
			r.problem(n, "write %s at the beginning of a line of its own", k.name)
			continue
		}
		if at+1 < len(starts) {
			end = starts[at+1]
		}
		for i := first; i < end; i++ {
			lines[i-1] = "\n"
		}
	}
	return strings.TrimRight(strings.Join(lines, ""), "\n") + "\n", r.err()
}
