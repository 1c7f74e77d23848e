package check

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/tool/command"
)

// customTools warns of tools that nothing stands behind.
func (l *look) customTools() {
	folder := filepath.Join(l.file.Folder, "tools")
	for _, t := range l.policy.CustomTools {
		if len(t.Command) > 0 {
			continue
		}
		found, err := command.Find(folder, t.Name)
		switch {
		case err == nil:
			l.definition(t, found.Definition)
		case errors.Is(err, command.ErrNotFound):
			l.warn(t.Source, "custom tool %s has no command, and there is no executable %s; only a program that "+
				"registers a tool of this name can offer it",
				t.Name, filepath.Join("tools", t.Name))
		case err != nil:
			l.warn(t.Source, "%v", err)
		}
	}
}

// definition warns of a file beside an executable that cannot be used: a run leaves the tool
// out.
func (l *look) definition(t command.Config, file string) {
	if file == "" {
		return
	}
	data, err := os.ReadFile(file)
	if err == nil {
		_, err = config.LoadToolFile(filepath.Join("tools", filepath.Base(file)), data)
	}
	var problems config.Problems
	switch {
	case errors.As(err, &problems):
		l.findings = append(l.findings, found(Warning, problems)...)
	case err != nil:
		l.warn(t.Source, "custom tool %s: %v", t.Name, err)
	}
}
