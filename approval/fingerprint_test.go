package approval_test

import (
	"context"
	"testing"

	"pgregory.net/rapid"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/approval/approvaltest"
	"github.com/assent-dev/assent/policy"
)

// fingerprintOf returns what an answer to the call would be bound to.
func fingerprintOf(t interface{ Fatal(...any) }, c policy.Call, p approval.Proposal) policy.Digest {
	prepare := func(context.Context, policy.Call) (approval.Proposal, error) { return p, nil }
	gate, err := approval.New(approval.Config{
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
	one, two := policy.DigestOf([]byte("one")), policy.DigestOf([]byte("two"))
	base := func() (policy.Call, approval.Proposal) {
		return policy.Call{ID: "1", Connector: "c", Tool: "t", Arguments: []byte(`{"a":1}`), Session: "s", Workers: []string{"w"}},
			approval.Proposal{Definition: one, State: one, Profile: one, Dir: "d", Env: []string{"E"}, Acts: []policy.Act{
				{Name: "a", Connector: "c", Target: policy.LinkTarget([]string{"w"}, []string{"r"}), Dir: "d", Verdict: policy.VerdictAsk},
			}}
	}
	changes := map[string]func(*policy.Call, *approval.Proposal){
		"connector":       func(c *policy.Call, _ *approval.Proposal) { c.Connector = "C" },
		"tool":            func(c *policy.Call, _ *approval.Proposal) { c.Tool = "T" },
		"definition":      func(_ *policy.Call, p *approval.Proposal) { p.Definition = two },
		"arguments":       func(c *policy.Call, _ *approval.Proposal) { c.Arguments = []byte(`{"a":1.0}`) },
		"huge numbers":    func(c *policy.Call, _ *approval.Proposal) { c.Arguments = []byte(`{"a":9007199254740993}`) },
		"session":         func(c *policy.Call, _ *approval.Proposal) { c.Session = "S" },
		"workers":         func(c *policy.Call, _ *approval.Proposal) { c.Workers = []string{"w", "v"} },
		"directory":       func(_ *policy.Call, p *approval.Proposal) { p.Dir = "D" },
		"environment":     func(_ *policy.Call, p *approval.Proposal) { p.Env = []string{"F"} },
		"profile":         func(_ *policy.Call, p *approval.Proposal) { p.Profile = two },
		"state":           func(_ *policy.Call, p *approval.Proposal) { p.State = two },
		"another act":     func(_ *policy.Call, p *approval.Proposal) { p.Acts = append(p.Acts, p.Acts[0]) },
		"act's name":      func(_ *policy.Call, p *approval.Proposal) { p.Acts[0].Name = "b" },
		"act's connector": func(_ *policy.Call, p *approval.Proposal) { p.Acts[0].Connector = "" },
		"act's folder":    func(_ *policy.Call, p *approval.Proposal) { p.Acts[0].Dir = "" },
		"act's file":      func(_ *policy.Call, p *approval.Proposal) { p.Acts[0].Target.Written = []string{"x"} },
		"act's real file": func(_ *policy.Call, p *approval.Proposal) { p.Acts[0].Target.Resolved = []string{"x"} },
		"act's receiver":  func(_ *policy.Call, p *approval.Proposal) { p.Acts[0].Target.To = "x" },
		"act's kind":      func(_ *policy.Call, p *approval.Proposal) { p.Acts[0].Target.Kind = policy.KindText },
		"act's text":      func(_ *policy.Call, p *approval.Proposal) { p.Acts[0].Target.Text = "x" },
		"act's words":     func(_ *policy.Call, p *approval.Proposal) { p.Acts[0].Target.Words = []policy.Word{{Text: "x"}} },
		"act's host":      func(_ *policy.Call, p *approval.Proposal) { p.Acts[0].Target.URL.Host = "x" },
		"act unknown":     func(_ *policy.Call, p *approval.Proposal) { p.Acts[0].Target.Unknown = true },
		"person only":     func(_ *policy.Call, p *approval.Proposal) { p.Acts[0].PersonOnly = true },
	}
	c, p := base()
	seen := map[policy.Digest]string{fingerprintOf(t, c, p): "nothing"}
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
	p := approval.Proposal{Acts: []policy.Act{fileAct("notes/a")}}
	want := fingerprintOf(t, policy.Call{Tool: "t", Arguments: []byte(`{"a":"<é>","b":2}`)}, p)
	p = approval.Proposal{Acts: []policy.Act{fileAct("notes/./x/..//a")}}
	got := fingerprintOf(t, policy.Call{ID: "other", Tool: "t", Arguments: []byte(`{ "b" : 2, "a":"\u003c\u00e9>" }`)}, p)
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
	seen := map[policy.Digest]fields{}
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
		d := fingerprintOf(t, policy.Call{Connector: v.Connector, Tool: v.Tool, Workers: split(v.Workers)}, approval.Proposal{
			Dir: v.Dir, Env: split(v.Env), Acts: []policy.Act{{
				Name: "n", Verdict: policy.VerdictAsk, Dir: v.ActDir, Target: policy.Target{Kind: policy.KindPath, Written: []string{v.Written}, To: v.To},
			}},
		})
		if other, there := seen[d]; there && other != v {
			t.Fatalf("%+v and %+v have the same fingerprint", v, other)
		}
		seen[d] = v
	})
}
