package policy

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// A Policy is everything remembered and configured that answers calls. Its
// judgement is pure: values in, values out.
type Policy struct {
	Rules  *RuleSet // what a person keeps
	Fixed  *RuleSet // what config files say
	Grants *GrantSet
	Mode   Mode
	// Reserved are the acts about which only the people decide whom a team's policy names.
	Reserved *Reserved
}

// deny finds the rule of either set that meets the act most strictly.
func (p *Policy) deny(call *Call, act *Act, now time.Time) (*Rule, Match) {
	rule, meets := p.Rules.denied(call, act, now)
	if meets == MatchYes {
		return rule, meets
	}
	if fixed, m := p.Fixed.denied(call, act, now); m > meets {
		return fixed, m
	}
	return rule, meets
}

// allow finds a rule of either set that covers the act.
func (j *judging) allow(act *Act) *Rule {
	return j.anyAllowed(j.allowing(act))
}

func (j *judging) allowing(act *Act) allowing {
	return allowing{call: j.Call, act: act, byName: act.ByName, withConnector: j.SharesName, now: j.Now}
}

func (j *judging) anyAllowed(q allowing) *Rule {
	if rule := j.Rules.allowed(q); rule != nil {
		return rule
	}
	return j.Fixed.allowed(q)
}

// A Question is a call to be judged.
type Question struct {
	Call *Call
	// Acts are what the call would do. A call without acts is refused.
	Acts []Act
	// Definition is the digest of the tool's definition as it is now.
	Definition Digest
	// SharesName says that a connector's tool has the name of one of the
	// program's own. An allow for the bare name is for the program's own.
	SharesName bool
	Now        time.Time
	// Approved says that a person approved exactly this call.
	Approved bool
	// Traced asks for the trace; without it a judgement that needs no person
	// allocates nothing.
	Traced bool
}

// A Judgement is the answer to a question. The zero Judgement refuses.
type Judgement struct {
	State State
	// Rule or Grant is what decided, if one did.
	Rule  *Rule
	Grant *Grant
	// Act is 1 + the index of the act that decided, 0 for the whole call.
	Act int
	// PersonOnly says that only a person can answer.
	PersonOnly bool
	// Reserved says that for an act of the call only the people decide whom a team's policy names.
	Reserved bool
	// Why is the reason for the person and the model, where there is one.
	Why string
	// Open lists the acts that still need an answer.
	Open []int
	// Warnings are what to know before a yes to the open acts is remembered.
	Warnings []string
	Trace    Trace
}

// MaxActs is how many acts a call may have.
const MaxActs = 1000

const (
	blockedByPolicy   = "blocked by policy"
	definitionChanged = "the tool's definition changed since the model was shown it"
	noActs            = "the tool does not say what the call would do"
)

// Judge answers the question, in this order: what the tool blocks, deny rules
// and denials of the session, what is reserved, what is free, the person's own yes, allow rules,
// grants, the mode. What nothing answers is pending.
func (p Policy) Judge(q Question) Judgement {
	j := judging{Policy: p, Question: q, acts: q.Acts}
	if q.Traced {
		j.tracer = &tracer{acts: j.acts, trace: make(Trace, 0, 4)}
	}
	out := j.judge()
	if j.tracer != nil {
		out.Trace = j.tracer.trace
	}
	return out
}

// judging is one judgement under way.
type judging struct {
	Policy
	Question
	acts   []Act
	tracer *tracer

	only     []int  // the acts that only a person answers
	why      string // why only a person may answer
	reserved bool   // only the people of a team decide about one of them
}

