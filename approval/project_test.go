package approval_test

import (
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
)

func inProject(folder string) func(*approval.Config) {
	return func(c *approval.Config) { c.Project = folder }
}

func TestAnAnswerForAlwaysIsForItsProject(t *testing.T) {
	for _, everywhere := range []bool{false, true} {
		for _, deny := range []bool{false, true} {
			f := newFixture(t, inProject("/home/ann/shop"))
			b, r := f.pending(call("send", "x"))
			if r.Call.Project != "/home/ann/shop" {
				t.Fatalf("the request says project %q", r.Call.Project)
			}
			d, want := r.Approve("").Always(), policy.StateAutoApproved
			if deny {
				d, want = r.Deny("").Always(), policy.StateAutoDenied
			}
			d.Remember.Everywhere = everywhere
			f.resolve(b, d)
			rules, err := f.memory.Rules(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			project := map[bool]string{false: "/home/ann/shop", true: ""}[everywhere]
			if got := rules.Rules(); len(got) != 1 || got[0].Project != project {
				t.Errorf("saved %+v, want one rule of %q", got, project)
			}
			if o := f.Review(t.Context(), call("send", "x")).Outcome(0); o.State != want {
				t.Errorf("here it is %s, want %s", o.State, want)
			}
			there := policy.StatePending
			if everywhere {
				there = want
			}
			other := f.another(inProject("/home/ann/blog"))
			if o := other.Review(t.Context(), call("send", "x")).Outcome(0); o.State != there {
				t.Errorf("in another project it is %s, want %s", o.State, there)
			}
		}
	}
}

// The project of the gate is not for callers to choose.
func TestACallCannotChooseItsProject(t *testing.T) {
	f := newFixture(t, inProject("/home/ann/blog"))
	rule, err := policy.ParseRule("allow send")
	if err != nil {
		t.Fatal(err)
	}
	rule.Project = "/home/ann/shop"
	if err := f.memory.AddRules(t.Context(), rule); err != nil {
		t.Fatal(err)
	}
	asked := call("send", "x")
	asked.Project = "/home/ann/shop"
	if o := f.Review(t.Context(), asked).Outcome(0); o.State != policy.StatePending || o.Call.Project != "/home/ann/blog" {
		t.Errorf("it is %s in %s", o.State, o.Call.Project)
	}
}

func TestSavingARuleSettlesTheRequestsOfItsProject(t *testing.T) {
	f := newFixture(t, inProject("/home/ann/shop"))
	other := f.another(inProject("/home/ann/blog"))
	b, r := f.pending(call("send", "x"))
	here := f.Review(t.Context(), call("send", "x"))
	there := other.Review(t.Context(), call("send", "x"))
	d := r.Approve("").Always("allow send")
	if covers := f.Covers(t.Context(), r, d); len(covers) != 1 || covers[0].ID != here.Pending()[0].ID {
		t.Errorf("it says that it settles %v", covers)
	}
	f.resolve(b, d)
	if o := here.Outcome(0); o.State != policy.StateAutoApproved {
		t.Errorf("the request of the same project is %s", o.State)
	}
	if o := there.Outcome(0); o.State != policy.StatePending {
		t.Errorf("the request of another project is %s", o.State)
	}
}
