package model_test

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/assent-dev/assent/internal/model"
	"github.com/assent-dev/assent/internal/worker"
)

func names(t *testing.T, specs ...worker.Spec) *model.Names {
	t.Helper()
	n, err := model.NewNames(specs)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestNamesAreJoinedAndNeverSplit(t *testing.T) {
	n := names(t,
		worker.Spec{Connector: "github", Name: "create_issue"},
		worker.Spec{Connector: "git", Name: "hub__create_issue"},
		worker.Spec{Name: "a__b"},
		worker.Spec{Connector: "a", Name: "b"},
	)
	for _, tt := range []struct{ connector, tool, want string }{
		{"github", "create_issue", "github__create_issue"},
		{"git", "hub__create_issue", "git__hub__create_issue"},
		{"", "a__b", "a__b"}, // the program's own tool keeps its name
	} {
		name := n.Of(tt.connector, tt.tool)
		if c := n.Call("1", name, nil); name != tt.want || c.Connector != tt.connector || c.Tool != tt.tool {
			t.Errorf("%s:%s is %q, which calls %q", tt.connector, tt.tool, name, c.Name())
		}
	}
	if name := n.Of("a", "b"); name == "a__b" || n.Call("1", name, nil).Name() != "a:b" {
		t.Errorf("a:b is %q", name)
	}
	// A name that was not offered is not read as a connector's tool.
	if c := n.Call("1", "slack__post", nil); c.Connector != "" || c.Tool != "slack__post" || !c.Definition.IsZero() {
		t.Errorf("unknown name gives %+v", c)
	}
}

func TestACallSaysWhichDefinitionWasShown(t *testing.T) {
	spec := worker.Spec{Name: "x", Description: "Does x."}
	want, err := spec.Definition()
	if err != nil {
		t.Fatal(err)
	}
	if c := names(t, spec).Call("1", "x", nil); c.Definition != want {
		t.Errorf("definition %v, want %v", c.Definition, want)
	}
}

var taken = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

func TestEveryNameIsTakenAndLeadsBack(t *testing.T) {
	word := rapid.StringMatching(`[a-zäö._/-]{1,80}`)
	rapid.Check(t, func(t *rapid.T) {
		specs := rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) worker.Spec {
			s := worker.Spec{Name: word.Draw(t, "name")}
			if rapid.Bool().Draw(t, "foreign") {
				s.Connector = word.Draw(t, "connector")
			}
			return s
		}), 1, 8, worker.Spec.FullName).Draw(t, "specs")
		n, err := model.NewNames(specs)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range specs {
			name := n.Of(s.Connector, s.Name)
			if c := n.Call("1", name, nil); !taken.MatchString(name) || c.Connector != s.Connector || c.Tool != s.Name {
				t.Errorf("%s is %q, which calls %s", s.FullName(), name, c.Name())
			}
		}
	})
}

func TestLongNamesStayApart(t *testing.T) {
	long := strings.Repeat("x", 70)
	n := names(t, worker.Spec{Name: long + "1"}, worker.Spec{Name: long + "2"})
	if a, b := n.Of("", long+"1"), n.Of("", long+"2"); a == b || len(a) > 64 {
		t.Errorf("%q and %q", a, b)
	}
}