func (j *judging) judge() Judgement {
	if len(j.acts) == 0 {
		j.tracer.call("tool", "blocked", noActs)
		return Judgement{State: StateBlocked, Why: noActs}
	}
	if len(j.acts) > MaxActs {
		why := fmt.Sprintf("a call may have at most %d acts; this one has %d", MaxActs, len(j.acts))
		j.tracer.call("limit", "blocked", why)
		return Judgement{State: StateBlocked, Why: why}
	}
	if out, refused := j.blocked(); refused {
		return j.namingPart(out)
	}
	if out, refused := j.denied(); refused {
		return j.namingPart(out)
	}
	changed := !j.Call.Definition.IsZero() && j.Call.Definition != j.Definition
	if changed {
		j.tracer.call("definition", "ask", definitionChanged)
	}
	if !changed && j.free() {
		return Judgement{State: StateFree}
	}
	if j.Approved {
		j.tracer.call("person", "approved", "")
		return Judgement{State: StateApproved, PersonOnly: len(j.only) > 0, Why: j.why}
	}
	out := j.remembered()
	switch {
	case len(j.only) > 0:
		out = Judgement{State: StatePending, Act: j.only[0] + 1, PersonOnly: true, Reserved: j.reserved, Why: j.why, Open: out.Open}
	case changed:
		out = Judgement{State: StatePending, Why: definitionChanged, Open: Asking(j.acts)}
	}
	if out.State == StatePending {
		out.Warnings = j.warnings(out.Open)
		out = j.mode(out)
	}
	return out
}

// Asking lists the acts that are not free.
func Asking(acts []Act) []int {
	var open []int
	for i := range acts {
		if acts[i].Verdict != VerdictFree {
			open = append(open, i)
		}
	}
	return open
}

// blocked looks for an act that the tool itself refuses.
func (j *judging) blocked() (Judgement, bool) {
	for i := range j.acts {
		a := &j.acts[i]
		j.tracer.act(i, "tool", a.Verdict.String(), a.Why, "")
		if a.wrongKind() {
			why := fmt.Sprintf("the tool gives %s a target of the wrong kind: it takes %s", a.Name, builtinKinds[a.Name])
			return Judgement{State: StateBlocked, Act: i + 1, Why: why}, true
		}
		if a.Verdict == VerdictAsk || a.Verdict == VerdictFree {
			continue
		}
		why := a.Why
		if why == "" {
			why = blockedByPolicy
		}
		return Judgement{State: StateBlocked, Act: i + 1, Why: why}, true
	}
	return Judgement{}, false
}

// denied looks for a deny that is met; one that may be met leaves the answer to
// a person.
func (j *judging) denied() (Judgement, bool) {
	for i := range j.acts {
		a := &j.acts[i]
		if a.PersonOnly {
			j.onlyPerson(i, a.Why)
		}
		if j.Reserved != nil {
			if why := j.Reserved.why(j.Call, a, j.Now); why != "" {
				j.tracer.act(i, "deciders", "reserved", why, "")
				j.onlyPerson(i, why)
				j.reserved = true
			}
		}
		rule, meets := j.deny(j.Call, a, j.Now)
		if meets == MatchYes {
			j.tracer.rule(i, "deny", "denied", rule)
			return Judgement{State: StateAutoDenied, Act: i + 1, Rule: rule, Why: rule.Because}, true
		}
		if meets == MatchPossibly && !a.Later {
			j.tracer.rule(i, "deny", "possibly denied", rule)
			j.onlyPerson(i, "it may do what is denied by "+rule.Origin())
		}
		grant, meets := j.Grants.denied(j.Call, a, j.Now)
		if meets == MatchYes {
			j.tracer.grant(i, "deny", "denied", grant)
			return Judgement{State: StateAutoDenied, Act: i + 1, Grant: grant, Why: "denied for this session"}, true
		}
		if meets == MatchPossibly && !a.Later {
			j.tracer.grant(i, "deny", "possibly denied", grant)
			j.onlyPerson(i, "it may do what was denied for this session")
		}
	}
	return Judgement{}, false
}

func (j *judging) onlyPerson(i int, why string) {
	if why == "" {
		why = "only a person may answer this"
	}
	if !strings.Contains(j.why, why) {
		j.why = joinReasons(j.why, why)
	}
	if !slices.Contains(j.only, i) {
		j.only = append(j.only, i)
	}
}

func (j *judging) free() bool {
	if len(j.only) > 0 {
		return false
	}
	for i := range j.acts {
		if j.acts[i].Verdict != VerdictFree && !j.acts[i].Later {
			return false
		}
	}
	j.tracer.call("tool", "free", "no act of the call asks")
	return true
}

