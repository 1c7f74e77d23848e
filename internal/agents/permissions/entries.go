package permissions

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/assent-dev/assent/internal/agents"
	"github.com/assent-dev/assent/internal/agents/settings"
	"github.com/assent-dev/assent/internal/agents/words"
	"github.com/assent-dev/assent/policy"
)

// An Entry is one of an agent's lists, with what it is in rules.
type Entry struct {
	// Agent is the name of the agent.
	Agent string
	// File has the entry, Scope says whose the file is, and Project is the folder of a project's file.
	File    string
	Scope   settings.Scope
	Project string
	// Text is the entry as it is written, and Effect what it does: [EffectAsk] is not one of a rule.
	Text   string
	Effect policy.Effect
	// Rank orders the entries of one agent: of two that are about the same call the higher one decides.
	Rank float64
	// Reading is the entry in rules.
	words.Reading
	// Except names the entries that ask about a part of what this one allows. Rules cannot say such an exception.
	Except []string
}

// EffectAsk is the effect of an entry that has the agent ask.
const EffectAsk policy.Effect = "ask"

// Importable are the names of the agents whose lists [Entries] reads.
func Importable() (out []string) {
	for _, a := range agents.All() {
		out = append(out, a.Name)
	}
	return append(out, opencode)
}

const opencode = "opencode"

// Entries reads the lists of an agent with all that they allow, ask and deny. Problems are the files, or parts of
// them, that cannot be read: nothing of them is among the entries.
func Entries(agent string, at settings.Surroundings) (entries []Entry, problems []error) {
	r := reader{Surroundings: at, dir: at.Folder}
	l := &lister{reader: r, agent: agent}
	if a, err := agents.Named(agent); err == nil {
		l.target = settings.TargetOf(a)
		l.agent = a.Name
	} else if agent != opencode {
		return nil, []error{err}
	}
	switch l.agent {
	case "claude-code":
		l.claude()
	case "codex":
		l.codex()
	case "gemini":
		l.gemini()
	case "cursor":
		l.cursor()
	case opencode:
		l.opencode()
	}
	slices.SortStableFunc(l.entries, func(a, b Entry) int {
		return cmp.Or(int(a.Scope-b.Scope), order[a.Effect]-order[b.Effect])
	})
	l.exceptions()
	return l.entries, l.problems
}

// order is the one in which entries are told: what is denied first.
var order = map[policy.Effect]int{policy.EffectDeny: 0, policy.EffectAllow: 1, EffectAsk: 2}

// A lister collects the entries of one agent.
type lister struct {
	reader
	agent    string
	entries  []Entry
	problems []error
}

func (l *lister) problem(err error) {
	if err != nil {
		l.problems = append(l.problems, err)
	}
}

// place is where a file is, for who reads its entries.
func (l *lister) place(scope settings.Scope) words.Place {
	return words.Place{Home: l.Home, Project: scope == settings.Project}
}

// add adds an entry. What asks is read as if it denied: that is the wider of the two.
func (l *lister) add(f settings.File, text string, effect policy.Effect, rank float64,
	read func(policy.Effect) words.Reading) {
	e := Entry{Agent: l.agent, File: f.Path, Scope: f.Scope, Text: text, Effect: effect, Rank: rank}
	if f.Scope == settings.Project {
		e.Project = l.project(f.Path)
	}
	if effect == EffectAsk {
		e.Reading = read(policy.EffectDeny)
	} else {
		e.Reading = read(effect)
	}
	l.entries = append(l.entries, e)
}

// project is the folder whose settings a file is part of.
func (l *lister) project(file string) string {
	for _, p := range l.Projects() {
		if rel, err := filepath.Rel(p, file); err == nil && filepath.IsLocal(rel) {
			return p
		}
	}
	return l.Folder
}

// lists adds the entries of permissions.allow, ask and deny in a file of Claude Code or Cursor.
func (l *lister) lists(f settings.File, read func(policy.Effect, string, words.Place) words.Reading) {
	top, err := l.object(f.Path)
	if err != nil {
		l.problem(err)
		return
	}
	for rank, effect := range []policy.Effect{policy.EffectAllow, EffectAsk, policy.EffectDeny} {
		texts, err := permissionList(top, f.Path, string(effect))
		l.problem(err)
		for _, text := range texts {
			l.add(f, text, effect, float64(rank), func(e policy.Effect) words.Reading { return read(e, text, l.place(f.Scope)) })
		}
	}
}

