package term

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/assent-dev/assent/approval"
)

func TestApproveOnce(t *testing.T) {
	for _, key := range []string{"y", "Y", "yes", "YES"} {
		f := newFixture(t, "diff")
		p := f.play(t, 80, 0)
		p.keys(key)
		if got := f.state(0); got != approval.Approved {
			t.Errorf("%q: %s", key, got)
		}
		if !p.state.over || len(p.said) != 1 || !strings.HasPrefix(p.said[0], "✓ approved: write_file · Edit notes/report.md") {
			t.Errorf("%q: said %q", key, p.said)
		}
		if d := f.batch.Outcome(0).Decision; d.By.Via != approval.ViaTerminal || d.Remember.Keep != approval.KeepNone {
			t.Errorf("decision %+v", d)
		}
	}
}

func TestOtherKeysNeverApprove(t *testing.T) {
	others := []string{"<enter>", "<esc>", "<space>", "<tab>", "<up>", "<pgdown>", "<alt+y>", "<ctrl+y>", "<f1>", "<shift+y>", "z", "ä", "1", " ", "0", "<early>"}
	f := newFixture(t, "diff")
	p := f.play(t, 80, 24)
	p.keys(others...)
	p.event(pasteEvent{"y"})
	p.event(pasteEvent{"yes\n"})
	if f.state(0) != approval.Pending || p.state.over {
		t.Fatalf("answered: %s", f.state(0))
	}
}

// What the screen has no room to show cannot be approved at it, nor counts as seen.
func TestATerminalThatIsTooLowDoesNotApprove(t *testing.T) {
	for _, rows := range []int{5, 8, 10} {
		f := newFixture(t, "diff", "two")
		p := f.play(t, 40, rows)
		p.keys("<end>", "y", "s", "a", "A", "y")
		if f.state(0) != approval.Pending {
			t.Fatalf("%d rows: %s", rows, f.state(0))
		}
		p.keys("<esc>")
		p.wants("enlarge")
		if n := strings.Count(p.screen(), "\n") + 1; rows > 8 && n > rows {
			t.Errorf("%d rows are drawn on %d", n, rows)
		}
		p.event(sizeEvent{80, 40})
		p.keys("y")
		if f.state(0) != approval.Approved {
			t.Errorf("enlarged: %s", f.state(0))
		}
	}
}

// TestNoDialogApprovesWithoutYes opens every dialog and presses everything but y in it.
func TestNoDialogApprovesWithoutYes(t *testing.T) {
	for _, open := range []string{"s", "S", "a", "A", "c", "?", "h", "g", "r", "n", "N", "q", "v", "e"} {
		for _, k := range []string{"<enter>", "<space>", "1", "2", "l", "w", "x", "a", "s", "<ctrl+d>", "<down>", "o"} {
			f := newFixture(t, "bash", "two")
			p := f.play(t, 80, 24)
			p.edit = func(r *approval.Request) editedEvent { return editedEvent{id: r.ID, at: p.now} }
			p.keys(open, k, k)
			for i := range 2 {
				if f.batch.Outcome(i).State.Runs() {
					t.Errorf("%s %s approved call %d", open, k, i)
				}
			}
		}
	}
}

func TestEscGoesBack(t *testing.T) {
	f := newFixture(t, "bash", "two")
	p := f.play(t, 80, 24)
	for _, open := range []string{"s", "a", "A", "c", "?", "h", "g", "r", "n", "N", "q"} {
		p.keys(open)
		if p.state.dialog == nil {
			t.Errorf("%s opened nothing", open)
		}
		p.keys("<esc>")
		if p.state.dialog != nil || p.state.over || f.state(0) != approval.Pending {
			t.Errorf("%s and Esc: %#v", open, p.state.dialog)
		}
	}
}

