package config

import (
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool/command"
)

// builtin are the names that tools and acts of this program have.
var builtin = []string{
	policy.ActReadFile, policy.ActWriteFile, policy.ActDeleteFile, policy.ActShareFile, policy.ActShell, policy.ActConnect,
	policy.ActHTTPRequest, policy.ActWorkerCall, policy.ActWorkerCreate,
	"edit_file", "list_files", "search_files", "move_file", "copy_file", "make_dir", "file_info", "list_workers",
}

// BuiltinTools returns the names that tools and acts of this program have.
func BuiltinTools() []string { return slices.Clone(builtin) }

// ruleName looks at the tool that a rule is about.
func (r *report) ruleName(n ast.Node, rule policy.Rule, p *Policy) {
	if rule.Scope == policy.ScopeTool {
		name, _, _ := strings.Cut(rule.Pattern, "(")
		r.toolName(n, rule.String(), name, p)
	}
}

// toolName looks at a name that is no built-in tool and none of the file. It can only be
// meant for a tool from elsewhere, unless it looks like a slip, one or two letters away: a
// misspelt deny allows.
func (r *report) toolName(n ast.Node, what, name string, p *Policy) {
	if strings.ContainsAny(name, ":*?[") {
		return
	}
	known := slices.Concat(builtin, customNames(p.CustomTools))
	if slices.ContainsFunc(known, func(k string) bool { return strings.EqualFold(k, name) }) {
		return
	}
	near := nearest(name, known)
	switch {
	case near != "" && distance(name, near) <= min(2, len(name)/4):
		r.problem(n, "%s: there is no tool %q; did you mean %q?", what, name, near)
	case near != "":
		r.note(n, "%s: %q is no tool that is known here; did you mean %q?", what, name, near)
	default:
		r.note(n, "%s: %q is no tool that is known here; it can only be one from elsewhere", what, name)
	}
}

func customNames(tools []command.Config) []string {
	var out []string
	for _, c := range tools {
		out = append(out, c.Name)
	}
	return out
}
