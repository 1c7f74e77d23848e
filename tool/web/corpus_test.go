package web_test

import (
	"testing"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool/hosts"
	"github.com/assent-dev/assent/tool/web"
)

// Cases of URLs, those of the corpus among them. A call that cannot be understood is
// refused.
func TestURLs(t *testing.T) {
	const allow, ask, deny = "allow", "ask", "deny"
	w := newTool(t, web.Options{Network: listed})
	for _, c := range []struct{ url, want, why string }{
		{"https://DOCS.PYTHON.ORG./3/", allow, "A401 case and trailing dot"},
		{"https://docs.python.org/3/library", allow, "as it is listed"},
		{"https://docs.python.org:443/", allow, "the port that is meant anyway"},
		{"https://docs.python.org:0443/", allow, "the same with a zero"},
		{"HTTPS://docs.python.org/", allow, "case of the scheme"},
		{"https://cdn.packages.example/", allow, "below a star"},
		{"https://a.b.packages.example/", allow, "any depth"},
		{"https://ｄｏｃｓ.python.org/", allow, "letters of full width mean the same"},
		{"https://docs。python.org/", allow, "a dot of another script"},
		{"https://docs.python.org/?u=https://evil.example", allow, "another name in the query"},
		{"https://docs.python.org/#@evil.example/", allow, "another name in the fragment"},

		{"https://packages.example/", ask, "the apex is not included"},
		{"https://evilpackages.example/", ask, "A405 ends alike without a dot"},
		{"https://docs.python.org.evil.example/", ask, "begins alike"},
		{"https://evil.example/?u=https://docs.python.org", ask, "A407 the name in the query"},
		{"https://evil.example/docs.python.org", ask, "the name in the path"},
		{"https://evil.example/#https://docs.python.org", ask, "the name in the fragment"},
		{"https://docs.python.org@evil.example/", ask, "the name as a user"},
		{"https://docs.python.org:443@evil.example/", ask, "the name as a user with a password"},
		{"https://docs.python.org%2f@evil.example/", ask, "the same, escaped"},
		{"https://user:pass@docs.python.org/", ask, "a user is worth a look"},
		{"http://docs.python.org/", ask, "A410 https only"},
		{"https://docs.python.org:8443/", ask, "another port"},
		{"http://docs.python.org:443/", ask, "no https on its port"},
		{"https://docs.pythоn.org/", ask, "a letter of another script"},
		{"https://docs-python.org/", ask, "another name"},
		{"https://docs.python.org.packages.example.evil.example/", ask, "both names before another"},
		{"https://93.184.216.34/", ask, "a public address"},
		{"https://0x5db8d822/", ask, "the same in hexadecimal"},
		{"https://[2606:2800:220:1:248:1893:25c8:1946]/", ask, "a public address of six"},

		{"http://127.0.0.1/", deny, "loopback"},
		{"http://0x7f.1/", deny, "A415 short hexadecimal loopback"},
		{"http://2130706433/", deny, "decimal loopback"},
		{"http://0x7f000001/", deny, "hexadecimal loopback"},
		{"http://0177.0.0.1/", deny, "octal loopback"},
		{"http://017700000001/", deny, "octal in one"},
		{"http://127.1/", deny, "short loopback"},
		{"http://127.0.1/", deny, "three parts"},
		{"http://127.255.255.254:8080/", deny, "all of the network"},
		{"http://127.0.0.1./", deny, "with a final dot"},
		{"http://①②⑦.⓪.⓪.①/", deny, "digits in circles"},
		{"http://１２７.０.０.１/", deny, "digits of full width"},
		{"http://0/", deny, "zero"},
		{"http://0.0.0.0/", deny, "the unspecified address"},
		{"http://0x/", deny, "zero, for some"},
		{"http://[::1]/", deny, "loopback of six"},
		{"http://[0:0:0:0:0:0:0:1]/", deny, "written out"},
		{"http://[::]/", deny, "unspecified of six"},
		{"http://[::ffff:127.0.0.1]/", deny, "mapped"},
		{"http://[::ffff:7f00:1]/", deny, "mapped in hexadecimal"},
		{"http://[::127.0.0.1]/", deny, "compatible"},
		{"http://[64:ff9b::7f00:1]/", deny, "NAT64"},
		{"http://[64:ff9b::a00:5]/", deny, "NAT64 of a private address"},
		{"http://[2002:7f00:1::]/", deny, "6to4"},
		{"http://[2001:0:4136:e378:8000:63bf:80ff:fffe]/", deny, "Teredo of loopback"},
		{"http://[fe80::1%25eth0]/", deny, "a zone"},
		{"http://[fe80::1]/", deny, "link-local of six"},
		{"http://[fec0::1]/", deny, "site-local"},
		{"http://[fd00:ec2::254]/", deny, "metadata of six"},
		{"http://[fc00::1]/", deny, "unique local"},
		{"http://[ff02::1]/", deny, "multicast of six"},
		{"http://169.254.169.254/latest/meta-data/", deny, "metadata"},
		{"http://2852039166/", deny, "metadata in decimal"},
		{"http://0xA9FEA9FE/", deny, "metadata in hexadecimal"},
		{"http://[::ffff:a9fe:a9fe]/", deny, "metadata, mapped"},
		{"http://100.100.100.200/", deny, "metadata elsewhere"},
		{"http://168.63.129.16/", deny, "metadata elsewhere"},
		{"http://metadata.google.internal/", deny, "metadata by name"},
		{"http://METADATA.google.internal./", deny, "the same"},
		{"http://10.0.0.5/", deny, "private"},
		{"http://172.16.0.1/", deny, "private"},
		{"http://172.31.255.255/", deny, "private to its end"},
		{"http://192.168.1.1/", deny, "private"},
		{"http://100.64.0.1/", deny, "inside a provider"},
		{"http://169.254.1.1/", deny, "link-local"},
		{"http://224.0.0.1/", deny, "multicast"},
		{"http://255.255.255.255/", deny, "broadcast"},
		{"http://localhost/", deny, "this machine by name"},
		{"http://LOCALHOST.:8080/", deny, "the same"},
		{"http://anything.localhost/", deny, "the same"},
		{"http://docs.python.org@127.0.0.1/", deny, "a listed name as a user of loopback"},

		{"http://256.256.256.256/", deny, "no address, and no name either"},
		{"http://1.2.3.4.5/", deny, "five parts"},
		{"http://0x100000000/", deny, "too large"},
		{"http://09.1.1.1/", deny, "no octal digit"},
		{"https://docs.python.org\\@evil.example/", deny, "readers disagree about it"},
		{"https://docs.python.org\t/", deny, "a tab"},
		{"https://docs.python.org:99999/", deny, "no port"},
		{"https://docs.python.org:0/", deny, "no port"},
		{"https:docs.python.org", deny, "no host"},
		{"https:///docs.python.org", deny, "no host"},
		{"//docs.python.org/", deny, "no scheme"},
		{"docs.python.org", deny, "no scheme"},
		{"ftp://docs.python.org/", deny, "another protocol"},
		{"file:///etc/passwd", deny, "a file"},
		{"gopher://127.0.0.1:6379/_x", deny, "another protocol"},
		{"https://docs..python.org/", deny, "an empty part"},
		{"https://./", deny, "only a dot"},
		{"https://docs%2Epython.org/", deny, "escapes in the host"},
		{"", deny, "nothing"},
	} {
		p, err := prepare(t, w, map[string]any{"url": c.url})
		got := deny
		if err == nil {
			got = map[policy.Verdict]string{policy.VerdictFree: allow, policy.VerdictAsk: ask, policy.VerdictBlock: deny}[verdict(p)]
		}
		if got != c.want {
			t.Errorf("%s (%s): %s, want %s; error %v, acts %+v", c.url, c.why, got, c.want, err, p.Acts)
		}
	}
}

