// Package hosts says which hosts an agent's tools may talk to, and what consent
// that takes. It is to hosts what package roots is to files.
//
// A [Policy] is one of three: the network is off, and every connection is
// blocked; hosts are listed, and those are free while others ask; or the network
// is on, and every connection asks. Hosts that are denied are refused in each case.
// The zero Policy is off. Whatever it says, a connection is answered only by an allow
// that names its host, or by one that spells the command which makes it: see
// [policy.Act.Own].
//
// Some connections are refused without a question unless the list of free hosts names
// exactly that host: to this machine, to private networks, to the metadata service of a
// cloud. A name may lead anywhere, so that the address is checked too, with
// [Policy.MayDial], when it is dialled.
package hosts

import (
	"cmp"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/sandbox"
)

// DefaultHold is how long a connection waits for the answer to its question. Many clients give up
// after ten seconds.
const DefaultHold = 8 * time.Second

// A Connection is one that a running process is about to make.
type Connection struct {
	// Host is the name that the process looked up, or the address that it used.
	Host string
	Port string
	// Program is the name of the program that connects, if it is known.
	Program string
	// Number tells it from others to the same host and port; 0 if nothing does.
	Number int64
}

// String is the host and port as rules write them.
func (c Connection) String() string { return policy.HostTarget(c.Host, c.Port).URL.String() }

// A Policy says what may be reached over the network.
type Policy struct {
	// On lets connections ask at all. Hosts of Allow imply it.
	On bool
	// Allow are hosts that are free, as [sandbox.Listed] reads them: one with a port is free
	// on that port, and one without over https on port 443.
	Allow []string
	// Deny are hosts that are refused, whatever else is said: one without a port on
	// every port.
	Deny []string
	// Staged says that commands run on a stage, where each connection is judged by the name
	// of its host when it is made (package sandbox/stage).
	Staged bool
	// Own are addresses of this machine, which are refused like those of its loopback.
	Own []netip.Addr
	// Public knows the domains that no answer is offered for; nil offers none for any.
	Public Public
	// Source is the config line, for the person who asks why.
	Source string
	// Lines are the lines of the entries, by "allow ENTRY" and "deny ENTRY"; Source is that
	// of an entry without one.
	Lines map[string]string
}

// Validate reports what is wrong with the listed hosts.
func (p Policy) Validate() error {
	for _, host := range slices.Concat(p.Allow, p.Deny) {
		if _, err := sandbox.ParseListed(host); err != nil {
			return err
		}
	}
	return nil
}

// off reports whether nothing can be reached.
func (p Policy) off() bool { return !p.On && len(p.Allow) == 0 }

// Intersect returns what both policies leave: free is what both leave free, a connection
// that one of them refuses is refused, and all others ask.
func (p Policy) Intersect(o Policy) Policy {
	switch {
	case p.off():
		return p
	case o.off():
		return o
	}
	out := Policy{On: true, Staged: p.Staged, Own: slices.Concat(p.Own, o.Own), Source: p.Source,
		Allow: sandbox.CommonHosts(p.Allow, o.Allow)}
	out.Deny = slices.Concat(p.Deny, o.Deny)
	out.Lines = maps.Clone(o.Lines)
	if out.Lines == nil {
		out.Lines = map[string]string{}
	}
	maps.Copy(out.Lines, p.Lines)
	for _, host := range o.Deny {
		if line := out.Lines["deny "+host]; line == "" {
			out.Lines["deny "+host] = o.Source
		}
	}
	return out
}

// Connect returns the act of a connection that a command is known to make before it runs,
// ready to be judged. An empty host is one that is not known; tls says that the connection
// is https for certain.
func (p Policy) Connect(host, port string, tls bool) policy.Act {
	return p.act(host, port, tls, false)
}

// Judge returns the act of a connection that is about to be made, ready to be judged.
func (p Policy) Judge(c Connection) policy.Act {
	return p.act(c.Host, c.Port, c.Port == "443", true)
}

func (p Policy) act(host, port string, tls, now bool) policy.Act {
	act := policy.Act{Name: policy.ActConnect, Target: policy.UnknownTarget(policy.KindURL), ByName: true}
	if host != "" {
		act.Target = policy.HostTarget(host, port)
	}
	act.Known = !act.Target.Unknown
	act.Verdict, act.Why = p.verdict(act.Target, tls, now)
	if now && (!act.Known || act.Target.URL.Port == "") {
		act.Verdict, act.Why = policy.VerdictBlock, "the name of the host, or its port, is not one that a rule can name"
	}
	if act.Known {
		act.Domain = p.Public.Domain(act.Target.URL.Host)
	} else if act.Verdict == policy.VerdictAsk && len(p.Deny) > 0 && !p.Staged {
		act.PersonOnly, act.Why = true, act.Why+"; it may be one that "+p.line("deny", p.Deny[0])+" denies"
	}
	return act
}

