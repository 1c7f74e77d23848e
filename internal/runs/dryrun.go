package runs

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/crew"
	"github.com/assent-dev/assent/internal/setup"
	"github.com/assent-dev/assent/internal/setup/open"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/hosts"
	"github.com/assent-dev/assent/tool/roots"
)

// ToolNeeds are a tool and what its calls would need.
type ToolNeeds struct {
	Tool  string `json:"tool"`
	Needs string `json:"needs"`
}

// DryRun lists the tools of a worker. It calls no model, makes nothing and records nothing.
func DryRun(ctx context.Context, s *setup.Setup) ([]ToolNeeds, error) {
	missing := s.MissingRoots()
	base, err := open.Open(ctx, s, open.Order{Use: open.Look, NoTools: true})
	if err != nil {
		return nil, err
	}
	defer base.Close()
	all := &crew.Crew{
		Folders: workerFolders(s), Tools: base.Box, Dependencies: &crew.Dependencies{}, Model: noModel,
		Gate: func(_ []string, rules config.Rules, tools []tool.Tool) (*tool.Gate, error) {
			return tool.Guard(approval.Config{Policy: rules.Set}, tools...)
		},
	}
	m, err := all.Open(s.Configuration)
	if err != nil {
		return nil, err
	}
	defer m.Close()
	Warn(m.Box.Warnings)
	var list []ToolNeeds
	for _, s := range m.Specs() {
		list = append(list, ToolNeeds{s.FullName(), needs(m, s, missing)})
	}
	for _, c := range s.Connectors { // nothing is started, so nobody knows them
		list = append(list, ToolNeeds{c.Name + ":*", "asks; its tools are listed when it is started"})
	}
	for _, name := range m.Worker.Manual {
		list = append(list, ToolNeeds{name, "manual: only 'assent call' runs it"})
	}
	return list, nil
}

// accesses are what the file tools do with a root.
var accesses = map[string]roots.Access{
	"read_file": roots.AccessRead, "list_files": roots.AccessRead, "search_files": roots.AccessRead,
	"file_info": roots.AccessRead, "write_file": roots.AccessWrite, "edit_file": roots.AccessWrite,
	"make_dir": roots.AccessWrite, "copy_file": roots.AccessWrite,
	"delete_file": roots.AccessDelete, "move_file": roots.AccessDelete,
}

// needs says what a call of a tool would need, as far as that can be told without one.
func needs(m *crew.Member, s tool.Spec, missing []roots.Root) string {
	conf := m.Box.Policy
	if word := named(conf.Tools, s); word != "" {
		return word
	}
	if a, ok := accesses[s.Name]; ok && s.Connector == "" {
		return rootNeeds(m, a, missing)
	}
	switch s.FullName() {
	case policy.ActShell:
		return shellNeeds(conf)
	case policy.ActHTTPRequest:
		return hostNeeds(conf)
	case policy.ActWorkerCall:
		return "asks: " + strings.Join(m.Worker.AllowWorkers, ", ")
	case "list_workers":
		return "free"
	}
	for _, t := range conf.CustomTools {
		if t.Name == s.FullName() && t.Approval != "" {
			return wordNeeds(t.Approval)
		}
	}
	return "asks"
}

// named is what config says about the tool by name.
func named(cfg tool.Config, s tool.Spec) string {
	first := ""
	for _, e := range cfg.Tools {
		p, err := policy.CompileName(policy.EffectDeny, e.Name)
		if err != nil || e.Approval == "" || !p.Match(s.Connector, s.Name) {
			continue
		}
		if text := fmt.Sprintf("%s (%s)", wordNeeds(e.Approval), e.Source); e.Approval == tool.WordDeny || first == "" {
			first = text
		}
		if e.Approval == tool.WordDeny {
			break
		}
	}
	return first
}

func wordNeeds(w tool.Word) string {
	switch w {
	case tool.WordAllow:
		return "free"
	case tool.WordDeny:
		return "never"
	case tool.WordOnce:
		return "asks once per session"
	}
	return "asks"
}

// rootNeeds says what an access needs in each root.
func rootNeeds(m *crew.Member, a roots.Access, missing []roots.Root) string {
	by := map[policy.Verdict][]string{}
	for _, name := range m.Box.Roots.Names() {
		word := policy.VerdictBlock
		if p, err := m.Box.Roots.Resolve(name + "/x"); err == nil {
			word = p.FolderAct(a).Verdict
		}
		if slices.ContainsFunc(missing, func(r roots.Root) bool { return r.Name == name }) {
			name += " (made first)"
		}
		by[word] = append(by[word], name)
	}
	var parts []string
	for _, w := range []struct {
		verdict policy.Verdict
		word    string
	}{{policy.VerdictFree, "free"}, {policy.VerdictAsk, "asks"}, {policy.VerdictBlock, "never"}} {
		if names := by[w.verdict]; len(names) > 0 {
			parts = append(parts, w.word+": "+strings.Join(names, ", "))
		}
	}
	if len(parts) == 0 {
		return "never: there is no folder"
	}
	return strings.Join(parts, "; ")
}

// hostNeeds says which hosts are denied, free and asked.
func hostNeeds(p *config.Policy) string {
	by := map[string][]string{}
	for _, w := range p.Shell.Network.Words(p.Rules.Rules()) {
		by[w.Word] = append(by[w.Word], w.Hosts)
	}
	var parts []string
	for word, is := range map[string]string{hosts.WordDenied: "never", hosts.WordFree: "free"} {
		if len(by[word]) > 0 {
			parts = append(parts, is+": "+strings.Join(by[word], ", "))
		}
	}
	slices.Sort(parts)
	switch {
	case len(by[hosts.WordAsked]) == 0:
	case len(parts) == 0:
		return "asks"
	default:
		parts = append(parts, "otherwise asks")
	}
	return strings.Join(parts, "; ")
}

// shellNeeds says what config says about commands.
func shellNeeds(p *config.Policy) string {
	var parts []string
	for _, r := range p.Shell.Rules {
		part := wordNeeds(r.Approval) + ": " + r.Pattern
		if r.Preset != "" {
			part = "free: preset " + r.Preset
		}
		if !slices.Contains(parts, part) {
			parts = append(parts, part)
		}
	}
	if p.Shell.Readonly {
		parts = append(parts, "free: programs that only read")
	}
	rest := wordNeeds(p.Shell.Default.Approval)
	if p.Shell.Default.ByEffect {
		rest = "as free as what it would touch"
	}
	if p.Shell.Default.WhenSandboxed == tool.WordAllow {
		rest += ", free where the sandbox is enough"
	}
	return strings.Join(append(parts, "otherwise "+rest), "; ")
}
