package policy

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestActsAreNamedAsRulesNameThem(t *testing.T) {
	for want, act := range map[string]Act{
		"write_file(notes/a.md)":               {Name: ActWriteFile, Target: PathTarget("notes//./a.md", "/h/notes/a.md")},
		"read_file(l → k)":                     {Name: ActReadFile, Target: LinkTarget([]string{"l"}, []string{"k"})},
		"share_file(a, w)":                     {Name: ActShareFile, Target: PathTarget("a").SharedWith("w")},
		"shell(git push 'a b')":                {Name: ActShell, Target: CommandTarget("git", "push", "a b")},
		"shell(git ‹unknown›)":                 {Name: ActShell, Target: words("git", "?")},
		"shell(unknown words)":                 {Name: ActShell, Target: UnknownTarget(KindWords)},
		"http_request(POST https://a.b/y?q)":   {Name: ActHTTPRequest, Target: mustURL(t, "post", "https://u:p@A.b:443/x/../y?q#f")},
		"http_request(GET http://[::1]:8080/)": {Name: ActHTTPRequest, Target: mustURL(t, "", "http://[::1]:8080")},
		"connect(a.b:443)":                     {Name: ActConnect, Target: HostTarget("A.B.", "0443")},
		"github:create_issue":                  {Connector: "github", Name: "create_issue", Target: ArgumentsTarget([]byte("{}"))},
		"worker_call(helper)":                  {Name: ActWorkerCall, Target: TextTarget("helper")},
	} {
		if got := act.String(); got != want {
			t.Errorf("String() = %s, want %s", got, want)
		}
		data, err := json.Marshal(act)
		var read Act
		if err == nil {
			err = json.Unmarshal(data, &read)
		}
		if diff := cmp.Diff(act, read); diff != "" || err != nil {
			t.Errorf("%s does not survive JSON: %v (-want +got):\n%s", want, err, diff)
		}
	}
}

func TestTargetsAreTheSameThing(t *testing.T) {
	all := []Target{
		PathTarget("a"), PathTarget("a", "/a"), PathTarget("b"), PathTarget("a").SharedWith("w"), LinkTarget([]string{"a"}, []string{"b"}),
		CommandTarget("a"), CommandTarget("a", ""), CommandTarget(), mustURL(t, "GET", "https://a/"), mustURL(t, "PUT", "https://a/"),
		mustURL(t, "GET", "https://a/?q"), HostTarget("a", "1"), TextTarget("a"), TextTarget(""), ArgumentsTarget([]byte("a")),
	}
	for i, a := range all {
		for j, b := range all {
			if a.same(b) != (i == j) {
				t.Errorf("%s (%s) and %s (%s) are the same: %v", a, a.Kind, b, b.Kind, a.same(b))
			}
		}
	}
	for _, unknown := range []Target{{}, UnknownTarget(KindPath), UnknownTarget(KindText), words("git", "?")} {
		if unknown.same(unknown) {
			t.Errorf("%v is the same as itself, whatever it is", unknown)
		}
	}
	if !PathTarget("x/../a").same(PathTarget("./a")) {
		t.Error("two spellings of a path are two targets")
	}
}

func TestBuiltinActs(t *testing.T) {
	want := []string{"connect", "delete_file", "http_request", "project_code", "read_file", "share_file", "shell", "worker_call", "worker_create", "write_file"}
	if got := BuiltinActs(); !slices.Equal(got, want) {
		t.Errorf("BuiltinActs() = %q", got)
	}
}

func TestVerdictsAndModesAsText(t *testing.T) {
	for _, v := range []Verdict{VerdictBlock, VerdictAsk, VerdictFree} {
		read := VerdictFree - v
		text, _ := v.MarshalText()
		if err := read.UnmarshalText(text); err != nil || read != v {
			t.Errorf("%v reads as %v, %v", v, read, err)
		}
	}
	bad := VerdictFree
	if err := bad.UnmarshalText([]byte("yes")); err == nil || bad != VerdictBlock || Verdict(9).String() != "block" {
		t.Error("an unknown verdict does not block")
	}
	for word, want := range map[string]Mode{
		"ask": ModeAsk, "interactive": ModeAsk, "approve-all": ModeApproveAll, "Approve_All": ModeApproveAll,
		"auto_approve": ModeApproveAll, "strict": ModeStrict, "auto_deny": ModeStrict,
	} {
		m, err := ParseMode(word)
		if again, _ := ParseMode(m.String()); err != nil || m != want || again != m {
			t.Errorf("ParseMode(%q) = %v, %v", word, m, err)
		}
	}
	if m, err := ParseMode("yes"); err == nil || m != ModeStrict || Mode(9).String() != "strict" {
		t.Errorf("an unknown mode is %v, %v", m, err)
	}
}
