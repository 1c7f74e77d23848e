package config

import (
	"maps"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/assent-dev/assent/sandbox"
	"github.com/assent-dev/assent/tool/hosts"
)

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
	if n, ok := o.take("network"); ok {
		s.Network = r.network(n, "sandbox.network")
	}
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
				r.problem(item, "sandbox.extra.caches: unknown cache %q; there is %s", name, list(slices.Collect(maps.Keys(Caches))))
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
