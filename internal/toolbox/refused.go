package toolbox

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/network"
	"github.com/assent-dev/assent/sandbox"
	"github.com/assent-dev/assent/sandbox/launch"
	"github.com/assent-dev/assent/sandbox/refusal"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/shell"
)

// explain finds out what the sandbox refused to a command that failed, tells the model in
// its result, and records it with what would allow it, for the person.
func (m *machine) explain(ctx context.Context, c shell.Command, p sandbox.Profile, r *shell.Result) error {
	facts := m.facts(c, r)
	var errs []error
	whole := m.reach(c)
	if m.hold.Proxy && whole.Network.ByName { // for a program that knows no proxies
		whole.Network = sandbox.Network{Source: "commands have a proxy only; 'assent sandbox doctor' says why"}
	}
	if p.Wall.Why == "" {
		for _, what := range refusal.Tripped(whole, p, facts) {
			told := "judgement and behaviour differ: the operating system refused " + what +
				", which the command was not read to do"
			r.Note = strings.TrimPrefix(r.Note+"\n"+told, "\n")
			errs = append(errs, tool.RunningIn(ctx).Report(ctx, approval.EventTripped, told))
		}
	}
	if on, ok := m.hold.Runner.(*network.Runner); ok && p.Network.ByName && r.ExitCode != 0 {
		if ports := on.Captured(); ports != "" && strings.Contains(strings.ToLower(facts.Output), "connection refused") {
			told := "the system lets commands connect to these ports only, and refuses others: " + ports
			r.Note = strings.TrimPrefix(r.Note+"\n"+told, "\n")
		}
	}
	refused := refusal.Find(asFound(whole, r), facts)
	m.left.keep(c, r, whole, refused)
	if c.GitWrites && c.GitMixed && r.ExitCode != 0 && !whole.GitWrite {
		r.Note = strings.TrimPrefix(r.Note+"\ngit may write to the repository only in a command of its own, "+
			"without programs whose effects are not known; call it separately", "\n")
	}
	for _, one := range refused {
		r.Note = strings.TrimPrefix(r.Note+"\n"+one.String(), "\n")
		errs = append(errs, tool.RunningIn(ctx).Report(ctx, approval.EventConfined, one.ForPerson()))
	}
	return errors.Join(errs...)
}

// asFound is the profile with what is protected in its roots as they are, if a command met
// something that cannot be written.
func asFound(p sandbox.Profile, r *shell.Result) sandbox.Profile {
	if r.ExitCode == 0 || !strings.Contains(r.Stderr+r.Stdout, "Read-only file system") {
		return p
	}
	scene, err := launch.Survey(p)
	if err != nil {
		return p // then nothing is known
	}
	for _, place := range scene.Protected {
		p.Protected = append(p.Protected[:len(p.Protected):len(p.Protected)],
			sandbox.Entry{Path: place.Path, Source: place.Source})
	}
	return p
}

func (m *machine) facts(c shell.Command, r *shell.Result) refusal.Facts {
	f := refusal.Facts{
		Exit: r.ExitCode, Dir: c.Dir, GitWrites: c.GitWrites && inRepository(c.Dir), Connects: c.Connects,
		Output: r.Stderr + "\n" + r.Stdout, Exists: exists, Shared: launch.Shared,
		Private: []string{"/tmp", "/var/tmp", "/run", "/dev/shm"},
	}
	if home := m.world(c.Dir).Home(); filepath.IsAbs(home) {
		f.Private = append(f.Private, filepath.Clean(home))
	}
	for _, n := range c.Named {
		f.Named = append(f.Named, refusal.Named(n))
	}
	return f
}

// inRepository reports whether a folder is one of a repository.
func inRepository(dir string) bool {
	for ; ; dir = filepath.Dir(dir) {
		if exists(filepath.Join(dir, ".git")) {
			return true
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
