package crew_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/worker"
	"github.com/assent-dev/assent/policy"
)

const (
	lead    = "---\nsandbox: {paths: {notes: {mode: rw}, docs: {mode: ro}}}\nallow_workers: ['*']\n---\nYou lead.\n"
	reader  = "---\nsandbox: {paths: {notes: {root: ../notes, mode: rw, approval: {write: allow}}}}\nallow_workers: ['*']\n---\n"
	nothing = "---\ndescription: It has no files.\nallow_workers: ['*']\n---\n"
)

func files() map[string]string {
	return map[string]string{
		"lead.worker": lead, "workers/reader.worker": reader, "workers/nothing.worker": nothing,
		"notes/a.md": "a\n", "notes/big.md": strings.Repeat("x", 2000), "docs/b.md": "b\n", "docs/c.pdf": "%PDF-1.7\n",
	}
}

func TestAWorkerIsCalledWithItsInputAndFiles(t *testing.T) {
	tm := newTeam(t, files())
	r := tm.run("lead.worker", call("1", "worker_call", args{"worker": "reader", "input": args{"n": 1}, "attachments": []string{"docs/b.md", "docs/c.pdf"}}))
	wants(t, r[0], policy.StateApproved, "reader is done.")
	if len(r) != 1 {
		t.Errorf("the model is told of %d calls", len(r))
	}
	m := tm.heard["reader"][0]
	if m.Text != "{\n  \"n\": 1\n}" || len(m.Attachments) != 2 || string(m.Attachments[0].Data) != "b\n" ||
		m.Attachments[0].MediaType != "text/markdown" || m.Attachments[1].MediaType != "application/pdf" {
		t.Errorf("it was told %+v", m)
	}
	if got := strings.Join(tm.asked, "; "); got != "lead: Call worker reader with 2 attachments" {
		t.Errorf("asked %s", got)
	}
}

func TestWhoMayBeCalled(t *testing.T) {
	for name, tt := range map[string]struct {
		allow, worker string
		state         policy.State
		says          string
	}{
		"nobody by default": {"", "reader", policy.StateBlocked, "allow_workers of lead does not name reader"},
		"only those named":  {"allow_workers: [nothing]", "reader", policy.StateBlocked, "does not name"},
		"those named":       {"allow_workers: [reader]", "reader", policy.StateApproved, "reader is done"},
		"everybody":         {"allow_workers: '*'", "reader", policy.StateApproved, "reader is done"},
		"not itself":        {"allow_workers: '*'", "lead", policy.StateBlocked, "circle"},
		"one that is there": {"allow_workers: '*'", "other", policy.StateInvalid, "no worker is named"},
		"by no path":        {"allow_workers: '*'", "../lead", policy.StateInvalid, "invalid worker name"},
	} {
		t.Run(name, func(t *testing.T) {
			tm := newTeam(t, files())
			tm.put("lead.worker", "---\n"+tt.allow+"\n---\n")
			r := tm.run("lead.worker", call("1", "worker_call", args{"worker": tt.worker, "input": "x"}))
			wants(t, r[0], tt.state, tt.says)
		})
	}
}

func TestNoCirclesAndNoMoreThanFive(t *testing.T) {
	tm := newTeam(t, map[string]string{"w1.worker": nothing})
	for _, n := range []string{"2", "3", "4", "5", "6"} {
		tm.put("workers/w"+n+".worker", nothing)
	}
	next := func(to string) worker.Call { return call("1", "worker_call", args{"worker": to, "input": "x"}) }
	for from, to := range map[string]string{"w2": "w3", "w3": "w4", "w4": "w5"} {
		tm.models[from] = []worker.Turn{{Calls: []worker.Call{next(to)}}}
	}
	tm.models["w5"] = []worker.Turn{{Calls: []worker.Call{next("w6"), call("2", "worker_call", args{"worker": "w2", "input": "x"})}}}
	wants(t, tm.run("w1.worker", next("w2"))[0], policy.StateApproved)
	if len(tm.heard["w5"]) != 1 || len(tm.heard["w6"]) != 0 || len(tm.heard["w2"]) != 1 {
		t.Errorf("heard %v", tm.heard)
	}
	var why []string
	for _, e := range tm.log.Events() {
		if e.State == policy.StateBlocked {
			why = append(why, e.Why)
		}
	}
	if got := strings.Join(why, "; "); len(why) != 2 || !strings.Contains(got, "5 workers have called each other") || !strings.Contains(got, "w2 is already among the callers (w1 › w2 › w3 › w4 › w5)") {
		t.Errorf("blocked: %s", got)
	}
}

