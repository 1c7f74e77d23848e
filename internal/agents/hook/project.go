package hook

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

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

// placed are the variables that say where assent's config and state are.
var placed = []string{"HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"}

// asStarted gives these variables the values that the agent itself was started with. Agents change
// them for the programs that they start, Gemini CLI by the .env file of a repository and Claude Code
// by env in its settings: that would have the hook read another config, in which everything is
// allowed.
var asStarted = sync.OnceFunc(func() {
	for name, value := range before(chain(), environOf) {
		if value == nil {
			os.Unsetenv(name)
		} else {
			os.Setenv(name, *value)
		}
	}
})

// before are the values that the outermost process of the agent was started with; nil for one that
// was not set. It is empty if the agent is not known, or its environment cannot be read.
func before(chain []agents.Process, environ func(pid int) ([]string, error)) map[string]*string {
	agent := 0
	for _, p := range chain {
		if isAgent(p.Args) {
			agent = p.Pid
		} else if agent != 0 || !isShell(p.Args) {
			break // who started the agent, or the hook in its place, may have set them
		}
	}
	list, err := environ(agent)
	if agent == 0 || err != nil || len(list) == 0 {
		return nil
	}
	out := map[string]*string{}
	for _, name := range placed {
		out[name] = nil
		if i := slices.IndexFunc(list, func(e string) bool { return strings.HasPrefix(e, name+"=") }); i >= 0 {
			value := list[i][len(name)+1:]
			out[name] = &value
		}
	}
	return out
}

// isAgent reports whether a command line is that of an agent: its program, or the script that a
// program runs.
func isAgent(args []string) bool {
	if len(args) == 0 || isShell(args) {
		return false // a shell that starts an agent may set variables
	}
	names := args[:1]
	if i := slices.IndexFunc(args[1:], func(a string) bool { return !strings.HasPrefix(a, "-") }); i >= 0 {
		names = append(slices.Clone(names), args[i+1])
	}
	return slices.ContainsFunc(names, func(name string) bool {
		return slices.ContainsFunc([]string{"claude", "codex", "gemini", "cursor"}, func(word string) bool {
			return strings.HasPrefix(filepath.Base(name), word) || strings.Contains(name, "/"+word+"-")
		})
	})
}

func isShell(args []string) bool {
	return len(args) > 0 && strings.HasSuffix(filepath.Base(args[0]), "sh")
}
