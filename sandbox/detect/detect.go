package detect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/assent-dev/assent/sandbox"
	"github.com/assent-dev/assent/sandbox/bwrap"
	"github.com/assent-dev/assent/sandbox/landlock"
	"github.com/assent-dev/assent/sandbox/seatbelt"
	"github.com/assent-dev/assent/sandbox/stage"
	"github.com/assent-dev/assent/sandbox/wall"
)

// Options are how runners are tried.
type Options struct {
	// Program is the command line under which this program does a part of its work as
	// another process; a word that says which follows. See [Words].
	Program []string
	// Bubblewrap is where bubblewrap is looked for; nil means bwrap.Candidates.
	Bubblewrap []string
	// Sweep is a smaller program for [WordSweep], which starts faster; none means Program.
	Sweep []string
	// Stage is the command line of a process that calls stage.Main; none means that no stage
	// is wanted.
	Stage []string
	// Kept is a file in which it is kept that a self-test passed, for the next process. An
	// empty name keeps nothing, and everything is tried.
	Kept string
	// First leaves the others untried once one can be used.
	First bool
}

// The words that follow Options.Program, and what the process has to do.
const (
	WordServe    = "serve"    // an inner.Server that knows Register
	WordSweep    = "sweep"    // bwrap.Sweep
	WordLandlock = "landlock" // landlock.Apply
	WordStage    = "stage"    // stage.Main
)

func (o Options) program(word string) []string {
	return append(append([]string{}, o.Program...), word)
}

// A Found is what a machine has to offer.
type Found struct {
	// Runner is the one to use; nil if there is none.
	Runner sandbox.Runner
	// Report is about Runner.
	Report sandbox.Report
	// Reports are about all that were tried, the best first.
	Reports []sandbox.Report
	// Stage is Options.Stage if commands can stand on one; nil if not, and NoStage says why.
	Stage   []string
	NoStage error
}

// Close ends what the runner keeps running.
func (f Found) Close() error {
	if c, ok := f.Runner.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// A candidate is a runner to be tried.
type candidate struct {
	report sandbox.Report
	runner sandbox.Runner // nil if the report has a problem
	// kept is what is known from before; nil if nothing ever is.
	kept *kept
	// program is the bubblewrap that was found.
	program bwrap.Program
	// diagnose says what is behind a failure to start.
	diagnose func(said string, err error) *sandbox.Problem
}

// Detect tries the runners of this system, the strongest first, and finds the first that
// holds the profile. If none does, the error is a [sandbox.UnusableError]. Another error is
// about the profile itself: a root that is not there is nobody's fault but its own.
func Detect(ctx context.Context, o Options, p sandbox.Profile) (Found, error) {
	var found Found
	for _, c := range candidates(ctx, o) {
		if o.First && found.Runner != nil {
			break
		}
		if err := c.try(ctx, o, p); err != nil {
			return found, err
		}
		found.Reports = append(found.Reports, c.report)
		if found.Runner == nil && c.report.Usable() {
			found.Runner = c.runner
			found.tryStage(o, c)
			found.Report = c.report
			found.Reports[len(found.Reports)-1] = c.report
			continue
		}
		if err := (Found{Runner: c.runner}).Close(); err != nil {
			return found, err
		}
	}
	if found.Runner == nil {
		return found, &sandbox.UnusableError{Reports: found.Reports}
	}
	return found, nil
}

// tryStage finds out whether commands can be given a network of their own.
func (f *Found) tryStage(o Options, c *candidate) {
	switch {
	case len(o.Stage) == 0:
		return
	case c.kept == nil:
		f.NoStage = fmt.Errorf("%s cannot give a command a network of its own; bubblewrap can", c.report.Name)
	case !c.kept.stages(o.Stage):
		f.NoStage = stage.Available(o.Stage)
	}
	if f.NoStage != nil {
		c.report.NotEnforced = append(slices.Clip(c.report.NotEnforced), "network by name: "+f.NoStage.Error())
		return
	}
	c.kept.saveStage(o.Stage)
	c.report.Enforced = append(slices.Clip(c.report.Enforced),
		"network by name: each connection of a command is decided about when it is made")
	f.Stage = o.Stage
}

func candidates(ctx context.Context, o Options) []*candidate {
	if runtime.GOOS == "darwin" {
		return []*candidate{macOS()}
	}
	return []*candidate{bubblewrap(ctx, o), landLock(o)}
}

// try finds out whether the candidate holds the profile.
func (c *candidate) try(ctx context.Context, o Options, p sandbox.Profile) error {
	if c.report.Problem != nil {
		return nil
	}
	if needs := c.runner.Needs(p); len(needs) > 0 {
		c.report.Problem = &sandbox.Problem{
			Cause:  c.report.Name + " cannot do what this profile needs: " + strings.Join(needs, "; "),
			Remedy: "use a stronger sandbox, or ask for less in the config",
		}
		return nil
	}
	if c.kept != nil && c.kept.holds(aims(p)) {
		return nil
	}
	tried, breaches, said, err := selfTest(ctx, c.runner, o.program(WordServe), p)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		if c.report.Problem = c.diagnose(said, err); c.report.Problem == nil {
			return err
		}
	case len(breaches) > 0:
		c.report.Problem = failed(breaches)
	case c.kept != nil:
		c.kept.save(c.program, tried)
	}
	return nil
}

