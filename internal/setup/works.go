package setup

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/assent-dev/assent/sandbox/fingerprint"
)

// works is what is noted about the sandbox, for processes that have no time to try one. It counts as
// long as nothing has changed that it depends on.
type works struct {
	Machine string `json:"machine"`
	// Why is why none works; empty if one does.
	Why string    `json:"why,omitempty"`
	At  time.Time `json:"at"`
}

// tryAgain is how long it counts that none works: what stood in the way may not be among what the
// note depends on.
const tryAgain = 10 * time.Minute

// WordInner is the first word of a command line that has this program work for itself, see
// internal/selfexec.
const WordInner = "assent-inner"

// WordTry is this program as one that tries a sandbox and notes the result.
const WordTry = "try"

func (p Places) worksFile() string { return filepath.Join(p.State, "sandbox-works.json") }

// machineKey names what the note depends on: empty if nothing can be noted on this system.
func (p Places) machineKey() string {
	return fingerprint.Key(append([]string{p.Program()}, fingerprint.Bubblewrap...)...)
}

// Program is the file of assent itself, which tries sandboxes: beside this program, or this one.
func (p Places) Program() string {
	for _, program := range p.Programs {
		if _, err := os.Stat(program); err == nil && filepath.Base(program) == "assent" {
			return program
		}
	}
	if len(p.Programs) > 0 {
		return p.Programs[0]
	}
	return ""
}

// SandboxNoted returns why no sandbox works here, empty if one does, as it was noted on this machine
// as it is now; known is false if nothing is. Keeps is false where nothing can be noted.
func (p Places) SandboxNoted() (why string, known, keeps bool) {
	key := p.machineKey()
	if key == "" {
		return "", false, false
	}
	var w works
	data, ok := fingerprint.ReadOwn(p.worksFile())
	known = ok && json.Unmarshal(data, &w) == nil && w.Machine == key && (w.Why == "" || time.Since(w.At) < tryAgain)
	return w.Why, known, true
}

// NoSandbox says why no sandbox works here, as far as that is noted; empty if one does.
func (p Places) NoSandbox() string {
	switch why, known, keeps := p.SandboxNoted(); {
	case !keeps:
		return "on this system it is not kept whether a sandbox works"
	case !known:
		return "no sandbox was tried yet on this machine as it is now; run 'assent status'"
	default:
		return why
	}
}

// NoteSandbox notes why no sandbox works here; empty if one does.
func (p Places) NoteSandbox(why string) error {
	key := p.machineKey()
	if key == "" {
		return nil
	}
	data, err := json.Marshal(works{key, why, time.Now().UTC()})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(p.State, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(p.State, ".works-*") // it has mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), p.worksFile())
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
