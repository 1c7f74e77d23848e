package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

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

// sandboxPolicy reads a policy and derives the profile of its commands.
func sandboxPolicy(file, state string) (*config.Policy, sandbox.Profile, error) {
	policy, err := readPolicy(file)
	if err != nil {
		return nil, sandbox.Profile{}, err
	}
	profile, err := profileOf(policy, file, state)
	return policy, profile, err
}

// profileOf derives the profile of the commands of a policy that was read from the file.
func profileOf(policy *config.Policy, file, state string) (sandbox.Profile, error) {
	state, err := stateFolder(state)
	if err != nil {
		return sandbox.Profile{}, err
	}
	setting, err := sandboxSetting(state, file)
	if err != nil {
		return sandbox.Profile{}, err
	}
	setting.Env = policy.Shell.Env
	profile, err := policy.Profile(setting)
	if err != nil {
		return sandbox.Profile{}, err
	}
	found, err := searchRoots(policy)
	if err != nil && !errors.Is(err, os.ErrNotExist) { // that is told elsewhere
		return sandbox.Profile{}, err
	}
	return found.Apply(profile).Sorted(), nil
}

// searchRoots looks for what the rules of a policy deny in its roots.
func searchRoots(policy *config.Policy) (toolbox.Found, error) {
	set, err := roots.New(roots.Options{Secrets: policy.Secrets}, policy.Roots...)
	if err != nil {
		return toolbox.Found{}, err
	}
	found, err := toolbox.Search(set, policy.Rules.Rules(), policy.Shell.Default.WhenSandboxed != "")
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