func TestEarlyKeysAreSwallowed(t *testing.T) {
	f := newFixture(t, "diff")
	p := f.play(t, 80, 24)
	p.state.arm(p.now)
	press := func(key string, ms int) {
		p.event(keyEvent{name: key, text: key, at: p.now.Add(time.Duration(ms) * time.Millisecond)})
	}
	// A key that is held down never says yes, however long.
	for ms := 0; ms < 5000; ms += 33 {
		press("y", ms)
	}
	if f.state(0) != approval.Pending {
		t.Fatal("a key that was held down answered")
	}
	// Each key starts the quiet time again; for a no it is not past the longest wait.
	p.state.arm(p.now)
	for ms := 0; ms < 1500; ms += 100 {
		press("n", ms)
	}
	if p.state.dialog != nil {
		t.Fatal("a key that was too early counted")
	}
	if press("n", 1500); p.state.dialog == nil {
		t.Fatal("a key after the longest wait did not count")
	}
}

// A word that is typed quickly opens a dialog and answers nothing in it.
func TestAWordTypedAtThePromptKeepsNothing(t *testing.T) {
	for _, word := range []string{"day", "may", "say", "Any", "easy"} {
		f := newFixture(t, "bash", "two")
		p := f.play(t, 80, 30)
		p.edit = func(r *approval.Request) editedEvent { return editedEvent{id: r.ID, at: p.now} }
		p.wait()
		at := p.now
		for _, r := range word {
			at = at.Add(80 * time.Millisecond)
			p.event(keyEvent{name: string(r), text: string(r), at: at})
		}
		for i := range 2 {
			if f.state(i).Runs() {
				t.Errorf("%q: call %d is %s", word, i, f.state(i))
			}
		}
	}
}

// What was jumped over was not seen.
func TestJumpingToTheEndIsNotSeeing(t *testing.T) {
	f := newFixture(t, "diff")
	p := f.play(t, 80, 14)
	p.keys("<end>", "s")
	if p.state.dialog != nil {
		t.Fatal("a lasting answer is offered for what was jumped over")
	}
}

// A dialog that does not fit on the screen takes no yes.
func TestADialogThatDoesNotFitTakesNoYes(t *testing.T) {
	f := newFixture(t, "bash", "two")
	p := f.play(t, 80, 40)
	p.keys("s")
	p.event(sizeEvent{80, 9})
	p.keys("y")
	if f.state(0) != approval.Pending {
		t.Fatalf("%s", f.state(0))
	}
	p.event(sizeEvent{80, 40})
	p.keys("y")
	if f.state(0) != approval.Approved {
		t.Fatalf("enlarged: %s", f.state(0))
	}
}

func TestQuietEndsAfter400ms(t *testing.T) {
	f := newFixture(t, "diff")
	p := f.play(t, 80, 24)
	p.state.arm(p.now)
	p.event(tickEvent{p.now.Add(399 * time.Millisecond)})
	p.wants("the keys work in a moment")
	p.event(tickEvent{p.now.Add(400 * time.Millisecond)})
	p.wants("your answer?")
	p.event(keyEvent{name: "y", at: p.now.Add(400 * time.Millisecond)})
	if f.state(0) != approval.Approved {
		t.Fatal("not answered")
	}
}

func TestDenyWithNote(t *testing.T) {
	f := newFixture(t, "diff")
	p := f.play(t, 80, 24)
	p.keys("n")
	p.wants("a note to the model?")
	p.keys("use ", "another file", "<enter>")
	p.wants("Deny for how long?", "Note: use another file")
	p.keys("<enter>")
	o := f.batch.Outcome(0)
	if o.State != approval.Denied || o.Note() != "use another file" || o.Decision.Remember.Keep != approval.KeepNone {
		t.Fatalf("%s, %q", o.State, o.Note())
	}
	if len(p.said) != 1 || !strings.Contains(p.said[0], "✗ denied") || !strings.Contains(p.said[0], "use another file") {
		t.Fatalf("said %q", p.said)
	}
}

func TestTheWordNoDenies(t *testing.T) {
	f := newFixture(t, "diff")
	p := f.play(t, 80, 24)
	p.keys("no", "<enter>", "o")
	if o := f.batch.Outcome(0); o.State != approval.Denied || o.Note() != "" {
		t.Fatalf("%s, note %q", o.State, o.Note())
	}
}

