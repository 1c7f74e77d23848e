package approval_test

import (
	"context"
	"testing"

	"pgregory.net/rapid"

	. "github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/approval/approvaltest"
)

// fingerprintOf returns what an answer to the call would be bound to.
func fingerprintOf(t interface{ Fatal(...any) }, c Call, p Proposal) Digest {
	prepare := func(context.Context, Call) (Proposal, error) { return p, nil }
	gate, err := New(Config{
		Preparer: approvaltest.PreparerFunc(prepare), Clock: new(approvaltest.Clock).Now, NewID: approvaltest.IDs(), Session: "s",
	})
	if err != nil {
		t.Fatal(err)
	}
	waiting := gate.Review(context.Background(), c).Pending()
	if len(waiting) != 1 {
		t.Fatal("the call is not pending")
	}
	return waiting[0].Fingerprint
}

func TestFingerprintChangesWithEverythingItCovers(t *testing.T) {
	one, two := DigestOf([]byte("one")), DigestOf([]byte("two"))
	base := func() (Call, Proposal) {
		return Call{ID: "1", Connector: "c", Tool: "t", Arguments: []byte(`{"a":1}`), Session: "s", Workers: []string{"w"}},
			Proposal{Definition: one, State: one, Profile: one, Dir: "d", Env: []string{"E"}, Acts: []Act{
				{Name: "a", Connector: "c", Target: LinkTarget([]string{"w"}, []string{"r"}), Dir: "d", Verdict: Ask},
			}}
	}
	changes := map[string]func(*Call, *Proposal){
		"connector":       func(c *Call, _ *Proposal) { c.Connector = "C" },
		"tool":            func(c *Call, _ *Proposal) { c.Tool = "T" },
		"definition":      func(_ *Call, p *Proposal) { p.Definition = two },
		"arguments":       func(c *Call, _ *Proposal) { c.Arguments = []byte(`{"a":1.0}`) },
		"huge numbers":    func(c *Call, _ *Proposal) { c.Arguments = []byte(`{"a":9007199254740993}`) },
		"session":         func(c *Call, _ *Proposal) { c.Session = "S" },
		"workers":         func(c *Call, _ *Proposal) { c.Workers = []string{"w", "v"} },
		"directory":       func(_ *Call, p *Proposal) { p.Dir = "D" },
		"environment":     func(_ *Call, p *Proposal) { p.Env = []string{"F"} },
		"profile":         func(_ *Call, p *Proposal) { p.Profile = two },
		"state":           func(_ *Call, p *Proposal) { p.State = two },
		"another act":     func(_ *Call, p *Proposal) { p.Acts = append(p.Acts, p.Acts[0]) },
		"act's name":      func(_ *Call, p *Proposal) { p.Acts[0].Name = "b" },
		"act's connector": func(_ *Call, p *Proposal) { p.Acts[0].Connector = "" },
		"act's folder":    func(_ *Call, p *Proposal) { p.Acts[0].Dir = "" },
		"act's file":      func(_ *Call, p *Proposal) { p.Acts[0].Target.Written = []string{"x"} },
		"act's real file": func(_ *Call, p *Proposal) { p.Acts[0].Target.Resolved = []string{"x"} },
		"act's receiver":  func(_ *Call, p *Proposal) { p.Acts[0].Target.To = "x" },
		"act's kind":      func(_ *Call, p *Proposal) { p.Acts[0].Target.Kind = Text },
		"act's text":      func(_ *Call, p *Proposal) { p.Acts[0].Target.Text = "x" },
		"act's words":     func(_ *Call, p *Proposal) { p.Acts[0].Target.Words = []Word{{Text: "x"}} },
		"act's host":      func(_ *Call, p *Proposal) { p.Acts[0].Target.URL.Host = "x" },
		"act unknown":     func(_ *Call, p *Proposal) { p.Acts[0].Target.Unknown = true },
		"person only":     func(_ *Call, p *Proposal) { p.Acts[0].PersonOnly = true },
	}
	c, p := base()
	seen := map[Digest]string{fingerprintOf(t, c, p): "nothing"}
	for name, change := range changes {
		c, p := base()
		change(&c, &p)
		d := fingerprintOf(t, c, p)
		if other, there := seen[d]; there {
			t.Errorf("a change of %s gives the fingerprint of a change of %s", name, other)
		}
		seen[d] = name
	}
}

func TestFingerprintDoesNotChangeWithSpelling(t *testing.T) {
	p := Proposal{Acts: []Act{fileAct("notes/a")}}
	want := fingerprintOf(t, Call{Tool: "t", Arguments: []byte(`{"a":"<é>","b":2}`)}, p)
	p = Proposal{Acts: []Act{fileAct("notes/./x/..//a")}}
	got := fingerprintOf(t, Call{ID: "other", Tool: "t", Arguments: []byte(`{ "b" : 2, "a":"\u003c\u00e9>" }`)}, p)
	if got != want {
		t.Error("key order, white space, escapes or a path's spelling change the fingerprint")
	}
}

func TestFingerprintFieldsDoNotShift(t *testing.T) {
	text := rapid.StringMatching(`[ab]{0,2}`)
	type fields struct {
		Connector, Tool, Dir, ActDir, Written, To string
		Workers, Env                              string
	}
	seen := map[Digest]fields{}
	rapid.Check(t, func(t *rapid.T) {
		v := fields{
			text.Draw(t, "connector"), "t" + text.Draw(t, "tool"), text.Draw(t, "dir"), text.Draw(t, "act dir"),
			text.Draw(t, "written"), text.Draw(t, "to"), text.Draw(t, "workers"), text.Draw(t, "env"),
		}
		split := func(s string) (out []string) {
			for _, r := range s {
				out = append(out, string(r))
			}
			return out
		}
		d := fingerprintOf(t, Call{Connector: v.Connector, Tool: v.Tool, Workers: split(v.Workers)}, Proposal{
			Dir: v.Dir, Env: split(v.Env), Acts: []Act{{
				Name: "n", Verdict: Ask, Dir: v.ActDir, Target: Target{Kind: Path, Written: []string{v.Written}, To: v.To},
			}},
		})
		if other, there := seen[d]; there && other != v {
			t.Fatalf("%+v and %+v have the same fingerprint", v, other)
		}
		seen[d] = v
	})
}
