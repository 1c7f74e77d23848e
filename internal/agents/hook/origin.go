package hook

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/assent-dev/assent/internal/agents"
)

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
