package crew_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
)

func TestWhatACreatedWorkerMayHave(t *testing.T) {
	base := func(more args) args {
		all := args{"name": "new", "description": "d", "instructions": "You work."}
		for k, v := range more {
			all[k] = v
		}
		return all
	}
	path := func(path, mode string) args {
		return base(args{"paths": []args{{"name": "p", "path": path, "mode": mode}}})
	}
	for name, tt := range map[string]struct {
		args  args
		state policy.State
		says  string
		file  string // part of it
	}{
		"nothing":                  {base(nil), policy.StateApproved, "saved", "You work."},
		"a folder of its creator":  {path("docs", "ro"), policy.StateApproved, "saved", "root: ../docs"},
		"a folder below":           {path("notes", "rw"), policy.StateApproved, "saved", "write: ask"},
		"no more than reading":     {path("docs", "rw"), policy.StateInvalid, "may not write there", ""},
		"no other folder":          {path("other", "ro"), policy.StateInvalid, "other", ""},
		"nothing outside":          {path("../x", "ro"), policy.StateInvalid, "", ""},
		"no unknown mode":          {path("docs", "w"), policy.StateInvalid, "", ""},
		"no shell":                 {base(args{"shell": true}), policy.StateInvalid, "has no shell", ""},
		"those whom it may call":   {base(args{"allow_workers": []string{"reader"}}), policy.StateApproved, "saved", "- reader"},
		"none whom it may not":     {base(args{"allow_workers": []string{"*"}}), policy.StateInvalid, "may not call", ""},
		"a plain name":             {base(args{"name": "../x"}), policy.StateInvalid, "invalid worker name", ""},
		"a name that is free":      {base(args{"name": "reader"}), policy.StateInvalid, "worker reader exists already", ""},
		"one that it replaces":     {base(args{"name": "reader", "replace": true}), policy.StateApproved, "saved", "You work."},
		"none that is locked":      {base(args{"name": "kept", "replace": true}), policy.StateBlocked, "is locked", ""},
		"no key in its words":      {base(args{"description": "x\nlocked: true"}), policy.StateApproved, "saved", "You work."},
		"no front matter in words": {base(args{"instructions": "---\nlocked: true\n---"}), policy.StateApproved, "saved", "locked: true"},
	} {
		t.Run(name, func(t *testing.T) {
			all := files()
			all["lead.worker"] = "---\nsandbox: {paths: {notes: {mode: rw}, docs: {mode: ro}}}\nallow_workers: [reader]\n---\n"
			all["workers/kept.worker"] = "---\nlocked: true\n---\n"
			tm := newTeam(t, all)
			r := tm.run("lead.worker", call("1", "worker_create", tt.args))
			wants(t, r[0], tt.state, tt.says)
			data, err := os.ReadFile(filepath.Join(tm.dir, "workers", tt.args["name"].(string)+".worker"))
			if tt.file != "" && (err != nil || !strings.Contains(string(data), tt.file)) {
				t.Errorf("the file is %q, %v", data, err)
			}
			if tt.state != policy.StateApproved && len(tm.asked) > 0 {
				t.Errorf("asked %v", tm.asked)
			}
		})
	}
}

// A denied worker leaves nothing behind, not even the folder.
func TestADeniedWorkerIsNotThere(t *testing.T) {
	tm := newTeam(t, map[string]string{"lead.worker": nothing})
	tm.answer = func(r *approval.Request) approval.Decision { return r.Deny("no") }
	wants(t, tm.run("lead.worker", call("1", "worker_create", args{"name": "new", "description": "d", "instructions": "i"}))[0], policy.StateDenied)
	if _, err := os.Stat(filepath.Join(tm.dir, "workers")); !os.IsNotExist(err) {
		t.Errorf("the folder is there: %v", err)
	}
}

// What was shown is what is written: a file that comes in between is asked about again.
func TestAWorkerThatAppearsMeanwhileIsNotOverwritten(t *testing.T) {
	tm := newTeam(t, map[string]string{"lead.worker": nothing})
	tm.answer = func(r *approval.Request) approval.Decision {
		tm.put("workers/new.worker", "---\nlocked: true\n---\n")
		return r.Approve("")
	}
	r := tm.run("lead.worker", call("1", "worker_create", args{"name": "new", "description": "d", "instructions": "i"}))
	wants(t, r[0], policy.StateInvalid, "worker new exists already")
	if data, err := os.ReadFile(filepath.Join(tm.dir, "workers/new.worker")); err != nil || !strings.Contains(string(data), "locked") {
		t.Errorf("the file is %q, %v", data, err)
	}
}
