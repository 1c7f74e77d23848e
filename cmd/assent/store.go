package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/setup"
	"github.com/assent-dev/assent/internal/setup/open"
	"github.com/assent-dev/assent/store"
	"github.com/assent-dev/assent/tool/shell/runner"
)

// A keeper is how a command reaches what is kept.
type keeper struct {
	state string // the flag
}

func (k *keeper) register(c *cobra.Command) {
	c.PersistentFlags().StringVar(&k.state, "state", "", "the state folder (default: assent's own)")
}

// reading opens the store for a command that changes nothing. If there is none it makes
// none, and the error is open.ErrNoStore.
func (k *keeper) reading(ctx context.Context) (*store.Store, error) {
	return k.open(ctx, open.ReadStore)
}

// changing opens the store for a command that a person gives, and no tool call may.
func (k *keeper) changing(c *cobra.Command) (*store.Store, error) {
	if err := byPerson(c); err != nil {
		return nil, err
	}
	return k.open(c.Context(), open.Store)
}

func (k *keeper) open(ctx context.Context, how func(context.Context, setup.Places, *config.User) (*store.Store, error)) (*store.Store, error) {
	places, err := setup.Here(k.state)
	if err != nil {
		return nil, err
	}
	user, err := places.User()
	if err != nil {
		return nil, err
	}
	return how(ctx, places, user)
}

// byPerson refuses a command that was started by a tool call.
func byPerson(c *cobra.Command) error {
	if !runner.Inside() {
		return nil
	}
	return fmt.Errorf("'%s' was started by a tool call: what an agent may do is for a person to say; run it in your own terminal", c.CommandPath())
}

// userConfig is what the user's own config.yaml says.
func userConfig() (*config.User, error) {
	places, err := setup.Here("")
	if err != nil {
		return nil, err
	}
	return places.User()
}

// stateFolder returns the folder where assent keeps its state, or the one that was named.
func stateFolder(named string) (string, error) { return config.StateFolder(named) }
