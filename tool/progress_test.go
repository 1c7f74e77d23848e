package tool_test

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
)

func TestProgressReachesWhoeverWatches(t *testing.T) {
	build := tool.Func("build", "Builds it.", func(ctx context.Context, _ struct{}) (string, error) {
		_, err := io.WriteString(tool.Progress(ctx), "half done\n")
		return "built", err
	})
	gate, err := tool.Guard(approval.Config{}, build)
	if err != nil {
		t.Fatal(err)
	}
	var seen strings.Builder
	call := policy.Call{ID: "b", Tool: "build", Arguments: []byte("{}")}
	for _, ctx := range []context.Context{t.Context(), tool.WithProgress(t.Context(), &seen)} {
		if r := tool.Call(ctx, gate, call); r.Err != nil || r.Text != "built" {
			t.Errorf("got %+v", r)
		}
	}
	if seen.String() != "half done\n" {
		t.Errorf("seen: %q", seen.String())
	}
}