func TestDenyForSession(t *testing.T) {
	f := newFixture(t, "one", "two")
	p := f.play(t, 80, 24)
	p.keys("n", "<enter>", "s", "2")
	p.wants("Deny for this session", "deny write_file(notes/**)", "1 other request that waits: write_file · Write notes/two")
	p.keys("y")
	if f.state(0) != approval.Denied || f.state(1) != approval.AutoDenied || !p.state.over {
		t.Fatalf("%s, %s", f.state(0), f.state(1))
	}
}

func TestDenyAlwaysShowsTheRule(t *testing.T) {
	f := newFixture(t, "one")
	p := f.play(t, 80, 24)
	p.keys("n", "no thanks", "<enter>", "a")
	p.wants("Always deny", "deny write_file(notes/one)")
	p.keys("y")
	rules, _ := f.memory.Rules(t.Context())
	if f.state(0) != approval.Denied || len(rules.Rules()) != 1 || rules.Rules()[0].String() != "deny write_file(notes/one)" {
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
	for i, want := range []approval.State{approval.Approved, approval.SessionApproved, approval.SessionApproved} {
		if got := f.state(i); got != want {
			t.Errorf("call %d: %s, want %s", i, got, want)
		}
	}
	set, _ := f.memory.Grants(t.Context(), "s")
	g := set.Grants()[0]
	if g.Reach != approval.Prefix || !g.Shared || !g.Expires.Equal(start.Add(90*time.Minute)) {
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
		p.wants("Write a time such as 30m")
		p.keys("<esc>", "<esc>")
	}
	if f.state(0) != approval.Pending {
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
	if f.state(0) != approval.Approved || f.state(1) != approval.AutoApproved {
		t.Fatalf("%s, %s", f.state(0), f.state(1))
	}
	rules, _ := f.memory.Rules(t.Context())
	if got := rules.Rules(); len(got) != 1 || got[0].String() != "allow write_file(notes/*)" {
		t.Fatalf("rules %v", got)
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
	if f.state(0) != approval.Approved {
		t.Fatal(f.state(0))
	}
}

func TestWideRules(t *testing.T) {
	wide := []string{
		"allow shell", "allow shell(*)", "allow SHELL", "allow *", "allow sh*", "allow shell(bash)", "allow shell(/bin/sh -c)",
		"allow shell(python3.12)", "allow shell(env FOO=1)", "allow shell(sudo ls)", "allow shell(xargs)", "allow shell(ssh host)",
		"allow shell(node)", "allow shell(perl -e)", "allow shell(ruby)", "allow connector github", "allow write_file(**)", "allow github:*",
		"allow write_file", "allow delete_file", "allow write_*", "allow write_file({a,**})", "allow write_file(?*)",
	}
	narrow := []string{
		"allow shell(git status)", "allow shell(= bash x.sh)", "allow write_file(notes/**)", "allow github:search_*",
		"allow shell(npm test *)", "deny shell", "allow read_file", "allow send_email", "allow shell(shellcheck)",
	}
	for _, r := range wide {
		if len(wideRules([]string{r})) == 0 {
			t.Errorf("%s counts as narrow", r)
		}
	}
	for _, r := range narrow {
		if len(wideRules([]string{r})) > 0 {
			t.Errorf("%s counts as wide", r)
		}
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
		p.wants("once you have seen it all: press v", "rows ")
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
	p.keys("a", "n", "no", "<enter>", "o")
	if f.state(0) != approval.Denied {
		t.Fatal(f.state(0))
	}
}

// A yes for ever is not a person's answer each time; a no for ever is.
func TestPersonOnlyMayBeDeniedForLonger(t *testing.T) {
	offers := []approval.Offer{{Reach: approval.Exact, Deny: []string{"deny delete_file(/)"}, Acts: []int{0}}}
	for key, keep := range map[string]approval.Keep{"s": approval.KeepSession, "a": approval.KeepAlways} {
		r := newFixture(t, "person").batch.Pending()[0]
		r.NoSession, r.NoAlways, r.Offers = false, false, offers
		d := &single{request: r}
		p := playDesk(t, New(Config{}), d, 80, 40)
		if shown := p.screen(); strings.Contains(shown, "[s] session") || strings.Contains(shown, "[a] always") {
			t.Fatalf("a lasting yes is offered:\n%s", shown)
		}
		p.keys("s")
		p.wants("cannot be remembered")
		p.keys("n", "<enter>")
		p.wants("[s] for this session", "[a] always")
		p.keys(key)
		p.wants("deny delete_file(/)")
		p.keys("y")
		if d.decision == nil || d.decision.Answer != approval.Refuse || d.decision.Remember.Keep != keep {
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
	p.wants("No rule says exactly this")
	p.keys("n", "<enter>") // once: there is nothing to choose
	if f.state(0) != approval.Denied {
		t.Error(f.state(0))
	}
}

func TestBrokenViewCannotBeApproved(t *testing.T) {
	f := newFixture(t, "broken", "two")
	p := f.play(t, 80, 24)
	p.wants("cannot be shown: disk on fire")
	p.keys("y", "s", "a", "c", "A", "y")
	if f.state(0) != approval.Pending {
		t.Fatal(f.state(0))
	}
}

func TestApproveAllTakesOnlyWhatWasSeen(t *testing.T) {
	f := newFixture(t, "one", "two", "person", "long", "five")
	p := f.play(t, 80, 40)
	p.wants("1 of 5")
	p.keys("<tab>", "<tab>")
	p.wants("3 of 5")
	p.keys("<tab>", "A")
	p.wants("Approve 2 requests", "Write notes/one", "Delete / (each time by a person)", "data/export.txt (was not on screen in full)", "notes/five (was not on screen in full)")
	p.keys("y")
	want := []approval.State{approval.Approved, approval.Approved, approval.Pending, approval.Pending, approval.Pending}
	for i, w := range want {
		if got := f.state(i); got != w {
			t.Errorf("call %d: %s, want %s", i, got, w)
		}
	}
	p.wants("3 requests left open", "of 5")
}

func TestDenyAll(t *testing.T) {
	f := newFixture(t, "one", "two", "person")
	p := f.play(t, 80, 40)
	p.keys("N", "not now", "<enter>")
	for i := range 3 {
		if o := f.batch.Outcome(i); o.State != approval.Denied || o.Note() != "not now" {
			t.Errorf("call %d: %s %q", i, o.State, o.Note())
		}
	}
	if !p.state.over {
		t.Error("the prompt is still open")
	}
}

func TestStop(t *testing.T) {
	f := newFixture(t, "one", "two")
	p := f.play(t, 80, 40)
	p.keys("q", "enough", "<enter>")
	if e := p.state.end; !p.state.over || !e.stopped || e.note != "enough" || e.request.Call.ID != "one" {
		t.Fatalf("%+v", e)
	}
}

func TestInterrupt(t *testing.T) {
	for name, press := range map[string]func(p *player){
		"ctrl+c":                   func(p *player) { p.keys("<ctrl+c>") },
		"ctrl+c before it is read": func(p *player) { p.state.arm(p.now); p.event(keyEvent{name: "ctrl+c", at: p.now}) },
		"ctrl+c in a dialog":       func(p *player) { p.keys("n", "abc", "<ctrl+c>") },
		"ctrl+d":                   func(p *player) { p.keys("<ctrl+d>") },
		"end of input":             func(p *player) { p.event(interruptEvent{"end of input"}) },
	} {
		f := newFixture(t, "one")
		p := f.play(t, 80, 40)
		press(p)
		if !p.state.over || !p.state.end.interrupted || f.state(0) != approval.Pending {
			t.Errorf("%s: %+v", name, p.state.end)
		}
	}
}

func TestEdit(t *testing.T) {
	f := newFixture(t, "one")
	p := f.play(t, 80, 40)
	p.edit = func(r *approval.Request) editedEvent {
		content, suffix, err := draftContent(r)
		if string(content) != "text of one" || suffix != ".txt" || err != nil {
			t.Errorf("editing %q, %q, %v", content, suffix, err)
		}
		args, err := changedArguments(r, []byte("other text"))
		return editedEvent{id: r.ID, arguments: args, err: err, at: p.now}
	}
	p.keys("e")
	if f.state(0) != approval.Pending || len(p.said) != 1 || !strings.Contains(p.said[0], "changed, asking again") {
		t.Fatalf("%s, said %q", f.state(0), p.said)
	}
	p.wants("Write notes/one")
	p.keys("y")
	o := f.batch.Outcome(0)
	var args map[string]any
	_ = json.Unmarshal(o.Call.Arguments, &args)
	if o.State != approval.Approved || args["content"] != "other text" || o.Original == nil {
		t.Fatalf("%s with %v", o.State, args)
	}
}

func TestEditNothing(t *testing.T) {
	f := newFixture(t, "one")
	p := f.play(t, 80, 40)
	p.edit = func(r *approval.Request) editedEvent { return editedEvent{id: r.ID, at: p.now} }
	p.keys("e")
	p.wants("Nothing was changed")
}

func TestRespond(t *testing.T) {
	f := newFixture(t, "one")
	p := f.play(t, 80, 40)
	p.keys("r", "<ctrl+d>")
	p.wants("Type the result first")
	p.keys("first line", "<enter>", "second", "<ctrl+d>")
	o := f.batch.Outcome(0)
	if o.State != approval.Answered || o.Decision.Result != "first line\nsecond" {
		t.Fatalf("%s %q", o.State, o.Decision.Result)
	}
}

func TestWhy(t *testing.T) {
	f := newFixture(t, "diff")
	p := f.play(t, 80, 40)
	p.keys("?")
	p.wants("Why it asks", "notes asks for writes (policy.yaml:7)", "no rule and no grant covers it", "allow write_file(notes/**)", "fingerprint")
}

func TestGrants(t *testing.T) {
	f := newFixture(t, "one", "sub/x")
	p := f.play(t, 80, 40)
	p.keys("g")
	p.wants("Grants of this session", "None.")
	p.keys("<esc>")
	f.grant(t, "g1")
	f.grant(t, "g2")
	f.grant(t, "g3")
	left := func() int {
		set, _ := f.memory.Grants(t.Context(), "s")
		return len(set.Grants())
	}
	p.keys("g", "<down>", "x")
	p.wants("allow write_file(notes/sub)")
	if left() != 2 {
		t.Fatalf("%d left", left())
	}
	p.keys("X")
	if left() != 0 {
		t.Fatalf("%d left", left())
	}
	p.wants("None.")
}

func TestHistory(t *testing.T) {
	f := newFixture(t, "one", "two")
	p := f.play(t, 80, 40)
	p.work.remember(text("✓ approved: something before"))
	p.keys("h")
	p.wants("Decided in this session", "something before")
}

func TestChoice(t *testing.T) {
	f := newFixture(t, "bash")
	p := f.play(t, 80, 40)
	p.keys("c", "y")
	if f.state(0) != approval.Pending {
		t.Fatal("approved without a choice")
	}
	p.wants("with network")
	p.keys("1", "y")
	if o := f.batch.Outcome(0); o.State != approval.Approved || o.Decision.Choice != "net" {
		t.Fatalf("%s %+v", o.State, o.Decision)
	}
}

func TestAnsweredElsewhere(t *testing.T) {
	f := newFixture(t, "one", "two")
	p := f.play(t, 80, 40)
	p.keys("n", "typing a note")
	d := f.batch.Pending()[0].Approve("")
	d.By = approval.Who{User: "bob", Via: approval.ViaInbox}
	if err := f.batch.Resolve(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	p.event(p.work.settled(nil, nil))
	if len(p.said) != 1 || !strings.Contains(p.said[0], "approved by bob (inbox)") {
		t.Fatalf("said %q", p.said)
	}
	p.wants("Write notes/two", "2 of 2")
	if p.state.dialog != nil {
		t.Error("the dialog of the other request is still open")
	}
}

func TestLosingAnswerIsTold(t *testing.T) {
	f := newFixture(t, "one")
	p := f.play(t, 80, 40)
	d := f.batch.Pending()[0].Deny("")
	d.By = approval.Who{User: "bob", Via: approval.ViaInbox}
	if err := f.batch.Resolve(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	p.keys("y")
	if f.state(0) != approval.Denied || len(p.said) != 1 || !strings.Contains(p.said[0], "denied by bob (inbox)") {
		t.Fatalf("%s, said %q", f.state(0), p.said)
	}
}
