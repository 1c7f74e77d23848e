package config

import (
	"path/filepath"

	"github.com/assent-dev/assent/tool"
	"github.com/goccy/go-yaml/ast"
)

// A Path is a folder or file that tools may reach.
type Path struct {
	Name string
	// Root is where it is on this machine, absolute.
	Root string
	// Writable is capability: whether it may be written at all. The words are consent.
	Writable     bool
	Suffixes     []string // with their dots; none means every suffix
	MaxFileBytes int64    // 0 means no limit of its own
	Read         tool.Word
	Write        tool.Word
	Delete       tool.Word
	Reason       string // why what is denied is
	Source       string // file and line
}

func (r *report) sandbox(n ast.Node, folder string) []Path {
	o := r.object(n, "sandbox")
	var out []Path
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
	o.later("network", "require_os_sandbox", "extra", "git_write")
	o.close("sandbox")
	r.uniqueNames(out, n)
	return out
}

func (r *report) zone(n ast.Node, folder string) Path {
	o := r.object(n, "a zone")
	at, ok := o.take("name")
	if !ok {
		r.problem(n, "a zone needs a name")
		return Path{}
	}
	return r.pathFields(o, at, r.text(at, "name"), folder)
}

func (r *report) path(n, at ast.Node, name, folder string) Path {
	return r.pathFields(r.object(n, "path "+name), at, name, folder)
}

func (r *report) pathFields(o *object, at ast.Node, name, folder string) Path {
	what := "path " + name
	p := Path{Name: name, Root: filepath.Join(folder, name), Source: r.source(at),
		Read: tool.WordAllow, Write: tool.WordAsk, Delete: tool.WordAsk}
	if n, ok := o.take("root"); ok {
		p.Root = r.text(n, what+": root")
		if p.Root == "" {
			r.problem(n, "%s: root is empty", what)
		}
		if !filepath.IsAbs(p.Root) {
			p.Root = filepath.Join(folder, p.Root)
		}
	}
	if n, ok := o.take("mode"); ok {
		p.Writable = r.mode(n, what)
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

func (r *report) mode(n ast.Node, what string) bool {
	switch text := r.text(n, what+": mode"); text {
	case "rw":
		return true
	case "ro":
	default:
		r.problem(n, "%s: unknown mode %q; it is ro or rw", what, text)
	}
	return false
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
func (r *report) pathConsent(o *object, p *Path, what string) {
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
	for _, w := range []struct {
		said
		to *tool.Word
	}{{read, &p.Read}, {write, &p.Write}, {remove, &p.Delete}} {
		if w.node != nil {
			*w.to = w.word
		}
	}
	if n, ok := o.take("reason"); ok {
		p.Reason = r.text(n, what+": reason")
	}
}

func (o *object) act(key, what string) said {
	if n, ok := o.take(key); ok {
		return o.word(n, what+": approval."+key)
	}
	return said{}
}

func (r *report) uniqueNames(paths []Path, at ast.Node) {
	seen := map[string]bool{}
	for _, p := range paths {
		if seen[p.Name] {
			r.problem(at, "two paths are named %q", p.Name)
		}
		seen[p.Name] = true
	}
}
