package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/worker"
	"github.com/assent-dev/assent/sandbox/host"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/connector"
)

// connections are the connectors of a run. Its servers are started before the first worker
// is opened, are shared by all workers, and end with the run.
type connections struct {
	w            *prepared
	folder, file string // of the worker or policy, and how it is called in sources
	held         heldConnectors
	open         []connection

	mu   sync.Mutex
	told []string // what happened to them, for whoever prints next
}

// A connection is a connector, and how config has it.
type connection struct {
	cfg config.Connector
	*connector.Connector
}

// connect starts the connectors. One that cannot be reached has no tools and is told of; it
// is no reason for a run to end.
func (w *prepared) connect(ctx context.Context, of []config.Connector, folder, file string) (c *connections, err error) {
	c = &connections{w: w, folder: folder, file: file}
	if len(of) == 0 {
		return c, nil
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.close())
		}
	}()
	if c.held, err = holdConnectors(ctx, of, &derived{policy: w.cfg.Policy, rules: w.rules}, w.state, w.cfg.Files...); err != nil {
		return c, err
	}
	names := &connector.Names{}
	names.Set(connector.BuiltIn, builtInTools()...)
	configs := make([]connector.Config, len(of))
	byName := map[string]config.Connector{}
	for i, cfg := range of {
		if err := c.startable(cfg); err != nil {
			return c, err
		}
		configs[i], byName[cfg.Name] = connectorConfig(cfg, false), cfg
	}
	pins := connector.NewFolderPins(pinsFolder(w.state))
	opened, err := connector.OpenAll(ctx, configs, func(cfg connector.Config) connector.Options {
		opts := connector.Options{Runner: host.None{}, Dir: c.folderOf(byName[cfg.Name]), Environ: os.Environ(), Pins: pins, Names: names, Report: c.happened}
		opts.Verify = w.programs.Verify(cfg.Command, opts.Dir, opts.Environ)
		if byName[cfg.Name].Sandboxed {
			opts.Runner, opts.Profile = c.held.Runner, c.held.profile(cfg.Command, opts.Dir)
		}
		return opts
	})
	for i, o := range opened {
		c.open = append(c.open, connection{of[i], o})
	}
	c.tell()
	return c, err
}

// builtInTools are the names that a stranger's tool should not be taken for.
func builtInTools() []string {
	names := []string{approval.Shell, approval.HTTPRequest, approval.WorkerCall, approval.WorkerCreate, approval.ShareFile}
	for name := range accesses {
		names = append(names, name)
	}
	return names
}

// tools returns the tools of some of the connectors.
func (c *connections) tools(of []config.Connector) []tool.Tool {
	var out []tool.Tool
	for _, o := range c.open {
		if slices.ContainsFunc(of, func(cfg config.Connector) bool { return cfg.Name == o.cfg.Name }) {
			out = append(out, o.Tools()...)
		}
	}
	return out
}

// pinsFolder is where definitions of connectors' tools are kept.
func pinsFolder(state string) string { return filepath.Join(state, "pins") }

// own reports whether a connector is one of the worker's or policy's own file, and not of
// the user's config: its command line is read from that file's folder.
func (c *connections) own(cfg config.Connector) bool {
	return c.file != "" && strings.HasPrefix(cfg.Source, c.file+":")
}

// folderOf is where a server runs: beside the file that names it, or else where we are.
func (c *connections) folderOf(cfg config.Connector) string {
	if c.own(cfg) {
		return c.folder
	}
	return c.w.cwd
}

// startable refuses a program that would be looked for in a project's folder though the
// project did not name it.
func (c *connections) startable(cfg config.Connector) error {
	if len(cfg.Command) == 0 || c.own(cfg) {
		return nil
	}
	if program := cfg.Command[0]; strings.ContainsRune(program, filepath.Separator) && !filepath.IsAbs(program) {
		return fmt.Errorf("%s: connector %s would be looked for in the folder where you are; write its path in full", cfg.Source, cfg.Name)
	}
	return nil
}

// happened keeps what a person should know until somebody prints: a question may be on the
// screen.
func (c *connections) happened(e connector.Event) {
	if e.Kind == connector.Connected || e.Kind == connector.Listed {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.told = append(c.told, e.String())
}

// tell prints what happened since.
func (c *connections) tell() {
	c.mu.Lock()
	told := c.told
	c.told = nil
	c.mu.Unlock()
	for _, line := range told {
		fmt.Fprintln(os.Stderr, "assent: "+shownText(line))
	}
}

// watching has what happened to connectors told before results are.
func (c *connections) watching(next func([]string) worker.Watcher) func([]string) worker.Watcher {
	return func(chain []string) worker.Watcher { return &connectionsWatcher{next(chain), c} }
}

type connectionsWatcher struct {
	worker.Watcher
	connections *connections
}

// Results implements [worker.Watcher].
func (w *connectionsWatcher) Results(results []tool.Result) {
	w.connections.tell()
	w.Watcher.Results(results)
}

// close ends the servers.
func (c *connections) close() error {
	var all []*connector.Connector
	for _, o := range c.open {
		all = append(all, o.Connector)
	}
	connector.CloseAll(all)
	c.tell()
	return c.held.Close()
}
