package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/assent-dev/assent/approval"
)

// ImportRules takes over the rules of an older rule file, once, and returns how
// many. The file is kept under another name. One that is not there has none; one
// that cannot be read is an error, and stays as it is.
func (s *Store) ImportRules(ctx context.Context, path string) (imported int, err error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	unlock, err := lock(ctx, path+".lock") // so that older programs and others who import wait
	if err != nil {
		return 0, fmt.Errorf("rules: %w", err)
	}
	defer unlock()
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil // another process was faster
	}
	if err != nil {
		return 0, fmt.Errorf("rules: %w", err)
	}
	set, err := parseRules(data)
	if err != nil {
		return 0, fmt.Errorf("rules in %s: %w; mend the file or move it away", path, err)
	}
	if imported, err = s.addMissing(ctx, set.Rules()); err != nil {
		return 0, fmt.Errorf("rules in %s: %w", path, err)
	}
	// If this fails, the next import finds every rule there already.
	return imported, os.Rename(path, path+".imported")
}

// addMissing adds the rules that are not there yet, all or none. The limit does
// not count: they were kept before.
func (s *Store) addMissing(ctx context.Context, rules []approval.Rule) (added int, err error) {
	err = s.changeRules(ctx, func(all []approval.Rule) ([]approval.Rule, error) {
		added = 0
		for _, r := range rules {
			err := approval.CheckNewRule(all, r, len(all)+1)
			if errors.Is(err, approval.ErrDuplicateRule) && slices.ContainsFunc(all, func(have approval.Rule) bool { return have.String() == r.String() }) {
				continue
			}
			if err != nil {
				return nil, err
			}
			all = append(all, r)
			added++
		}
		return all, nil
	})
	return added, err
}