func TestWhatCannotBeHandedOver(t *testing.T) {
	for name, tt := range map[string]struct {
		caller, callee string
		attachments    []string
		says           string
	}{
		"a path upwards":             {"", "", []string{"notes/../docs/b.md"}, "write it as ROOT/NAME"},
		"an absolute path":           {"", "", []string{"/etc/passwd"}, "write it as ROOT/NAME"},
		"the home folder":            {"", "", []string{"~/x"}, "write it as ROOT/NAME"},
		"a folder":                   {"", "", []string{"notes"}, "there is no such file"},
		"what is not there":          {"", "", []string{"notes/none.md"}, "there is no such file"},
		"no root of it":              {"", "", []string{"other/a.md"}, "other"},
		"the same twice":             {"", "", []string{"notes/a.md", "notes/a.md"}, "twice"},
		"more than the caller may":   {"max_attachments: 1", "", []string{"notes/a.md", "docs/b.md"}, "lead may hand over 1"},
		"more than the callee takes": {"", "max_attachments: 0", []string{"notes/a.md"}, "reader does not take this"},
		"larger than the caller may": {"max_total_bytes: 1000", "", []string{"notes/big.md"}, "larger than 1000 bytes"},
		"larger together":            {"", "max_total_bytes: 2001", []string{"notes/big.md", "notes/a.md"}, "reader does not take this: the attachments have 2002 bytes"},
		"an ending of the caller":    {"denied_suffixes: [.pdf]", "", []string{"docs/c.pdf"}, "lead may not hand this over"},
		"an ending of the callee":    {"", "allowed_suffixes: [.md]", []string{"docs/c.pdf"}, "reader does not take this"},
	} {
		t.Run(name, func(t *testing.T) {
			tm := newTeam(t, files())
			tm.put("lead.worker", strings.Replace(lead, "allow_workers", "attachment_policy: {"+tt.caller+"}\nallow_workers", 1))
			tm.put("workers/reader.worker", "---\nattachment_policy: {"+tt.callee+"}\n---\n")
			r := tm.run("lead.worker", call("1", "worker_call", args{"worker": "reader", "input": "x", "attachments": tt.attachments}))
			wants(t, r[0], policy.StateInvalid, tt.says)
			if len(tm.heard["reader"]) > 0 || len(tm.asked) > 0 {
				t.Errorf("heard %v, asked %v", tm.heard, tm.asked)
			}
		})
	}
}