func TestPolicies(t *testing.T) {
	for _, c := range []struct {
		name   string
		policy hosts.Policy
		method string
		url    string
		want   policy.Verdict
	}{
		{"off blocks", hosts.Policy{}, "GET", "https://docs.python.org/", policy.VerdictBlock},
		{"on asks", hosts.Policy{On: true}, "GET", "https://docs.python.org/", policy.VerdictAsk},
		{"on refuses loopback", hosts.Policy{On: true}, "GET", "http://127.0.0.1/", policy.VerdictBlock},
		{"a listed host is free for every method", listed, "DELETE", "https://docs.python.org/", policy.VerdictFree},
		{"an address that is named asks over http", hosts.Policy{Allow: []string{"127.0.0.1"}}, "GET", "http://127.0.0.1:8080/", policy.VerdictAsk},
		{"in every spelling", hosts.Policy{Allow: []string{"127.0.0.1"}}, "GET", "http://0x7f.1:8080/", policy.VerdictAsk},
		{"and not another one", hosts.Policy{Allow: []string{"127.0.0.1"}}, "GET", "http://127.0.0.2:8080/", policy.VerdictBlock},
		{"a private address that is named is free over https", hosts.Policy{Allow: []string{"10.0.0.5"}}, "GET", "https://10.0.0.5/", policy.VerdictFree},
		{"localhost that is named", hosts.Policy{Allow: []string{"localhost"}}, "GET", "http://localhost:8080/", policy.VerdictAsk},
		{"localhost is not its address", hosts.Policy{Allow: []string{"localhost"}}, "GET", "http://127.0.0.1:8080/", policy.VerdictBlock},
	} {
		fields := map[string]any{"url": c.url, "method": c.method}
		p, err := prepare(t, newTool(t, web.Options{Network: c.policy}), fields)
		if err != nil || verdict(p) != c.want {
			t.Errorf("%s: %v, want %v; error %v", c.name, verdict(p), c.want, err)
		}
	}
}
