package toolbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/sandbox"
	"github.com/assent-dev/assent/sandbox/launch"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/command"
	"github.com/assent-dev/assent/tool/shell"
	shellinside "github.com/assent-dev/assent/tool/shell/inside"
	"github.com/assent-dev/assent/tool/web"
)

// shell makes the tool for commands.
func (b *Box) shell(policy *config.Policy, opts Options) (*shell.Tool, error) {
	m := newMachine(opts.Environ, policy.Shell.Env, filepath.Join(opts.State, "shell"))
	options := shell.Options{World: m.world, Run: m.run, Denied: opts.Denied, Unsupported: shellinside.Unsupported,
		Read: opts.Read}
	m.shell, m.without, m.network, m.dialer = opts.Shell, opts.Without, b.hosts(policy), opts.Dialer
	m.tmp = opts.Tmp
	m.hold, m.found, m.autoAllow, m.later = b.Hold, b.found, b.autoAllow(policy), opts.Later
	if b.Hold.held() {
		options.Sandbox = m
	}
	if policy == b.Policy {
		b.staying = &m.staying
	}
	if b.Hold.held() && b.Hold.Steps {
		options.Steps = m
	}
	if opts.Looking {
		options.Run = nil
	}
	if opts.Snapshots != nil {
		options.Undo = opts.Snapshots.Over(b.Roots)
	}
	cfg := policy.Shell
	cfg.Network = b.hosts(policy)
	if policy.UndoOff {
		cfg.UndoOff = policy.UndoSource
	}
	return shell.New(cfg, b.Roots, options)
}

// newWeb makes the tool for requests.
func newWeb(policy *config.Policy, opts Options) (tool.Tool, error) {
	return web.New(web.Options{Network: policy.Shell.Network, Denied: opts.Denied})
}

// custom makes the tools that are programs. One that cannot be made is left out with a
// warning: it is no reason for a run to end.
func (b *Box) custom(policy *config.Policy, opts Options) []tool.Tool {
	var out []tool.Tool
	for _, c := range policy.CustomTools {
		c, err := locate(c, opts)
		if err != nil {
			b.warn("%s: %v", c.Source, err)
			continue
		}
		t, err := command.New(c, command.Options{
			Dir: opts.Folder, Name: filepath.Base(opts.Folder), Runner: b.programRunner(opts),
			Profile: b.Hold.Profile, Environ: opts.Environ,
			Programs: opts.Programs,
		})
		if err != nil {
			b.warn("%v", err)
			continue
		}
		out = append(out, t)
		if policy == b.Policy {
			b.programs[c.Name] = program{absolute(c.Command, opts.Folder), opts.Folder}
		}
	}
	return out
}

// programRunner runs custom tools: in the sandbox, or in none if there is none.
func (b *Box) programRunner(opts Options) sandbox.Runner {
	switch {
	case opts.Looking || opts.Hold == nil:
		return nil
	case b.Hold.held():
		return b.Hold.Runner
	}
	return launch.None{}
}

// A program is what stands behind a custom tool: a command line, and where it runs.
type program struct {
	argv   []string
	folder string
}

// absolute is a command line whose program means the same in every folder.
func absolute(argv []string, folder string) []string {
	if program := argv[0]; strings.ContainsRune(program, filepath.Separator) && !filepath.IsAbs(program) {
		return append([]string{filepath.Join(folder, program)}, argv[1:]...)
	}
	return argv
}

func (b *Box) warn(format string, args ...any) {
	b.Warnings = append(b.Warnings, fmt.Sprintf(format, args...))
}

// locate fills in the program of a custom tool that names none: the executable in tools/.
func locate(c command.Config, opts Options) (command.Config, error) {
	if !filepath.IsAbs(opts.Folder) {
		return c, fmt.Errorf("custom tool %s is left out: there is no folder to run it in", c.Name)
	}
	ours := strings.HasPrefix(c.Source, opts.File+":")
	if len(c.Command) > 0 {
		if program := c.Command[0]; !ours && strings.ContainsRune(program, filepath.Separator) &&
			!filepath.IsAbs(program) {
			return c, fmt.Errorf("custom tool %s is left out: it would be looked for in the project's folder; "+
				"write its path in full", c.Name)
		}
		return c, nil
	}
	if !ours {
		return c, fmt.Errorf("custom tool %s is left out: it has no command", c.Name)
	}
	found, err := command.Find(filepath.Join(opts.Folder, "tools"), c.Name)
	if err != nil {
		return c, err
	}
	c.Command, c.Definition = []string{found.Program}, found.Definition
	return defined(c)
}

// defined takes description and parameters from the file beside the program, where config
// has none.
func defined(c command.Config) (command.Config, error) {
	if c.Definition == "" {
		return c, nil
	}
	data, err := os.ReadFile(c.Definition)
	if err != nil {
		return c, fmt.Errorf("custom tool %s: %w", c.Name, err)
	}
	d, err := config.LoadToolFile(filepath.Base(c.Definition), data)
	if err != nil {
		return c, errors.Join(fmt.Errorf("custom tool %s", c.Name), err)
	}
	if c.Description == "" {
		c.Description = d.Description
	}
	if len(c.Parameters) == 0 {
		c.Parameters = d.Parameters
	}
	return c, nil
}