func bubblewrap(ctx context.Context, o Options) *candidate {
	places := o.Bubblewrap
	if places == nil {
		places = bwrap.Candidates
	}
	c := &candidate{report: sandbox.Report{Name: bwrap.Name, Enforced: slices.Clone(bwrap.Enforced),
		NotEnforced: bwrap.NotEnforced(os.Geteuid() == 0)}}
	if version, ok := wall.Version(); ok {
		c.report.Enforced = append(c.report.Enforced, fmt.Sprintf(
			"each program of a command to what the command was read to do (Landlock ABI %d)", version))
	} else {
		c.report.NotEnforced = append(c.report.NotEnforced,
			"each program of a command that writes to what it was read to do: that needs Landlock (Linux 6.2 or "+
				"later, and landlock in /sys/kernel/security/lsm); a command that only reads is held all the same")
	}
	var file string
	if file, c.report.Problem = bwrap.Locate(places); c.report.Problem == nil {
		c.kept = readKept(o.Kept, o, file)
		if c.program = c.kept.Program; c.program.Version == "" {
			c.program, c.report.Problem = bwrap.Ask(ctx, file)
		}
	}
	c.report.Path, c.report.Version = c.program.Path, c.program.Version
	if c.report.Problem == nil {
		sweep := o.Sweep
		if len(sweep) == 0 {
			sweep = o.program(WordSweep)
		}
		c.runner = bwrap.New(c.program, sweep)
	}
	c.diagnose = func(said string, err error) *sandbox.Problem {
		if errors.Is(err, bwrap.ErrNotSetUp) {
			return bwrap.Diagnose(said, bwrap.LookAround())
		}
		return unlessProfile(said, err)
	}
	return c
}

func landLock(o Options) *candidate {
	version, ok := landlock.Version()
	c := &candidate{
		report: sandbox.Report{
			Name: "landlock", Version: fmt.Sprint("ABI ", version), Weaker: true,
			Enforced: landlock.Enforced, NotEnforced: landlock.NotEnforced,
		},
		diagnose: unlessProfile,
	}
	if !ok {
		c.report.Problem = &sandbox.Problem{Cause: "the kernel has no Landlock, or one that is too old",
			Remedy: "use Linux 6.2 or later with Landlock enabled, or better: bubblewrap"}
		return c
	}
	c.runner = landlock.New(o.program(WordLandlock))
	return c
}

func macOS() *candidate {
	c := &candidate{
		report: sandbox.Report{
			Name: "seatbelt", Path: seatbelt.Program,
			Enforced: seatbelt.Enforced, NotEnforced: seatbelt.NotEnforced,
		},
		runner:   seatbelt.Runner{},
		diagnose: seatbelt.Diagnose,
	}
	return c
}

// unlessProfile is the problem of a runner that started and then failed. An error from
// before that is about the profile, and nobody's problem.
func unlessProfile(said string, err error) *sandbox.Problem {
	if said == "" {
		return nil
	}
	return &sandbox.Problem{Detail: strings.TrimSpace(said), Cause: "its self-test did not finish: " + err.Error(),
		Remedy: "look at what it said"}
}
