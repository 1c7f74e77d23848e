package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/sandbox"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/shell/runner"
)

// Options are what a custom tool works with. Dir is needed.
type Options struct {
	// Dir is the folder that programs run in, an absolute path; Name is what people are
	// told of it.
	Dir, Name string
	// Runner runs programs under the profile. Nil makes a tool that only says what would
	// happen.
	Runner sandbox.Runner
	// Profile is what programs may reach. The program itself is added.
	Profile sandbox.Profile
	// Environ is our own environment, as NAME=VALUE, of which programs get what is named.
	Environ []string
	// MaxOutput is how many bytes of each stream are kept; 0 means [runner.DefaultKeep].
	MaxOutput int
	// Programs are those of the run that the tool is for. Nil means some of its own.
	Programs *Programs
}

// A Tool is a custom tool. Make one with [New].
type Tool struct {
	cfg        Config
	opts       Options
	spec       tool.Spec
	templates  templates
	parameters []string // their names
	env        runner.Environment
	pinned     *pinned
}

// New returns the tool, bound to its program as it is now or was trusted. Whether the program
// is there does not matter: a tool that is not is an error of its calls, and no reason for a
// run to end.
func New(cfg Config, opts Options) (*Tool, error) {
	compiled, err := cfg.compile()
	if err == nil && !filepath.IsAbs(opts.Dir) {
		err = fmt.Errorf("the working folder %q is not an absolute path", opts.Dir)
	}
	var parameters []string
	if err == nil {
		parameters, err = parameterNames(cfg.Parameters)
	}
	if err != nil {
		return nil, fmt.Errorf("custom tool %s%s: %w", cfg.Name, at(cfg.Source), err)
	}
	if cfg.Timeout == 0 {
		cfg.Timeout = DefaultTimeout
	}
	if opts.MaxOutput <= 0 {
		opts.MaxOutput = runner.DefaultKeep
	}
	if opts.Programs == nil {
		opts.Programs = &Programs{}
	}
	t := &Tool{
		cfg: cfg, opts: opts, templates: compiled, parameters: parameters,
		env:  runner.NewEnvironment(opts.Environ, cfg.Env),
		spec: tool.Spec{Name: cfg.Name, Description: cfg.Description, Schema: cfg.Parameters},
	}
	l := line{argv: cfg.Command, dir: opts.Dir, path: pathOf(t.env), trusted: cfg.Trusted, source: cfg.Source}
	if cfg.Definition != "" {
		l.further = []string{cfg.Definition}
	}
	t.pinned = opts.Programs.pin(l)
	return t, nil
}

func at(source string) string {
	if source == "" {
		return ""
	}
	return " (" + source + ")"
}

// Spec implements [tool.Tool].
func (t *Tool) Spec() tool.Spec { return t.spec }

// Prepare implements [tool.Tool]. It reads the program and starts nothing.
func (t *Tool) Prepare(_ context.Context, args json.RawMessage) (tool.Action, error) {
	word, err := t.word()
	if err != nil {
		return tool.Action{}, err
	}
	if word == tool.WordDeny {
		return tool.Block(t.cfg.Reason), nil
	}
	all, err := values(args, t.parameters)
	if err != nil {
		return tool.Action{}, &tool.ArgumentError{Tool: t.cfg.Name, Err: err}
	}
	p, err := t.pinned.look()
	if changed := (*ChangedError)(nil); errors.As(err, &changed) {
		return tool.Block(changed.Error()).Seeing(p.state), nil
	}
	if err != nil {
		return tool.Action{}, t.wrong(err)
	}
	do := func(ctx context.Context) (any, error) { return t.run(ctx, p, args) }
	profile := t.profile(p)
	action, err := t.worded(t.asking(word, do), args, all)
	if err != nil {
		return tool.Action{}, t.wrong(err)
	}
	return action.Seeing(p.state).In(t.opts.Name, t.env.Names()...).Under(policy.Digest(profile.Hash())), nil
}

// word is what config says; nothing said is ask.
func (t *Tool) word() (tool.Word, error) {
	if t.cfg.Approval == "" {
		return tool.WordAsk, nil
	}
	return tool.ParseWord(string(t.cfg.Approval))
}

// asking returns the action in the way that config says.
func (t *Tool) asking(word tool.Word, do tool.Do) tool.Action {
	switch word {
	case tool.WordAllow:
		return tool.Free(do).Because("config allows the custom tool" + at(t.cfg.Source))
	case tool.WordOnce:
		return tool.Ask(do).Because("config asks once per session" + at(t.cfg.Source)).OncePerSession()
	}
	return tool.Ask(do).Because("a custom tool asks" + at(t.cfg.Source))
}

// worded puts the action into the words of the templates.
func (t *Tool) worded(a tool.Action, args json.RawMessage, all map[string]any) (tool.Action, error) {
	if t.templates.describe != nil {
		summary, err := fill(t.templates.describe, all)
		if err != nil {
			return a, err
		}
		a = a.Titled(strings.TrimSpace(summary))
	}
	if t.templates.target != nil {
		target, err := fill(t.templates.target, all)
		if err == nil && strings.TrimSpace(target) == "" {
			err = errors.New("the template target makes nothing of these arguments; name something that tells calls apart")
		}
		if err != nil {
			return a, err
		}
		a = a.OnTarget(policy.TextTarget(target))
	}
	if t.templates.view == nil {
		return a, nil
	}
	// Filled now, although nobody may look: a template that does not fit is told to the
	// model, and not to the person who would have been asked.
	view, err := t.view(args, all)
	return a.Showing(func(context.Context) (present.View, error) { return view, nil }), err
}

func (t *Tool) wrong(err error) error {
	return fmt.Errorf("custom tool %s%s: %w", t.cfg.Name, at(t.cfg.Source), err)
}

// pathOf is the PATH that a program gets, in which it is looked for too.
func pathOf(env runner.Environment) string {
	for _, entry := range env.Entries() {
		if path, ok := strings.CutPrefix(entry, "PATH="); ok {
			return path
		}
	}
	return ""
}
