package toolbox

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/assent-dev/assent/sandbox"
	"github.com/assent-dev/assent/sandbox/refusal"
	"github.com/assent-dev/assent/tool/shell"
)

// stepOutside is the step that leaves the sandbox altogether, once.
const stepOutside = "outside"

// A commandKey tells commands apart: what was granted to one is not granted to another.
type commandKey struct{ text, dir string }

func keyOf(c shell.Command) commandKey { return commandKey{c.Text, c.Dir} }

// escalations are the commands of a session that the sandbox refused something to, and what
// a person let them reach. They end with the process.
type escalations struct {
	mu     sync.Mutex
	failed map[commandKey]failure
	steps  map[commandKey][]refusal.Refusal
}

// A failure is how a command ended that the sandbox refused something to.
type failure struct {
	shell.Failure
	refused []refusal.Refusal // those of its steps, in order
}

// granted are what a person let the command reach, in this session.
func (l *escalations) granted(c shell.Command) []refusal.Refusal {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.steps[keyOf(c)])
}

// maxSaid is how much of a command's output is shown with the question.
const maxSaid = 500

// keep remembers how the command ended.
func (l *escalations) keep(c shell.Command, r *shell.Result, p sandbox.Profile, refused []refusal.Refusal) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(refused) == 0 {
		delete(l.failed, keyOf(c))
		return
	}
	said := strings.TrimSpace(r.Stderr)
	if len(said) > maxSaid {
		said = "…" + strings.ToValidUTF8(said[len(said)-maxSaid:], "")
	}
	f := failure{Failure: shell.Failure{ExitCode: r.ExitCode, Said: said}}
	f.offer(p, refused)
	if l.failed == nil {
		l.failed = map[commandKey]failure{}
	}
	l.failed[keyOf(c)] = f
}

// offer adds what was refused, and the steps that would let it pass. Without the sandbox a
// command would reach all of it, so that is none if something is protected.
func (f *failure) offer(p sandbox.Profile, refused []refusal.Refusal) {
	leaves := true
	for _, one := range refused {
		f.Refused = append(f.Refused, one.String())
		_, can := one.Widen(p)
		leaves = leaves && can && !leadsToFixed(p, one.Path)
		one = inFolder(one)
		step := shell.Step{ID: fmt.Sprintf("%s %s", one.Kind, one.Path), Label: label(one)}
		if _, can := one.Widen(p); can && usable(one) && !slices.Contains(f.Steps, step) {
			f.Steps, f.refused = append(f.Steps, step), append(f.refused, one)
		}
	}
	if leaves {
		f.Steps = append(f.Steps, shell.Step{ID: stepOutside, Label: "run it once without the sandbox"})
	}
}

// inFolder is the step for a file that is not there yet: only in its folder can it be made.
func inFolder(r refusal.Refusal) refusal.Refusal {
	if r.Kind == refusal.Write && !exists(r.Path) {
		r.Path = filepath.Dir(r.Path)
	}
	return r
}

// leadsToFixed reports whether a path is a way to something protected or hidden.
func leadsToFixed(p sandbox.Profile, path string) bool {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return false // there is nothing
	}
	return slices.ContainsFunc(slices.Concat(p.Protected, p.Masked),
		func(e sandbox.Entry) bool { return sandbox.Below(e.Path, real) })
}

// usable reports whether a step can be taken: a sandbox shows what is there, by its own name.
func usable(r refusal.Refusal) bool {
	if r.Path == "" {
		return true
	}
	real, err := filepath.EvalSymlinks(r.Path)
	return err == nil && real == r.Path
}

func label(r refusal.Refusal) string {
	switch r.Kind {
	case refusal.Network:
		return "use the network, in this session"
	case refusal.Write:
		return "write " + r.Place() + ", in this session"
	}
	return "read " + r.Place() + ", in this session"
}

// take makes a step that a person chose one that the command has. The one outside is not
// kept: it holds once.
func (l *escalations) take(c shell.Command) (shell.Step, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := l.failed[keyOf(c)]
	i := slices.IndexFunc(f.Steps, func(s shell.Step) bool { return s.ID == c.Step })
	if i < 0 {
		return shell.Step{}, errors.New("there is no such way out of the sandbox for this command any more; " +
			"run it without escalate first")
	}
	if f.Steps[i].ID != stepOutside {
		if l.steps == nil {
			l.steps = map[commandKey][]refusal.Refusal{}
		}
		l.steps[keyOf(c)] = append(l.steps[keyOf(c)], f.refused[i])
	}
	delete(l.failed, keyOf(c))
	return f.Steps[i], nil
}

// Widened implements [shell.Sandbox].
func (m *machine) Widened(c shell.Command) bool { return len(m.left.granted(c)) > 0 }

// Failed implements [shell.Steps].
func (m *machine) Failed(c shell.Command) (shell.Failure, bool) {
	m.left.mu.Lock()
	defer m.left.mu.Unlock()
	f, ok := m.left.failed[keyOf(c)]
	return f.Failure, ok
}
