package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/gateway"
	"github.com/assent-dev/assent/store"
	"github.com/assent-dev/assent/tool/shell/runner"
)

// errNoStore says that nothing is kept yet.
var errNoStore = errors.New("nothing is kept yet")

// A keeper is how a command reaches what is kept.
type keeper struct {
	state string // the flag
}

func (k *keeper) register(c *cobra.Command) {
	c.PersistentFlags().StringVar(&k.state, "state", "", "the state folder (default: assent's own)")
}

// reading opens the store for a command that changes nothing. If there is none it makes
// none, and the error is errNoStore.
func (k *keeper) reading(ctx context.Context) (*store.Store, error) {
	dir, err := stateFolder(k.state)
	if err != nil {
		return nil, err
	}
	if !isThere(dir, store.FileName) {
		return nil, fmt.Errorf("%w: there is no store in %s", errNoStore, dir)
	}
	return openStore(ctx, dir)
}

// changing opens the store for a command that a person gives, and no tool call may.
func (k *keeper) changing(c *cobra.Command) (*store.Store, error) {
	if err := byPerson(c); err != nil {
		return nil, err
	}
	dir, err := stateFolder(k.state)
	if err != nil {
		return nil, err
	}
	return openStore(c.Context(), dir)
}

// byPerson refuses a command that was started by a tool call.
func byPerson(c *cobra.Command) error {
	if !runner.Inside() {
		return nil
	}
	return fmt.Errorf("'%s' was started by a tool call: what an agent may do is for a person to say; run it in your own terminal", c.CommandPath())
}

func isThere(dir, name string) bool {
	_, err := os.Stat(filepath.Join(dir, name))
	return !errors.Is(err, fs.ErrNotExist)
}

// openStore opens the store of a state folder as the user's config says.
func openStore(ctx context.Context, state string) (*store.Store, error) {
	user, err := userConfig()
	if err != nil {
		return nil, err
	}
	s, err := store.Open(ctx, state, storeOptions(user))
	if err != nil {
		return nil, err
	}
	if err := gateway.RecoverStarts(ctx, spoolFolder(state), s); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// spoolFolder is where gateways keep what starts until the store has it.
func spoolFolder(state string) string { return filepath.Join(state, "spool") }

// userConfig is what the user's own config.yaml says.
func userConfig() (*config.User, error) {
	dir, err := config.UserFolder()
	if err != nil {
		return nil, err
	}
	file, err := config.ReadUser(dir)
	if err != nil {
		return nil, err
	}
	return file.User, nil
}

func storeOptions(user *config.User) store.Options {
	return store.Options{
		RuleLimit: user.MaxRules, Detail: approval.Detail(user.Audit.KeepArguments), SyncAll: user.Audit.FsyncAll,
	}
}

// tidyWithin is how long removing old records may take when something begins. What is left
// goes the next time.
const tidyWithin = time.Second

// tidyLog removes the records that the user's config does not keep any longer.
func tidyLog(ctx context.Context, s *store.Store, audit config.Audit) error {
	keep := store.Retention{Age: time.Duration(audit.KeepDays) * 24 * time.Hour, Bytes: audit.KeepBytes}
	if keep == (store.Retention{}) {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, tidyWithin)
	defer cancel()
	_, err := s.Retain(limited, keep)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return nil
	}
	return err
}
