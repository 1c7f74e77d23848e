package terminal

import (
	"strings"
	"testing"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
)

func TestDenyForSession(t *testing.T) {
	f := newFixture(t, "one", "two")
	p := f.play(t, 80, 24)
	p.keys("N", "<enter>", "s", "2")
	p.wants("Deny for this session", "deny write_file(notes/**)", "1 other request that waits: write_file · Write notes/two")
	p.keys("y")
	if f.state(0) != policy.StateDenied || f.state(1) != policy.StateAutoDenied || !p.state.over {
		t.Fatalf("%s, %s", f.state(0), f.state(1))
	}
}

func TestDenyAlwaysShowsTheRule(t *testing.T) {
	f := newFixture(t, "one")
	p := f.play(t, 80, 24)
	p.keys("N", "no thanks", "<enter>", "a")
	p.wants("Always deny", "deny write_file(notes/one)")
	p.keys("y")
	rules, _ := f.memory.Rules(t.Context())
	if f.state(0) != policy.StateDenied || len(rules.Rules()) != 1 || rules.Rules()[0].String() != "deny write_file(notes/one)" {
		t.Fatalf("%s, rules %v", f.state(0), rules.Rules())
	}
}

func TestSession(t *testing.T) {
	f := newFixture(t, "one", "two", "diff")
	p := f.play(t, 80, 40)
	p.keys("s")
	p.wants("exactly this", "allow write_file(notes/one)", "allow write_file(notes/**)", "this tool", "until the run ends", "this worker only")
	p.keys("2", "l", "w")
	p.wants("for 15m0s", "also workers called from here", "2 other requests that wait", "write_file · Edit notes/report.md")
	p.keys("c", "90m", "<enter>")
	p.wants("for 1h30m0s")
	p.keys("y")
	for i, want := range []policy.State{policy.StateApproved, policy.StateSessionApproved, policy.StateSessionApproved} {
		if got := f.state(i); got != want {
			t.Errorf("call %d: %s, want %s", i, got, want)
		}
	}
	set, _ := f.memory.Grants(t.Context(), "s")
	g := set.Grants()[0]
	if g.Reach != policy.ReachPrefix || !g.Shared || !g.Expires.Equal(start.Add(90*time.Minute)) {
		t.Errorf("grant %+v", g)
	}
	if len(p.said) != 3 || !strings.Contains(p.said[0], "for 1h30m0s") || !strings.Contains(p.said[1], "by grant allow write_file(notes/**)") {
		t.Errorf("said %q", p.said)
	}
}

func TestCustomTimeIsChecked(t *testing.T) {
	f := newFixture(t, "one")
	p := f.play(t, 80, 40)
	for _, bad := range []string{"soon", "-5m", "0s"} {
		p.keys("s", "c", bad, "<enter>")
		p.wants("Enter a time such as 30m")
		p.keys("<esc>", "<esc>")
	}
	if f.state(0) != policy.StatePending {
		t.Fatal(f.state(0))
	}
}

func TestAlways(t *testing.T) {
	f := newFixture(t, "one", "two")
	p := f.play(t, 80, 40)
	p.keys("a")
	p.wants("Always allow", "allow write_file(notes/one)")
	p.keys("e", "<ctrl+u>", "allow write_file(notes/t*)", "<enter>", "y")
	p.wants("the rules would not cover this call") // and the dialog stays
	p.keys("e", "<ctrl+u>", "nonsense", "<enter>")
	p.wants("write allow or deny")
	p.keys("<ctrl+u>", "deny write_file", "<enter>")
	p.wants("has to begin with allow")
	p.keys("<ctrl+u>", "allow write_file(notes/*)", "<enter>")
	p.wants("1 other request that waits: write_file · Write notes/two")
	p.keys("y")
	if f.state(0) != policy.StateApproved || f.state(1) != policy.StateAutoApproved {
		t.Fatalf("%s, %s", f.state(0), f.state(1))
	}
	rules, _ := f.memory.Rules(t.Context())
	if got := rules.Rules(); len(got) != 1 || got[0].String() != "allow write_file(notes/*)" {
		t.Fatalf("rules %v", got)
	}
}

func TestARuleIsForTheProjectUnlessThePersonSaysEverywhere(t *testing.T) {
	for project, keys := range map[string][]string{
		"/home/me/shop": {"a", "y"}, "": {"a", "w", "y"},
	} {
		f := newFixture(t, "one")
		p := f.play(t, 80, 40)
		p.keys("a")
		p.wants("only in /home/me/shop", "[w] everywhere")
		p.keys("w")
		p.wants("everywhere, in every project", "[w] only in this project")
		p.keys("w", "<esc>")
		p.keys(keys...)
		rules, _ := f.memory.Rules(t.Context())
		if got := rules.Rules(); len(got) != 1 || got[0].Project != project {
			t.Errorf("%q: rules %+v", keys, got)
		}
		if said := p.said[0]; strings.Contains(said, "everywhere") != (project == "") {
			t.Errorf("%q: said %q", keys, said)
		}
	}
}

