package config

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/sandbox"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/hosts"
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
	p.Mode = valueAt(o, "mode", r.mode, what)
	p.Suffixes = valueAt(o, "suffixes", r.suffixes, what)
	p.MaxFileBytes = valueAt(o, "max_file_bytes", r.count, what+": max_file_bytes")
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
		r.problem(n, "%s: %q is relative, and this file belongs to no folder; write an absolute path, or one that begins "+
			"with ~/", what, path)
	}
	return filepath.Join(r.folder, path)
}

// modeWords are what people write for the modes who know them from elsewhere.
var modeWords = map[string]roots.Mode{
	"read-only": roots.ModeReadOnly, "readonly": roots.ModeReadOnly, "read_only": roots.ModeReadOnly,
	"read-write": roots.ModeReadWrite, "readwrite": roots.ModeReadWrite, "read_write": roots.ModeReadWrite,
}

func (r *report) mode(n ast.Node, what string) roots.Mode {
	text := r.text(n, what+": mode")
	if m, ok := modeWords[strings.ToLower(text)]; ok {
		r.warn(n, "%s: mode %q is read as %s", what, text, m)
		return m
	}
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
	var read, write, remove consent
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
		said   consent
	}{{roots.AccessRead, read}, {roots.AccessWrite, write}, {roots.AccessDelete, remove}} {
		if each.said.node == nil {
			continue
		}
		p.Approval[each.access] = verdict(each.said.word)
		if each.said.word == tool.WordOnce {
			p.Once = append(p.Once, each.access)
		}
	}
	p.Reason = valueAt(o, "reason", r.text, what+": reason")
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

