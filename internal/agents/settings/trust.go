package settings

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Untrusted returns the hooks of ours that the agent does not run because its user has
// not trusted them. Only Codex has its user do so: it notes the hook, with its digest, in
// config.toml. Whether that digest is still the right one is not checked here.
func (t Target) Untrusted(below string) ([]string, error) {
	if t.Agent.Name != "codex" {
		return nil, nil
	}
	config, err := os.ReadFile(filepath.Join(below, t.Folder, "config.toml"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var out []string
	for _, hook := range []string{"pre_tool_use", "permission_request"} {
		if !trusted(string(config), t.Path(below)+":"+hook+":") {
			out = append(out, hook)
		}
	}
	return out, nil
}

// trusted reports whether a table of the text, whose key begins so, has a digest.
func trusted(text, key string) bool {
	here := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			here = strings.HasPrefix(line, `[hooks.state."`+key)
		}
		if value, ok := strings.CutPrefix(line, "trusted_hash"); ok && here && strings.Contains(value, "sha256:") {
			return true
		}
	}
	return false
}
