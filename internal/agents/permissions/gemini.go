package permissions

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/assent-dev/assent/internal/agents/settings"
)

// A geminiRule is one of a policy, or what a list in the settings stands for. Of those that match,
// the one with the highest priority decides.
type geminiRule struct {
	tools    []string // by name, perhaps with a star
	server   string   // the MCP server that it is for, * for any; empty for all tools
	priority float64
	decision string         // allow, deny or ask_user
	pattern  *regexp.Regexp // of the arguments; nil for all
	own      bool           // the pattern is of all arguments, of which only the command is known here
	// conditional says that it holds in some modes or for some agents alone.
	conditional bool
	said        string

	// What it says, for who reads the rules rather than applies them: the file, the entry as it is written, and
	// the prefix of a command. Doubtful says that Gemini CLI may leave it out.
	file, text, prefix string
	doubtful           bool
}

// The ranks of files and lists, as Gemini CLI 0.61 has them.
const (
	extensionTier, workspaceTier, userTier, adminTier                = 2, 3, 4, 5
	excludedRank, confirmationRank, allowedRank, coreRank, narrowing = 4.4, 4.35, 4.3, 4.25, 0.01
)

const geminiShell = "run_shell_command"

// gemini reads the lists in the settings of Gemini CLI, and its policies.
func (r reader) gemini() (judges, error) {
	g, err := r.geminiRules(false)
	if err != nil {
		return judges{}, err
	}
	slices.SortStableFunc(g.rules, func(a, b geminiRule) int {
		switch {
		case a.priority > b.priority:
			return -1
		case a.priority < b.priority:
			return 1
		}
		return strictness[a.decision] - strictness[b.decision] // the order of equal ones is not known
	})
	var shell []geminiRule
	for _, rule := range g.rules {
		if rule.about("", geminiShell) {
			shell = append(shell, rule)
		}
	}
	return judges{
		command: func(c *commands, _ folders) (Verdict, string) { return judgeGemini(shell, c) },
		tool: func(server, tool string, args json.RawMessage) (Verdict, string) {
			return judgeTool(g.rules, server, tool, args)
		},
	}, nil
}

// geminiRules reads all rules, if so told those too that allow and that Gemini CLI may leave out.
func (r reader) geminiRules(doubtful bool) (*geminiReader, error) {
	g := &geminiReader{reader: r, doubtful: doubtful}
	var user, admin []string
	for _, f := range r.target.Files(r.Surroundings) {
		top, err := r.object(f.Path)
		g.fail(err)
		if top == nil {
			continue
		}
		g.fail(g.lists(f.Path, top))
		for key, to := range map[string]*[]string{"policyPaths": &user, "adminPolicyPaths": &admin} {
			more, err := texts(top, f.Path, key)
			g.fail(err)
			*to = append(*to, more...)
		}
	}
	for _, p := range r.chain {
		g.fail(g.flags(p.Args, &user, &admin))
	}
	home := r.target.UserFolder(r.Surroundings)
	system := filepath.Join(settings.GeminiFolder(r.Surroundings), "policies")
	// Those that Gemini CLI may leave out only make it stricter here: they allow nothing.
	g.policies(system, adminTier, r.Rooted(system))
	for _, path := range admin {
		g.policies(g.absolute(path), adminTier, false)
	}
	g.policies(filepath.Join(home, "policies"), userTier, len(user) == 0)
	for _, path := range user {
		g.policies(g.absolute(path), userTier, true)
	}
	for _, p := range r.Projects() {
		g.policies(filepath.Join(p, r.target.Folder, "policies"), workspaceTier, false)
	}
	for _, name := range r.List(filepath.Join(home, "extensions")) {
		g.policies(filepath.Join(home, "extensions", name, "policies"), extensionTier, false)
	}
	return g, errors.Join(g.errs...)
}

var strictness = map[string]int{"deny": 0, "ask_user": 1, "allow": 2}

type geminiReader struct {
	reader
	rules []geminiRule
	errs  []error             // of the files, and parts of them, that cannot be read: the rules are those of the others
	given map[string][]string // the lists of which one may replace another
	// doubtful says to keep rules that allow and that Gemini CLI may leave out.
	doubtful bool
}

func (g *geminiReader) absolute(path string) string {
	if strings.HasPrefix(path, "~/") {
		return filepath.Join(g.Home, path[2:])
	}
	return absolute(path, g.Folder)
}

