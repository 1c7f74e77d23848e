package config

import (
	"path/filepath"
	"slices"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/roots"
	"github.com/goccy/go-yaml/ast"
)

func (r *report) sandbox(n ast.Node, folder string) (list []roots.Root, secrets []string, os OSSandbox) {
	o := r.object(n, "sandbox")
	var out []roots.Root
	secrets = roots.DefaultSecrets
	if n, ok := o.take("secrets"); ok {
		secrets = slices.Concat(secrets, r.texts(n, "sandbox.secrets"))
		if err := roots.CheckSecrets(secrets); err != nil {
			r.problem(n, "sandbox.secrets: %v", err)
		}
	}
	if n, ok := o.take("paths"); ok {
		paths := r.object(n, "sandbox.paths")
		for _, name := range paths.order {
			at := paths.key(name)
			value, _ := paths.take(name)
			out = append(out, r.path(value, at, name, folder))
		}
	}
	if n, ok := o.take("zones"); ok {
		for _, item := range r.items(n, "sandbox.zones") {
			out = append(out, r.zone(item, folder))
		}
	}
	os = r.osSandbox(o, folder)
	o.close("sandbox")
	r.uniqueNames(out, n)
	return out, secrets, os
}

func (r *report) zone(n ast.Node, folder string) roots.Root {
	o := r.object(n, "a zone")
	at, ok := o.take("name")
	if !ok {
		r.problem(n, "a zone needs a name")
		return roots.Root{}
	}
	return r.pathFields(o, at, r.text(at, "name"), folder)
}

func (r *report) path(n, at ast.Node, name, folder string) roots.Root {
	return r.pathFields(r.object(n, "path "+name), at, name, folder)
}

func (r *report) pathFields(o *object, at ast.Node, name, folder string) roots.Root {
	what := "path " + name
	p := roots.Root{Name: name, Host: filepath.Join(folder, name), Source: r.source(at)}
	if n, ok := o.take("root"); ok {
		p.Host = r.text(n, what+": root")
		if p.Host == "" {
			r.problem(n, "%s: root is empty", what)
		}
		if !filepath.IsAbs(p.Host) {
			p.Host = filepath.Join(folder, p.Host)
		}
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
	o.close(what)
	return p
}

func (r *report) mode(n ast.Node, what string) roots.Mode {
	text := r.text(n, what+": mode")
	if m := roots.Mode(text); m == roots.ReadOnly || m == roots.ReadWrite {
		return m
	}
	r.problem(n, "%s: unknown mode %q; it is ro or rw", what, text)
	return roots.ReadOnly
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

// pathConsent reads approval, as one word or one for each act, and the older keys beside it.
func (r *report) pathConsent(o *object, p *roots.Root, what string) {
	var read, write, remove said
	if n, ok := o.take("approval"); ok {
		if _, each := n.(*ast.MappingNode); each {
			a := r.object(n, what+": approval")
			read, write, remove = a.act("read", what), a.act("write", what), a.act("delete", what)
			a.close(what + ": approval")
		} else {
			s := r.word(n, what+": approval")
			read, write, remove = s, s, s
		}
	}
	if n, ok := o.take("read_approval"); ok {
		r.agree(&read, r.word(n, what+": read_approval"), what)
	}
	if n, ok := o.take("write_approval"); ok {
		r.agree(&write, r.word(n, what+": write_approval"), what)
	}
	p.Approval = map[roots.Access]approval.Verdict{}
	for _, each := range []struct {
		access roots.Access
		said   said
	}{{roots.Read, read}, {roots.Write, write}, {roots.Delete, remove}} {
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
func verdict(w tool.Word) approval.Verdict {
	switch w {
	case tool.WordAllow:
		return approval.Free
	case tool.WordAsk, tool.WordOnce:
		return approval.Ask
	}
	return approval.Block
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