func (l *lister) claude() {
	for _, f := range l.claudeFiles() {
		l.lists(f, words.Claude)
	}
}

func (l *lister) codex() {
	effects := []policy.Effect{Deny: policy.EffectDeny, Ask: EffectAsk, None: policy.EffectAllow}
	for _, f := range l.codexFiles() {
		rules, err := l.codexRules(f.Path)
		l.problem(err)
		for _, rule := range rules {
			effect := effects[rule.verdict]
			l.add(f, "prefix_rule "+rule.String(), effect, -float64(rule.verdict), func(e policy.Effect) words.Reading {
				return words.Prefix(e, rule.pattern...)
			})
		}
	}
}

// geminiActs are our names for the tools of Gemini CLI.
var geminiActs = map[string][]string{
	"write_file": {policy.ActWriteFile}, "replace": {policy.ActWriteFile}, "WriteFileTool": {policy.ActWriteFile},
	"EditTool": {policy.ActWriteFile}, "read_file": {policy.ActReadFile}, "ReadFileTool": {policy.ActReadFile},
	"list_directory": {"list_files"}, "glob": {"list_files"},
	"search_file_content": {"search_files"}, "grep_search": {"search_files"},
}

func (l *lister) gemini() {
	g, _ := l.geminiRules(true) // what it cannot read it has one by one
	l.problems = append(l.problems, g.errs...)
	effects := map[string]policy.Effect{"allow": policy.EffectAllow, "deny": policy.EffectDeny, "ask_user": EffectAsk}
	for _, rule := range g.rules {
		if rule.file == "" {
			continue // it is what a list leaves out, which Gemini CLI takes from the model by itself
		}
		f := settings.File{Path: rule.file, Scope: l.scopeOf(rule.file)}
		l.add(f, rule.text, effects[rule.decision], rule.priority, func(e policy.Effect) words.Reading { return rule.reading(e) })
	}
}

// reading says a rule of Gemini CLI in rules of ours.
func (r geminiRule) reading(effect policy.Effect) (out words.Reading) {
	switch {
	case r.conditional:
		return words.Reading{Missing: "it holds in some modes or for some agents alone, which a rule cannot say"}
	case r.doubtful && effect == policy.EffectAllow:
		return words.Reading{Missing: "Gemini CLI itself may leave out what this file allows"}
	case r.pattern != nil && r.prefix == "":
		return words.Reading{Missing: "it is a regular expression, which a rule cannot say"}
	}
	for _, name := range r.tools {
		one := words.Reading{}
		switch {
		case r.server != "" && name == "*":
			one = words.Mcp(effect, r.server)
		case r.server != "":
			one = words.Mcp(effect, r.server+":"+name)
		case (name == geminiShell || name == "ShellTool") && r.prefix != "":
			one = words.Text(effect, r.prefix)
		case name == geminiShell, name == "ShellTool":
			one = words.Claude(effect, "Bash", words.Place{})
		case strings.Contains(name, "*"):
			one.Missing = "it names tools by a pattern; name each tool"
		default:
			acts := geminiActs[name]
			if acts == nil {
				acts = []string{"gemini:" + name}
			}
			if effect == policy.EffectDeny && slices.Contains(acts, policy.ActWriteFile) && len(r.tools) == 1 {
				out.Differs = "it is about commands that write files, too"
			}
			for _, act := range acts {
				rule, err := policy.ParseRule(string(effect) + " " + act)
				if err != nil {
					one.Missing = err.Error()
					continue
				}
				one.Rules = append(one.Rules, rule)
			}
		}
		for _, rule := range one.Rules {
			if !slices.ContainsFunc(out.Rules, func(r policy.Rule) bool { return r.String() == rule.String() }) {
				out.Rules = append(out.Rules, rule)
			}
		}
		out.Missing = cmp.Or(out.Missing, one.Missing)
	}
	return out
}

// scopeOf says whose a file is.
func (l *lister) scopeOf(file string) settings.Scope {
	for _, f := range l.target.Files(l.Surroundings) {
		if f.Path == file {
			return f.Scope
		}
	}
	inside := func(folder string) bool {
		rel, err := filepath.Rel(folder, file)
		return err == nil && filepath.IsLocal(rel)
	}
	if inside(l.target.UserFolder(l.Surroundings)) {
		return settings.User
	}
	for _, p := range l.Projects() {
		if inside(filepath.Join(p, l.target.Folder)) {
			return settings.Project
		}
	}
	return settings.Managed
}

