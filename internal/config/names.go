package config

import (
	"fmt"
	"path"
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

// Unreached says why a deny about files matches less than somebody may think, where folders have
// these names; empty if there is nothing to say. Without names nothing is known about folders.
func Unreached(rule policy.Rule, folders []string) string {
	name, target, ok := strings.Cut(strings.TrimSuffix(rule.Pattern, ")"), "(")
	if !ok || rule.Effect != policy.EffectDeny || rule.Scope != policy.ScopeTool ||
		!strings.HasSuffix(strings.ToLower(name), "_file") {
		return ""
	}
	if below := strings.TrimSuffix(target, "/") + "/**"; target == "." || target == "/" {
		return fmt.Sprintf("it matches only the folder itself; write %s for what lies in it", strings.TrimPrefix(below, "./"))
	}
	target = path.Clean(target)
	first, _, deep := strings.Cut(target, "/")
	wild := strings.ContainsAny(first, `*?[{\`)
	switch {
	case path.IsAbs(target) || strings.HasPrefix(target, "**"):
	case len(folders) > 0 && !wild && !slices.Contains(folders, ".") && !slices.Contains(folders, first):
		return fmt.Sprintf("it matches no file: the folders here are %s; write one of them first, **/%s for every folder, "+
			"or an absolute path", strings.Join(folders, ", "), target)
	case wild && !deep:
		return fmt.Sprintf("it matches only at the top of a project; write **/%s for every folder", target)
	}
	return ""
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
		r.problem(n, "%s: no tool is named %q; did you mean %q?", what, name, near)
	case near != "":
		r.note(n, "%s: no known tool is called %q; did you mean %q?", what, name, near)
	default:
		r.note(n, "%s: no built-in tool is called %q; if you mean a tool of an MCP server, write CONNECTOR:NAME", what, name)
	}
}

func customNames(tools []command.Config) []string {
	var out []string
	for _, c := range tools {
		out = append(out, c.Name)
	}
	return out
}

// DidYouMean returns "; did you mean …?" for a known word that is close enough to have been
// meant, else nothing.
func DidYouMean(word string, known []string) string {
	if near := nearest(word, known); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}

// nearest returns the known word that is closest to the given one, if one is close enough
// to have been meant.
func nearest(word string, known []string) string {
	best, bestDistance := "", len(word)/3+2
	for _, k := range known {
		if d := distance(word, k); d < bestDistance {
			best, bestDistance = k, d
		}
	}
	return best
}

// distance counts the letters to insert, delete or replace to make a of b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
