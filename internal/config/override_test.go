package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/tool/roots"
)

func read(t *testing.T, name, text string) *config.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := config.Read(path, config.WorkerFile)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

const notes = "---\nmax_steps: 5\nsandbox: {paths: {notes: {mode: ro}}}\n---\nYou write.\n---\nAlways.\n"

func TestOverride(t *testing.T) {
	f, err := config.Override(read(t, "notes.worker", notes), []string{
		"max_steps=3", "max_steps=7", "locked=true", "description=7 notes", "manual=[write_file]",
		"sandbox.paths.notes.mode=rw", "sandbox.paths.cache={mode: rw}", "attachment_policy.max_attachments=9",
	})
	if err != nil {
		t.Fatal(err)
	}
	w := f.Worker
	if w.MaxSteps != 7 || !w.Locked || w.Description != "7 notes" || len(w.Manual) != 1 || w.Attachments.MaxAttachments != 9 {
		t.Errorf("worker %+v", w)
	}
	if len(w.Roots) != 2 || w.Roots[0].Mode != roots.ModeReadWrite || w.Roots[1].Name != "cache" || w.Roots[1].Host != filepath.Join(f.Folder, "cache") {
		t.Errorf("roots %+v", w.Roots)
	}
	if w.Instructions != "You write.\n---\nAlways." || w.Name != "notes" || f.Policy != w.Policy {
		t.Errorf("instructions %q, name %q", w.Instructions, w.Name)
	}
}

func TestOverrideNothingLeavesTheFileAlone(t *testing.T) {
	f := read(t, "notes.worker", notes)
	if got, err := config.Override(f, nil); err != nil || got != f {
		t.Errorf("%v, %v", got, err)
	}
}

func TestOverrideToPlainYAML(t *testing.T) {
	f, err := config.Override(read(t, "notes.yaml", "instructions: You write.\n"), []string{"max_steps=2"})
	if err != nil || f.Worker.MaxSteps != 2 || f.Worker.Instructions != "You write." {
		t.Errorf("%+v, %v", f, err)
	}
}

func TestOverrideRefuses(t *testing.T) {
	for setting, says := range map[string]string{
		"max_steps":            "KEY.PATH=VALUE",
		"=3":                   "KEY.PATH=VALUE",
		"max_steps.a=3":        "max_steps is not a mapping",
		"sandbox..notes=3":     "empty",
		"max_step=3":           "max_step",
		"max_steps=many":       "max_steps",
		"sandbox.paths.x.y=1":  "y",
		"description=[":        "not valid YAML",
		"sandbox=3":            "sandbox",
		"locked=perhaps maybe": "locked",
	} {
		if _, err := config.Override(read(t, "notes.worker", notes), []string{setting}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: error %v does not say %q", setting, err, says)
		}
	}
}

// Whatever is set, the result is a worker file or an error, and no other key changes.
func FuzzOverride(f *testing.F) {
	for _, s := range []string{"max_steps=3", "a.b.c={x: [1]}", "description=---", "x=!!binary a", "sandbox.paths={}", "name=a\n---\nb"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, setting string) {
		file, err := config.Override(read(t, "notes.worker", notes), []string{setting})
		if err == nil && (file.Worker == nil || file.Worker.Instructions != "You write.\n---\nAlways.") {
			t.Errorf("%q made %+v", setting, file.Worker)
		}
	})
}
