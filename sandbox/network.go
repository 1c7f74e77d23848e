package sandbox

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// Network is what a process may reach besides files.
type Network struct {
	// On shares the host's network. Otherwise a process has a loopback of its own, or no
	// network at all.
	On bool `json:"on"`
	// ByName says that each connection is decided about when it is made, by the name of its
	// host: see package stage. A runner that is not started on a stage gives no network then.
	ByName bool `json:"by_name,omitempty"`
	// Domains are the hosts that are free, and Deny those that are refused: see [Listed].
	Domains []string `json:"domains,omitempty"`
	Deny    []string `json:"deny,omitempty"`
	Source  string   `json:"source,omitempty"`
	// Lines are the lines of config behind the entries, by "allow ENTRY" and "deny ENTRY".
	Lines map[string]string `json:"lines,omitempty"`
}

// Off reports whether nothing may be reached.
func (n Network) Off() bool { return !n.On && !n.ByName && len(n.Domains) == 0 }

// Staged is the network of a command that stands on a stage: whatever is not off is decided
// about when it is connected to.
func (n Network) Staged() Network {
	if !n.Off() {
		n.On, n.ByName = false, true
	}
	return n
}

// Unwatched is the network of something whose hosts nobody looks at. Where some are denied that
// is none.
func (n Network) Unwatched() Network {
	if n.On && !n.ByName && len(n.Deny) > 0 {
		return Network{Source: n.Source}
	}
	return n
}

// A Listed is a host as config lists it: NAME, *.NAME for every name below it, or an address;
// each with or without :PORT. An IPv6 address with a port stands in brackets.
type Listed struct {
	Below bool       // every name below Name, not Name itself
	Name  string     // in lower case, without a dot at its end; empty for an address
	Addr  netip.Addr // if it is an address
	Port  string     // empty if none is named
}

var errListed = errors.New("write docs.example.org, *.example.org, an address, or one of them with :PORT")

// ParseListed reads an entry.
func ParseListed(text string) (Listed, error) {
	wrong := func() (Listed, error) { return Listed{}, fmt.Errorf("host %q: %w", text, errListed) }
	if addr, err := netip.ParseAddr(strings.Trim(text, "[]")); err == nil &&
		(!strings.ContainsAny(text, "[]") || text == "["+addr.String()+"]") {
		if addr.Zone() != "" {
			return wrong()
		}
		return Listed{Addr: addr.Unmap()}, nil
	}
	var l Listed
	host := text
	if i := strings.LastIndexByte(text, ':'); i >= 0 {
		host, l.Port = text[:i], text[i+1:]
		if strings.Trim(l.Port, "0123456789") != "" {
			return wrong()
		}
		if n, err := strconv.ParseUint(l.Port, 10, 16); err != nil || n == 0 || l.Port != strconv.FormatUint(n, 10) {
			return Listed{}, fmt.Errorf("host %q: the port must be a number between 1 and 65535", text)
		}
	}
	if inner, ok := strings.CutPrefix(host, "["); ok {
		addr, err := netip.ParseAddr(strings.TrimSuffix(inner, "]"))
		if err != nil || !addr.Is6() || addr.Zone() != "" || !strings.HasSuffix(host, "]") {
			return wrong()
		}
		l.Addr = addr.Unmap()
		return l, nil
	}
	host, l.Below = strings.CutPrefix(strings.ToLower(strings.TrimSuffix(host, ".")), "*.")
	if addr, err := netip.ParseAddr(host); err == nil && addr.Is4() && !l.Below {
		l.Addr = addr
		return l, nil
	}
	last := host[strings.LastIndexByte(host, '.')+1:]
	if len(host) > 253 || strings.HasPrefix(last, "0x") || strings.Trim(last, "0123456789") == "" {
		return wrong() // a number is an address, in a spelling that not every program reads alike
	}
	for label := range strings.SplitSeq(host, ".") {
		odd := func(c rune) bool { return (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '_' }
		if label == "" || len(label) > 63 || strings.ContainsFunc(label, odd) {
			return wrong()
		}
	}
	l.Name = host
	return l, nil
}

// String is the entry as config writes it.
func (l Listed) String() string {
	host := l.Name
	switch {
	case l.Addr.Is6() && l.Port != "":
		host = "[" + l.Addr.String() + "]"
	case l.Addr.IsValid():
		host = l.Addr.String()
	case l.Below:
		host = "*." + host
	}
	if l.Port != "" {
		host += ":" + l.Port
	}
	return host
}

// Has reports whether the entry stands for a host, whatever the port: a name in lower case
// without a dot at its end, or an address.
func (l Listed) Has(name string, addr netip.Addr) bool {
	switch {
	case l.Addr.IsValid():
		return l.Addr == addr.Unmap().WithZone("")
	case addr.IsValid():
		return false
	case l.Below:
		return strings.HasSuffix(name, "."+l.Name) && len(name) > len(l.Name)+1
	}
	return name == l.Name
}

// within returns what both entries stand for. One without a port is narrower than the same
// host with port 443, which is free for every protocol.
func (l Listed) within(o Listed) (Listed, bool) {
	switch {
	case !l.Below && o.Has(l.Name, l.Addr):
	case l.Below && o.Below && (l.Name == o.Name || strings.HasSuffix(l.Name, "."+o.Name)):
	default:
		return Listed{}, false
	}
	switch {
	case l.Port == o.Port, l.Port == "" && o.Port == "443":
		return l, true
	case l.Port == "443" && o.Port == "":
		l.Port = ""
		return l, true
	}
	return Listed{}, false
}

// CommonHosts returns the entries of one list of free hosts as far as the other list has them
// too. Entries that cannot be read stand for nothing.
func CommonHosts(a, b []string) []string {
	var out []string
	for _, x := range a {
		for _, y := range b {
			l, err := ParseListed(x)
			o, err2 := ParseListed(y)
			if err != nil || err2 != nil {
				continue
			}
			common, ok := l.within(o)
			if !ok {
				common, ok = o.within(l)
			}
			if text := common.String(); ok && !slices.Contains(out, text) {
				out = append(out, text)
			}
		}
	}
	return out
}

func (n Network) intersect(o Network) Network {
	out := Network{
		On: n.On && o.On, ByName: n.ByName || o.ByName, Source: n.Source,
		Deny: unique(slices.Concat(n.Deny, o.Deny)), Lines: maps.Clone(n.Lines),
	}
	for key, line := range o.Lines {
		if out.Lines == nil {
			out.Lines = map[string]string{}
		}
		if out.Lines[key] == "" {
			out.Lines[key] = line
		}
	}
	switch {
	case n.Off():
		return Network{Source: n.Source}
	case o.Off():
		return Network{Source: o.Source}
	case n.On && !o.On && !n.ByName:
		out.Domains, out.Source = o.Domains, o.Source
	case o.On && !n.On && !o.ByName:
		out.Domains = n.Domains
	default:
		out.Domains = CommonHosts(n.Domains, o.Domains)
	}
	return out
}
