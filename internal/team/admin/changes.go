package admin

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/team/bundle"
	"github.com/assent-dev/assent/present"
)

// A Topic is what a change is about.
type Topic string

// The topics, in the order in which they are shown.
const (
	Settings    Topic = "settings"
	Deciders    Topic = "deciders"
	People      Topic = "people"
	Groups      Topic = "groups"
	Credentials Topic = "credentials"
	Machines    Topic = "machines"
)

var topics = []Topic{Settings, Deciders, People, Groups, Credentials, Machines}

// A Change is one difference between two bundles.
type Change struct {
	Topic Topic `json:"topic"`
	// Sign is + for what is new, - for what is gone, ~ for what is different.
	Sign string `json:"sign"`
	Text string `json:"text"`
}

// A Diff is what a bundle changes.
type Diff struct {
	// From is the serial of the bundle before, 0 if there is none.
	From int64 `json:"from"`
	To   int64 `json:"to"`
	// Policy is the difference of the two policies, line by line; empty if they are the same.
	Policy  string   `json:"policy,omitempty"`
	Changes []Change `json:"changes"`
}

// Compare says what after changes. Before is nil if it is the first bundle.
func Compare(before, after *bundle.Bundle) Diff {
	if before == nil {
		before = &bundle.Bundle{}
	}
	d := Diff{From: before.Serial, To: after.Serial, Changes: []Change{}}
	if before.Policy != after.Policy {
		d.Policy = present.DiffLines(policySide(before), policySide(after), 3).String()
	}
	d.settings(before, after)
	d.restarts(before, after)
	d.lines(Deciders, deciders(before), deciders(after))
	d.lines(People, people(before), people(after))
	d.lines(Groups, groups(before), groups(after))
	d.lines(Credentials, credentials(before), credentials(after))
	d.lines(Machines, machines(before), machines(after))
	return d
}

// IsZero reports whether nothing changes but the serial and the dates.
func (d Diff) IsZero() bool { return d.Policy == "" && len(d.Changes) == 0 }

// policySide is the policy as one side of a diff. A source with deciders alone leaves an empty line, which is nothing to show.
func policySide(b *bundle.Bundle) present.Side {
	return present.Side{Name: "policy", Text: strings.TrimPrefix(b.Policy, "\n")}
}

func (d *Diff) add(topic Topic, sign, text string) {
	d.Changes = append(d.Changes, Change{topic, sign, text})
}

func (d *Diff) settings(before, after *bundle.Bundle) {
	for _, s := range []struct{ name, old, new string }{
		{"max_age", text(before.MaxAge), text(after.MaxAge)},
		{"stale", string(before.Stale), string(after.Stale)},
		{"keep_days", days(before.KeepDays), days(after.KeepDays)},
		{"valid for", validity(before), validity(after)},
		{"editors", strings.Join(before.Editors, ", "), strings.Join(after.Editors, ", ")},
		{"server", before.Server, after.Server},
		{"key of the log", before.Checkpoint, after.Checkpoint},
	} {
		switch {
		case s.old == s.new:
		case s.old == "":
			d.add(Settings, "+", s.name+" "+s.new)
		case s.new == "":
			d.add(Settings, "-", s.name+" "+s.old)
		default:
			d.add(Settings, "~", fmt.Sprintf("%s %s, was %s", s.name, s.new, s.old))
		}
	}
}

// restarts says what programs that run have to be started again for.
func (d *Diff) restarts(before, after *bundle.Bundle) {
	old, oldErr := config.LoadSigned("policy", before.Policy)
	now, nowErr := config.LoadSigned("policy", after.Policy)
	if before.Serial == 0 || oldErr != nil || nowErr != nil {
		return // nothing runs under it, or it cannot be used at all
	}
	if keys, err := old.OnlyAtStart(now); err == nil && len(keys) > 0 {
		what := "calls"
		if config.OnlyCommands(keys) {
			what = "commands"
		}
		d.add(Settings, "~",
			fmt.Sprintf("programs that run deny %s until they are started again: %s changes", what, strings.Join(keys, ", ")))
	}
}

func text(d bundle.Duration) string {
	if d == 0 {
		return ""
	}
	return d.String()
}

