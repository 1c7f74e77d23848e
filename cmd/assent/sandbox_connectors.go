package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/sandbox"
	"github.com/assent-dev/assent/sandbox/detect"
	"github.com/assent-dev/assent/sandbox/host"
)

// heldConnectors is what holds the connectors that are sandboxed. The zero value holds
// none.
type heldConnectors struct {
	detect.Found
	reach sandbox.Profile
}

func isSandboxed(c config.Connector) bool { return c.Sandboxed }

// holdConnectors finds the sandbox for connectors that want one: the profile of commands
// under the policy, which was read from the files, without secrets, as nobody is asked
// what a server reads. Without a sandbox none of them starts; nor does anything where the
// policy requires one.
func holdConnectors(ctx context.Context, of []config.Connector, d *derived, state string, files ...string) (held heldConnectors, err error) {
	wanted := slices.ContainsFunc(of, isSandboxed)
	if !wanted && !d.policy.OS.Require {
		return held, nil
	}
	if err := d.derive(state, true, files...); err != nil {
		return held, err
	}
	if err := makeCaches(d.policy, d.profile); err != nil {
		return held, err
	}
	options, err := sandboxProgram()
	if err != nil {
		return held, err
	}
	options.First = true
	held.reach = d.found.Hide(d.profile).Sorted()
	if held.Found, err = detect.Detect(ctx, options, onlyThere(held.reach)); err != nil && wanted {
		err = fmt.Errorf("a connector is to be sandboxed: %w", err)
	}
	if err != nil {
		return held, unusable(d.policy, err)
	}
	return held, nil
}

// profile is what a server may reach: what commands may, and the files that its command
// line names.
func (h heldConnectors) profile(command []string, dir string) sandbox.Profile {
	p := h.reach
	p.Roots = slices.Clone(p.Roots)
	for _, word := range command {
		if !filepath.IsAbs(word) {
			word = filepath.Join(dir, word)
		}
		file, err := filepath.EvalSymlinks(word)
		if err != nil {
			continue // it names none
		}
		info, err := os.Stat(file)
		_, hidden := p.Hidden(file)
		if err == nil && info.Mode().IsRegular() && p.At(file) == sandbox.Nothing && !hidden && !host.Shared(file) {
			p.Roots = append(p.Roots, sandbox.Root{Path: file, Mode: sandbox.ReadOnly, Source: "the connector's command line"})
		}
	}
	return p
}
