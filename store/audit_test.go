package store_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/approval/approvaltest"
	"github.com/assent-dev/assent/audit"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/store"
	"github.com/assent-dev/assent/store/sessions"
)

// logged opens a store with n records.
func logged(t *testing.T, n int, opt store.Options) *store.Store {
	t.Helper()
	s := openStore(t, t.TempDir(), opt)
	for i := range n {
		if err := s.Record(t.Context(), eventOf(i)); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// TestVerifyNamesWhatWasDone changes the log behind its back in every way, and
// wants the record to be named.
func TestVerifyNamesWhatWasDone(t *testing.T) {
	const move = "UPDATE events SET seq = -%d WHERE seq = %d; UPDATE events SET seq = %d WHERE seq = %d; UPDATE events SET seq = %d WHERE seq = -%d"
	swap := fmt.Sprintf(move, 4, 4, 4, 5, 5, 4)
	for name, c := range map[string]struct {
		sql  string
		want string
	}{
		"body changed":    {"UPDATE events SET body = CAST(replace(CAST(body AS TEXT), 'ann', 'bob') AS BLOB) WHERE seq = 4", "4 changed"},
		"column changed":  {"UPDATE events SET state = 'denied' WHERE seq = 4", "4 changed"},
		"time changed":    {"UPDATE events SET at = at + 1 WHERE seq = 1", "1 changed"},
		"hash changed":    {"UPDATE events SET hash = zeroblob(32) WHERE seq = 4", "4 changed, 5 removed"},
		"removed":         {"DELETE FROM events WHERE seq = 4", "5 removed"},
		"several removed": {"DELETE FROM events WHERE seq IN (4, 5)", "6 removed"},
		"first removed":   {"DELETE FROM events WHERE seq = 1", "2 removed"},
		"last removed":    {"DELETE FROM events WHERE seq = 8", "7 cut"},
		"gap closed":      {"DELETE FROM events WHERE seq = 4; UPDATE events SET seq = seq - 1 WHERE seq > 4", "4 removed, 7 cut"},
		"reordered":       {swap, "4 reordered, 5 reordered, 6 reordered"},
		"copied to the end": {"INSERT INTO events SELECT 9, at, kind, session, call, tool, workers, state, stage, rule, via, waited, body, prev, hash FROM events WHERE seq = 3",
			"9 inserted"},
		"moved": {"UPDATE events SET seq = -3 WHERE seq = 3; UPDATE events SET seq = seq - 1 WHERE seq IN (4, 5, 6); UPDATE events SET seq = 6 WHERE seq = -3",
			"3 reordered, 6 reordered, 7 reordered"},
		"inserted before the first": {"INSERT INTO events SELECT 0, at, kind, session, call, tool, workers, state, stage, rule, via, waited, body, prev, hash FROM events WHERE seq = 3", "0 inserted"},
		"everything removed":        {"DELETE FROM events", "0 cut"},
	} {
		t.Run(name, func(t *testing.T) {
			s := logged(t, 8, store.Options{})
			if err := s.Exec(t.Context(), c.sql); err != nil {
				t.Fatal(err)
			}
			v, err := s.Verify(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if got := flaws(v); got != c.want {
				t.Errorf("found %q, want %q", got, c.want)
			}
		})
	}
}

func flaws(v audit.Verification) string {
	var out []string
	for _, f := range v.Flaws {
		out = append(out, fmt.Sprint(f.Seq, " ", f.Kind))
	}
	return strings.Join(out, ", ")
}

// TestAnInsertedRecordIsFound puts in a record whose own hash is right.
func TestAnInsertedRecordIsFound(t *testing.T) {
	s, other := logged(t, 4, store.Options{}), logged(t, 3, store.Options{})
	forged := eventOf(99)
	if err := other.Record(t.Context(), forged); err != nil { // follows the same three records
		t.Fatal(err)
	}
	if err := s.Exec(t.Context(), "UPDATE events SET seq = 5 WHERE seq = 4"); err != nil {
		t.Fatal(err)
	}
	if err := s.Exec(t.Context(), "ATTACH ? AS other; INSERT INTO events SELECT * FROM other.events WHERE seq = 4", other.Path()); err != nil {
		t.Fatal(err)
	}
	v, err := s.Verify(t.Context())
	if err != nil || flaws(v) != "4 inserted" {
		t.Errorf("found %q, %v; want record 4 to be named", flaws(v), err)
	}
}

// TestASealFindsALogThatWasWrittenAnew compares with a seal that was kept
// elsewhere.
func TestASealFindsALogThatWasWrittenAnew(t *testing.T) {
	s := logged(t, 5, store.Options{})
	seal, err := s.Seal(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	anew := openStore(t, t.TempDir(), store.Options{})
	for i := range 6 {
		if err := anew.Record(t.Context(), eventOf(100+i)); err != nil {
			t.Fatal(err)
		}
	}
	if v, err := anew.Verify(t.Context()); err != nil || !v.OK() {
		t.Fatalf("without the seal: %+v, %v", v, err)
	}
	if v, err := anew.Verify(t.Context(), seal); err != nil || flaws(v) != "5 rewritten" {
		t.Errorf("with the seal: %q, %v; want record 5 to be named", flaws(v), err)
	}
	if v, err := logged(t, 3, store.Options{}).Verify(t.Context(), seal); err != nil || flaws(v) != "3 cut" {
		t.Errorf("a shorter log: %q, %v; want it cut after 3", flaws(v), err)
	}
}

func TestRetentionKeepsTheChain(t *testing.T) {
	clock := new(approvaltest.Clock)
	s := openStore(t, t.TempDir(), store.Options{Clock: clock.Now})
	for i := range 30 {
		e := eventOf(i)
		e.At = clock.Now()
		if err := s.Record(t.Context(), e); err != nil {
			t.Fatal(err)
		}
		clock.Advance(time.Hour)
	}
	old, _ := s.Seal(t.Context())
	n, err := s.Retain(t.Context(), store.Retention{Age: 10*time.Hour + time.Minute})
	if err != nil || n != 20 {
		t.Fatalf("removed %d, %v; want 20", n, err)
	}
	v, err := s.Verify(t.Context(), old)
	if err != nil || !v.OK() || v.First != 21 || v.Records != 11 {
		t.Errorf("verified %+v, %v; want records from 21 on, and the log's own note", v, err)
	}
	if n, err := s.Retain(t.Context(), store.Retention{Age: 10*time.Hour + time.Minute}); err != nil || n != 0 {
		t.Errorf("again: removed %d, %v", n, err)
	}
	if err := s.Exec(t.Context(), "DELETE FROM events WHERE seq = 21"); err != nil {
		t.Fatal(err)
	}
	if v, err := s.Verify(t.Context()); err != nil || flaws(v) != "22 removed" {
		t.Errorf("after one more was removed: %q, %v", flaws(v), err)
	}
}

// TestRetentionKeepsClaimsThatCount has a claim that is old, and a run that was saved
// before it: if the claim went, the call could run twice.
func TestRetentionKeepsClaimsThatCount(t *testing.T) {
	clock, ctx := new(approvaltest.Clock), t.Context()
	s := openStore(t, t.TempDir(), store.Options{Clock: clock.Now})
	version, err := s.SaveRun(ctx, sessions.SavedRun{ID: "waits"})
	if err == nil {
		clock.Advance(time.Hour)
		err = s.Claim(ctx, claimOf(0))
	}
	if err != nil {
		t.Fatal(err)
	}
	clock.Advance(100 * time.Hour)
	retain := func(want error) {
		t.Helper()
		if _, err := s.Retain(ctx, store.Retention{Age: 10 * time.Hour}); err != nil {
			t.Fatal(err)
		}
		if err := s.Claim(ctx, claimOf(0)); !errors.Is(err, want) {
			t.Fatalf("claiming again: %v, want %v", err, want)
		}
	}
	retain(approval.ErrClaimed)
	if _, err := s.SaveRun(ctx, sessions.SavedRun{ID: "waits", Version: version}); err != nil {
		t.Fatal(err)
	}
	retain(nil)
	retain(approval.ErrClaimed) // the new one is young
}

func TestRetentionBySize(t *testing.T) {
	s := openStore(t, t.TempDir(), store.Options{})
	e := eventOf(0)
	e.Note = strings.Repeat("word ", 400)
	for range 500 {
		if err := s.Record(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	n, err := s.Retain(t.Context(), store.Retention{Bytes: 600 << 10})
	if err != nil || n < 100 || n > 450 {
		t.Errorf("removed %d, %v; want about half", n, err)
	}
	if v, err := s.Verify(t.Context()); err != nil || !v.OK() {
		t.Errorf("verified %+v, %v", v, err)
	}
	if n, err := s.Retain(t.Context(), store.Retention{Bytes: 1}); err != nil || n < 50 {
		t.Errorf("a size that cannot be reached: removed %d, %v; want nearly all, and an end", n, err)
	}
}

// TestDetailGovernsWhatIsKept looks for a secret, and for what is no secret, in
// every file of the store.
func TestDetailGovernsWhatIsKept(t *testing.T) {
	const secret, plain = "hunter2", "ordinary-word"
	for detail, want := range map[approval.Detail][2]bool{
		approval.DetailNone: {false, false}, approval.DetailRedacted: {false, true}, "": {false, true}, approval.DetailFull: {true, true},
	} {
		t.Run(string(detail), func(t *testing.T) {
			s := openStore(t, t.TempDir(), store.Options{Detail: detail})
			tools := approvaltest.NewTools("ask")
			g, err := approval.New(approval.Config{Preparer: tools, Clock: time.Now, NewID: ids(), Recorder: s, Requests: s})
			if err != nil {
				t.Fatal(err)
			}
			call := policy.Call{ID: "1", Tool: "ask", Arguments: []byte(`{"password":"` + secret + `","text":"` + plain + `"}`)}
			b := g.Review(t.Context(), call)
			r := b.Pending()[0]
			d := r.Approve("password=" + secret + " " + plain)
			if err := errors.Join(s.Post(t.Context(), r), s.Answer(t.Context(), d), b.Resolve(t.Context(), d)); err != nil {
				t.Fatal(err)
			}
			p, _ := tools.Prepare(t.Context(), b.Outcome(0).Call)
			x, err := b.Start(t.Context(), 0, p)
			if err != nil {
				t.Fatal(err)
			}
			if err := x.End(t.Context(), approval.StageFailed, errors.New("token="+secret+" "+plain)); err != nil {
				t.Fatal(err)
			}
			kept := everythingKept(t, s, r.ID)
			if got := strings.Contains(kept, secret); got != want[0] {
				t.Errorf("the secret is kept: %v, want %v in\n%s", got, want[0], kept)
			}
			if got := strings.Contains(kept, plain); got != want[1] {
				t.Errorf("the plain word is kept: %v, want %v in\n%s", got, want[1], kept)
			}
			if !strings.Contains(kept, policy.DigestOf(call.Arguments).String()) {
				t.Error("the digest of the arguments is not kept")
			}
		})
	}
}

func ids() func() string { return approvaltest.IDs() }

// everythingKept returns all records and the settled request as text.
func everythingKept(t *testing.T, s *store.Store, request string) string {
	t.Helper()
	var out bytes.Buffer
	if err := s.Export(t.Context(), &out, store.FormatJSONL, approval.RecordFilter{}); err != nil {
		t.Fatal(err)
	}
	p, err := s.Posted(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []any{p.Request, p.Settled} {
		data, err := json.Marshal(part)
		if err != nil {
			t.Fatal(err)
		}
		out.Write(data)
	}
	return out.String()
}

func TestExport(t *testing.T) {
	s := logged(t, 3, store.Options{})
	e := eventOf(3)
	e.Note = "=HYPERLINK(\"x\")"
	if err := s.Record(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	var lines, table bytes.Buffer
	if err := errors.Join(s.Export(t.Context(), &lines, store.FormatJSONL, approval.RecordFilter{}), s.Export(t.Context(), &table, store.FormatCSV, approval.RecordFilter{})); err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(strings.TrimSpace(lines.String()), "\n") {
		var r approval.Record
		if err := json.Unmarshal([]byte(line), &r); err != nil || r.Seq != int64(i+1) || r.Tool != "send" {
			t.Errorf("line %d: %+v, %v", i+1, r, err)
		}
	}
	rows, err := csv.NewReader(&table).ReadAll()
	if err != nil || len(rows) != 5 || rows[0][0] != "seq" || rows[4][0] != "4" || len(rows[0]) != len(rows[1]) {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	if cell := rows[4][slices.Index(rows[0], "note")]; !strings.HasPrefix(cell, "'=") {
		t.Errorf("a spreadsheet would run %q", cell)
	}
	if err := s.Export(t.Context(), &lines, "xml", approval.RecordFilter{}); err == nil {
		t.Error("an unknown format was written")
	}
}

func TestStats(t *testing.T) {
	s := openStore(t, t.TempDir(), store.Options{})
	if err := s.AddRules(t.Context(), numbered(0), numbered(1)); err != nil {
		t.Fatal(err)
	}
	for i := range 6 {
		e := eventOf(i)
		e.Session = []string{"a", "b"}[i%2]
		if i < 3 {
			e.Request, e.State, e.By.Via = fmt.Sprint("q", i), policy.StateApproved, policy.ViaTerminal
			e.Requested, e.Decided = approvaltest.Epoch, approvaltest.Epoch.Add(time.Duration(i+1)*time.Second)
		} else {
			e.State, e.Rule, e.By.Via = policy.StateAutoApproved, "r0", policy.ViaRule
		}
		if err := s.Record(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	for _, kind := range []approval.EventKind{approval.EventStarted, approval.EventUnexpected, approval.EventTripped, approval.EventTripped} {
		e := eventOf(9)
		e.Kind = kind
		if err := s.Record(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	for i, state := range []policy.State{policy.StateFree, policy.StateAutoApproved, policy.StateBlocked} {
		e := eventOf(10 + i)
		e.Kind, e.State, e.Host, e.Port, e.Sent, e.Received, e.Stage = approval.EventConnected, state, "a.example", "443", 10, 300, approval.StageCompleted
		if state == policy.StateAutoApproved {
			e.Rule = "r0"
		}
		if state == policy.StateBlocked {
			e.Stage, e.Sent, e.Received = approval.StageRefused, 0, 0
		}
		if err := s.Record(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	for r, err := range s.Records(t.Context(), approval.RecordFilter{Last: 1}) {
		if err != nil || r.Kind != approval.EventConnected || r.Host != "a.example" || r.Port != "443" || r.Unended {
			t.Errorf("%+v, %v", r, err)
		}
	}
	got, err := s.Stats(t.Context(), approval.RecordFilter{})
	if err != nil {
		t.Fatal(err)
	}
	text, _ := json.Marshal(got)
	want := `{"calls":6,"prompts":3,"unended":1,"unexpected":1,"tripped":2,"connections":3,"refused":1,"sent":20,"received":600,"sessions":[{"session":"a","calls":3,"prompts":2},{"session":"b","calls":3,"prompts":1}],` +
		`"answers":[{"state":"approved","via":"terminal","calls":3,"asked":3},{"state":"auto-approved","via":"rule","calls":3,"asked":0}],` +
		`"slowest":[{"seq":3,"session":"a","tool":"send","state":"approved","waited":3000000000},{"seq":2,"session":"b","tool":"send","state":"approved","waited":2000000000},{"seq":1,"session":"a","tool":"send","state":"approved","waited":1000000000}],` +
		`"rules":[{"id":"r0","calls":4}],"idle":[{"id":"r1","pattern":"tool1","type":"allow","scope":"tool","enabled":true}],` +
		`"days":[{"day":"2026-01-02","calls":6,"prompts":3,"approved":3,"denied":0}]}`
	if string(text) != want {
		t.Errorf("stats\n%s\nwant\n%s", text, want)
	}
}

// TestFollow watches what another handle records.
func TestFollow(t *testing.T) {
	folder := t.TempDir()
	s, other := openStore(t, folder, store.Options{}), openStore(t, folder, store.Options{})
	if err := s.Record(t.Context(), eventOf(0)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n := 0
	for r, err := range s.Follow(ctx, approval.RecordFilter{Last: 10, Tool: "send"}) {
		if err != nil || r.CallID != fmt.Sprint(n) {
			t.Fatalf("record %d: call %s, %v", n, r.CallID, err)
		}
		if n++; n == 5 {
			break
		}
		if err := other.Record(t.Context(), eventOf(n)); err != nil {
			t.Fatal(err)
		}
	}
	if n != 5 {
		t.Errorf("followed %d records, want 5", n)
	}
}
