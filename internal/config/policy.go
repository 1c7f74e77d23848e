package config

import (
	"errors"
	"slices"
	"strings"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/hosts"
	"github.com/assent-dev/assent/tool/roots"
	"github.com/assent-dev/assent/tool/shell"
	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// A Policy is what a policy file says.
type Policy struct {
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
	// Tools is the operator's word on tools by name.
	Tools tool.Config
	// Rules are those that are kept with the file, its exceptions among them.
	Rules *approval.RuleSet
	// Warnings are what is accepted and should be written otherwise.
	Warnings []Problem
}

// Load reads a policy file. Relative roots are relative to folder. The error, if any, is of
// type [Problems] and has them all.
func Load(file string, data []byte, folder string) (*Policy, error) {
	r := &report{file: file}
	root, err := r.parse(data)
	if err != nil {
		return nil, err
	}
	p := &Policy{Secrets: roots.DefaultSecrets}
	o := r.object(root, "the file")
	o.version()
	if n, ok := o.take("sandbox"); ok {
		p.Roots, p.Secrets, p.OS = r.sandbox(n, folder)
	}
	if n, ok := o.take("shell"); ok {
		p.Shell, p.HasShell = r.shell(n), true
		r.rootNames(n, p)
	}
	p.Shell.Network = hosts.Policy{On: p.OS.Network.On, Allow: p.OS.Network.Domains, Source: p.OS.Network.Source}
	if n, ok := o.take("tools"); ok {
		p.Tools.Tools = r.tools(n, "tools")
	}
	if n, ok := o.take("pre_approved"); ok {
		p.Tools.Tools = r.preApproved(n, p.Tools.Tools)
	}
	p.Rules = r.rules(o)
	o.refused("tool_rules", "write `tools: {NAME: {approval: ask}}`, or the approval of a path under sandbox")
	o.refused("shell_rules", "write `shell: {rules: [{pattern: …, approval: …}]}`")
	o.later("connectors", "expect", "custom_tools", "tool_configs")
	o.close("the file")
	p.Warnings = r.warnings
	if err := r.err(); err != nil {
		return nil, err
	}
	return p, nil
}

// parse returns the one document of the file; an empty file is an empty mapping.
func (r *report) parse(data []byte) (ast.Node, error) {
	f, err := parser.ParseBytes(data, 0)
	if err != nil {
		p := Problem{File: r.file, Line: 1, Column: 1, Text: err.Error()}
		var at yaml.Error
		if errors.As(err, &at) {
			pos := at.GetToken().Position
			p.Line, p.Column, p.Text = pos.Line, pos.Column, at.GetMessage()
		}
		return nil, Problems{p}
	}
	var body ast.Node = &ast.NullNode{}
	for i, d := range f.Docs {
		if i > 0 && d.Body != nil {
			r.problem(d.Body, "a second document; a policy file has one")
			return nil, r.err()
		}
		if d.Body != nil {
			body = d.Body
		}
	}
	return body, nil
}

func (o *object) version() {
	if n, ok := o.take("version"); ok && o.count(n, "version") != 1 {
		o.problem(n, "this program knows version 1")
	}
}

// refused reports a key of other systems with what to write instead.
func (o *object) refused(key, instead string) {
	at := o.key(key)
	if _, there := o.fields[key]; there {
		delete(o.fields, key)
		o.problem(at, "%s is not used here; %s", key, instead)
	}
}

// tools reads the operator's word on tools by name, in the order of the file.
func (r *report) tools(n ast.Node, what string) []tool.Named {
	all := r.object(n, what)
	var out []tool.Named
	for _, name := range all.order {
		at := all.key(name)
		value, _ := all.take(name)
		o := r.object(value, what+"."+name)
		s := o.consent(what + "." + name)
		o.close(what + "." + name)
		if _, err := approval.CompileName(approval.Deny, name); err != nil {
			r.problem(at, "%v", err)
		}
		out = append(out, tool.Named{Name: name, Approval: s.word, Reason: s.reason, Source: r.source(at)})
	}
	return out
}

// preApproved reads the older list of names that run without asking. What the file says
// about a name elsewhere comes first.
func (r *report) preApproved(n ast.Node, said []tool.Named) []tool.Named {
	r.warn(n, "pre_approved is deprecated; write tools: {NAME: {approval: allow}}")
	for _, item := range r.items(n, "pre_approved") {
		name := r.text(item, "pre_approved")
		if _, err := approval.CompileName(approval.Allow, name); err != nil {
			r.problem(item, "%v", err)
		}
		if !slices.ContainsFunc(said, func(t tool.Named) bool { return t.Name == name }) {
			said = append(said, tool.Named{Name: name, Approval: tool.WordAllow, Source: r.source(item)})
		}
	}
	return said
}

// rules reads the rules and exceptions of the file.
func (r *report) rules(o *object) *approval.RuleSet {
	var rules []approval.Rule
	add := func(n ast.Node, text string) {
		rule, err := approval.ParseRule(text)
		if err != nil {
			r.problem(n, "%v", err)
			return
		}
		rule.Source = r.source(n)
		rule.ID = rule.Source
		rules = append(rules, rule)
	}
	if n, ok := o.take("rules"); ok {
		for _, item := range r.items(n, "rules") {
			text := r.text(item, "a rule")
			if strings.HasPrefix(text, string(approval.Except)+" ") {
				r.problem(item, "an exception stands under except:, not under rules:")
				continue
			}
			add(item, text)
		}
	}
	if n, ok := o.take("except"); ok {
		for _, item := range r.items(n, "except") {
			add(item, string(approval.Except)+" "+r.text(item, "an exception"))
		}
	}
	set, err := approval.CompileRules(rules)
	if err != nil {
		r.problem(o.node, "%v", err)
	}
	return set
}
