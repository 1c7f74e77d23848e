package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/assent-dev/assent/policy"
)

// oldRules is the name of the file that rules were kept in before there was a store, and
// oldRulesVersion the only version it ever had.
const (
	oldRules        = "rules.json"
	oldRulesVersion = 1
)

// importRules takes over the rules of that file, once: a deny in it still holds. The file
// is kept under another name; one that cannot be read is an error, and stays as it is.
func (s *Store) importRules(ctx context.Context, path string) error {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("rules: %w", err)
	}
	var in struct {
		Version int           `json:"version"`
		Rules   []policy.Rule `json:"rules"`
	}
	if err = json.Unmarshal(data, &in); err == nil && in.Version != oldRulesVersion {
		err = fmt.Errorf("version %d; this program knows version %d", in.Version, oldRulesVersion)
	}
	if err == nil {
		err = s.addMissing(ctx, in.Rules)
	}
	if err != nil {
		return fmt.Errorf("rules in %s: %w; mend the file or move it away", path, err)
	}
	// Whoever imports at the same time finds every rule there, and perhaps no file.
	if err := os.Rename(path, path+".imported"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("rules: %w", err)
	}
	return nil
}

// addMissing adds the rules that are not there yet, all or none. The limit does not count:
// they were kept before.
func (s *Store) addMissing(ctx context.Context, rules []policy.Rule) error {
	return s.changeRules(ctx, func(all []policy.Rule) ([]policy.Rule, error) {
		for _, r := range rules {
			if slices.ContainsFunc(all, func(have policy.Rule) bool { return have.String() == r.String() }) {
				continue
			}
			if err := policy.CheckNewRule(all, r, len(all)+1); err != nil {
				return nil, err
			}
			all = append(all, r)
		}
		return all, nil
	})
}
