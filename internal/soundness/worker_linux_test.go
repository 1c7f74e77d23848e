package soundness

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool/shell/analysis"
	"github.com/assent-dev/assent/tool/shell/runner"
	"github.com/assent-dev/assent/tool/shell/system"
)

// An answer is what became of a command.
type answer struct {
	// Policy is the rule set that allows it; empty if none does.
	Policy string
	// Unread says that it cannot be parsed, or that only our own shell would run it.
	Unread bool
	// Command is the canonical text, which ran.
	Command string
	// Wrong are the differences between what was judged and what happened, and Acts what
	// was judged.
	Wrong []string
	Acts  []string
	// Starts is how many programs started, Touched how many files were touched.
	Starts, Touched int
}

// A worker judges and runs commands, in the jail.
type worker struct {
	policies []*underPolicy
	env      []string
	shell    *shell
	log      *spyLog
	watch    *watch
	before   snapshot
	ran      int
}

// work answers questions until there are no more.
func work() error {
	w, err := newWorker()
	if err != nil {
		return err
	}
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 64<<20)
	out := json.NewEncoder(os.Stdout)
	for in.Scan() {
		var q question
		if err := json.Unmarshal(in.Bytes(), &q); err != nil {
			return err
		}
		a, err := w.answer(q)
		if err != nil {
			return fmt.Errorf("%q: %w", q.Text, err)
		}
		if err := out.Encode(a); err != nil {
			return err
		}
	}
	return in.Err()
}

func newWorker() (*worker, error) {
	env := runner.NewEnvironment(environ, nil)
	w := &worker{env: env.Entries()}
	// What a command leaves behind becomes our child, so that it can be waited for.
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, err
	}
	if err := build(); err != nil {
		return nil, err
	}
	var err error
	if w.watch, err = newWatch(); err != nil {
		return nil, err
	}
	if w.log, err = newSpyLog(); err != nil {
		return nil, err
	}
	if w.shell, err = newShell(env); err != nil {
		return nil, err
	}
	w.before = takeSnapshot()
	for _, name := range policyNames() {
		p, err := openPolicy(name)
		if err != nil {
			return nil, err
		}
		w.policies = append(w.policies, p)
	}
	return w, nil
}

// reset makes the places as they were.
func (w *worker) reset(after snapshot) error {
	if err := errors.Join(w.before.restore(after), w.watch.addPlaces()); err != nil {
		return err
	}
	if !maps.Equal(w.before, takeSnapshot()) {
		return errors.New("what the command changed cannot be undone")
	}
	return nil
}

func (w *worker) answer(q question) (answer, error) {
	a := answer{}
	script, err := analysis.Read(q.Text, places[0], system.New(places[0], w.env))
	if err != nil || !script.Text.Printed() { // which bash is never given
		a.Unread = true
		return a, nil
	}
	for i := range w.worth(script) {
		p := w.policies[(q.First+i)%len(w.policies)]
		if acts, ok := p.allows(q.Text); ok {
			a.Policy, a.Command = p.name, script.Text.String()
			if q.Instead != "" {
				a.Command = q.Instead
			}
			err := w.hold(&a, script, acts)
			return a, err
		}
	}
	return a, nil
}

// worth returns how many policies are asked: one is enough to see that none allows what
// cannot be told.
func (w *worker) worth(script *analysis.Script) int {
	unclear := func(p analysis.Part) bool { return p.Kind == analysis.Unknown }
	if script.Odd != "" || slices.ContainsFunc(script.Parts, unclear) {
		return 1
	}
	return len(w.policies)
}

// hold runs what was judged and holds what happens against it.
func (w *worker) hold(a *answer, script *analysis.Script, acts []policy.Act) (err error) {
	said := judge(script.Parts, acts)
	if _, _, err := w.watch.take(); err != nil { // what judging looked at
		return err
	}
	printed, err := w.shell.run(a.Command)
	if err != nil {
		return err
	}
	happened := event{refused: w.refused(a.Command, printed)}
	if happened.starts, err = w.log.take(); err != nil {
		return err
	}
	if happened.touches, happened.lost, err = w.watch.take(); err != nil {
		return err
	}
	if happened.changed() {
		happened.before, happened.after = w.before, takeSnapshot()
		defer func() { err = errors.Join(err, w.reset(happened.after)) }()
	}
	a.Starts, a.Touched = len(happened.starts), len(happened.touches)
	a.Wrong = said.differences(happened)
	if len(a.Wrong) > 0 {
		for _, act := range acts {
			a.Acts = append(a.Acts, fmt.Sprintf("%s %s %s", act.Verdict, act, act.Dir))
		}
	}
	return err
}

// refused says that bash does not take the text for a command, although it was judged.
// Every text whose run complains is looked at, and some others.
func (w *worker) refused(text, said string) string {
	w.ran++
	if w.ran%16 != 0 && !strings.Contains(said, "syntax error") && !strings.Contains(said, "unexpected") {
		return ""
	}
	out, err := exec.Command(realBash, "-n", "-c", "--", text).CombinedOutput()
	if err != nil {
		return string(out)
	}
	return ""
}
