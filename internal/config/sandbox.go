package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/roots"
)

func (r *report) sandbox(n ast.Node, p *Policy) {
	o := r.object(n, "sandbox", sandboxShape)
	if n, ok := o.take("secrets"); ok {
		p.Secrets = slices.Concat(p.Secrets, r.texts(n, "sandbox.secrets"))
		if err := roots.CheckSecrets(p.Secrets); err != nil {
			r.problem(n, "sandbox.secrets: %v", err)
		}
	}
	if n, ok := o.take("paths"); ok {
		for _, e := range r.entries(n, "sandbox.paths") {
			what := "path " + e.name
			p.Roots = append(p.Roots, r.path(r.object(e.value, what, pathShape), e.key, e.name))
		}
	}
	p.Roots = append(p.Roots, o.zones()...)
	p.OS = r.osSandbox(o)
	r.uniqueNames(p.Roots, n)
}

func (r *report) path(o *object, at ast.Node, name string) roots.Root {
	what := "path " + name
	p := roots.Root{Name: name, Source: r.source(at)}
	if n, ok := o.take("root"); ok {
		if p.Host = r.text(n, what+": root"); p.Host == "" {
			r.problem(n, "%s: root is empty", what)
		}
		p.Host = r.hostPath(n, what+": root", p.Host)
	} else {
		p.Host = r.hostPath(at, what+" without a root", name)
	}
	if n, ok := o.take("mode"); ok {
		p.Mode = r.mode(n, what)
	}
	if n, ok := o.take("suffixes"); ok {
		p.Suffixes = r.suffixes(n, what)
	}
	if n, ok := o.take("max_file_bytes"); ok {
		p.MaxFileBytes = r.count(n, what+": max_file_bytes")
	}
	r.pathConsent(o, &p, what)
	return p
}

// hostPath returns the absolute path that a file means by path.
func (r *report) hostPath(n ast.Node, what, path string) string {
	if path == "~" || strings.HasPrefix(path, "~/") {
		home, err := os.UserHomeDir()
		if err != nil {
			r.problem(n, "%s: %v; write an absolute path", what, err)
		}
		return filepath.Join(home, path[1:])
	}
	if filepath.IsAbs(path) {
		return path
	}
	if r.folder == "" {
		r.problem(n, "%s: %q is relative, and this file belongs to no folder; write an absolute path, or one that begins with ~/", what, path)
	}
	return filepath.Join(r.folder, path)
}

func (r *report) mode(n ast.Node, what string) roots.Mode {
	text := r.text(n, what+": mode")
	if m := roots.Mode(text); m == roots.ModeReadOnly || m == roots.ModeReadWrite {
		return m
	}
	r.problem(n, "%s: unknown mode %q; it is ro or rw", what, text)
	return roots.ModeReadOnly
}

func (r *report) suffixes(n ast.Node, what string) []string {
	list := r.texts(n, what+": suffixes")
	for _, s := range list {
		if len(s) < 2 || s[0] != '.' {
			r.problem(n, "%s: suffix %q must be a dot and a name, like .md", what, s)
		}
	}
	return list
}

// pathConsent reads approval, as one word or one for each act.
func (r *report) pathConsent(o *object, p *roots.Root, what string) {
	var read, write, remove said
	if n, ok := o.take("approval"); ok {
		if _, each := n.(*ast.MappingNode); each {
			a := r.object(n, what+": approval", o.shape.find("approval").shape)
			read, write, remove = a.act("read", what), a.act("write", what), a.act("delete", what)
		} else {
			s := r.word(n, what+": approval")
			read, write, remove = s, s, s
		}
	}
	o.spelledPath(&read, &write, what)
	p.Approval = map[roots.Access]policy.Verdict{}
	for _, each := range []struct {
		access roots.Access
		said   said
	}{{roots.AccessRead, read}, {roots.AccessWrite, write}, {roots.AccessDelete, remove}} {
		if each.said.node == nil {
			continue
		}
		p.Approval[each.access] = verdict(each.said.word)
		if each.said.word == tool.WordOnce {
			p.Once = append(p.Once, each.access)
		}
	}
	if n, ok := o.take("reason"); ok {
		p.Reason = r.text(n, what+": reason")
	}
}

// verdict is what a word means for a path.
func verdict(w tool.Word) policy.Verdict {
	switch w {
	case tool.WordAllow:
		return policy.VerdictFree
	case tool.WordAsk, tool.WordOnce:
		return policy.VerdictAsk
	}
	return policy.VerdictBlock
}

func (o *object) act(key, what string) said {
	if n, ok := o.take(key); ok {
		return o.word(n, what+": approval."+key)
	}
	return said{}
}

func (r *report) uniqueNames(paths []roots.Root, at ast.Node) {
	seen := map[string]bool{}
	for _, p := range paths {
		if seen[p.Name] {
			r.problem(at, "two paths are named %q", p.Name)
		}
		seen[p.Name] = true
	}
}
