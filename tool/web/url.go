package web

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool/hosts"
)

// A place is a URL in the one form in which it is judged, shown and sent.
type place struct {
	target policy.Target
	addr   netip.Addr // the host if it is an address; else not valid
	user   bool       // the URL had a user name, which is left out
}

// maxURL is the longest URL that is taken.
const maxURL = 8 << 10

// readURL brings a URL into its form. An error means that it cannot be understood.
func readURL(method, raw string) (place, error) {
	if len(raw) > maxURL {
		return place{}, fmt.Errorf("it has more than %d characters", maxURL)
	}
	u, err := url.Parse(raw)
	switch {
	case err != nil:
		return place{}, errors.New("it is not a URL: " + cause(err))
	case u.Scheme != "https" && u.Scheme != "http":
		return place{}, fmt.Errorf("only https and http are spoken, not %q", u.Scheme)
	case u.Opaque != "" || u.Hostname() == "":
		return place{}, errors.New("missing host: write https://HOST/PATH")
	}
	host, addr, err := readHost(u)
	if err != nil {
		return place{}, err
	}
	if err := checkPort(u.Port()); err != nil {
		return place{}, err
	}
	p := place{addr: addr, user: u.User != nil}
	u.User, u.Fragment, u.RawFragment = nil, "", ""
	u.Host, u.RawQuery = joinPort(host, u.Port()), escapeQuery(u.RawQuery)
	if p.target, err = policy.URLTarget(method, u.String()); err != nil {
		return place{}, err
	}
	return p, p.check()
}

// cause returns an error of net/url without the URL, which may hold a secret.
func cause(err error) string {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err.Error()
	}
	return err.Error()
}

// names brings international names into the form that is looked up.
var names = idna.New(idna.MapForLookup(), idna.BidiRule(), idna.Transitional(false), idna.StrictDomainName(false))

// readHost returns the host as it is looked up, and its address if it is one in whatever
// spelling.
func readHost(u *url.URL) (string, netip.Addr, error) {
	host := u.Hostname()
	if strings.HasPrefix(u.Host, "[") {
		addr, err := netip.ParseAddr(host)
		if err != nil || addr.Zone() != "" {
			return "", addr, fmt.Errorf("invalid address %q", host)
		}
		return addr.Unmap().String(), addr.Unmap(), nil
	}
	host, err := nameForm(host)
	if err != nil {
		return "", netip.Addr{}, fmt.Errorf("host %q: %w", u.Hostname(), err)
	}
	if !hosts.Numeric(host) {
		return host, netip.Addr{}, checkName(host)
	}
	addr, ok := hosts.ParseIPv4(host)
	if !ok {
		return "", addr, fmt.Errorf("host %q is neither a name nor an address", host)
	}
	return addr.String(), addr, nil
}

// nameForm returns a name as it is looked up. A name that does not stay the same when it is
// read again is refused: others might read it once more.
func nameForm(host string) (string, error) {
	form, err := names.ToASCII(host)
	if err != nil {
		return "", err
	}
	if again, err := names.ToASCII(form); err != nil || again != form || !utf8.ValidString(host) {
		return "", errors.New("it can be read in more than one way")
	}
	return strings.TrimSuffix(strings.ToLower(form), "."), nil
}

// checkName refuses what the domain name system has no room for.
func checkName(host string) error {
	if len(host) > 253 {
		return errors.New("the host's name is too long")
	}
	for label := range strings.SplitSeq(host, ".") {
		if label == "" || len(label) > 63 {
			return fmt.Errorf("host %q has a part that is empty or too long", host)
		}
	}
	return nil
}

func checkPort(port string) error {
	if port == "" {
		return nil
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return fmt.Errorf("port %q: it is between 1 and 65535", port)
	}
	return nil
}

func joinPort(host, port string) string {
	if port != "" {
		return net.JoinHostPort(host, port)
	}
	if strings.Contains(host, ":") {
		return "[" + host + "]"
	}
	return host
}

// escapeQuery escapes what may not stand in a request as it is.
func escapeQuery(query string) string {
	var b strings.Builder
	for _, c := range []byte(query) {
		if c <= ' ' || c >= 0x7f || strings.IndexByte(`"<>\^{}|`+"`", c) >= 0 {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// url returns the URL that is sent.
func (p place) url() string {
	parts := p.target.URL
	parts.Method = ""
	return parts.String()
}

// check reports whether the URL that is sent is read as the one that was judged.
func (p place) check() error {
	u, err := url.Parse(p.url())
	if err != nil {
		return errors.New("it is not a URL: " + cause(err))
	}
	parts := p.target.URL
	if u.Hostname() != parts.Host || u.EscapedPath() != parts.Path || u.RawQuery != parts.Query {
		return errors.New("it can be read in more than one way; write it plainly")
	}
	return nil
}
