package check

import (
	"errors"
	"path/filepath"

	"github.com/assent-dev/assent/tool/command"
)

// customTools warns of tools that nothing stands behind.
func (l *look) customTools() {
	folder := filepath.Join(l.file.Folder, "tools")
	for _, t := range l.file.Policy.CustomTools {
		if len(t.Command) > 0 {
			continue
		}
		_, err := command.Find(folder, t.Name)
		switch {
		case errors.Is(err, command.ErrNotFound):
			l.warn(t.Source, "custom tool %s has no command, and there is no executable %s; only a program that registers a tool of this name can offer it",
				t.Name, filepath.Join("tools", t.Name))
		case err != nil:
			l.warn(t.Source, "%v", err)
		}
	}
}
