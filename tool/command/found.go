package command

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Found is a tool in a folder of tools.
type Found struct {
	// Program is the path of the executable.
	Program string
	// Definition is the path of the file beside it that has description and parameters;
	// empty if there is none.
	Definition string
}

// ErrNotFound says that a folder has no tool of a name.
var ErrNotFound = errors.New("there is no such tool")

// Find looks for the executable of a tool in a folder: a file of that name, whatever its
// suffix, with NAME.yaml beside it for its definition. More than one executable is an
// error, as is one that cannot be executed.
func Find(folder, name string) (Found, error) {
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Found{}, fmt.Errorf("custom tool %s: %w", name, err)
	}
	var found Found
	for _, e := range entries {
		file := filepath.Join(folder, e.Name())
		suffix, ours := strings.CutPrefix(e.Name(), name)
		switch {
		case !ours || suffix != "" && suffix != filepath.Ext(e.Name()):
		case suffix == ".yaml" || suffix == ".yml":
			found.Definition = file
		case found.Program != "":
			return Found{}, fmt.Errorf("custom tool %s: there is %s and %s; keep one", name, found.Program, file)
		default:
			if err := executable(file); err != nil {
				return Found{}, fmt.Errorf("custom tool %s: %w", name, err)
			}
			found.Program = file
		}
	}
	if found.Program == "" {
		return Found{}, fmt.Errorf("custom tool %s: %w: no executable %s", name, ErrNotFound, filepath.Join(folder, name))
	}
	return found, nil
}