func (p Policy) verdict(t policy.Target, tls, now bool) (policy.Verdict, string) {
	if p.off() {
		return policy.VerdictBlock, "the network is off" + at(p.Source) + "; sandbox.network turns it on"
	}
	if t.Unknown {
		return policy.VerdictAsk, "its host is unknown before it runs; name the host in the command"
	}
	host, port := t.URL.Host, t.URL.Port
	if entry := p.denies(host, port); entry != "" {
		return policy.VerdictBlock, fmt.Sprintf("%s is denied%s", t, at(p.line("deny", entry)))
	}
	if now || p.Staged {
		if what := p.special(host); what != "" && !p.Names(host, port) {
			if !now && p.isLoopback(host) {
				return policy.VerdictFree, "a command has a loopback of its own"
			}
			return policy.VerdictBlock, refusal(host, what, host, port)
		}
	}
	listed := ""
	for _, l := range p.listed(p.Allow) {
		if !l.has(host) {
			continue
		}
		if l.Port == port && port != "" || l.Port == "" && tls && port == "443" {
			return policy.VerdictFree, fmt.Sprintf("%s is listed%s", l.text, at(p.line("allow", l.text)))
		}
		if listed == "" {
			listed = l.text
		}
	}
	switch {
	case listed == "":
		return policy.VerdictAsk, "no rule allows this host"
	case strings.Contains(listed, ":") && !strings.HasSuffix(listed, "]"):
		return policy.VerdictAsk, fmt.Sprintf("only %s is listed%s", listed, at(p.line("allow", listed)))
	}
	if port == "443" {
		return policy.VerdictAsk, fmt.Sprintf("%s is listed%s, but this command may follow redirects to other hosts, "+
			"use a proxy or skip the certificate check", listed, at(p.line("allow", listed)))
	}
	return policy.VerdictAsk, fmt.Sprintf("%s is listed for https on port 443 only%s; to allow this port, list %s",
		listed, at(p.line("allow", listed)), listed+":"+cmp.Or(port, "PORT"))
}

// entry is a listed host and how it is written.
type entry struct {
	sandbox.Listed
	text string
}

// has reports whether the entry stands for the host, whatever the port.
func (e entry) has(host string) bool {
	addr, _ := address(host)
	return e.Has(host, addr)
}

func (p Policy) listed(list []string) []entry {
	out := make([]entry, 0, len(list))
	for _, text := range list {
		if l, err := sandbox.ParseListed(text); err == nil { // [Policy.Validate] reports others
			out = append(out, entry{l, text})
		}
	}
	return out
}

// denies returns the entry that denies a host on a port; empty if none does. A port that is
// not known may be any.
func (p Policy) denies(host, port string) string {
	for _, l := range p.listed(p.Deny) {
		if l.has(host) && (l.Port == "" || port == "" || l.Port == port) {
			return l.text
		}
	}
	return ""
}

// Names reports whether the list of free hosts names exactly this host, for this port or for
// none. An entry such as *.example.org names no host: those who own the domain decide where
// the names below it lead.
func (p Policy) Names(host, port string) bool {
	return slices.ContainsFunc(p.listed(p.Allow), func(l entry) bool {
		return !l.Below && l.has(host) && (l.Port == "" || l.Port == port)
	})
}

// Local are the ports of this machine's loopback that commands may reach: those that are
// listed as localhost:PORT, or by an address of the loopback.
func (p Policy) Local() []uint16 {
	var out []uint16
	for _, l := range p.listed(p.Allow) {
		n, err := strconv.ParseUint(l.Port, 10, 16)
		if err == nil && !l.Below && (IsLocalName(l.Name) || l.Addr.IsLoopback()) &&
			p.denies(strings.ToLower(hostOf(l)), l.Port) == "" {
			out = append(out, uint16(n))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func hostOf(l entry) string {
	if l.Addr.IsValid() {
		return l.Addr.String()
	}
	return l.Name
}

// MayDial reports why a host may not be reached at an address that it turned out to have: the
// address is denied, or it is one that no public host has and neither the host nor the address
// is listed. It says nothing about whether the host may be reached at all: see [Policy.Judge].
func (p Policy) MayDial(host, port string, addr netip.Addr) error {
	host, addr = strings.ToLower(strings.TrimSuffix(host, ".")), addr.Unmap()
	if p.off() {
		return fmt.Errorf("the network is off%s", at(p.Source))
	}
	for _, name := range []string{host, addr.WithZone("").String()} {
		if entry := p.denies(name, port); entry != "" {
			return fmt.Errorf("%s has the address %s, and %s is denied%s", host, addr, entry, at(p.line("deny", entry)))
		}
	}
	what := p.special(addr.String())
	if what == "" || p.Names(host, port) || p.Names(addr.WithZone("").String(), port) {
		return nil
	}
	return fmt.Errorf("%s", refusal(host, what, addr.WithZone("").String(), port))
}

// special says what a host is that is refused unless it is listed; empty if it may be public.
func (p Policy) special(host string) string {
	addr, ok := address(host)
	switch {
	case !ok:
		return SpecialName(host)
	case slices.Contains(p.Own, addr):
		return "an address of this machine"
	}
	return Special(addr)
}

func (p Policy) isLoopback(host string) bool {
	addr, ok := address(host)
	return ok && addr.IsLoopback() || IsLocalName(host)
}

// refusal says why a host is refused, and what to write to change that.
func refusal(host, what, entry, port string) string {
	if addr, ok := address(entry); ok && addr.Is6() {
		entry = "[" + addr.String() + "]"
	}
	if host != strings.Trim(entry, "[]") {
		what = "at " + strings.Trim(entry, "[]") + ", " + what
	}
	if port != "" {
		entry += ":" + port
	}
	return fmt.Sprintf("%s is %s; such hosts are refused unless sandbox.network.allow lists them: %s",
		host, what, entry)
}

// address returns the address that a host is, in whatever spelling; not ok if it is a name.
func address(host string) (addr netip.Addr, ok bool) {
	if addr, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return addr.Unmap().WithZone(""), true
	}
	if host == "" || !Numeric(host) {
		return netip.Addr{}, false
	}
	return ParseIPv4(host)
}

// Entry is how an address is listed; a name is as it is.
func Entry(host string) string {
	if addr, ok := address(host); ok {
		return addr.String()
	}
	return host
}

// line is the line of config behind an entry.
func (p Policy) line(list, entry string) string {
	if line := p.Lines[list+" "+entry]; line != "" {
		return line
	}
	return p.Source
}

func at(source string) string {
	if source == "" {
		return ""
	}
	return " (" + source + ")"
}