// remembered looks for rules and grants that answer every act that asks.
func (j *judging) remembered() Judgement {
	out := Judgement{State: StateAutoApproved}
	for i := range j.acts {
		if j.acts[i].Verdict == VerdictFree && !slices.Contains(j.only, i) {
			continue
		}
		rule, grant := j.cover(i)
		switch {
		case rule != nil:
			if out.Act == 0 {
				out.Rule, out.Act = rule, i+1
			}
		case grant != nil:
			if out.Grant == nil {
				out.State, out.Rule, out.Grant, out.Act = StateSessionApproved, nil, grant, i+1
			}
		default:
			out.Open = append(out.Open, i)
		}
	}
	if !slices.ContainsFunc(out.Open, func(i int) bool { return !j.acts[i].Later || slices.Contains(j.only, i) }) {
		out.Open = nil // what is left is asked when it happens
		return out
	}
	first := out.Open[0]
	why := j.acts[first].Why
	if why == "" {
		why = "no rule allows it"
	}
	return Judgement{State: StatePending, Act: first + 1, Why: why, Open: out.Open}
}

// cover finds what answers the act: a rule or grant for the act itself or for
// the called tool, or one for an act that caused it.
func (j *judging) cover(i int) (*Rule, *Grant) {
	a := &j.acts[i]
	if slices.Contains(j.only, i) {
		j.tracer.act(i, "allow", "open", "only a person may answer", "")
		return nil, nil
	}
	if rule := j.allow(a); rule != nil {
		j.tracer.rule(i, "allow", "covered", rule)
		return rule, nil
	}
	if !a.ByName {
		for c := j.cause(i); c >= 0; c = j.cause(c) {
			if rule := j.allow(&j.acts[c]); rule != nil {
				j.tracer.rule(i, "allow", "covered through what causes it", rule)
				return rule, nil
			}
		}
	} else if c := j.ownCause(i); c >= 0 {
		q := j.allowing(&j.acts[c])
		q.spells = a.Own
		if rule := j.anyAllowed(q); rule != nil {
			j.tracer.rule(i, "allow", "covered through the command, which the rule spells", rule)
			return rule, nil
		}
	}
	if grant := j.granted(i); grant != nil {
		j.tracer.grant(i, "grant", "covered", grant)
		return nil, grant
	}
	j.tracer.act(i, "allow", "open", "no rule and no grant covers it", "")
	return nil, nil
}

func (j *judging) granted(i int) *Grant {
	a := &j.acts[i]
	grant := j.Grants.allowed(j.Call, a, 0, j.Now)
	if c := j.ownCause(i); grant == nil && c >= 0 {
		grant = j.Grants.allowed(j.Call, &j.acts[c], a.Own, j.Now)
	}
	if grant != nil || a.ByName {
		return grant
	}
	for c := j.cause(i); c >= 0; c = j.cause(c) {
		if grant := j.Grants.allowed(j.Call, &j.acts[c], 0, j.Now); grant != nil {
			return grant
		}
	}
	return nil
}

// cause returns the index of the act that act i follows from, or -1. A cause
// stands before its effect, so that following causes ends.
func (j *judging) cause(i int) int {
	if c := j.acts[i].Cause - 1; c >= 0 && c < i {
		return c
	}
	return -1
}

// ownCause returns the index of the command whose own connection act i is, or -1.
func (j *judging) ownCause(i int) int {
	c := j.cause(i)
	if c < 0 || !ownConnection(&j.acts[i], &j.acts[c]) {
		return -1
	}
	return c
}

// ownConnection reports whether an act is a connection that an allow of the command answers
// which is its cause, if it spells enough of it.
func ownConnection(a, cause *Act) bool {
	return a.Own > 0 && a.Name == ActConnect && a.Connector == "" &&
		cause.Name == ActShell && cause.Connector == "" && cause.Target.Kind == KindWords
}

func (j *judging) mode(open Judgement) Judgement {
	switch j.Mode {
	case ModeAsk:
		j.tracer.call("mode", "ask", open.Why)
	case ModeApproveAll:
		if open.PersonOnly {
			j.tracer.call("mode", "ask", "approve-all does not answer what only a person may")
			return open
		}
		j.tracer.call("mode", "approved", "approve-all")
		return Judgement{State: StateModeApproved, Act: open.Act, Why: "approve-all"}
	default:
		j.tracer.call("mode", "refused", "strict")
		return Judgement{State: StateModeDenied, Act: open.Act, PersonOnly: open.PersonOnly,
			Why: "strict mode refuses what would have to be asked"}
	}
	return open
}

