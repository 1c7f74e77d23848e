package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/toolbox"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/sandbox"
	"github.com/assent-dev/assent/sandbox/detect"
)

// A confinement is the sandbox that was found for everything that tools start and do, or
// why there is none. It is looked for once, before anything runs.
type confinement struct {
	found   detect.Found
	missing *sandbox.UnusableError // nil if there is one
	setting config.Setting
	serve   []string
	steps   bool // a person may be asked to let a command out
}

// findSandbox looks for a sandbox that holds the profile of a policy, which was read from
// these files. If the policy requires one and there is none, that is the error.
func findSandbox(ctx context.Context, policy *config.Policy, state string, files ...string) (*confinement, error) {
	setting, err := sandboxSetting(state, files...)
	if err != nil {
		return nil, err
	}
	profile, err := policy.Profile(setting)
	if err != nil {
		return nil, err
	}
	options, err := sandboxProgram()
	if err != nil {
		return nil, err
	}
	options.First = true
	f := &confinement{setting: setting, serve: append(slices.Clone(options.Program), detect.WordServe)}
	f.found, err = detect.Detect(ctx, options, onlyThere(profile))
	if errors.As(err, &f.missing) && !policy.OS.Require {
		return f, nil
	}
	if err != nil {
		return nil, unusable(policy, err)
	}
	return f, nil
}

// onlyThere leaves out the roots that are made when something is about to run.
func onlyThere(p sandbox.Profile) sandbox.Profile {
	p.Roots = slices.DeleteFunc(slices.Clone(p.Roots), func(r sandbox.Root) bool {
		_, err := os.Lstat(r.Path)
		return errors.Is(err, os.ErrNotExist)
	})
	return p
}

// words say for the record what holds calls.
func (f *confinement) words() string {
	switch {
	case f == nil:
		return ""
	case f.missing != nil:
		return "none: " + f.cause()
	case f.found.Report.Weaker:
		return f.found.Report.Name + " (weaker)"
	}
	return f.found.Report.Name
}

// cause is why there is no sandbox, in a few words.
func (f *confinement) cause() string {
	for _, r := range f.missing.Reports {
		if r.Problem != nil {
			return present.SafeLine(r.Problem.Cause)
		}
	}
	return "there is none for this system"
}

// footer is what every prompt says about a sandbox that is missing, or weaker.
func (f *confinement) footer() string {
	switch {
	case f == nil:
		return ""
	case f.missing != nil:
		return "No sandbox holds what runs: " + f.cause() + "."
	case f.found.Report.Weaker:
		return "The sandbox is " + f.found.Report.Name + ", which is weaker."
	}
	return ""
}

// say tells once, at the start, what is missing.
func (f *confinement) say(w io.Writer) {
	if text := f.footer(); text != "" {
		fmt.Fprintf(w, "assent: %s 'assent sandbox doctor' says more.\n", text)
	}
}

// hold is what holds the tools of a policy.
func (f *confinement) hold(policy *config.Policy) (toolbox.Hold, error) {
	h, err := f.looked(policy)
	if err != nil || h.Runner == nil {
		return h, err
	}
	return h, makeCaches(policy, h.Profile)
}

// looked is hold for somebody who only looks: nothing is made.
func (f *confinement) looked(policy *config.Policy) (toolbox.Hold, error) {
	if f.missing != nil {
		if policy.OS.Require {
			return toolbox.Hold{}, unusable(policy, f.missing)
		}
		return toolbox.Hold{}, nil
	}
	setting := f.setting
	setting.Env = policy.Shell.Env
	profile, err := policy.Profile(setting)
	if err != nil {
		return toolbox.Hold{}, err
	}
	return toolbox.Hold{
		Runner: f.found.Runner, Profile: profile, Serve: f.serve, Steps: f.steps && !policy.OS.Require,
	}, nil
}

func (f *confinement) close() error {
	if f == nil {
		return nil
	}
	return f.found.Close()
}
