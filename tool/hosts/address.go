package hosts

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// A special range is one that no public host has.
type special struct {
	prefix netip.Prefix
	what   string
}

// specials are the ranges that are refused unless config names the address, the narrower
// ones first, so that the words fit best.
var specials = func() []special {
	var out []special
	add := func(what string, prefixes ...string) {
		for _, p := range prefixes {
			out = append(out, special{netip.MustParsePrefix(p), what})
		}
	}
	add("an address of a cloud's metadata service",
		"169.254.169.254/32", "169.254.170.2/32", "100.100.100.200/32", "192.0.0.192/32", "168.63.129.16/32",
		"fd00:ec2::254/128", "fd00:ec2::23/128", "fd20:ce::254/128")
	add("an address of this machine", "127.0.0.0/8", "0.0.0.0/8", "::1/128", "::/128")
	add("a link-local address", "169.254.0.0/16", "fe80::/10")
	add("a private address", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7", "fec0::/10")
	add("an address inside a provider's network", "100.64.0.0/10")
	add("a multicast address", "224.0.0.0/4", "ff00::/8")
	add("a reserved address", "192.0.0.0/24", "192.0.2.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
		"240.0.0.0/4", "2001:db8::/32", "3fff::/20", "100::/64", "5f00::/16")
	return out
}()

// Ranges of IPv6 in which an IPv4 address hides, and where in it.
var carriers = []struct {
	prefix netip.Prefix
	at     int
}{
	{netip.MustParsePrefix("::/96"), 12},           // compatible
	{netip.MustParsePrefix("::ffff:0:0:0/96"), 12}, // translated
	{netip.MustParsePrefix("64:ff9b::/96"), 12},    // NAT64
	{netip.MustParsePrefix("64:ff9b:1::/48"), 12},  // NAT64, local use
	{netip.MustParsePrefix("2002::/16"), 2},        // 6to4
}

// Special says what an address is that no public host has, such as a private one; empty if it
// may be one of a public host.
func Special(addr netip.Addr) string {
	addr = addr.Unmap().WithZone("")
	for _, s := range specials {
		if s.prefix.Contains(addr) {
			return s.what
		}
	}
	for _, inner := range hidden(addr) {
		if what := Special(inner); what != "" {
			return what + " (" + inner.String() + ")"
		}
	}
	return ""
}

// hidden returns the IPv4 addresses that an IPv6 address carries.
func hidden(addr netip.Addr) (inner []netip.Addr) {
	if !addr.Is6() {
		return nil
	}
	bytes := addr.As16()
	for _, c := range carriers {
		if c.prefix.Contains(addr) {
			inner = append(inner, netip.AddrFrom4([4]byte(bytes[c.at:c.at+4])))
		}
	}
	if netip.MustParsePrefix("2001::/32").Contains(addr) { // Teredo: the client's, inverted
		inner = append(inner, netip.AddrFrom4([4]byte{^bytes[12], ^bytes[13], ^bytes[14], ^bytes[15]}))
	}
	return inner
}

// localNames mean this machine, metadataNames a cloud's metadata service, whatever a
// look-up says.
var (
	localNames    = []string{"localhost", "localhost.localdomain", "localhost6", "ip6-localhost", "ip6-loopback"}
	metadataNames = []string{"metadata", "metadata.google.internal", "metadata.goog", "instance-data",
		"instance-data.ec2.internal"}
)

// IsLocalName reports whether a name can only mean this machine.
func IsLocalName(host string) bool {
	return slices.Contains(localNames, host) || strings.HasSuffix(host, ".localhost")
}

// SpecialName says what a name is that leads to no public host, whatever a look-up says; empty
// if it may lead to one.
func SpecialName(host string) string {
	switch {
	case IsLocalName(host):
		return "a name of this machine"
	case slices.Contains(metadataNames, host):
		return "the name of a cloud's metadata service"
	}
	return ""
}

// Numeric reports whether a host can only be meant as an IPv4 address: its last part is a
// number. No top-level domain is.
func Numeric(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	if last == "" {
		return false
	}
	_, ok := number(last)
	return ok || strings.Trim(last, "0123456789") == ""
}

// ParseIPv4 reads an IPv4 address in every spelling that some program takes: one to four
// parts, each decimal, octal or hexadecimal, the last one filling what is left.
func ParseIPv4(host string) (netip.Addr, bool) {
	parts := strings.Split(host, ".")
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	var value uint64
	for i, part := range parts {
		n, ok := number(part)
		bits := 8
		if i == len(parts)-1 {
			bits = 8 * (4 - i)
		}
		if !ok || n >= 1<<bits {
			return netip.Addr{}, false
		}
		value = value<<bits | n
	}
	return netip.AddrFrom4([4]byte{byte(value >> 24), byte(value >> 16), byte(value >> 8), byte(value)}), true
}

// number reads one part of an address, as C does.
func number(part string) (uint64, bool) {
	base := 10
	switch {
	case strings.HasPrefix(part, "0x"):
		part, base = part[2:], 16
		if part == "" {
			return 0, true // some programs take it for zero
		}
	case len(part) > 1 && part[0] == '0':
		base = 8
	}
	if part == "" || part[0] == '+' || part[0] == '-' || strings.Contains(part, "_") {
		return 0, false
	}
	n, err := strconv.ParseUint(part, base, 64)
	return n, err == nil
}

// A Public reports whether everybody can have a name below a domain. The list of such domains is
// long and comes from outside, so that programs which offer no answers for domains go without.
type Public func(domain string) bool

// shared are names below which each name belongs to somebody else: a yes to one of them says
// nothing about the others. They are those that are not in the public list, or came to it late;
// those of countries (co.uk) are also recognized by their form.
var shared = []string{
	"appspot.com", "azurecontainerapps.io", "azurewebsites.net", "azurestaticapps.net", "b-cdn.net", "beeceptor.com",
	"blogspot.com", "cloudapp.net", "cloudflare.net", "codeberg.page", "deno.dev", "duckdns.org", "edgekey.net",
	"firebaseapp.com", "firebaseio.com", "fly.dev", "github.dev", "github.io", "githubpreview.dev", "gitlab.io",
	"gitpod.io", "glitch.me", "googleusercontent.com", "herokuapp.com", "hf.space", "lhr.life", "loca.lt",
	"localtunnel.me", "m.pipedream.net", "modal.run", "neocities.org", "netlify.app", "ngrok.app", "ngrok.io",
	"ngrok-free.app", "ngrok-free.dev", "nip.io", "no-ip.org", "oast.fun", "oast.live", "oast.me", "oast.online",
	"oast.pro", "oast.site", "onrender.com", "pages.dev", "pinggy.link", "railway.app", "r2.dev", "readthedocs.io",
	"repl.co", "replit.app", "replit.dev", "requestcatcher.com", "run.app", "serveo.net", "sourceforge.io", "sslip.io",
	"stackblitz.io", "streamlit.app", "surge.sh", "translate.goog", "trycloudflare.com", "up.railway.app",
	"vercel.app", "web.app", "webcontainer.io", "webhook.site", "wixsite.com", "wordpress.com", "workers.dev",
	"xip.io",
}

// clouds are names below which customers have names at every depth.
var clouds = []string{
	"aliyuncs.com", "akamaized.net", "amazonaws.com", "amazonaws.com.cn", "awsapps.com", "azure.com", "azureedge.net",
	"azurefd.net", "backblazeb2.com", "cloudapp.azure.com", "cloudflarestorage.com", "cloudfront.net",
	"digitaloceanspaces.com", "elb.amazonaws.com", "fastly.net", "fastlylb.net", "linodeobjects.com", "myqcloud.com",
	"oraclecloud.com", "ovh.net", "vultrobjects.com", "wasabisys.com", "windows.net",
}

// generic are the second parts of names such as co.uk.
var generic = []string{"ac", "co", "com", "edu", "firm", "gen", "go", "gob", "gouv", "gov", "govt", "ind", "info",
	"ltd", "me", "mil", "ne", "net", "nom", "or", "org", "plc", "sch"}

// Domain returns *.NAME for the name above a host, which an answer may be remembered for;
// empty if that would reach names of others: the host has two parts or is an address, or the
// name above it is one that everybody can have a name below. A nil Public offers none.
func (public Public) Domain(host string) string {
	_, parent, ok := strings.Cut(host, ".")
	if _, isAddr := address(host); isAddr || !ok || SpecialName(host) != "" {
		return ""
	}
	if public == nil || public(parent) {
		return ""
	}
	labels := strings.Split(parent, ".")
	if len(labels) < 2 || slices.Contains(labels, "") || slices.Contains(shared, parent) {
		return ""
	}
	if top := labels[len(labels)-1]; len(labels) == 2 && len(top) == 2 &&
		(slices.Contains(generic, labels[0]) || len(labels[0]) <= 2) {
		return "" // co.uk, and what looks like it
	}
	for _, c := range clouds {
		if parent == c || strings.HasSuffix(parent, "."+c) {
			return ""
		}
	}
	return "*." + parent
}