// Denies says whether a deny rule, or a denial of the session, meets an act on its own, whatever
// the tool itself says about the act: what lists, searches, sandboxes and commands with many
// files ask about each of them. Of the call only its session and project count. The rule is nil
// if none decided.
func (p Policy) Denies(call Call, act Act, now time.Time) (Match, *Rule) {
	call = Call{Tool: act.Name, Connector: act.Connector, Session: call.Session, Project: call.Project}
	rule, meets := p.deny(&call, &act, now)
	if _, m := p.Grants.denied(&call, &act, now); m > meets {
		return m, nil
	}
	return meets, rule
}

func joinReasons(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}

// namingPart adds to a refusal of several commands which one is meant, where it
// stands, and what may run without it.
func (j *judging) namingPart(out Judgement) Judgement {
	if out.Act == 0 || j.acts[out.Act-1].Line == 0 {
		return out
	}
	refused := &j.acts[out.Act-1]
	rest, others := j.without(out.Act - 1)
	if !others {
		return out
	}
	text := fmt.Sprintf("it is %s on line %d", refused, refused.Line)
	if len(rest) > 0 {
		text += "; without it this may run: " + strings.Join(rest, ", ")
	}
	out.Why = joinReasons(out.Why, text)
	return out
}

// without returns the commands beside the refused act that are free, and whether
// there are commands beside it at all.
func (j *judging) without(refused int) (free []string, others bool) {
	for i := range j.acts {
		a := &j.acts[i]
		if i == refused || a.Name != ActShell || a.Connector != "" || j.acts[refused].Cause == i+1 {
			continue
		}
		others = true
		if text := a.Target.String(); a.Verdict == VerdictFree && !slices.Contains(free, text) {
			free = append(free, text)
		}
	}
	return free, others
}

// warnings says which open acts run files that may be written without asking: a yes that is
// remembered for one of them lets an agent run what it writes.
func (j *judging) warnings(open []int) (out []string) {
	for _, i := range open {
		a := &j.acts[i]
		if a.Code == nil || !j.writesFreely(a.Code) {
			continue
		}
		out = appendNew(out, fmt.Sprintf("%s runs files in %s, which may be written without asking: what an agent writes there it can run. "+
			"No question can help with that, the sandbox does (sandbox.require_os_sandbox).", a.short(), a.Code.place()))
	}
	return out
}

// writesFreely reports whether the write, or one further down, needs no answer.
func (j *judging) writesFreely(write *Act) bool {
	alone := Policy{Rules: j.Rules, Fixed: j.Fixed, Grants: j.Grants, Mode: ModeAsk, Reserved: j.Reserved}
	call := *j.Call
	call.Tool, call.Connector, call.Definition = write.Name, "", Digest{}
	state := alone.Judge(Question{Call: &call, Acts: []Act{*write}, Now: j.Now}).State
	below := j.Rules.allowsBelow(write, j.Call.Project) || j.Fixed.allowsBelow(write, j.Call.Project)
	return state.Runs() || state == StatePending && below
}

// allowsBelow reports whether an allow is for something in the folder of the act's file.
func (s *RuleSet) allowsBelow(a *Act, project string) bool {
	for _, r := range s.Rules() {
		name, target, _ := strings.Cut(r.Pattern, "(")
		if r.Effect != EffectAllow || !r.Enabled || !r.HoldsIn(project) || name != a.Name {
			continue
		}
		for _, folder := range folders(a.Target.Written) {
			if inside(folder, target) {
				return true
			}
		}
	}
	return false
}

// short is the command as far as it is worth remembering.
func (a *Act) short() string {
	if a.Target.Kind == KindWords && a.Prefix > 0 {
		return joinWords(a.prefixWords(ReachPrefix))
	}
	return a.Target.String()
}

// place is the folder of the act's file.
func (a *Act) place() string {
	if len(a.Target.Written) == 0 {
		return a.Target.String()
	}
	return folders(a.Target.Written)[0]
}