// flags reads those of the command line that add to the lists.
func (g *geminiReader) flags(args []string, user, admin *[]string) error {
	gemini := slices.ContainsFunc(args[:min(4, len(args))], func(a string) bool {
		return strings.HasPrefix(filepath.Base(a), "gemini")
	})
	for i := 1; gemini && i < len(args); i++ {
		name, value, given := strings.Cut(args[i], "=")
		if !slices.Contains([]string{"--policy", "--admin-policy", "--allowed-tools"}, name) {
			continue
		}
		values := listed(value)
		for !given && i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") {
			i++
			values = append(values, listed(args[i])...)
		}
		switch name {
		case "--policy":
			*user = append(*user, values...)
		case "--admin-policy":
			*admin = append(*admin, values...)
		default:
			if err := g.narrow("tools.allowed", "the flag "+name, values, allowedRank); err != nil {
				return err
			}
		}
	}
	return nil
}

// lists reads those of a file of settings, under their names of today and of before.
func (g *geminiReader) lists(file string, top map[string]any) error {
	for _, keys := range [][]string{{"tools", "exclude"}, {"excludeTools"}} {
		names, err := texts(top, file, keys...)
		if err != nil {
			return err
		}
		for _, name := range names {
			g.list(name, file, strings.Join(keys, "."), "deny", excludedRank)
		}
	}
	names, err := texts(top, file, "tools", "confirmationRequired")
	if err != nil {
		return err
	}
	for _, name := range names {
		g.list(name, file, "tools.confirmationRequired", "ask_user", confirmationRank)
	}
	for _, l := range []struct {
		keys string
		rank float64
	}{{"tools allowed", allowedRank}, {"allowedTools", allowedRank}, {"tools core", coreRank}, {"coreTools", coreRank}} {
		names, err := texts(top, file, strings.Fields(l.keys)...)
		if err != nil {
			return err
		}
		if names != nil {
			kind := "tools.allowed"
			if l.rank == coreRank {
				kind = "tools.core"
			}
			if err := g.narrow(kind, file, names, l.rank); err != nil {
				return err
			}
		}
	}
	return nil
}

var geminiEntry = pattern(`(?s)^([A-Za-z0-9_-]+)(?:\((.*)\))?$`)

// list adds what an entry of a list in the settings stands for.
func (g *geminiReader) list(entry, file, list, decision string, rank float64) (narrow bool) {
	m := geminiEntry().FindStringSubmatch(entry)
	if m == nil {
		if !strings.HasPrefix(entry, "mcp") && entry != "*" {
			g.fail(fmt.Errorf("%s: %s: invalid entry %q: it must be a tool, or TOOL(PREFIX)", file, list, entry))
		}
		m = []string{"", entry, ""}
	}
	shell := slices.Contains([]string{geminiShell, "ShellTool", "*"}, m[1])
	rule := geminiRule{tools: []string{m[1]}, priority: rank, decision: decision,
		said: fmt.Sprintf("%s has %q in %s", list, entry, file), file: file, text: list + ": " + entry}
	if narrow = shell && strings.Contains(entry, "("); narrow {
		rule.pattern, rule.prefix = geminiPrefix(m[2]), m[2]
	}
	g.rules = append(g.rules, rule)
	return narrow
}

// narrow adds a list of what may be used: the rest may not. How several of them add up is not known.
func (g *geminiReader) narrow(kind, file string, names []string, rank float64) error {
	if g.given == nil {
		g.given = map[string][]string{}
	}
	if before, ok := g.given[kind]; ok && !reflect.DeepEqual(before, names) {
		return fmt.Errorf("%s has another list %s than another file, "+
			"and assent does not know which one Gemini CLI takes; keep one of them", file, kind)
	}
	g.given[kind] = names
	narrow := rank == coreRank
	for _, name := range names {
		narrow = g.list(name, file, kind, "allow", rank) || narrow
	}
	if narrow {
		tool := geminiShell
		if rank == coreRank {
			tool = "*"
		}
		said := fmt.Sprintf("%s in %s does not have it", kind, file)
		g.rules = append(g.rules, geminiRule{tools: []string{tool}, priority: rank - narrowing, decision: "deny", said: said})
	}
	return nil
}

// geminiPrefix matches the arguments of a command that begins with a text.
func geminiPrefix(prefix string) *regexp.Regexp {
	text := jsonText(prefix)
	return regexp.MustCompile(regexp.QuoteMeta(`"command":`+text[:len(text)-1]) + `(?:[\s"]|\\")`)
}

