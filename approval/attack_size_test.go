package approval_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
)

// allocated returns how many bytes f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// Arguments nested 990 levels deep make a view of hundreds of times their size.
func TestViewsOfDeepArgumentsStaySmall(t *testing.T) {
	f := newFixture(t)
	c := call("send", "x")
	const depth = 990
	c.Arguments = []byte(`{"a":` + strings.Repeat("[", depth) + strings.Repeat("1,", 1000) + "1" + strings.Repeat("]", depth) + `}`)
	_, r := f.pending(c)
	v, err := r.View(t.Context())
	if err != nil || len(v.Content) > 2*len(c.Arguments) {
		t.Errorf("%d bytes of arguments are shown as %d (%v)", len(c.Arguments), len(v.Content), err)
	}
	c = call("send", "deep enough")
	_, r = f.pending(c)
	if v, err := r.View(t.Context()); err != nil || !strings.Contains(v.Content, "\n  \"what\"") {
		t.Errorf("shown as %q (%v), want lines", v.Content, err)
	}
}

// A target of a megabyte is made into rules that nobody would read, at a cost
// of a hundred times its size.
func TestLongTargetsAreNotOfferedAndCostLittle(t *testing.T) {
	long := strings.Repeat("a", 1<<20)
	for _, act := range []policy.Act{
		{Name: "send", Target: policy.TextTarget(long), Verdict: policy.VerdictAsk},
		{Name: policy.ActWriteFile, Target: policy.PathTarget("notes/" + long), Verdict: policy.VerdictAsk},
		{Name: policy.ActShell, Target: policy.CommandTarget("echo", long), Verdict: policy.VerdictAsk},
	} {
		f := newFixture(t)
		f.tools.Set("send", approval.Proposal{Acts: []policy.Act{act}})
		var b *approval.Batch
		cost := allocated(func() { b = f.Review(t.Context(), call("send", "x")) })
		if offers := b.Pending()[0].Offers; len(offers) > 0 {
			t.Errorf("%s: %d ways to remember it are offered", act.Name, len(offers))
		}
		if cost > 32<<20 {
			t.Errorf("%s: %d MiB are allocated for one of target", act.Name, cost>>20)
		}
	}
}

// A call with large arguments fills the log, and takes long to redact.
func TestLargeArgumentsAreLoggedAsTheirSize(t *testing.T) {
	f := newFixture(t)
	c := call("read", "x")
	c.Arguments = []byte(`{"what":"` + strings.Repeat("token ", 20_000) + `"}`)
	b := f.Review(t.Context(), c)
	exec, err := f.start(b)
	if err != nil {
		t.Fatal(err)
	}
	if err := exec.End(t.Context(), approval.StageCompleted, nil); err != nil {
		t.Fatal(err)
	}
	for _, e := range f.recorder.Of(c.ID) {
		if string(e.Arguments) != `"[120011 bytes]"` || e.ArgumentsDigest != policy.DigestOf(c.Arguments) {
			t.Errorf("%s: %d bytes are logged: %.40s", e.Kind, len(e.Arguments), e.Arguments)
		}
	}
}
