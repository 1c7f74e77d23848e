package kept_test

import (
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/approval/approvaltest"
	"github.com/assent-dev/assent/audit"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/store/kept"
)

// BenchmarkRecord is what a record costs before any store has seen it: taking secrets out, encoding, the chain.
func BenchmarkRecord(b *testing.B) {
	e := approval.Event{
		Kind: approval.EventEnded, At: approvaltest.Epoch, Session: "s", CallID: "call", Tool: "send", State: policy.StateFree,
		Stage: approval.StageCompleted, Arguments: []byte(`{"to":"ann","subject":"a letter"}`),
	}
	var chain audit.Chain
	for b.Loop() {
		r, err := kept.NewRecord(e.Keep(approval.DetailRedacted))
		if err != nil {
			b.Fatal(err)
		}
		r.Follow(&chain, 1, make([]byte, 32))
	}
}