func TestWideRuleNeedsASecondYes(t *testing.T) {
	f := newFixture(t, "bash")
	p := f.play(t, 80, 40)
	p.keys("a", "2", "y")
	p.wants("allow shell(bash): bash runs whatever it is given", "Type yes")
	p.keys("y", "<enter>")
	p.wants("Nothing was saved")
	p.keys("<ctrl+u>", "yes", "<enter>")
	if f.state(0) != policy.StateApproved {
		t.Fatal(f.state(0))
	}
}

// Where nobody can tell how far a rule reaches, every rule needs a second yes.
func TestEveryRuleNeedsASecondYesIfNobodyCanTell(t *testing.T) {
	f := newFixture(t, "two")
	p := playDesk(t, NewWith(Config{Grants: f.memory}), f.batch, 80, 40)
	p.keys("a", "y")
	p.wants("how far it reaches is unknown", "Type yes")
	if f.state(0) != policy.StatePending {
		t.Fatal(f.state(0))
	}
}

func TestLastingOnlyAfterAllWasSeen(t *testing.T) {
	for _, key := range []string{"s", "a"} {
		f := newFixture(t, "long")
		p := f.play(t, 80, 24)
		p.keys("<end>", key)
		if p.state.dialog != nil {
			t.Fatalf("%s was offered", key)
		}
		p.wants("see all of it first: press v", "rows ")
		p.keys("v", key)
		if p.state.dialog == nil || p.pages != 1 {
			t.Fatalf("%s was not offered after v", key)
		}
	}
}

func TestScrollingToTheEndIsSeeing(t *testing.T) {
	f := newFixture(t, "diff")
	p := f.play(t, 80, 16)
	p.keys("s")
	p.wants("scroll, or press v")
	p.keys("<pgdown>", "<pgdown>", "<pgdown>", "<pgdown>", "<pgdown>", "s")
	if p.state.dialog == nil {
		t.Fatalf("not offered:\n%s", p.screen())
	}
}

func TestPersonOnlyIsAskedEachTime(t *testing.T) {
	f := newFixture(t, "person")
	p := f.play(t, 80, 24)
	p.wants("Only a person may answer this")
	p.keys("s")
	p.wants("cannot be remembered")
	p.keys("a", "N", "no", "<enter>", "o")
	if f.state(0) != policy.StateDenied {
		t.Fatal(f.state(0))
	}
}

// A yes forever is not a person's answer each time; a no forever is.
func TestPersonOnlyMayBeDeniedForLonger(t *testing.T) {
	offers := []policy.Offer{{Reach: policy.ReachExact, Deny: []string{"deny delete_file(/)"}, Acts: []int{0}}}
	for key, keep := range map[string]approval.Keep{"s": approval.KeepSession, "a": approval.KeepAlways} {
		r := newFixture(t, "person").batch.Pending()[0]
		r.NoSession, r.NoAlways, r.Offers = false, false, offers
		d := &single{request: r}
		p := playDesk(t, NewWith(Config{}), d, 80, 40)
		if shown := p.screen(); strings.Contains(shown, "[s] session") || strings.Contains(shown, "[a] always") {
			t.Fatalf("a lasting yes is offered:\n%s", shown)
		}
		p.keys("s")
		p.wants("cannot be remembered")
		p.keys("N", "<enter>")
		p.wants("[s] for this session", "[a] always")
		p.keys(key)
		p.wants("deny delete_file(/)")
		p.keys("y")
		if d.decision == nil || d.decision.Answer != approval.AnswerDeny || d.decision.Remember.Keep != keep {
			t.Errorf("%s: %+v", key, d.decision)
		}
	}
}

func TestWhatCannotBeKeptIsNotOffered(t *testing.T) {
	f := newFixture(t, "one")
	f.batch.Pending()[0].Offers = nil
	p := f.play(t, 80, 40)
	if shown := p.screen(); strings.Contains(shown, "[s] session") || strings.Contains(shown, "[a] always") {
		t.Fatalf("a lasting yes is offered:\n%s", shown)
	}
	p.keys("a")
	p.wants("No rule can describe exactly this")
	p.keys("N", "<enter>") // once: there is nothing to choose
	if f.state(0) != policy.StateDenied {
		t.Error(f.state(0))
	}
}

// TestKeptYesWarns: what an offer warns of is shown before a yes is kept, and not for a no.
func TestKeptYesWarns(t *testing.T) {
	const warning = "npm test runs files in proj"
	for keys, want := range map[string]bool{"s": true, "a": true, "N": false} {
		f := newFixture(t, "one")
		p := f.play(t, 80, 40)
		request := p.state.current().request
		for i := range request.Offers {
			request.Offers[i].Warn = []string{warning}
		}
		if p.keys(keys); keys == "N" {
			p.keys("<enter>", "a")
		}
		if got := strings.Contains(p.screen(), warning); got != want {
			t.Errorf("%s: shown %t, want %t:\n%s", keys, got, want, p.screen())
		}
	}
}