func days(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func validity(b *bundle.Bundle) string {
	return text(bundle.Duration(b.Expires.Sub(b.Issued).Round(time.Minute)))
}

// An entry is one thing of a bundle: key says which one it is, text everything about it.
type entry struct{ key, text string }

// lines compares two lists of entries. An entry with the same key and another text has changed.
func (d *Diff) lines(topic Topic, before, after []entry) {
	find := func(list []entry, key string) (string, bool) {
		i := slices.IndexFunc(list, func(e entry) bool { return e.key == key })
		if i < 0 {
			return "", false
		}
		return list[i].text, true
	}
	for _, e := range before {
		if _, there := find(after, e.key); !there {
			d.add(topic, "-", e.text)
		}
	}
	for _, e := range after {
		switch was, there := find(before, e.key); {
		case !there:
			d.add(topic, "+", e.text)
		case was != e.text:
			d.add(topic, "~", e.text+", was: "+was)
		}
	}
}

// deciders are told apart by everything that they say: a change of one is a loss and a gain.
func deciders(b *bundle.Bundle) (out []entry) {
	for _, d := range b.Deciders {
		var then []string
		text := strings.Join(d.Acts, ", ") + ": " + needText(d)
		if len(d.Not) > 0 {
			then = append(then, "not "+strings.Join(d.Not, ", "))
		}
		then = append(then, "proof "+string(d.Proof))
		for _, e := range d.Escalate {
			then = append(then, fmt.Sprintf("after %s also %s", e.After, e.To))
		}
		if d.Expires > 0 {
			then = append(then, fmt.Sprintf("denied after %s", d.Expires))
		}
		text += "; " + strings.Join(then, "; ")
		out = append(out, entry{text, text})
	}
	return out
}

// needText says who must agree.
func needText(d bundle.Decider) string {
	var need []string
	for _, f := range d.Need {
		need = append(need, fmt.Sprintf("%d of %s", f.Count, f.From))
	}
	return strings.Join(need, " and ")
}

func people(b *bundle.Bundle) (out []entry) {
	for _, p := range b.People {
		out = append(out, entry{p.ID, who(p)})
	}
	return out
}

func who(p bundle.Person) string { return fmt.Sprintf("%s (%s)", p.ID, p.Name) }

func groups(b *bundle.Bundle) (out []entry) {
	for _, p := range b.People {
		for _, g := range p.Groups {
			out = append(out, entry{g + "\x00" + p.ID, fmt.Sprintf("%s in %s", p.ID, g)})
		}
		for _, m := range p.Memberships {
			out = append(out, entry{m.Group + "\x00" + p.ID, fmt.Sprintf("%s in %s", p.ID, m)})
		}
	}
	slices.SortFunc(out, func(a, b entry) int { return cmp.Compare(a.key, b.key) })
	return out
}

// credentials show a digest of the key, so that another key under an old id is seen.
func credentials(b *bundle.Bundle) (out []entry) {
	for _, p := range b.People {
		for _, c := range p.Credentials {
			text := fmt.Sprintf("%s %s of %s, key %s, since %s", c.Kind, c.ID, p.ID, Fingerprint(c.Public), c.Since.UTC().Format(time.RFC3339))
			if c.RP != "" {
				text += ", for " + c.RP
			}
			out = append(out, entry{c.ID, text})
		}
	}
	return out
}

// Fingerprint is a short name of a public key, for people to compare.
func Fingerprint(public []byte) string {
	sum := sha256.Sum256(public)
	return hex.EncodeToString(sum[:10])
}

func machines(b *bundle.Bundle) (out []entry) {
	for _, m := range b.Machines {
		text := fmt.Sprintf("%s (%s), key %s, sponsor %s", m.ID, m.Host, Fingerprint(m.Public), m.Sponsor)
		for _, a := range m.Agents {
			text += fmt.Sprintf(", %s by %s", a.Name, a.Sponsor)
		}
		out = append(out, entry{m.ID, text})
	}
	return out
}

// Print writes the difference for a person. Nothing in it acts on a terminal.
func (d Diff) Print(w io.Writer) error {
	var b strings.Builder
	switch {
	case d.From == 0:
		fmt.Fprintf(&b, "The first bundle, serial %d:\n", d.To)
	case d.IsZero():
		fmt.Fprintf(&b, "Nothing changes from serial %d to %d but the dates.\n", d.From, d.To)
	default:
		fmt.Fprintf(&b, "From serial %d to %d:\n", d.From, d.To)
	}
	for line := range strings.Lines(d.Policy) {
		b.WriteString("  " + strings.ReplaceAll(present.SafeLine(strings.TrimSuffix(line, "\n")), "\t", "    ") + "\n")
	}
	for _, topic := range topics {
		title := string(topic) + ":\n"
		for _, c := range d.Changes {
			if c.Topic == topic {
				b.WriteString(title + "  " + c.Sign + " " + present.SafeLine(c.Text) + "\n")
				title = ""
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