// jsonText writes what was read from JSON, or a text, as JavaScript does.
func jsonText(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // such a value can be written
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func (g *geminiReader) fail(err error) {
	if err != nil {
		g.errs = append(g.errs, err)
	}
}

// policies reads the policies of a folder, or one file.
func (g *geminiReader) policies(path string, tier float64, allows bool) {
	files := []string{path}
	if !strings.HasSuffix(path, ".toml") {
		files = nil
		for _, name := range g.List(path) {
			if strings.HasSuffix(name, ".toml") {
				files = append(files, filepath.Join(path, name))
			}
		}
	}
	for _, file := range files {
		text, err := g.optional(file)
		g.fail(err)
		if err == nil && text != nil {
			g.fail(g.policy(file, string(text), tier, allows))
		}
	}
}

// A policyRule is a rule as it stands in a file.
type policyRule struct {
	ToolName        any            `toml:"toolName"`
	MCPName         string         `toml:"mcpName"`
	Subagent        string         `toml:"subagent"`
	ArgsPattern     string         `toml:"argsPattern"`
	CommandPrefix   any            `toml:"commandPrefix"`
	CommandRegex    string         `toml:"commandRegex"`
	Decision        string         `toml:"decision"`
	Priority        float64        `toml:"priority"`
	Modes           []string       `toml:"modes"`
	Interactive     *bool          `toml:"interactive"`
	ToolAnnotations map[string]any `toml:"toolAnnotations"`
}

// text writes a rule of a policy in a few words.
func (p policyRule) text(names []string, prefix string) string {
	text := strings.Join(names, ", ")
	if p.MCPName != "" {
		text = p.MCPName + ":" + text
	}
	for _, about := range []string{prefix, p.CommandRegex, p.ArgsPattern} {
		if about != "" {
			return text + "(" + about + ")"
		}
	}
	return text
}

func (g *geminiReader) policy(file, text string, tier float64, allows bool) error {
	var top struct {
		Rules    []policyRule `toml:"rule"`
		Checkers []policyRule `toml:"safety_checker"`
	}
	if _, err := toml.Decode(text, &top); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	for _, c := range top.Checkers {
		if names, err := oneOrMore(c.ToolName); err != nil ||
			(geminiRule{tools: names, server: c.MCPName}).about("", geminiShell) {
			return fmt.Errorf("%s: it has a safety checker for commands, which assent does not call", file)
		}
	}
	for i, p := range top.Rules {
		names, err := oneOrMore(p.ToolName)
		if err != nil || len(names) == 0 {
			err = fmt.Errorf("its toolName must be a string, or a list of them")
		}
		if err == nil && (strictness[p.Decision] == 0 && p.Decision != "deny" || p.Priority < 0 || p.Priority > 999) {
			err = fmt.Errorf("unknown decision %q, or priority %v: they must be allow, deny or ask_user, and 0 to 999",
				p.Decision, p.Priority)
		}
		var patterns []*regexp.Regexp
		if err == nil {
			patterns, err = p.patterns()
			if err != nil && !(geminiRule{tools: names, server: p.MCPName}).about("", geminiShell) {
				patterns, err = []*regexp.Regexp{nil}, nil // it may be about any call of the other tool
			}
		}
		if err != nil {
			g.fail(fmt.Errorf("%s: rule %d: %w", file, i+1, err))
			continue
		}
		if p.Decision == "allow" && !allows && !g.doubtful {
			continue
		}
		prefixes, _ := oneOrMore(p.CommandPrefix) // they were read for the patterns
		for n, pattern := range patterns {
			prefix := ""
			if n < len(prefixes) {
				prefix = prefixes[n]
			}
			g.rules = append(g.rules, geminiRule{
				tools: names, server: p.MCPName, priority: tier + p.Priority/1000, decision: p.Decision,
				pattern: pattern, own: p.ArgsPattern != "",
				conditional: len(p.Modes) > 0 || p.Interactive != nil || p.Subagent != "" || p.ToolAnnotations != nil,
				said:        fmt.Sprintf("%s: rule %d says %s", file, i+1, p.Decision),
				file:        file, text: p.text(names, prefix), prefix: prefix, doubtful: !allows,
			})
		}
	}
	return nil
}

// about reports whether a rule may be about a tool, of a server if it is not the agent's own.
func (r geminiRule) about(server, tool string) bool {
	if r.server != "" && (server == "" || r.server != "*" && r.server != server) {
		return false
	}
	return slices.ContainsFunc(r.tools, func(name string) bool {
		return wild(name)(tool) || name == "ShellTool" && tool == geminiShell ||
			server != "" && wild(name)("mcp_"+server+"_"+tool)
	})
}

// patterns are what the arguments must match for a rule: one of them; nil among them is anything.
// There are none for one that allows and that Gemini CLI may leave out, or that is not understood.
func (p policyRule) patterns() ([]*regexp.Regexp, error) {
	prefixes, err := oneOrMore(p.CommandPrefix)
	if err != nil {
		return nil, fmt.Errorf("its commandPrefix must be a string, or a list of them")
	}
	var out []*regexp.Regexp
	for _, prefix := range prefixes {
		out = append(out, geminiPrefix(prefix))
	}
	text := p.ArgsPattern
	if p.CommandRegex != "" {
		text = `"command":"` + p.CommandRegex
	}
	if text == "" {
		if out == nil {
			out = append(out, nil)
		}
		return out, nil
	}
	re, err := regexp.Compile(text)
	if p.Decision == "allow" && (err != nil || len(text) > 2048 || nested().MatchString(text)) {
		return out, nil
	}
	if err != nil {
		return nil, fmt.Errorf("assent does not understand its pattern: %w", err)
	}
	return append(out, re), nil
}

// nested is what Gemini CLI takes for a pattern that may take too long, and leaves out.
var nested = pattern(`\([^)]*[*+?{].*\)[*+?{]`)

func oneOrMore(v any) (out []string, err error) {
	switch v := v.(type) {
	case nil:
		return nil, nil
	case string:
		return []string{v}, nil
	case []any:
		for _, item := range v {
			text, ok := item.(string)
			if !ok {
				return nil, fmt.Errorf("%v is not a string", item)
			}
			out = append(out, text)
		}
		return out, nil
	}
	return nil, fmt.Errorf("%v is not a string", v)
}

// judgeTool finds the rule that decides about a call of any tool.
func judgeTool(rules []geminiRule, server, tool string, args json.RawMessage) (Verdict, string) {
	f := finding{verdict: None}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(args, &fields); err != nil {
		return Deny, "its arguments are not an object"
	}
	var pairs []string
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		var value any
		if err := json.Unmarshal(fields[name], &value); err != nil {
			return Deny, "its arguments are not JSON"
		}
		pairs = append(pairs, "\x00"+jsonText(name)+":"+jsonText(value)+"\x00")
	}
	var about []geminiRule
	for _, r := range rules {
		if r.about(server, tool) {
			r.conditional = r.conditional && r.decision == "allow" // one that denies in some modes may hold now
			r.own = false                                          // all arguments are known
			about = append(about, r)
		}
	}
	checkGemini(&f, about, "{"+strings.Join(pairs, ",")+"}", false)
	return f.verdict, f.why
}

