package setup

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/team/link"
)

// Administrator is the administrator's file. It is a variable for tests of whole programs;
// nothing that a user or an agent can say changes it.
var Administrator = config.AdminFile

// Places are where assent's own files are.
type Places struct {
	// Admin is the administrator's file, Config the user's config folder, State the state
	// folder.
	Admin, Config, State string
	// OtherState is assent's own state folder where State is another that was named: runs
	// without that name trust what is kept there. Empty if they are the same.
	OtherState string
	// Programs are the files of assent itself; some may not be there.
	Programs []string
}

// Here returns the places of this user. State is the folder that was named; empty means
// assent's own.
func Here(state string) (p Places, err error) {
	p.Admin = Administrator
	if p.Config, err = config.UserFolder(); err != nil {
		return p, err
	}
	if p.State, err = config.StateFolder(state); err != nil {
		return p, err
	}
	if usual, err := config.StateFolder(""); err == nil && usual != p.State {
		p.OtherState = usual
	}
	program, err := os.Executable()
	if err != nil {
		return p, fmt.Errorf("finding this program: %w", err)
	}
	p.Programs = programs(program)
	return p, nil
}

// ownPrograms are the names of assent's programs, which look for each other in their folder.
var ownPrograms = []string{"assent", "assent-hook", "assent-shell"}

// IsOwn reports whether a file has the name of a program of assent. Any other program that does
// assent's work is its own helper: what lies beside it may be anybody's.
func IsOwn(program string) bool { return slices.Contains(ownPrograms, filepath.Base(program)) }

// programs are the files of assent, given the one that runs. One that is looked for beside it and is
// not there is among them: whoever could make it would be started the next time, outside the sandbox.
func programs(running string) []string {
	out := []string{running}
	for _, name := range ownPrograms {
		beside := filepath.Join(filepath.Dir(running), name)
		if _, err := os.Lstat(beside); beside != running && (err == nil || IsOwn(running)) {
			out = append(out, beside)
		}
	}
	return out
}

// WakeBridge starts the process that talks to the server of this machine's team, if it has joined one and none runs.
// It waits for nothing, and whoever calls does not depend on it: a question that goes nowhere waits on, and 'assent
// status' says so. A program that embeds assent cannot be such a process.
func (p Places) WakeBridge() {
	if program := p.Program(); filepath.Base(program) == "assent" {
		_ = link.Wake(p.State, program)
	}
}

// User reads the user's own config.yaml; an empty one if there is none.
func (p Places) User() (*config.User, error) {
	file, err := config.ReadUser(p.Config)
	if err != nil {
		return nil, err
	}
	return file.User, nil
}

// TrustFolder is where it is kept which files are trusted.
func (p Places) TrustFolder() string { return filepath.Join(p.State, "trust") }

// UndoFolder is where it is kept what tools replaced.
func (p Places) UndoFolder() string { return filepath.Join(p.State, "undo") }

// owns reports whether a file lies in the user's config folder, and leads nowhere else. A link
// elsewhere that leads into it is not the user's: what the file names by a relative path is
// looked for beside the link.
func (p Places) owns(path string) bool {
	folder, err := filepath.EvalSymlinks(p.Config)
	if err != nil || p.Config == "" || !below(p.Config, path) && !below(folder, path) {
		return false
	}
	real, err := filepath.EvalSymlinks(path)
	return err == nil && below(folder, real)
}

func below(folder, path string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel) && rel != "."
}