func (o *object) act(key, what string) consent {
	if n, ok := o.take(key); ok {
		return o.word(n, what+": approval."+key)
	}
	return consent{}
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

// An OSSandbox is what a policy file says about the sandbox of the operating system. The
// rest of it follows from the roots.
type OSSandbox struct {
	// Network is off unless the file says otherwise.
	Network sandbox.Network
	// Require refuses to run anything where no sandbox can be used.
	Require bool
	// RequireSource is the line that says so.
	RequireSource string
	// GitWrite lets commands write to .git, without what makes git run programs.
	GitWrite       bool
	GitWriteSource string
	// Home is private unless the file says otherwise.
	Home Home
	// Extra is what no tool exposes and commands need. It widens, so only a file that
	// the user wrote may have it.
	Extra Extra
}

// A Home is what a file says about the home folder of commands.
type Home struct {
	// Tools shows the user's tools there, read-only, and settings without their secrets.
	// Otherwise it is empty.
	Tools bool
	// Source is the line; empty if the file says nothing.
	Source string
}

// The words for a home.
const (
	homePrivate = "private"
	homeTools   = "tools"
)

// hosts is what the file says about the network, for tools.
func (s OSSandbox) hosts() hosts.Policy {
	n := s.Network
	return hosts.Policy{On: n.On || n.ByName, Allow: n.Domains, Deny: n.Deny, Source: n.Source, Lines: n.Lines}
}

// Extra are places beside the roots. Paths are absolute, or begin with ~/.
type Extra struct {
	Read, Write, Sockets []sandbox.Entry
	// Caches are names of [Caches].
	Caches []sandbox.Entry
}

// Caches are the programs that can be given a folder of their own to cache in, and the
// variables that tell them so, each with its part of that folder.
var Caches = map[string]map[string]string{
	"cargo":  {"CARGO_HOME": "home"},
	"go":     {"GOCACHE": "build", "GOMODCACHE": "mod"},
	"gradle": {"GRADLE_USER_HOME": "home"},
	"npm":    {"npm_config_cache": "cache"},
	"pip":    {"PIP_CACHE_DIR": "cache"},
	"uv":     {"UV_CACHE_DIR": "cache"},
	"yarn":   {"YARN_CACHE_FOLDER": "cache"},
}

func (r *report) osSandbox(o *object) OSSandbox {
	var s OSSandbox
	s.Network = valueAt(o, "network", r.network, "sandbox.network")
	if n, ok := o.take("require_os_sandbox"); ok {
		s.Require, s.RequireSource = r.bool(n, "sandbox.require_os_sandbox"), r.source(n)
	}
	if n, ok := o.take("git_write"); ok {
		s.GitWrite, s.GitWriteSource = r.bool(n, "sandbox.git_write"), r.source(n)
	}
	if n, ok := o.take("home"); ok {
		word := r.text(n, "sandbox.home")
		if word != homePrivate && word != homeTools {
			r.problem(n, "sandbox.home must be %s or %s, not %q", homePrivate, homeTools, word)
		}
		s.Home = Home{Tools: word == homeTools, Source: r.source(n)}
	}
	if n, ok := o.take("extra"); ok {
		s.Extra = r.extra(n)
	}
	return s
}

// network reads true, false, or the hosts that are free and those that are denied. Where only
// denied ones are named, the network is on.
func (r *report) network(n ast.Node, what string) sandbox.Network {
	net := sandbox.Network{Source: r.source(n)}
	if _, hosts := n.(*ast.MappingNode); !hosts {
		net.On = r.bool(n, what)
		return net
	}
	o := r.object(n, what, networkShape)
	list := func(key string) (out []string, said bool) {
		n, said := o.take(key)
		if !said {
			return nil, false
		}
		for _, item := range r.items(n, what+"."+key) {
			host := r.host(item, what+"."+key)
			out = append(out, host)
			if net.Lines == nil {
				net.Lines = map[string]string{}
			}
			net.Lines[key+" "+host] = r.source(item)
		}
		return out, true
	}
	allow, said := list("allow")
	net.Domains = allow
	net.Deny, _ = list("deny")
	net.On = !said && len(net.Deny) > 0
	for _, host := range net.Domains {
		if slices.Contains(net.Deny, host) {
			r.warn(n, "%s: %s is both allowed and denied; the deny holds", what, host)
		}
	}
	return net
}

// host reads an entry, in the form that is compared.
func (r *report) host(n ast.Node, what string) string {
	text := ""
	if m, ok := n.(*ast.MappingNode); ok && len(m.Values) == 1 {
		// Inside of {} the YAML reader takes host:443 for a mapping.
		text = m.Values[0].Key.String() + ":" + m.Values[0].Value.String()
	} else if text = r.text(n, what); text == "" && n.Type() != ast.StringType {
		return "" // which was reported
	}
	listed, err := sandbox.ParseListed(text)
	if err != nil {
		r.problem(n, "%s: %v", what, err)
		return text
	}
	return listed.String()
}

func (r *report) extra(n ast.Node) Extra {
	o := r.object(n, "sandbox.extra", extraShape)
	e := Extra{
		Read:    o.places("read"),
		Write:   o.places("write"),
		Sockets: o.places("unix_sockets"),
	}
	if n, ok := o.take("caches"); ok {
		for _, item := range r.items(n, "sandbox.extra.caches") {
			name := r.text(item, "sandbox.extra.caches")
			if Caches[name] == nil {
				r.problem(item, "sandbox.extra.caches: unknown cache %q; there is %s", name,
					list(slices.Collect(maps.Keys(Caches))))
			}
			e.Caches = append(e.Caches, sandbox.Entry{Path: name, Source: r.source(item)})
		}
	}
	return e
}

// places reads a list of paths, relative to the file's folder.
func (o *object) places(key string) []sandbox.Entry {
	n, ok := o.take(key)
	if !ok {
		return nil
	}
	var out []sandbox.Entry
	for _, item := range o.items(n, "sandbox.extra."+key) {
		p := o.text(item, "sandbox.extra."+key)
		if p == "" {
			o.problem(item, "sandbox.extra.%s: a path is empty", key)
			continue
		}
		if p != "~" && !strings.HasPrefix(p, "~/") { // those depend on whose profile it is
			p = o.hostPath(item, "sandbox.extra."+key, p)
		}
		out = append(out, sandbox.Entry{Path: p, Source: o.source(item)})
	}
	return out
}
