package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/toolbox"
	"github.com/assent-dev/assent/sandbox"
	"github.com/assent-dev/assent/sandbox/detect"
	"github.com/assent-dev/assent/tool/roots"
)

func sandboxCmd() *cobra.Command {
	c := &cobra.Command{
		Use:   "sandbox",
		Short: "See, check and use the operating system's sandbox",
		Long: "The sandbox is the layer under consent: what a command can reach at all, whoever allowed it.\n" +
			"It is derived from the roots of the policy.",
	}
	c.AddCommand(sandboxShowCmd(), sandboxRunCmd(), sandboxDoctorCmd(), sandboxInnerCmd())
	return c
}

// statusError ends the program with a status of its own.
type statusError struct {
	status int
	error  // nil if there is nothing to say
}

func (e statusError) Error() string {
	if e.error == nil {
		return ""
	}
	return e.error.Error()
}

func (e statusError) Unwrap() error { return e.error }

// A derived is the profile of a policy's commands, and what it was made from.
type derived struct {
	policy  *config.Policy
	rules   []approval.Rule // those that were kept, besides the policy's own
	profile sandbox.Profile
	found   toolbox.Found
}

// sandboxPolicy reads a policy and derives the profile of its commands. It makes nothing.
func sandboxPolicy(ctx context.Context, file, state string) (*derived, error) {
	state, err := stateFolder(state)
	if err != nil {
		return nil, err
	}
	policy, err := readPolicy(file)
	if err != nil {
		return nil, err
	}
	kept, err := rememberedRules(ctx, state)
	if err != nil {
		return nil, err
	}
	d := &derived{policy: policy, rules: kept.Rules()}
	return d, d.derive(state, policy.Shell.Default.WhenSandboxed != "", file)
}

// derive derives the profile of a policy that was read from the files, and looks for
// secrets if they are wanted.
func (d *derived) derive(state string, secrets bool, files ...string) error {
	setting, err := sandboxSetting(state, files...)
	if err != nil {
		return err
	}
	setting.Env = d.policy.Shell.Env
	if d.profile, err = d.policy.Profile(setting); err != nil {
		return err
	}
	d.found, err = d.search(secrets)
	if err != nil && !errors.Is(err, os.ErrNotExist) { // that is told elsewhere
		return err
	}
	d.profile = d.found.Apply(d.profile).Sorted()
	return nil
}

// search looks for what the rules deny in all that commands see.
func (d *derived) search(secrets bool) (toolbox.Found, error) {
	set, err := roots.New(roots.Options{Secrets: d.policy.Secrets}, d.policy.Roots...)
	if err != nil {
		return toolbox.Found{}, err
	}
	rules := slices.Concat(d.policy.Rules.Rules(), d.rules)
	found, err := toolbox.Search(set, rules, secrets, toolbox.Guarded(d.profile)...)
	return found, errors.Join(err, set.Close())
}

// sandboxSetting is what of this machine and user a profile depends on.
func sandboxSetting(state string, files ...string) (config.Setting, error) {
	program, err := os.Executable()
	if err != nil {
		return config.Setting{}, fmt.Errorf("finding this program: %w", err)
	}
	home, _ := os.UserHomeDir() // only for paths that name it
	own := []sandbox.Entry{{Path: state, Source: "assent's state"}, {Path: program, Source: "this program"}}
	for _, file := range files {
		own = append(own, sandbox.Entry{Path: file, Source: "the policy"})
	}
	if dir, err := os.UserConfigDir(); err == nil {
		own = append(own, sandbox.Entry{Path: filepath.Join(dir, "assent"), Source: "assent's config"})
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = filepath.Join(state, "cache")
	}
	return config.Setting{
		Own: own, Home: home, CacheFolder: filepath.Join(cache, "assent", "sandbox"),
		Limits: sandbox.DefaultLimits, Resolve: resolveExisting,
	}, nil
}

// resolveExisting resolves the links in a path as far as it exists. Of a link that leads
// nowhere the target is what would be made.
func resolveExisting(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	rest := ""
	for links := 0; ; {
		real, err := filepath.EvalSymlinks(abs)
		if err == nil {
			return filepath.Join(real, rest), nil
		}
		if !errors.Is(err, os.ErrNotExist) {
			return "", err
		}
		if target, err := os.Readlink(abs); err == nil {
			if links++; links > 40 {
				return "", fmt.Errorf("%s: too many links", path)
			}
			if !filepath.IsAbs(target) {
				target = filepath.Join(filepath.Dir(abs), target)
			}
			abs = target
			continue
		}
		abs, rest = filepath.Dir(abs), filepath.Join(filepath.Base(abs), rest)
	}
}

// sandboxProgram is how this program is started for a part of its work.
func sandboxProgram() (detect.Options, error) {
	program, err := os.Executable()
	if err != nil {
		return detect.Options{}, fmt.Errorf("finding this program: %w", err)
	}
	if program, err = filepath.EvalSymlinks(program); err != nil {
		return detect.Options{}, fmt.Errorf("finding this program: %w", err)
	}
	return detect.Options{Program: []string{program, "sandbox", "inner"}}, nil
}

// unusable says how the program ends where no sandbox can be used.
func unusable(policy *config.Policy, err error) error {
	var none *sandbox.UnusableError
	if !errors.As(err, &none) {
		return err
	}
	if policy.OS.Require {
		return statusError{exitNoSandbox, fmt.Errorf("nothing was run: %s requires a sandbox (require_os_sandbox), but %w", policy.OS.RequireSource, err)}
	}
	return fmt.Errorf("nothing was run: %w", err)
}
