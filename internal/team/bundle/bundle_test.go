package bundle_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/mod/sumdb/note"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/team/bundle"
)

func TestABundleOpensAsItWasSigned(t *testing.T) {
	tm, b := newTeam(t, "acme"), acme(t)
	got, err := bundle.Open(tm.sign(t, b), tm.trust)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(b, got); diff != "" {
		t.Error(diff)
	}
}

// What an editor writes becomes a policy with the same lines, and deciders.
func TestParse(t *testing.T) {
	s, err := bundle.Parse("team.yaml", []byte(source))
	if err != nil {
		t.Fatal(err)
	}
	want := bundle.Source{
		Policy: "version: 1\nrules:\n  - deny shell(shred)\n\n\n\n\n\n\n\n\ntools:\n  send: {approval: deny}\n",
		MaxAge: bundle.Duration(12 * time.Hour), Stale: bundle.StaleDeny, KeepDays: 400,
		Deciders: []bundle.Decider{{
			Acts: []string{"shell(kubectl delete *)", "pay:*"}, Need: []bundle.From{{From: "sre", Count: 2}, {From: "finance", Count: 1}},
			Not: []string{"sponsor", "editor"}, Proof: approval.StrengthPasskey, Expires: bundle.Duration(time.Hour),
			Escalate: []bundle.Escalation{{After: bundle.Duration(5 * time.Minute), To: "oncall"}},
		}},
	}
	if diff := cmp.Diff(want, s); diff != "" {
		t.Error(diff)
	}
	for text, part := range map[string]string{
		"deciders: [{need: [{from: a}]}]":                                                   "needs a acts",
		"deciders: [{acts: [shell(x)], need: []}]":                                          "the keys acts and need",
		"deciders: [{acts: ['shell('], need: [{from: a}]}]":                                 "shell(",
		"deciders: [{acts: [shell(x)], need: [{from: a, count: 0}]}]":                       "1 or more",
		"deciders: [{acts: [shell(x)], need: [{from: sponsor, count: 2}]}]":                 "one sponsor",
		"deciders: [{acts: [shell(x)], need: [{from: a}], proof: password}]":                "password",
		"deciders: [{acts: [shell(x)], need: [{from: a}], escalate: [{after: 0s, to: b}]}]": "a time and a group",
		"{max_age: 1h, rules: []}":                                                          "at the beginning of a line",
		"keep_days: -1":                                                                     "not negative",
		"keep_days: 1.5":                                                                    "number",
		"stale: run":                                                                        "run",
		"team: {trust: x, name: y}":                                                         "team",
		"rules: [allow shell(x)\n":                                                          "",
	} {
		if _, err := bundle.Parse("team.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestWhatIsNotTheTeamsIsRefused(t *testing.T) {
	tm, other := newTeam(t, "acme"), newTeam(t, "acme")
	data := tm.sign(t, acme(t))
	text, _, _ := bytes.Cut(data, []byte("\n\n"))
	signed := func(text string) []byte {
		out, err := note.Sign(&note.Note{Text: text}, tm.signer)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	line := strings.TrimPrefix(string(text), "assent bundle 1\n")
	two, err := note.Sign(&note.Note{Text: string(text) + "\n"}, tm.signer, other.signer)
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{
		"empty":             nil,
		"another key":       other.sign(t, acme(t)),
		"stripped":          append(bytes.Clone(text), '\n'),
		"stripped, blank":   append(bytes.Clone(text), "\n\n"...),
		"two signatures":    two,
		"twice":             append(bytes.Clone(data), data[bytes.Index(data, []byte("\n— "))+1:]...),
		"another note":      signed("go.sum database tree\n1\nx\n"),
		"a later version":   signed("assent bundle 2\n" + line + "\n"),
		"unknown key":       signed("assent bundle 1\n" + strings.Replace(line, `{"version"`, `{"x":1,"version"`, 1) + "\n"),
		"doubled key":       signed("assent bundle 1\n" + strings.Replace(line, `{"version":1`, `{"version":1,"version":1`, 1) + "\n"),
		"misspelled key":    signed("assent bundle 1\n" + strings.Replace(line, `"serial"`, `"Serial"`, 1) + "\n"),
		"more behind":       signed("assent bundle 1\n" + line + "\n{}\n"),
		"too large":         bytes.Repeat([]byte("x"), bundle.MaxBytes+1),
		"a serial too low":  signed("assent bundle 1\n" + strings.Replace(line, `"serial":7`, `"serial":0`, 1) + "\n"),
		"a sponsor unknown": signed("assent bundle 1\n" + strings.Replace(line, `"sponsor":"p_ann"`, `"sponsor":"p_eve"`, 1) + "\n"),
	} {
		if _, err := bundle.Open(data, tm.trust); !errors.Is(err, bundle.ErrRefused) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := bundle.Open(data, ""); !errors.Is(err, bundle.ErrRefused) {
		t.Errorf("without a key to trust: %v", err)
	}
}

func TestABundleThatNobodyCouldGoByIsNotSigned(t *testing.T) {
	tm := newTeam(t, "acme")
	for name, spoil := range map[string]func(*bundle.Bundle){
		"no tenant":       func(b *bundle.Bundle) { b.Tenant = "" },
		"expired":         func(b *bundle.Bundle) { b.Expires = b.Issued },
		"keeps too long":  func(b *bundle.Bundle) { b.KeepDays = 213_504 }, // as a duration it would be 25 minutes
		"keeps less":      func(b *bundle.Bundle) { b.KeepDays = -1 },
		"no age":          func(b *bundle.Bundle) { b.MaxAge = 0 },
		"no acts":         func(b *bundle.Bundle) { b.Deciders[0].Acts = nil },
		"nobody decides":  func(b *bundle.Bundle) { b.Deciders[0].Need = nil },
		"a group twice":   func(b *bundle.Bundle) { b.Deciders[0].Need = append(b.Deciders[0].Need, b.Deciders[0].Need[0]) },
		"not Sponsor":     func(b *bundle.Bundle) { b.Deciders[0].Not = []string{"Sponsor"} },
		"not a group":     func(b *bundle.Bundle) { b.Deciders[0].Not = []string{"sre"} },
		"not no editor":   func(b *bundle.Bundle) { b.Editors = nil },
		"two of an id":    func(b *bundle.Bundle) { b.People[1].ID = b.People[0].ID },
		"a word as id":    func(b *bundle.Bundle) { b.People[1].ID = "editor" },
		"a word as group": func(b *bundle.Bundle) { b.People[1].Groups = []string{"sponsor"} },
		"a group in two":  func(b *bundle.Bundle) { b.People[0].Groups = []string{"sre", "sre"} },
		"not a group with dates": func(b *bundle.Bundle) {
			b.Deciders[0].Not = []string{"oncall"}
			b.People[1].Memberships = []bundle.Membership{{Group: "oncall", From: issued}}
		},
		"a bad key": func(b *bundle.Bundle) {
			b.People[0].Credentials = []bundle.Credential{{ID: "x", Kind: "device", Public: []byte("x")}}
		},
		"two agents": func(b *bundle.Bundle) { b.Machines[0].Agents = append(b.Machines[0].Agents, b.Machines[0].Agents[0]) },
	} {
		b := acme(t)
		spoil(b)
		if _, err := bundle.Sign(b, tm.signer); err == nil {
			t.Errorf("%s was signed", name)
		}
	}
}

// Several entries that meet a call are needed together, and what none meets may be answered at the machine.
func TestNeed(t *testing.T) {
	b := acme(t)
	b.Deciders = append(b.Deciders, bundle.Decider{Acts: []string{"shell(kubectl *)"}, Need: []bundle.From{{From: "sre", Count: 1}, {From: "leads", Count: 1}}, Proof: approval.StrengthDevice})
	if need := b.Need(nil); !need.Here || len(need.From) != 1 || need.From[0].Group != approval.FromSponsor {
		t.Errorf("%+v", need)
	}
	both := b.Need([]int{0, 1})
	want := []approval.Count{{Group: "sre", Count: 2}, {Group: "finance", Count: 1}, {Group: "leads", Count: 1}}
	if diff := cmp.Diff(want, both.From); diff != "" || both.Here || both.Proof != approval.StrengthPasskey || len(both.Escalate) != 0 {
		t.Errorf("%+v %s", both, diff)
	}
	if r := b.Reservations(); len(r) != 2 || !strings.Contains(r[0].Because, "2 of sre and 1 of finance, with a passkey (decider 1 of the team's policy 7)") {
		t.Errorf("%+v", r)
	}
}

func TestDurations(t *testing.T) {
	for d, want := range map[time.Duration]string{
		24 * time.Hour: "24h", 5 * time.Minute: "5m", 90 * time.Minute: "1h30m", 30 * time.Second: "30s", 0: "0s", 20 * time.Hour: "20h",
	} {
		text, err := json.Marshal(bundle.Duration(d))
		var back bundle.Duration
		if err := errors.Join(err, json.Unmarshal(text, &back)); err != nil || string(text) != `"`+want+`"` || time.Duration(back) != d {
			t.Errorf("%v: %s %v", d, text, err)
		}
	}
}

// Nothing that differs from what was signed opens.
func FuzzOpen(f *testing.F) {
	tm := newTeam(f, "acme")
	data := tm.sign(f, acme(f))
	f.Add(uint(0), byte(1), uint(0), []byte(nil))
	f.Add(uint(40), byte(0), uint(3), []byte("x"))
	f.Add(uint(len(data)-3), byte(1), uint(0), []byte(nil))
	f.Add(uint(len(data)), byte(0), uint(0), []byte("\n"))
	f.Add(uint(len(data)-150), byte(0), uint(150), []byte(nil))
	f.Fuzz(func(t *testing.T, at uint, flip byte, drop uint, put []byte) {
		i := int(at % uint(len(data)+1))
		end := min(i+int(drop%64), len(data))
		changed := bytes.Clone(data[:i])
		changed = append(append(changed, put...), data[end:]...)
		if i < len(changed) {
			changed[i] ^= flip
		}
		if _, err := bundle.Open(changed, tm.trust); err == nil && !bytes.Equal(changed, data) {
			t.Errorf("at %d: it opened", i)
		}
	})
}

// The same for every single bit.
func TestEachBitCounts(t *testing.T) {
	tm := newTeam(t, "acme")
	data := tm.sign(t, acme(t))
	for i := range data {
		for bit := range 8 {
			changed := bytes.Clone(data)
			changed[i] ^= 1 << bit
			if _, err := bundle.Open(changed, tm.trust); err == nil {
				t.Errorf("bit %d of byte %d", bit, i)
			}
		}
	}
}