func (l *lister) cursor() {
	user := l.target.UserFolder(l.Surroundings)
	files := []settings.File{{Scope: settings.User, Path: filepath.Join(user, "cli-config.json")}}
	if dir, _ := l.Env("XDG_CONFIG_HOME"); filepath.IsAbs(dir) && l.OS != "darwin" {
		files = append(files, settings.File{Scope: settings.User, Path: filepath.Join(dir, "cursor", "cli-config.json")})
	}
	lists := []settings.File{{Scope: settings.User, Path: filepath.Join(user, "permissions.json")}}
	for _, p := range l.Projects() {
		folder := filepath.Join(p, l.target.Folder)
		if folder == user {
			continue
		}
		files = append(files, settings.File{Scope: settings.Project, Path: filepath.Join(folder, "cli.json")})
		lists = append(lists, settings.File{Scope: settings.Project, Path: filepath.Join(folder, "permissions.json")})
	}
	for _, f := range files {
		l.lists(f, words.Cursor)
	}
	for _, f := range lists {
		top, err := l.object(f.Path)
		l.problem(err)
		l.allowlist(f, top, "terminalAllowlist", func(e policy.Effect, text string) words.Reading {
			r := words.Claude(e, "Bash("+text+")", words.Place{})
			if len(r.Rules) > 0 && !strings.HasSuffix(text, "*") {
				r.Differs = "exactly this command: whether Cursor means more is not documented"
			}
			return r
		})
		l.allowlist(f, top, "mcpAllowlist", words.Mcp)
	}
}

// allowlist adds the entries of a list at the top of a file.
func (l *lister) allowlist(f settings.File, top map[string]any, name string,
	read func(policy.Effect, string) words.Reading) {
	if top == nil {
		return
	}
	listed, err := texts(top, f.Path, name)
	l.problem(err)
	for _, text := range listed {
		l.add(f, name+": "+text, policy.EffectAllow, 0, func(e policy.Effect) words.Reading { return read(e, text) })
	}
}

// opencode reads the permission object. Of the entries that match a call, the last one decides.
func (l *lister) opencode() {
	config, _ := l.Env("XDG_CONFIG_HOME")
	if !filepath.IsAbs(config) {
		config = filepath.Join(l.Home, ".config")
	}
	var files []settings.File
	for _, name := range []string{"opencode.json", "opencode.jsonc"} {
		files = append(files, settings.File{Scope: settings.User, Path: filepath.Join(config, opencode, name)})
		for _, p := range l.Projects() {
			files = append(files, settings.File{Scope: settings.Project, Path: filepath.Join(p, name)},
				settings.File{Scope: settings.Project, Path: filepath.Join(p, ".opencode", name)})
		}
	}
	slices.SortStableFunc(files, func(a, b settings.File) int { return int(a.Scope - b.Scope) })
	for _, f := range files {
		text, err := l.optional(f.Path)
		l.problem(err)
		if len(text) == 0 {
			continue
		}
		top, err := settings.Decode(text)
		if err != nil {
			l.problem(fmt.Errorf("%s: %w; correct the file", f.Path, err))
			continue
		}
		l.permission(f, text, top["permission"])
	}
}

func (l *lister) permission(f settings.File, text []byte, value any) {
	add := func(tool, pattern string, action any) {
		effect, _ := action.(string)
		shown := fmt.Sprintf("%s %q", tool, pattern)
		if order[policy.Effect(effect)] == 0 && effect != "deny" {
			l.problem(fmt.Errorf("%s: permission.%s: the action %v must be allow, ask or deny", f.Path, tool, action))
			return
		}
		l.add(f, shown, policy.Effect(effect), float64(len(l.entries)), func(e policy.Effect) words.Reading {
			return words.Opencode(e, tool, pattern, l.place(f.Scope))
		})
	}
	switch value := value.(type) {
	case nil:
	case map[string]any:
		for _, tool := range settings.Keys(text, "permission") {
			patterns, ok := value[tool].(map[string]any)
			if !ok {
				add(tool, "*", value[tool])
				continue
			}
			for _, pattern := range settings.Keys(text, "permission", tool) {
				add(tool, pattern, patterns[pattern])
			}
		}
	default:
		add("*", "*", value)
	}
}