// A link is what it leads to: out of the roots, nowhere; in them, that file.
func TestLinksAreFollowedBeforeSharing(t *testing.T) {
	tm := newTeam(t, files())
	tm.put("secret.md", "secret\n")
	tm.put("lead.worker", "---\nsandbox: {paths: {notes: {mode: rw}, docs: {mode: ro, approval: {read: ask}}}}\nallow_workers: ['*']\n---\n")
	for link, to := range map[string]string{"notes/out.md": "../secret.md", "docs/in.md": "b.md"} {
		if err := os.Symlink(to, filepath.Join(tm.dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	r := tm.run("lead.worker", call("1", "worker_call", args{"worker": "reader", "input": "x", "attachments": []string{"notes/out.md"}}))
	wants(t, r[0], policy.StateInvalid)
	r = tm.run("lead.worker", call("1", "worker_call", args{"worker": "reader", "input": "x", "attachments": []string{"docs/in.md"}}))
	wants(t, r[0], policy.StateApproved)
	if got := strings.Join(tm.asked, "; "); got != "lead: Share docs/in.md → docs/b.md (2 bytes) with reader; lead: Call worker reader with 1 attachment" {
		t.Errorf("asked %s", got)
	}
}

// A refused file means that the worker is not called, nobody is asked about that, and the
// calls beside it go on.
func TestARefusedFileEndsTheCall(t *testing.T) {
	tm := newTeam(t, files())
	tm.put("lead.worker", "---\nsandbox: {paths: {notes: {mode: rw}, docs: {mode: ro, approval: {read: ask}}}}\nallow_workers: ['*']\n---\n")
	tm.answer = func(r *approval.Request) approval.Decision {
		if r.Call.Tool == "share_file" {
			return r.Deny("no")
		}
		return r.Approve("")
	}
	r := tm.run("lead.worker",
		call("1", "worker_call", args{"worker": "reader", "input": "x", "attachments": []string{"notes/a.md", "docs/b.md"}}),
		call("2", "write_file", args{"path": "notes/n.md", "content": "n"}),
		call("3", "worker_call", args{"worker": "reader", "input": "x"}))
	wants(t, r[0], policy.StateDenied, "share_file(docs/b.md, reader) was denied (the person said: no), so the worker was not called")
	wants(t, r[1], policy.StateApproved)
	wants(t, r[2], policy.StateApproved)
	if len(tm.heard["reader"]) != 1 || strings.Contains(strings.Join(tm.asked, "; "), "attachment") {
		t.Errorf("heard %v, asked %v", tm.heard, tm.asked)
	}
}

// A file that a rule refuses is not said to be refused by a person.
func TestAFileThatARuleRefuses(t *testing.T) {
	tm := newTeam(t, files())
	tm.put("lead.worker", strings.Replace(lead, "allow_workers", "rules: [\"deny share_file(notes/a.md)\"]\nallow_workers", 1))
	r := tm.run("lead.worker", call("1", "worker_call", args{"worker": "reader", "input": "x", "attachments": []string{"notes/a.md"}}))
	wants(t, r[0], policy.StateDenied, "share_file(notes/a.md, reader) was auto-denied, so the worker was not called")
	if strings.Contains(r[0].Text, "person") || r[0].Outcome.Decision != nil || len(tm.asked) > 0 {
		t.Errorf("asked %v, decided by %+v, told %s", tm.asked, r[0].Outcome.Decision, r[0].Text)
	}
}

// No model can share a file by itself.
func TestShareFileIsNotForModels(t *testing.T) {
	tm := newTeam(t, files())
	r := tm.run("lead.worker", call("1", "share_file", args{"path": "notes/a.md", "worker": "reader"}))
	wants(t, r[0], policy.StateInvalid, "name the files as attachments of worker_call")
}

// A worker gets at most what its caller has: its own freer words do not count, other
// folders are not there, and without folders of its own it has none.
func TestAWorkerReachesAtMostWhatItsCallerDoes(t *testing.T) {
	write := call("w", "write_file", args{"path": "notes/n.md", "content": "n"})
	read := call("r", "read_file", args{"path": "docs/b.md"})
	for name, tt := range map[string]struct {
		caller, callee string
		asks           bool
		write, read    policy.State
	}{
		"the caller asks":         {lead, reader, true, policy.StateApproved, policy.StateBlocked},
		"the caller is read-only": {strings.Replace(lead, "notes: {mode: rw}", "notes: {mode: ro}", 1), reader, false, policy.StateBlocked, policy.StateBlocked},
		"the caller denies it":    {strings.Replace(lead, "mode: rw", "mode: rw, approval: {write: deny}", 1), reader, false, policy.StateBlocked, policy.StateBlocked},
		"the caller is free":      {strings.Replace(lead, "mode: rw", "mode: rw, approval: {write: allow}", 1), reader, false, policy.StateFree, policy.StateBlocked},
		"a rule of the caller":    {strings.Replace(lead, "allow_workers", "rules: [deny write_file(notes/**)]\nallow_workers", 1), reader, false, policy.StateAutoDenied, policy.StateBlocked},
		"a tool of the caller":    {strings.Replace(lead, "allow_workers", "tools: {write_file: {approval: deny}}\nallow_workers", 1), reader, false, policy.StateBlocked, policy.StateBlocked},
		"an allow of its own":     {lead, strings.Replace(reader, "allow_workers", "rules: [allow write_file]\ntools: {write_file: {approval: allow}}\nallow_workers", 1), true, policy.StateApproved, policy.StateBlocked},
		"no folder of its own":    {lead, nothing, false, policy.StateBlocked, policy.StateBlocked},
	} {
		t.Run(name, func(t *testing.T) {
			tm := newTeam(t, files())
			tm.put("lead.worker", tt.caller)
			tm.put("workers/reader.worker", tt.callee)
			tm.models["reader"] = []worker.Turn{{Calls: []worker.Call{write, read}}}
			wants(t, tm.run("lead.worker", call("1", "worker_call", args{"worker": "reader", "input": "x"}))[0], policy.StateApproved)
			states := map[string]policy.State{}
			for _, e := range tm.log.Events() {
				states[e.CallID] = e.State
			}
			if states["w"] != tt.write || states["r"] != tt.read {
				t.Errorf("write is %s, read is %s", states["w"], states["r"])
			}
			if asked := strings.Contains(strings.Join(tm.asked, ";"), "lead>reader: Create notes/n.md"); asked != tt.asks {
				t.Errorf("asked %v", tm.asked)
			}
		})
	}
}

// A caller's folder that a worker calls by other names stays what it is to the caller.
func TestACallersFolderUnderOtherNames(t *testing.T) {
	for name, tt := range map[string]struct {
		caller string
		write  policy.State
	}{
		"a deny by the caller's name":   {"---\nsandbox: {paths: {notes: {mode: rw, approval: {write: allow}}}}\nrules: [deny write_file(notes/n.md)]\nallow_workers: ['*']\n---\n", policy.StateAutoDenied},
		"by the other of its names":     {"---\nsandbox: {paths: {notes: {mode: rw}, too: {root: ./notes, mode: rw}}}\nrules: [deny write_file(too/**)]\nallow_workers: ['*']\n---\n", policy.StateAutoDenied},
		"one of its names is fixed":     {"---\nsandbox: {paths: {notes: {mode: rw, approval: {write: allow}}, too: {root: ./notes}}}\nallow_workers: ['*']\n---\n", policy.StateBlocked},
		"one of its names asks":         {"---\nsandbox: {paths: {notes: {mode: rw, approval: {write: allow}}, too: {root: ./notes, mode: rw}}}\nallow_workers: ['*']\n---\n", policy.StateApproved},
		"both are free":                 {"---\nsandbox: {paths: {notes: {mode: rw, approval: {write: allow}}, too: {root: ./notes, mode: rw, approval: {write: allow}}}}\nallow_workers: ['*']\n---\n", policy.StateFree},
		"an allow by the caller's name": {"---\nsandbox: {paths: {notes: {mode: rw}}}\nrules: [allow write_file(notes/**)]\nallow_workers: ['*']\n---\n", policy.StateApproved},
	} {
		t.Run(name, func(t *testing.T) {
			tm := newTeam(t, files())
			tm.put("lead.worker", tt.caller)
			tm.put("workers/reader.worker", "---\nsandbox: {paths: {x: {root: ../notes, mode: rw, approval: {write: allow}}, y: {root: ../notes, mode: rw, approval: {write: allow}}}}\nrules: [allow write_file(notes/**)]\n---\n")
			tm.models["reader"] = []worker.Turn{{Calls: []worker.Call{call("w", "write_file", args{"path": "y/n.md", "content": "n"})}}}
			wants(t, tm.run("lead.worker", call("1", "worker_call", args{"worker": "reader", "input": "x"}))[0], policy.StateApproved)
			var state policy.State
			for _, e := range tm.log.Of("w") {
				state = e.State
			}
			if state != tt.write {
				t.Errorf("the write is %s, want %s", state, tt.write)
			}
		})
	}
}

// The shell of a worker is as strict as that of its caller, and there only if both have one.
func TestTheShellNarrows(t *testing.T) {
	free := "---\nsandbox: {paths: {notes: {root: ../notes, mode: rw}}}\nshell: {default: {approval: allow}}\n---\n"
	with := func(shell string) string {
		return "---\nsandbox: {paths: {notes: {mode: rw}}}\n" + shell + "\nallow_workers: ['*']\n---\n"
	}
	for name, tt := range map[string]struct {
		shell string
		state policy.State
	}{
		"no shell":        {"", policy.StateInvalid},
		"an asking one":   {"shell: {default: {approval: ask}}", policy.StateApproved},
		"a denying one":   {"shell: {rules: [{pattern: echo, approval: deny}]}", policy.StateBlocked},
		"a free one":      {"shell: {rules: [{pattern: echo, approval: allow}]}", policy.StateFree},
		"a denied tool":   {"shell: {}\ntools: {shell: {approval: deny}}", policy.StateBlocked},
		"an allowed tool": {"shell: {}\ntools: {shell: {approval: allow}}", policy.StateFree},
	} {
		t.Run(name, func(t *testing.T) {
			tm := newTeam(t, files())
			tm.put("lead.worker", with(tt.shell))
			tm.put("workers/reader.worker", free)
			tm.models["reader"] = []worker.Turn{{Calls: []worker.Call{call("sh", "shell", args{"command": "echo hello"})}}}
			tm.run("lead.worker", call("1", "worker_call", args{"worker": "reader", "input": "x"}))
			var state policy.State
			for _, e := range tm.log.Of("sh") {
				state = e.State
			}
			if state != tt.state {
				t.Errorf("the command is %s, want %s", state, tt.state)
			}
		})
	}
}

// An input or an answer that does not fit is told to the caller.
func TestSchemasHold(t *testing.T) {
	tm := newTeam(t, files())
	tm.put("workers/strict.worker", "---\ninput_schema: {type: object, required: [n]}\n---\n")
	tm.put("workers/promise.worker", "---\noutput_schema: {type: object}\n---\n")
	r := tm.run("lead.worker", call("1", "worker_call", args{"worker": "strict", "input": "x"}),
		call("2", "worker_call", args{"worker": "strict", "input": args{"n": 1}}),
		call("3", "worker_call", args{"worker": "promise", "input": "x"}),
		call("4", "list_workers", args{}))
	wants(t, r[0], policy.StateInvalid, "does not fit the input_schema of strict")
	wants(t, r[1], policy.StateApproved, "strict is done.")
	wants(t, r[2], policy.StateApproved, "[FAILED]", "does not fit its output_schema")
	wants(t, r[3], policy.StateFree, `{"name":"nothing","description":"It has no files."}`, `"input_schema":{"required":["n"],"type":"object"}`)
}
