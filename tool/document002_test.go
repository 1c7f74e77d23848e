package tool_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/tool"
)

// TestDocument002 holds the tests that document 002 lists, under their names.
func TestDocument002(t *testing.T) {
	t.Run("test_tool_configs_required", func(t *testing.T) {
		d := configured(t, tool.Config{Tools: []tool.Named{{Name: "my_tool", Approval: "required"}}}, frees("my_tool"))
		wantText(t, d.call("my_tool", `{}`), "did {}")
		d.wantAsked(1)
	})
	t.Run("test_tool_configs_none", func(t *testing.T) {
		d := configured(t, tool.Config{Tools: []tool.Named{{Name: "my_tool", Approval: "none"}}}, frees("my_tool"))
		wantText(t, d.call("my_tool", `{}`), "did {}")
		d.wantAsked(0)
	})
	t.Run("test_tool_configs_missing_uses_decorator", func(t *testing.T) {
		decorated := tool.RequireApproval(frees("decorated_tool"), tool.Approval[struct{}]{})
		d := configured(t, tool.Config{}, decorated, frees("undecorated_tool"))
		wantText(t, d.call("undecorated_tool", `{}`), "did {}")
		d.wantAsked(0)
		wantText(t, d.call("decorated_tool", `{}`), "did {}")
		d.wantAsked(1)
	})
	t.Run("test_tool_configs_overrides_inner_needs_approval", func(t *testing.T) {
		d := configured(t, tool.Config{Tools: []tool.Named{{Name: "my_tool", Approval: "none"}}}, asks("my_tool"))
		wantText(t, d.call("my_tool", `{}`), "did {}")
		d.wantAsked(0)
	})
	t.Run("test_pre_approved_deprecation_warning", func(t *testing.T) {
		tools, warnings, err := tool.Configure(tool.Config{PreApproved: []string{"tool_a"}}, asks("tool_a"))
		want := []string{"pre_approved is deprecated: write tools: {tool_a: {approval: allow}}"}
		if err != nil || !slices.Equal(warnings, want) {
			t.Errorf("warnings %q, error %v, want %q", warnings, err, want)
		}
		d := newFixture(t, yes, tools...)
		wantText(t, d.call("tool_a", `{}`), "did {}")
		d.wantAsked(0)
	})
}

// configured returns a fixture where everything is approved.
func configured(t *testing.T, cfg tool.Config, tools ...tool.Tool) *fixture {
	t.Helper()
	tools, warnings, err := tool.Configure(cfg, tools...)
	if err != nil || len(warnings) > 0 {
		t.Fatalf("configure: %v, warnings %q", err, warnings)
	}
	return newFixture(t, yes, tools...)
}

func wantText(t *testing.T, r tool.Result, text string) {
	t.Helper()
	if r.Text != text {
		t.Errorf("the model is told\n%s\nwant\n%s", r.Text, text)
	}
}

func TestToolWithoutWordsOfItsOwn(t *testing.T) {
	foreign := asks("ignored")
	foreign.spec = func() tool.Spec { return tool.Spec{Connector: "github", Name: "create_issue"} }
	d := newFixture(t, yes, foreign)
	tool.Call(context.Background(), d.gate, policy.Call{
		Connector: "github", Tool: "create_issue", Arguments: json.RawMessage(`{"title": "a", "labels": []}`),
	})
	d.wantAsked(1)
	r := d.asked[0]
	if r.Summary != "Tool call: github:create_issue" {
		t.Errorf("summary %q", r.Summary)
	}
	got, err := r.View(context.Background())
	want := present.View{Kind: present.KindStructured, Language: "json", Content: "{\n  \"labels\": [],\n  \"title\": \"a\"\n}"}
	if err != nil || !got.Equal(want) {
		t.Errorf("view %+v, error %v, want %+v", got, err, want)
	}
}
