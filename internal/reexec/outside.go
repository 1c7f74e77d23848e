package reexec

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// BuildOutside builds a program that embeds assent in a module of its own, in an empty folder: it may
// use what is public and nothing else. Root is the top folder of assent, source the program's only file.
func BuildOutside(module, root, source, program string, flags ...string) error {
	text, err := os.ReadFile(source)
	if err != nil {
		return err
	}
	gomod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return err
	}
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		return err
	}
	_, requires, _ := bytes.Cut(gomod, []byte("\n"))
	own := fmt.Appendf(nil, "module example.com/embedder\n%s\nrequire github.com/assent-dev/assent v0.0.0\n"+
		"replace github.com/assent-dev/assent => %s\n", requires, root)
	for name, data := range map[string][]byte{"main.go": text, "go.mod": own, "go.sum": sums} {
		err = errors.Join(err, os.WriteFile(filepath.Join(module, name), data, 0o600))
	}
	if err != nil {
		return err
	}
	build := exec.Command("go", append(append([]string{"build", "-o", program}, flags...), ".")...)
	build.Dir, build.Env = module, append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("building outside the module: %w\n%s", err, out)
	}
	return nil
}
