package connector

import (
	"context"
	"errors"
	"sync"
)

// OpenAll opens connectors that are used together, with options that each gets for itself;
// those for which there is no Names share one. Connectors that are known come first, all at
// once, and those that are met for the first time after them, in order: so a new one whose
// tool looks like another's is seen to be the newcomer. With an error none is open.
func OpenAll(ctx context.Context, configs []Config, optionsFor func(Config) Options) ([]*Connector, error) {
	names := &Names{}
	out, errs := make([]*Connector, len(configs)), make([]error, len(configs))
	open := func(i int, opts Options) { out[i], errs[i] = Open(ctx, configs[i], opts) }
	var known sync.WaitGroup
	var strangers []func()
	for i, cfg := range configs {
		opts := optionsFor(cfg)
		if opts.Names == nil {
			opts.Names = names
		}
		if met(ctx, cfg, opts) {
			known.Go(func() { open(i, opts) })
		} else {
			strangers = append(strangers, func() { open(i, opts) })
		}
	}
	known.Wait()
	for _, stranger := range strangers {
		stranger()
	}
	if err := errors.Join(errs...); err != nil {
		CloseAll(out)
		return nil, err
	}
	return out, nil
}

// met reports whether the connector was met before. What cannot be read counts as new; the
// connector itself reports it.
func met(ctx context.Context, cfg Config, opts Options) bool {
	if opts.Pins == nil {
		return false
	}
	_, met, err := opts.Pins.Get(ctx, cfg.pinnedAs(), "")
	return met && err == nil
}

// CloseAll closes connectors, all at once, and waits for them.
func CloseAll(connectors []*Connector) {
	var closing sync.WaitGroup
	for _, c := range connectors {
		if c != nil {
			closing.Go(func() { c.Close() })
		}
	}
	closing.Wait()
}
