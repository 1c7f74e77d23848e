package config

import (
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/assent-dev/assent/internal/agents/words"
	"github.com/assent-dev/assent/internal/realpath"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/command"
	"github.com/assent-dev/assent/tool/roots"
	"github.com/assent-dev/assent/tool/shell"
)

// A Policy is what a file says about calls.
type Policy struct {
	// File is how the file is called in reasons; it stands before the line of each Source.
	File string
	// Roots are the folders and files that tools may reach, in the order of the file.
	Roots []roots.Root
	// Secrets are the patterns of files that ask even where reads are free: the built-in
	// ones, and those that the file adds or, with a ! in front, excepts.
	Secrets []string
	// OS is what the file says about the sandbox of the operating system.
	OS OSSandbox
	// Shell is the operator's word on commands; HasShell says that the file has one, and
	// so gives agents the shell tool.
	Shell    shell.Config
	HasShell bool
	// Tools is the operator's word on tools by name, what custom_tools says included.
	Tools tool.Config
	// CustomTools are programs as tools. One without a command is an executable in tools/,
	// or a tool of the embedding program.
	CustomTools []command.Config
	// Trusted are the programs that the file starts, as they were when it was looked at
	// whether somebody trusts it. Nil if nobody has to.
	Trusted command.Files
	// Connectors are where foreign tools come from.
	Connectors []Connector
	// UndoOff says that nothing is kept for undo; UndoSource is the line that says whether.
	UndoOff    bool
	UndoSource string
	// Team is the team that the machine belongs to. It counts in the administrator's file alone.
	Team Team
	// Rules are those that are kept with the file, its exceptions among them.
	Rules *policy.RuleSet
	// Expect are calls and what must happen to them.
	Expect []Expectation
	// Warnings are what is accepted and should be written otherwise; Notes what may be
	// meant, and is worth a look when the file is checked.
	Warnings, Notes []Problem

	// Text is what a policy that was signed was read from; of others it is empty.
	Text string
}

// Load reads a policy file. Relative paths are relative to folder; if that is empty they
// are a problem. The error, if any, is of type [Problems] and has them all.
func Load(file string, data []byte, folder string) (*Policy, error) {
	r := &report{file: file, folder: folder}
	root, err := r.parse(data)
	if err != nil {
		return nil, err
	}
	o := r.object(root, "the file", policyShape)
	p := r.policy(o)
	p.Team = r.team(o)
	if err := r.err(); err != nil {
		return nil, err
	}
	return p, nil
}

// policy reads the keys that every file has which decides about calls.
func (r *report) policy(o *object) *Policy {
	p := &Policy{File: r.file, Secrets: roots.DefaultSecrets()}
	o.version()
	if n, ok := o.take("sandbox"); ok {
		r.sandbox(n, p)
	}
	if n, ok := o.take("shell"); ok {
		p.Shell.Source = r.source(o.keys["shell"])
		r.shell(n, p)
	}
	p.Shell.Network = p.OS.hosts()
	r.allTools(o, p)
	if n, ok := o.take("connectors"); ok {
		p.Connectors = r.connectors(n)
	}
	if n, ok := o.take("undo"); ok {
		p.UndoOff, p.UndoSource = r.one(n, "undo", undoShape) == "off", r.source(n)
	}
	p.Rules = r.rules(o, p)
	if n, ok := o.take("expect"); ok {
		p.Expect = r.expectations(n)
	}
	p.Warnings, p.Notes = r.warnings, r.notes
	return p
}

func (o *object) version() {
	if n, ok := o.take("version"); ok && o.count(n, "version") != 1 {
		o.problem(n, "this program knows version 1")
	}
}

// hasCustomTool reports whether a rule names a tool of the file.
func (p *Policy) hasCustomTool(pattern string) bool {
	name, _, _ := strings.Cut(pattern, "(")
	named := func(c command.Config) bool { return strings.EqualFold(c.Name, name) }
	return name != "" && slices.ContainsFunc(p.CustomTools, named)
}

// RootNames are the names of folders.
func RootNames(list []roots.Root) []string {
	var out []string
	for _, r := range list {
		out = append(out, r.Name)
	}
	return out
}

// ParseRule reads the text form of a rule as somebody writes it on this machine: in paths ~ and
// $HOME are this user's home folder, and symbolic links are followed.
func ParseRule(text string) (policy.Rule, error) { return Ground().Parse(text) }

// Ground is what of this machine and user rules depend on.
func Ground() policy.Ground {
	home, _ := homeFolder() // without one, rules that name it are refused
	resolve := func(path string) string {
		if real, err := realpath.Resolve(path); err == nil {
			return real
		}
		return path
	}
	return policy.Ground{Home: home, Resolve: resolve}
}

// rules reads the rules and exceptions of the file.
func (r *report) rules(o *object, p *Policy) *policy.RuleSet {
	var rules []policy.Rule
	add := func(n ast.Node, text string) {
		rule, err := ParseRule(text)
		if refused := words.Refuse(text); refused != nil && !p.hasCustomTool(rule.Pattern) {
			err = refused
		}
		if err != nil {
			r.problem(n, "%v", err)
			return
		}
		r.ruleName(n, rule, p)
		if why := Unreached(rule, RootNames(p.Roots)); why != "" {
			r.note(n, "%s: %s", rule, why)
		}
		rule.Source = r.source(n)
		rule.ID = rule.Source
		rules = append(rules, rule)
	}
	if n, ok := o.take("rules"); ok {
		for _, item := range r.items(n, "rules") {
			text := r.text(item, "a rule")
			if strings.HasPrefix(text, string(policy.EffectExcept)+" ") {
				r.problem(item, "write an exception under except:, not under rules:")
				continue
			}
			add(item, text)
		}
	}
	if n, ok := o.take("except"); ok {
		for _, item := range r.items(n, "except") {
			add(item, string(policy.EffectExcept)+" "+r.text(item, "an exception"))
		}
	}
	set, err := policy.CompileRules(rules)
	if err != nil {
		r.problem(o.node, "%v", err)
	}
	return set
}
