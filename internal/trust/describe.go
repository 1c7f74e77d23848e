package trust

import (
	"fmt"
	"slices"
	"strings"

	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/roots"
)

// A Promise is one thing that a file would allow, in plain words.
type Promise struct {
	What string // such as folder, command, tool, starts
	Text string
}

// Promises says what a file would allow if it were trusted. What it denies or asks for
// holds without trust and is not listed.
func Promises(f *config.File) []Promise {
	var d description
	p := f.Policy
	for i := range p.Roots {
		d.folder(&p.Roots[i])
	}
	for _, s := range p.Secrets[len(roots.DefaultSecrets()):] {
		if plain, excepted := strings.CutPrefix(s, "!"); excepted {
			d.add("secrets", "%s is read like any other file", plain)
		}
	}
	d.network(p)
	if p.HasShell {
		d.shell(p)
	}
	d.tools(p)
	for _, t := range p.CustomTools {
		what := strings.Join(t.Command, " ")
		if what == "" {
			what = "the executable " + t.Name + " in tools/, if there is one"
		}
		d.add("starts", "%s, for the tool %s", what, t.Name)
		if len(t.Env) > 0 {
			d.add("variables", "%s sees %s", t.Name, strings.Join(t.Env, ", "))
		}
	}
	for _, c := range p.Connectors {
		if c.URL != "" {
			d.add("connects", "to %s, for the tools of %s", c.URL, c.Name)
		} else {
			d.add("starts", "%s, for the tools of %s", strings.Join(c.Command, " "), c.Name)
		}
		if c.TrustAnnotations {
			d.add("believes", "what %s says about its own tools", c.Name)
		}
	}
	for _, r := range p.Rules.Rules() {
		if r.Effect == policy.EffectAllow {
			d.add("allows", "%s", strings.TrimPrefix(r.String(), "allow "))
		}
	}
	if f.Worker != nil {
		d.worker(f.Worker)
	}
	return d
}

type description []Promise

func (d *description) add(what, format string, args ...any) {
	*d = append(*d, Promise{what, fmt.Sprintf(format, args...)})
}

// folder says what can be done in a root, one word for each access.
func (d *description) folder(r *roots.Root) {
	words := []string{"read " + consent(r, roots.AccessRead)}
	if r.Mode == roots.ModeReadWrite {
		words = append(words, "write "+consent(r, roots.AccessWrite), "delete "+consent(r, roots.AccessDelete))
	} else {
		words = append(words, "write never")
	}
	d.add("folder", "%s (%s): %s", r.Host, r.Name, strings.Join(words, ", "))
}

func consent(r *roots.Root, a roots.Access) string {
	v, said := r.Approval[a]
	switch {
	case !said && a == roots.AccessRead, said && v == policy.VerdictFree:
		return "without asking"
	case said && v == policy.VerdictBlock:
		return "never"
	case slices.Contains(r.Once, a):
		return "after asking once"
	}
	return "after asking"
}

func (d *description) network(p *config.Policy) {
	if n := p.OS.Network; n.On && len(n.Deny) > 0 {
		d.add("network", "after asking, without %s", strings.Join(n.Deny, ", "))
	} else if n.On {
		d.add("network", "after asking")
	}
	for _, host := range p.OS.Network.Domains {
		if slices.Contains(p.OS.Network.Deny, host) {
			continue
		}
		d.add("network", "%s without asking", host)
	}
	if p.OS.Home.Tools {
		d.add("home", "commands may read tools and settings in the home folder, without their secrets")
	}
	if p.OS.GitWrite {
		d.add("git", "commands may write to .git, without hooks and settings")
	}
	if p.UndoOff {
		d.add("undo", "what tools and commands replace is not kept")
	}
}

func (d *description) shell(p *config.Policy) {
	d.add("commands", "the agent gets a shell")
	var presets []string
	for _, r := range p.Shell.Rules {
		if r.Approval != tool.WordAllow {
			continue
		}
		text := r.Pattern + " … without asking"
		if r.Preset != "" {
			text = "those of the preset " + r.Preset + ", without asking"
			if slices.Contains(presets, r.Preset) {
				continue
			}
			presets = append(presets, r.Preset)
		}
		if len(r.Paths) > 0 {
			text += ", if it stays in " + strings.Join(r.Paths, ", ")
		}
		d.add("command", "%s", text)
	}
	if p.Shell.Readonly {
		d.add("command", "programs that only read and print, without asking")
	}
	switch {
	case p.Shell.Default.ByEffect:
		d.add("command", "any other: as free as the files and hosts that it touches")
	case p.Shell.Default.Approval == tool.WordAllow:
		d.add("command", "ANY other whose words are known, without asking")
	case p.Shell.Default.WhenSandboxed == tool.WordAllow:
		d.add("command", "any other that the sandbox holds, without asking")
	}
	if len(p.Shell.Env) > 0 {
		d.add("variables", "commands see %s", strings.Join(p.Shell.Env, ", "))
	}
}

func (d *description) tools(p *config.Policy) {
	for _, t := range p.Tools.Tools {
		if t.Approval == tool.WordAllow {
			d.add("tool", "%s without asking", t.Name)
		}
	}
}

func (d *description) worker(w *config.Worker) {
	if len(w.AllowWorkers) > 0 {
		d.add("workers", "it may call %s", strings.ReplaceAll(strings.Join(w.AllowWorkers, ", "), "*", "any worker"))
	}
	if w.Model != "" {
		d.add("model", "%s", w.Model)
	}
}
