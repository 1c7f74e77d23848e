// Package starter has the policies and the worker that people start from, with comments that say
// what each line does. The quiet one is also what holds for other agents where a person chose it
// and a project has no policy of its own.
package starter

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Files are the texts by their names.
//
//go:embed *.yaml *.worker
var Files embed.FS

// The names of the policies.
const (
	Careful     = "policy.yaml"
	Quiet       = "quiet.yaml"
	HookCareful = "hook.yaml"
	HookQuiet   = "hook-quiet.yaml"
	Worker      = "worker.worker"
)

// Policy is the name of the policy that a word means, for our own runs or for the hooks of other
// agents; empty if it means none.
func Policy(word string, hook bool) string {
	if hook {
		return map[string]string{"quiet": HookQuiet, "careful": HookCareful}[word]
	}
	return map[string]string{"quiet": Quiet, "careful": Careful}[word]
}

// Write writes the text of a name to a new file, and makes its folder.
func Write(name, to string) error {
	data, err := Files.ReadFile(name)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s exists already; nothing was changed", to)
	}
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}
