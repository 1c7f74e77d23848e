package gateway

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
)

// A line of the spool is read as what was kept of the event, whatever is in it.
func TestALineOfTheSpoolIsReadAsItWasMeant(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := func(name string) string { return rapid.String().Draw(t, name) }
		want := approval.Event{
			Kind: approval.EventStarted, At: time.Unix(rapid.Int64Range(0, 1<<33).Draw(t, "at"), 5).UTC(), Session: text("session"), CallID: text("call"),
			Connector: text("connector"), Tool: text("tool"), Rule: text("rule"), Grant: text("grant"),
			ArgumentsDigest: policy.DigestOf([]byte(text("arguments"))), State: policy.State(text("state")), Stage: approval.Stage(text("stage")),
			By:      policy.Who{User: text("user"), Host: text("host"), Via: policy.Via(text("via"))},
			Workers: rapid.SliceOf(rapid.String()).Draw(t, "workers"),
		}
		kept := want
		kept.Arguments, kept.Note = []byte(`{"key":"hidden"}`), "hidden"
		var got approval.Event
		if err := json.Unmarshal(appendStart(nil, &kept), &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("read %+v, %v; want %+v", got, err, want)
		}
	})
}
