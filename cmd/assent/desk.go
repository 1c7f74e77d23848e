package main

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/internal/team/admin"
	"github.com/assent-dev/assent/internal/team/server"
)

// deskFlags say where the directory, the bundles and the records of a team are stored.
type deskFlags struct {
	config, server, key string
	json                bool
}

func (f *deskFlags) register(c *cobra.Command) {
	c.PersistentFlags().StringVar(&f.config, "config", server.DefaultConfig, "the server's `FILE`, which names the database")
	c.PersistentFlags().StringVar(&f.server, "server", "", "use the server at this `URL` instead; --key signs each call")
	c.PersistentFlags().StringVar(&f.key, "key", "", "the `FILE` with the team's key, from 'assent policy key'")
	c.PersistentFlags().BoolVar(&f.json, "json", false, "print JSON")
}

// An openDesk is a desk, and the key whose signatures count there.
type openDesk struct {
	admin.Desk
	trust string
	key   *admin.Key // nil if none was named
	close func()
}

// open opens what the flags name.
func (f *deskFlags) open(c *cobra.Command) (*openDesk, error) {
	out := &openDesk{close: func() {}}
	if f.key != "" {
		key, err := admin.ReadKey(f.key)
		if err != nil {
			return nil, fmt.Errorf("the team's key: %w", err)
		}
		out.key, out.trust = &key, key.Public
	}
	if f.server != "" {
		if out.key == nil {
			return nil, misused(c, "--server needs --key: the team's key signs each call")
		}
		remote, err := admin.Dial(f.server, admin.Signed(out.key))
		out.Desk = remote
		return out, err
	}
	local, done, err := localDesk(c, f.config)
	if err != nil {
		return nil, err
	}
	if out.key != nil && out.key.Public != local.Trust {
		done()
		return nil, fmt.Errorf("%s is not the key that %s trusts (%s)", f.key, f.config, local.Trust)
	}
	out.Desk, out.trust, out.close = local, local.Trust, done
	return out, nil
}

// localDesk opens the database that a server's file names.
func localDesk(c *cobra.Command, config string) (*admin.Local, func(), error) {
	d, cfg, err := openTeam(c.Context(), config)
	if err != nil {
		return nil, nil, err
	}
	log, err := admin.ReadKey(cfg.LogKey)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w; 'assent serve key' makes it", err)
	}
	if err != nil {
		d.Close()
		return nil, nil, fmt.Errorf("the key of the log: %w", err)
	}
	return &admin.Local{DB: d, Trust: cfg.Trust, LogKey: log.Public, URL: cfg.URL}, d.Close, nil
}
