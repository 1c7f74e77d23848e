package hook

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/assent-dev/assent/internal/agents"
)

// projectName is the link in the folder of a session that leads to its project. A link is made
// in one step, so that of two hooks that fire at once one decides.
const projectName = "project"

// project finds the folder of the project that a call belongs to: the folder whose policy holds
// and which is the root. The folder of the call itself is not: the model moves it, with cd or as
// an argument, and would choose its own rules. The agent names the project, or it is the folder
// of the session's first event, which is kept. The note says why a name was ignored.
func (a *answering) project(e agents.Event) (dir, note string, err error) {
	if named, source := a.Agent.Project(e, a.Environ); source != "" {
		why := unusable(named)
		if why == "" {
			return filepath.Clean(named), "", nil
		}
		note = fmt.Sprintf("%s is ignored: %s", source, why)
	}
	link := filepath.Join(memoFolder(a.Places.State, e.Session), projectName)
	if kept, err := os.Readlink(link); err == nil {
		return kept, note, nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return "", note, fmt.Errorf("reading the project of the session: %w; start a new session of the agent", err)
	}
	first := filepath.Clean(cmp.Or(e.Project, e.Dir))
	if a.Agent.HooksInProject() && a.Dir != "" {
		first = filepath.Clean(a.Dir)
	}
	if a.looking {
		return first, note, nil
	}
	if err := a.makeFolder(filepath.Dir(link)); err != nil {
		return "", note, err
	}
	if err := os.Symlink(first, link); errors.Is(err, fs.ErrExist) { // another hook of the session was faster
		first, err = os.Readlink(link)
		return first, note, err
	} else if err != nil {
		return "", note, err
	}
	return first, note, nil
}

// unusable says why a folder cannot be a project; empty if it can.
func unusable(dir string) string {
	if !filepath.IsAbs(dir) {
		return fmt.Sprintf("%q is not an absolute path", dir)
	}
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return err.Error()
	case !info.IsDir():
		return fmt.Sprintf("%s is not a folder", dir)
	}
	return ""
}
