package terminal

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
)

// lifetimes are the ones offered; 0 is as long as the run.
var lifetimes = []time.Duration{0, 15 * time.Minute, time.Hour}

// sessionDialog asks how far an answer reaches, how long it is kept in the session, and
// for whom.
type sessionDialog struct {
	effect policy.Effect
	note   string
	reach  int // which offer
	life   time.Duration
	shared bool
	custom *field // being typed, or nil
	also   coverage
}

// openSession opens the dialog for a request that keeps such an answer.
func (s state) openSession(effect policy.Effect, note string) (state, []effect) {
	return sessionDialog{effect: effect, note: note}.ask(s)
}

// ask asks what else the answer settles as it stands now.
func (d sessionDialog) ask(s state) (state, []effect) {
	effects := s.askCoverage(d.decision(&s))
	d.also = coverage{known: len(effects) == 0}
	s.dialog = d
	return s, effects
}

func (d sessionDialog) decision(s *state) approval.Decision {
	r := s.current().request
	out := r.Approve("")
	if d.effect == policy.EffectDeny {
		out = r.Deny(d.note)
	}
	out = out.ForSession(r.Offers[d.reach].Reach)
	out.Remember.For, out.Remember.Shared = d.life, d.shared
	return out
}

func (d sessionDialog) typing() bool { return d.custom != nil }

func (d sessionDialog) typed(text string) dialog {
	f := d.custom.insert(strings.TrimSpace(text))
	d.custom = &f
	return d
}

func (d sessionDialog) told() bool { return d.also.known }

func (d sessionDialog) covered(names []string) dialog {
	d.also = coverage{known: true, names: names}
	return d
}

func (d sessionDialog) key(s state, k keyEvent) (state, []effect) {
	if d.custom != nil {
		return d.customKey(s, k)
	}
	offers := len(s.current().request.Offers)
	switch k.name {
	case "esc":
		s.dialog = nil
		return s, nil
	case "y", "Y":
		if !d.also.known {
			return s, nil
		}
		return s.resolve(d.decision(&s))
	case "up":
		d.reach = max(d.reach-1, 0)
	case "down":
		d.reach = min(d.reach+1, offers-1)
	case "l":
		d.life = nextLifetime(d.life)
	case "c":
		d.custom = &field{}
		s.dialog = d
		return s, nil
	case "w":
		d.shared = !d.shared
	default:
		i, ok := digit(k.name, offers)
		if !ok {
			return s, nil
		}
		d.reach = i
	}
	return d.ask(s)
}

func (d sessionDialog) customKey(s state, k keyEvent) (state, []effect) {
	switch k.name {
	case "esc":
		d.custom = nil
	case "enter":
		life, err := time.ParseDuration(strings.TrimSpace(d.custom.String()))
		if err != nil || life <= 0 {
			s.notice = styled(bad, "Enter a time such as 30m or 2h.")
			return s, nil
		}
		d.life, d.custom = life, nil
		return d.ask(s)
	default:
		f := d.custom.key(k)
		d.custom = &f
	}
	s.dialog = d
	return s, nil
}

func nextLifetime(now time.Duration) time.Duration {
	for i, l := range lifetimes {
		if l == now {
			return lifetimes[(i+1)%len(lifetimes)]
		}
	}
	return lifetimes[0]
}

// digit reads a key from 1 up to n as an index.
func digit(key string, n int) (int, bool) {
	if len(key) != 1 || key[0] < '1' || int(key[0]-'1') >= n {
		return 0, false
	}
	return int(key[0] - '1'), true
}

func (d sessionDialog) foot(s *state, n int) []line {
	title := "Approve for this session"
	if d.effect == policy.EffectDeny {
		title = "Deny for this session"
	}
	rows := wrap(styled(strong, title), n, nil)
	rows = append(rows, offerRows(s.current().request, d.effect, d.reach, n)...)
	rows = append(rows, warnRows(s.current().request.Offers[d.reach], d.effect, n)...)
	life := "until the run ends"
	if d.life > 0 {
		life = "for " + d.life.String()
	}
	workers := "this worker only"
	if d.shared {
		workers = "also workers called from here"
	}
	rows = append(rows, wrap(line{{"lasts: ", faint}, {life, plain}}, n, nil)...)
	rows = append(rows, wrap(line{{"for: ", faint}, {workers, plain}}, n, nil)...)
	rows = append(rows, d.also.rows(n)...)
	if d.custom != nil {
		rows = append(rows, d.custom.rows(s.theme, n)...)
		return append(rows, keyRows(n, "Enter", "use this time (30m, 2h)", "Esc", "back")...)
	}
	return append(rows, keyRows(n, "y", "yes, remember", "1-"+fmt.Sprint(len(s.current().request.Offers)), "reach",
		"l", "how long", "c", "custom time", "w", "workers", "Esc", "back")...)
}

// reachText says how far an offer goes, in general; its rule says it exactly.
func reachText(r *approval.Request, o policy.Offer) string {
	switch o.Reach {
	case policy.ReachExact:
		return "exactly this"
	case policy.ReachTool:
		return "this tool"
	case policy.ReachDomain:
		return "all hosts of this domain, on this port"
	case policy.ReachProject:
		return "run this project's own code (tests, builds, scripts)"
	}
	words := map[policy.Kind]string{
		policy.KindPath: "this folder", policy.KindWords: "this command prefix", policy.KindURL: "this host",
		policy.KindText: "this name, with any input",
	}
	var parts []string
	for _, i := range o.Acts {
		if a := r.Acts[i]; a.Cause > 0 && !a.ByName && slices.Contains(o.Acts, a.Cause-1) {
			continue // it is answered with its cause
		}
		if w := words[r.Acts[i].Target.Kind]; w != "" && !slices.Contains(parts, w) {
			parts = append(parts, w)
		}
	}
	return strings.Join(parts, " and ")
}

// choiceRows are an entry of a list to choose from; the chosen one has a mark.
func choiceRows(i int, chosen bool, what string, n int) []line {
	mark, st := "  ", plain
	if chosen {
		mark, st = "▸ ", strong
	}
	return wrap(line{{mark, st}, {fmt.Sprint(i+1) + " ", keycap}, {what, st}}, n, text("    "))
}

// offerRows lists the offers with their rules.
func offerRows(r *approval.Request, effect policy.Effect, chosen, n int) []line {
	var rows []line
	for i, o := range r.Offers {
		rows = append(rows, choiceRows(i, i == chosen, reachText(r, o), n)...)
		for _, rule := range offeredRules(o, effect) {
			rows = append(rows, wrap(append(text("    "), ruleLine(rule)...), n, text("      "))...)
		}
	}
	return rows
}

// warnRows says what to know before a yes is kept.
func warnRows(o policy.Offer, effect policy.Effect, n int) []line {
	if effect != policy.EffectAllow {
		return nil
	}
	var rows []line
	for _, w := range o.Warn {
		rows = append(rows, wrap(styled(warn, present.SafeLine(w)), n, nil)...)
	}
	return rows
}

// ruleLine shows the text of a rule.
func ruleLine(rule string) line { return spanLine(rule, number) }
