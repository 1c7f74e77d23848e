package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const wholeWorker = `---
name: notes
description: Keeps notes
model: anthropic:claude-sonnet-4-5
max_steps: 7
sandbox:
  zones: [{name: notes, mode: rw}]
allow_workers: [reader, writer]
attachment_policy: {max_attachments: 2, max_total_bytes: 1000, allowed_suffixes: [.md], denied_suffixes: [.secret.md]}
input_schema: {type: object, properties: {topic: {type: string}}}
output_schema: {type: string}
custom_tools: {mail: {approval: ask}}
connectors: {docs: {url: "https://docs.example.org/mcp"}}
manual: [mail]
locked: true
---

You keep notes.

---
This line is yours too.
`

func TestAWorkerFile(t *testing.T) {
	w, err := LoadWorker("notes.worker", []byte(wholeWorker), "/base")
	if err != nil {
		t.Fatal(err)
	}
	got := *w
	got.Policy = nil
	want := Worker{
		Name: "notes", Description: "Keeps notes", Model: "anthropic:claude-sonnet-4-5", MaxSteps: 7,
		Instructions: "You keep notes.\n\n---\nThis line is yours too.", AllowWorkers: []string{"reader", "writer"},
		Attachments: AttachmentPolicy{MaxAttachments: 2, MaxTotalBytes: 1000, Allowed: []string{".md"}, Denied: []string{".secret.md"}},
		InputSchema: []byte(`{"properties":{"topic":{"type":"string"}},"type":"object"}`), OutputSchema: []byte(`{"type":"string"}`),
		Manual: []string{"mail"}, Locked: true, Folder: "/base",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if len(w.Roots) != 1 || w.Roots[0].Host != "/base/notes" || w.Roots[0].Source != "notes.worker:7" {
		t.Errorf("a zone without a root is the folder of its name: %+v", w.Roots)
	}
	if len(w.Connectors) != 1 || len(w.CustomTools) != 1 {
		t.Errorf("%+v", w.Policy)
	}
}

func TestAPlainWorkerFileAndItsDefaults(t *testing.T) {
	w, err := LoadWorker("helper.yaml", []byte("instructions: |\n  Help.\n"), "/base")
	if err != nil {
		t.Fatal(err)
	}
	if w.Name != "helper" || w.Instructions != "Help.\n" || w.Attachments.MaxAttachments != 4 || w.Attachments.MaxTotalBytes != 10_000_000 {
		t.Errorf("%+v", w)
	}
	if w.MayCall("any") {
		t.Error("a worker that says nothing may call others")
	}
}

func TestWhoMayBeCalled(t *testing.T) {
	for text, want := range map[string]bool{"[]": false, "[b]": false, "[a]": true, "a": true, "'*'": true, "['*']": true} {
		w, err := LoadWorker("w.yaml", []byte("allow_workers: "+text+"\n"), "/")
		if err != nil || w.MayCall("a") != want {
			t.Errorf("%s: %v, %v", text, w, err)
		}
	}
}

func TestWorkerProblems(t *testing.T) {
	for text, want := range map[string]string{
		"name: a\n":                                              "a.worker:1:1: a worker file begins with a line of ---",
		"---\nname: a\n":                                         "a.worker:2:1: the front matter does not end",
		"---\nnmae: a\n---\n":                                    `a.worker:2:1: unknown key "nmae" in the file; did you mean "name"?`,
		"---\r\n\r\nmodle: a\r\n---\r\n":                         `a.worker:3:1: unknown key "modle" in the file; did you mean "model"?`,
		"---\nname: ../x\n---\n":                                 `a.worker:2:7: invalid worker name "../x"`,
		"---\ninstructions: a\n---\nb\n":                         "a.worker:2:15: instructions are given here and below",
		"---\nmax_steps: 0\n---\n":                               "max_steps must be at least 1",
		"---\nallow_workers: [../a]\n---\n":                      `invalid worker name "../a"`,
		"---\ninput_schema: {type: 7}\n---\n":                    "input_schema is not a JSON schema",
		"---\noutput_schema: [a]\n---\n":                         "must be a JSON schema",
		"---\nattachment_policy: {max_bytes: 1}\n---\n":          `unknown key "max_bytes" in attachment_policy`,
		"---\nattachment_policy: {denied_suffixes: [md]}\n---\n": `suffix "md" must be a dot`,
		"---\nmode: strict\n---\n":                               `unknown key "mode"`,
		"---\nproviders: {}\n---\n":                              `unknown key "providers"`,
		"---\ntool_rules: {}\n---\n":                             "tool_rules is not used here; write",
		"---\na: &x 1\nb: *x\n---\n":                             "anchors and aliases are not supported",
		"---\nlocked: yes please\n---\n":                         "locked must be true or false",
	} {
		_, err := LoadWorker("a.worker", []byte(text), "/base")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestAllProblemsOfAWorkerAtOnce(t *testing.T) {
	_, err := LoadWorker("a.worker", []byte("---\nnmae: a\nlocked: 1\nrules: [x]\nsandbox: {pahts: {}}\n---\n"), "/")
	if got := len(strings.Split(err.Error(), "\n")); got != 4 {
		t.Errorf("%d problems:\n%v", got, err)
	}
}

func TestAttachments(t *testing.T) {
	p := AttachmentPolicy{MaxAttachments: 2, MaxTotalBytes: 10, Allowed: []string{".md"}, Denied: []string{".key.md"}}
	for name, c := range map[string]struct {
		names []string
		sizes []int64
		want  string
	}{
		"fits":          {[]string{"a.md", "B.MD"}, []int64{5, 5}, ""},
		"too many":      {[]string{"a.md", "b.md", "c.md"}, []int64{1, 1, 1}, "3 attachments; at most 2"},
		"too large":     {[]string{"a.md", "b.md"}, []int64{5, 6}, "11 bytes in total; at most 10"},
		"wrong ending":  {[]string{"a.pdf"}, []int64{1}, "a.pdf: files with this suffix are not accepted"},
		"denied ending": {[]string{"a.KEY.md"}, []int64{1}, "are not accepted"},
		"none":          {nil, nil, ""},
	} {
		err := p.Check(c.names, c.sizes)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzLoadWorker(f *testing.F) {
	f.Add(wholeWorker)
	f.Add("---\n---\n")
	f.Add("---\ncustom_tools: {x: {command: [a], parameters: {type: object}}}\n---\nhello")
	f.Fuzz(func(t *testing.T, text string) {
		w, err := LoadWorker("f.worker", []byte(text), "/base")
		if (w == nil) == (err == nil) {
			t.Errorf("worker %v with error %v", w, err)
		}
	})
}
