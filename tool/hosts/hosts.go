// Package hosts says which hosts an agent's tools may talk to, and what consent
// that takes. It is to hosts what package roots is to files.
//
// A [Policy] is one of three: the network is off, and every connection is
// blocked; hosts are listed, and those are free over https while others ask; or
// the network is on, and every connection asks. The zero Policy is off. Whatever
// it says, a connection is answered only by an allow that names its host, or by one that
// spells the command which makes it: see [approval.Act.Own].
package hosts

import (
	"fmt"
	"strings"

	"github.com/assent-dev/assent/approval"
)

// A Policy says what may be reached over the network.
type Policy struct {
	// On lets connections ask at all. Hosts of Allow imply it.
	On bool
	// Allow are hosts that are free over https on port 443: names, and
	// "*.example.org" for every name below example.org, not for itself.
	Allow []string
	// Deny are hosts that are refused, whatever else is said.
	Deny []string
	// Staged says that commands run on a stage, where each connection is judged by the name
	// of its host when it is made (package sandbox/stage).
	Staged bool
	// Source is the config line, for the person who asks why.
	Source string
}

// Validate reports what is wrong with the listed hosts.
func (p Policy) Validate() error {
	for _, host := range p.Allow {
		name := strings.TrimPrefix(host, "*.")
		if t := approval.HostTarget(name, ""); t.Unknown || strings.ContainsAny(name, "*:%") {
			return fmt.Errorf("host %q: write a name such as docs.example.org, or *.example.org for all below it", host)
		}
	}
	return nil
}

// Connect returns the act of a connection, ready to be judged. An empty host is
// one that is not known; tls says that the connection is https for certain.
func (p Policy) Connect(host, port string, tls bool) approval.Act {
	act := approval.Act{Name: approval.Connect, Target: approval.UnknownTarget(approval.URL), ByName: true}
	if host != "" {
		act.Target = approval.HostTarget(host, port)
	}
	act.Known = !act.Target.Unknown
	act.Verdict, act.Why = p.verdict(act.Target, tls)
	return act
}

func (p Policy) verdict(t approval.Target, tls bool) (approval.Verdict, string) {
	switch {
	case !p.On && len(p.Allow) == 0:
		return approval.Block, "the network is off" + p.at() + "; sandbox.network turns it on"
	case t.Unknown:
		return approval.Ask, "its host is unknown before it runs; name the host in the command"
	case tls && t.URL.Port == "443" && p.lists(t.URL.Host):
		return approval.Free, "the host is listed" + p.at()
	case p.lists(t.URL.Host):
		return approval.Ask, "the host is listed for https on port 443 only" + p.at()
	}
	return approval.Ask, "nothing allows this host"
}

func (p Policy) lists(host string) bool {
	for _, listed := range p.Allow {
		listed = strings.TrimSuffix(strings.ToLower(listed), ".")
		if below, ok := strings.CutPrefix(listed, "*."); ok {
			if strings.HasSuffix(host, "."+below) && len(host) > len(below)+1 {
				return true
			}
		} else if host == listed {
			return true
		}
	}
	return false
}

func (p Policy) at() string {
	if p.Source == "" {
		return ""
	}
	return " (" + p.Source + ")"
}
