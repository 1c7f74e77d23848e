package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"reflect"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/internal/team/admin"
	"github.com/assent-dev/assent/internal/team/bundle"
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
	// newest is the file with the newest bundle that was published from here with the key; empty without a key.
	newest string
	close  func()
}

// remembers reports whether a bundle, which is said to be the newest, is older than one that was published from here, or
// another. Who can write the database could else bring back what the editor had removed, and the editor would sign it.
func (d *openDesk) remembers(newest *bundle.Bundle) error {
	if d.newest == "" {
		return nil
	}
	note, err := os.ReadFile(d.newest)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	kept, err := bundle.Open(note, d.trust)
	if err != nil {
		return fmt.Errorf("%s, which has the newest policy that was published from here: %w", d.newest, err)
	}
	has := "no policy"
	if newest != nil {
		has = fmt.Sprintf("serial %d as the newest policy", newest.Serial)
	}
	switch {
	case newest != nil && newest.Serial > kept.Serial, reflect.DeepEqual(newest, kept):
		return nil
	case newest != nil && newest.Serial == kept.Serial:
		has = fmt.Sprintf("another policy with serial %d", newest.Serial)
	}
	return fmt.Errorf("the server has %s, and serial %d was published from here (%s): somebody took it away, and the "+
		"people and keys that the server names may be as old. Find out why; if the database was restored, restore what "+
		"came since, remove that file and try again", has, kept.Serial, d.newest)
}

// remember keeps what was published.
func (d *openDesk) remember(note []byte) error {
	if err := os.WriteFile(d.newest+".new", note, 0o600); err != nil {
		return err
	}
	return os.Rename(d.newest+".new", d.newest)
}

// open opens what the flags name.
func (f *deskFlags) open(c *cobra.Command) (*openDesk, error) {
	out := &openDesk{close: func() {}}
	if f.key != "" {
		key, err := admin.ReadKey(f.key)
		if err != nil {
			return nil, fmt.Errorf("the team's key: %w", err)
		}
		out.key, out.trust, out.newest = &key, key.Public, f.key+".newest"
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
