//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestUndo has each agent edit a file with its own tool and change another with a command, and
// puts both back.
func TestUndo(t *testing.T) {
	for _, a := range agents {
		t.Run(a.name, func(t *testing.T) {
			p := newStage(t)
			p.write("../project/edited.txt", "old edit\n")
			p.write("../project/written.txt", "old command\n")
			edited, written := filepath.Join(p.project, "edited.txt"), filepath.Join(p.project, "written.txt")
			edit := map[string][]string{
				"claude-code": {`Read {"file_path":` + quote(edited) + `}`, `Edit {"file_path":` + quote(edited) + `,"old_string":"old","new_string":"new"}`},
				"codex":       {"apply_patch <<'END'\n*** Begin Patch\n*** Update File: edited.txt\n@@\n-old edit\n+new edit\n*** End Patch\nEND"},
				"gemini":      {`read_file {"file_path":` + quote(edited) + `}`, `replace {"file_path":` + quote(edited) + `,"instruction":"say new","old_string":"old","new_string":"new"}`},
			}[a.name]
			told := p.stage(a, nil, append(edit, "echo new command > written.txt")...)
			p.wantText(edited, "new edit\n", told)
			p.wantText(written, "new command\n", told)
			for _, id := range p.undoable() {
				p.assent("undo", id)
			}
			p.wantText(edited, "old edit\n", told)
			p.wantText(written, "old command\n", told)
		})
	}
}

// undoable lists what can be undone, the newest first.
func (p *place) undoable() (ids []string) {
	p.t.Helper()
	for line := range strings.Lines(p.assent("undo")) {
		if fields := strings.Fields(line); len(fields) > 2 && strings.Contains(fields[2], ":") {
			ids = append(ids, fields[0])
		}
	}
	return ids
}

func (p *place) wantText(file, want string, told []string) {
	p.t.Helper()
	if text, err := os.ReadFile(file); err != nil || string(text) != want {
		p.t.Errorf("%s has %q, want %q: %v\nto undo:\n%s\nthe model was told %q", filepath.Base(file), text, want, err, p.assent("undo"), told)
	}
}