func judgeGemini(rules []geminiRule, c *commands) (Verdict, string) {
	f := finding{verdict: None}
	for _, text := range c.texts {
		checkGemini(&f, rules, commandArgs(text), false)
	}
	for _, s := range c.simple {
		for _, text := range s.names() {
			checkGemini(&f, rules, commandArgs(text), true)
		}
	}
	if c.err != nil && len(rules) > 0 {
		f.add(Deny, "the command cannot be split into its parts (%v), and %s", c.err, rules[0].said)
	}
	return f.verdict, f.why
}

// commandArgs are the arguments of the shell as the patterns see them.
func commandArgs(command string) string { return "{\x00\"command\":" + jsonText(command) + "\x00}" }

// elsewhere is in a pattern that may be about more than the command.
var elsewhere = pattern(`dir_path|description|background|\\0|\\x00|(?:^|[^[\\])\^|(?:^|[^\\])\$`)

// checkGemini finds the rule that decides about a command. One that Gemini CLI itself would not
// look at, because it is written in another way there, meets the rules about commands alone.
func checkGemini(f *finding, rules []geminiRule, args string, other bool) {
	for _, r := range rules {
		switch {
		case r.pattern == nil && (other || r.conditional):
			continue // Gemini CLI applies it to whatever replaces the command
		case r.pattern != nil && !r.pattern.MatchString(args):
			if r.own && r.decision != "allow" && elsewhere().MatchString(r.pattern.String()) {
				f.add(Ask, "%s, and whether it is about this call is unknown", r.said)
			}
			continue
		}
		switch {
		case r.decision == "deny":
			f.add(Deny, "%s", r.said)
			return
		case r.decision == "ask_user":
			f.add(Ask, "%s", r.said)
			if !r.conditional {
				return
			}
		case !r.conditional:
			return
		}
	}
}
