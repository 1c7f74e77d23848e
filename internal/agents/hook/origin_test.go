package hook

import (
	"errors"
	"testing"

	"github.com/assent-dev/assent/internal/agents"
)

func TestTheAgentsOwnStartSaysWhereTheConfigIs(t *testing.T) {
	environ := func(pid int) ([]string, error) {
		switch pid {
		case 1:
			return nil, errors.New("not ours")
		case 5:
			return []string{"HOME=/home/p", "XDG_CONFIG_HOME=/home/p/c", "PATH=/bin"}, nil
		}
		return []string{"HOME=/elsewhere", "XDG_CONFIG_HOME=/repository", "XDG_STATE_HOME=/repository"}, nil
	}
	shell := agents.Process{Pid: 3, Args: []string{"/bin/bash", "-c", "assent-hook gemini"}}
	inner := agents.Process{Pid: 4, Args: []string{"node", "--max-old-space-size=1", "/usr/lib/node_modules/.bin/gemini", "-p", "x"}}
	outer := agents.Process{Pid: 5, Args: []string{"node", "/usr/lib/node_modules/.bin/gemini", "-p", "x"}}
	login := agents.Process{Pid: 6, Args: []string{"-bash"}}
	editor := agents.Process{Pid: 7, Args: []string{"/opt/cursor/cursor"}}
	for name, c := range map[string]struct {
		chain []agents.Process
		want  string // XDG_CONFIG_HOME; - if nothing is known
	}{
		"a process that starts itself again": {[]agents.Process{shell, inner, outer, login, editor}, "/home/p/c"},
		"in a terminal of an editor":         {[]agents.Process{shell, outer, login, editor}, "/home/p/c"},
		"another program in between":         {[]agents.Process{{Pid: 8, Args: []string{"make"}}, shell, outer, login}, "-"},
		"no agent":                           {[]agents.Process{shell, login}, "-"},
		"one that cannot be read":            {[]agents.Process{{Pid: 1, Args: []string{"claude"}}}, "-"},
	} {
		got, set := "-", before(c.chain, environ)
		if v := set["XDG_CONFIG_HOME"]; v != nil {
			got = *v
		}
		if _, known := set["XDG_STATE_HOME"]; got != c.want || known != (c.want != "-") || set["XDG_STATE_HOME"] != nil {
			t.Errorf("%s: %q, %v", name, got, set)
		}
	}
}
