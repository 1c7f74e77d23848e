package config

import (
	"net/netip"
	"net/url"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// A Connector is where foreign tools come from: an MCP server that is started, or one
// that is reached over HTTP.
type Connector struct {
	Name string
	// Command starts the server; Env are variables of its process. Sandboxed runs it
	// inside the profile of commands.
	Command   []string
	Env       map[string]string
	Sandboxed bool
	// URL is where the server is; Headers are sent with every request.
	URL     string
	Headers map[string]string
	// Targets name for a tool the argument that rules match as its target.
	Targets map[string]string
	// TrustAnnotations lets what the server says about its tools make them free.
	TrustAnnotations bool
	// Source is the file and line.
	Source string
}

func (r *report) connectors(n ast.Node) []Connector {
	var out []Connector
	for _, e := range r.entries(n, "connectors") {
		c := r.connector(e)
		r.checkConnector(e.key, &c)
		out = append(out, c)
	}
	return out
}

func (r *report) connector(e entry) Connector {
	what := "connectors." + e.name
	o := r.object(e.value, what, connectorShape)
	c := Connector{Name: e.name, Source: r.source(e.key)}
	c.Command = valueAt(o, "command", r.texts, what+".command")
	c.Sandboxed = valueAt(o, "sandboxed", r.bool, what+".sandboxed")
	if n, ok := o.take("url"); ok {
		c.URL = r.text(n, what+".url")
		r.checkURL(n, what+".url", c.URL)
	}
	c.TrustAnnotations = valueAt(o, "trust_annotations", r.bool, what+".trust_annotations")
	c.Env, c.Headers, c.Targets = o.textsByName("env", what), o.textsByName("headers", what), o.textsByName("targets", what)
	return c
}

// textsByName reads a mapping of names to texts.
func (o *object) textsByName(key, what string) map[string]string {
	n, ok := o.take(key)
	if !ok {
		return nil
	}
	out := map[string]string{}
	for _, e := range o.entries(n, what+"."+key) {
		out[e.name] = o.text(e.value, what+"."+key+"."+e.name)
	}
	return out
}

func (r *report) checkConnector(at ast.Node, c *Connector) {
	what := "connectors." + c.Name
	if c.Name == "" || strings.Contains(c.Name, "__") || strings.ContainsFunc(c.Name, notInName) {
		r.problem(at, "%s: a name has letters, digits, - and single _", what)
	}
	switch {
	case len(c.Command) == 0 && c.URL == "":
		r.problem(at, "%s needs a command or a url", what)
	case len(c.Command) > 0 && c.URL != "":
		r.problem(at, "%s has a command and a url; keep one", what)
	case c.URL != "" && (len(c.Env) > 0 || c.Sandboxed):
		r.problem(at, "%s: env and sandboxed belong to a command", what)
	case len(c.Command) > 0 && len(c.Headers) > 0:
		r.problem(at, "%s: headers belong to a url", what)
	case len(c.Command) > 0 && c.Command[0] == "":
		r.problem(at, "%s: the command is empty", what)
	}
}

// notInName reports the characters that no name of a connector or worker has.
func notInName(c rune) bool {
	return c != '-' && c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z')
}

// checkURL wants https, or http to this machine. A URL may hold a secret, so it is not
// repeated.
func (r *report) checkURL(n ast.Node, what, text string) {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "":
		r.problem(n, "%s: write it as https://HOST/PATH", what)
	case u.User != nil:
		r.problem(n, "%s takes no user and password", what)
	case u.Scheme == "http" && !isLocal(u.Hostname()):
		r.problem(n, "%s would travel unencrypted; use https", what)
	}
}

// isLocal reports whether a host is this machine.
func isLocal(host string) bool {
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.IsLoopback() || strings.EqualFold(host, "localhost")
}
