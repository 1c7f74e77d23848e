package permissions

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/assent-dev/assent/internal/agents"
	"github.com/assent-dev/assent/internal/agents/settings"
)

// A Verdict is what an agent's lists say about a command. The zero Verdict denies.
type Verdict int

// The verdicts, the strictest first.
const (
	Deny Verdict = iota // the agent refuses it
	Ask                 // the agent asks about it
	None                // no entry is about it
)

func (v Verdict) String() string { return [...]string{"deny", "ask", "none"}[v] }

// A Place is where an agent runs.
type Place struct {
	// Project is the folder that the agent was started in, Dir the one that the call runs in.
	Project, Dir string
	// Environ has the variables of the agent.
	Environ []string
	// Chain are the processes that led to the hook, the nearest first. Flags of the agent that
	// add to its lists are read from it.
	Chain []agents.Process

	files func(settings.Surroundings) settings.Surroundings // what the tests read instead
}

// Lists are what an agent's files and flags say about commands. The zero Lists deny everything.
type Lists struct {
	judges
	home string
}

// judges say what the lists of one agent mean, for a command and for a call of any tool.
type judges struct {
	command func(c *commands, at folders) (Verdict, string)
	tool    func(server, tool string, args json.RawMessage) (Verdict, string)
	hides   func(path string) bool
}

// folders are what a path in a command is relative to.
type folders struct{ dir, home string }

// Read reads the lists of an agent, by its name. Files that are not there are no error; one that
// cannot be read or that has an entry which is not understood is.
func Read(agent string, at Place) (Lists, error) {
	a, err := agents.Named(agent)
	if err != nil {
		return Lists{}, err
	}
	env := func(name string) (value string, set bool) {
		for _, v := range at.Environ {
			if n, x, ok := strings.Cut(v, "="); ok && n == name {
				value, set = x, true // the last one holds
			}
		}
		return value, set
	}
	home, _ := env("HOME")
	if !filepath.IsAbs(home) || !filepath.IsAbs(at.Project) {
		return Lists{}, fmt.Errorf("reading the lists of %s: "+
			"the home folder %q and the project %q must be absolute paths", a.Title, home, at.Project)
	}
	s := settings.On(home, filepath.Clean(at.Project), env)
	if at.files != nil {
		s = at.files(s)
	}
	l := Lists{home: home}
	r := reader{Surroundings: s, target: settings.TargetOf(a), dir: at.Dir, chain: at.Chain}
	switch a.Name {
	case "claude-code":
		l.judges, err = r.claude()
	case "codex":
		l.command, err = r.codex()
	case "gemini":
		l.judges, err = r.gemini()
	default:
		err = fmt.Errorf("assent does not know the lists of %s", a.Title)
	}
	if err != nil {
		return Lists{}, fmt.Errorf("reading the lists of %s: %w", a.Title, err)
	}
	return l, nil
}

// Judge says what the lists mean for a command that runs in a folder. The text names the entry and
// its file, for the person and the model.
func (l Lists) Judge(command, dir string) (Verdict, string) {
	if l.command == nil {
		return Deny, unread
	}
	return l.command(split(command), folders{dir: dir, home: l.home})
}

const unread = "the lists of the agent were not read"

// JudgeTool says what the lists mean for a call of a tool under the agent's own name, of an MCP server
// if there is one. Only those of Gemini CLI are read for this: see [agents.Agent.Lifts].
func (l Lists) JudgeTool(server, tool string, args json.RawMessage) (Verdict, string) {
	if l.tool == nil {
		return Deny, unread
	}
	return l.tool(server, tool, args)
}

// Hides reports whether the agent leaves a file out of its searches, because its own lists deny reading it. Only
// those of Claude Code are read for this.
func (l Lists) Hides(path string) bool { return l.hides != nil && l.hides(path) }

// A reader reads the files of one agent.
type reader struct {
	settings.Surroundings
	target settings.Target
	dir    string
	chain  []agents.Process
}

// optional reads a file, nil if there is none.
func (r reader) optional(path string) ([]byte, error) {
	text, err := r.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%w; make the file readable", err)
	}
	return text, nil
}

// object reads a file of JSON, nil if there is none or nothing in it.
func (r reader) object(path string) (map[string]any, error) {
	text, err := r.optional(path)
	if err != nil || strings.TrimSpace(string(text)) == "" {
		return nil, err
	}
	top, err := settings.Decode(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w; correct the file", path, err)
	}
	return top, nil
}

// texts reads a list of strings at the end of some keys; nil if there is none.
func texts(top map[string]any, path string, keys ...string) (out []string, err error) {
	var at any = top
	for i, key := range keys {
		object, ok := at.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("%s: %s must be an object", path, strings.Join(keys[:i], "."))
		}
		if at = object[key]; at == nil {
			return nil, nil
		}
	}
	list, ok := at.([]any)
	if !ok {
		return nil, fmt.Errorf("%s: %s must be a list", path, strings.Join(keys, "."))
	}
	for _, item := range list {
		text, ok := item.(string)
		if !ok {
			return nil, fmt.Errorf("%s: %s must be a list of strings, and has %v", path, strings.Join(keys, "."), item)
		}
		out = append(out, text)
	}
	return out, nil
}

// A finding is the strictest verdict so far, and why.
type finding struct {
	verdict Verdict
	why     string
}

func (f *finding) add(v Verdict, format string, args ...any) {
	if v < f.verdict {
		f.verdict, f.why = v, fmt.Sprintf(format, args...)
	}
}

// pattern is a regular expression that is made when it is first used: a hook that asks about no
// list does without.
func pattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
