package hosts

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/assent-dev/assent/policy"
)

func TestConnect(t *testing.T) {
	listed := Policy{Allow: []string{"docs.example.org", "*.packages.example"}, Source: "policy.yaml:3"}
	for _, c := range []struct {
		name       string
		policy     Policy
		host, port string
		tls        bool
		want       policy.Verdict
	}{
		{"the zero policy is off", Policy{}, "docs.example.org", "443", true, policy.VerdictBlock},
		{"off for what is unknown too", Policy{}, "", "", false, policy.VerdictBlock},
		{"on asks", Policy{On: true}, "docs.example.org", "443", true, policy.VerdictAsk},
		{"listed is free", listed, "docs.example.org", "443", true, policy.VerdictFree},
		{"case and a final dot do not matter", listed, "Docs.Example.org.", "443", true, policy.VerdictFree},
		{"listed without tls asks", listed, "docs.example.org", "443", false, policy.VerdictAsk},
		{"another port asks", listed, "docs.example.org", "8443", true, policy.VerdictAsk},
		{"a longer name is another", listed, "docs.example.org.evil.example", "443", true, policy.VerdictAsk},
		{"below a star", listed, "a.b.packages.example", "443", true, policy.VerdictFree},
		{"the star is not the name itself", listed, "packages.example", "443", true, policy.VerdictAsk},
		{"nor what ends alike", listed, "evilpackages.example", "443", true, policy.VerdictAsk},
		{"unknown asks", listed, "", "", true, policy.VerdictAsk},
		{"a foreign script asks", listed, "docs.exаmple.org", "443", true, policy.VerdictAsk},
	} {
		act := c.policy.Connect(c.host, c.port, c.tls)
		if act.Verdict != c.want || !act.ByName || act.Why == "" {
			t.Errorf("%s: %s, by name %v, why %q", c.name, act.Verdict, act.ByName, act.Why)
		}
	}
}

func TestValidate(t *testing.T) {
	good := []string{"a.example", "*.b.example", "10.0.0.1", "a.example:443", "*.b.example:8443", "10.0.0.1:22", "::1", "[::1]:80", "localhost:3000"}
	if err := (Policy{Allow: good, Deny: good}).Validate(); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{"", "*", "a*.example", "*.*.example", "https://a.example", "a.example:0", "a.example:443x", "a.example:", "a b", "::1:80x", "[::1", "fe80::1%eth0", "0x7f.1", "127.1", "*.10.0.0.1", "a..b", "docs.exаmple.org"} {
		if (Policy{Allow: []string{bad}}).Validate() == nil || (Policy{Deny: []string{bad}}).Validate() == nil {
			t.Errorf("host %q is taken", bad)
		}
	}
}

// TestJudge is about connections that are about to be made.
func TestJudge(t *testing.T) {
	p := Policy{
		Allow: []string{"docs.example.org", "*.packages.example", "db.example:5432", "*.svc.example:8443", "localhost:3000", "10.1.2.3", "[fd00::5]:443", "*.localhost"},
		Deny:  []string{"evil.packages.example", "*.bad.example", "db.example:22", "203.0.113.9"}, Source: "policy.yaml:3",
		Own:   []netip.Addr{netip.MustParseAddr("93.184.216.34")},
		Lines: map[string]string{"allow docs.example.org": "user.yaml:7", "deny *.bad.example": "admin.yaml:2"},
	}
	for _, c := range []struct {
		host, port string
		want       policy.Verdict
		why        string
	}{
		{"docs.example.org", "443", policy.VerdictFree, "user.yaml:7"},
		{"docs.example.org", "80", policy.VerdictAsk, "443 only (user.yaml:7)"},
		{"docs.example.org", "8443", policy.VerdictAsk, "443 only"},
		{"a.packages.example", "443", policy.VerdictFree, "policy.yaml:3"},
		{"evil.packages.example", "443", policy.VerdictBlock, "evil.packages.example:443 is denied (policy.yaml:3)"},
		{"evil.packages.example", "9999", policy.VerdictBlock, "denied"},
		{"x.bad.example", "443", policy.VerdictBlock, "admin.yaml:2"},
		{"bad.example", "443", policy.VerdictAsk, "no rule allows"},
		{"db.example", "5432", policy.VerdictFree, "db.example:5432 is listed"},
		{"db.example", "443", policy.VerdictAsk, "only db.example:5432 is listed"},
		{"db.example", "22", policy.VerdictBlock, "denied"},
		{"a.svc.example", "8443", policy.VerdictFree, "listed"},
		{"a.svc.example", "443", policy.VerdictAsk, "only *.svc.example:8443"},
		{"other.example", "443", policy.VerdictAsk, "no rule allows"},
		{"localhost", "3000", policy.VerdictFree, "listed"},
		{"localhost", "3001", policy.VerdictBlock, "sandbox.network.allow lists them: localhost:3001"},
		{"app.localhost", "443", policy.VerdictBlock, "a name of this machine"}, // a pattern lists no host
		{"127.0.0.1", "80", policy.VerdictBlock, "127.0.0.1:80"},
		{"0x7f000001", "80", policy.VerdictBlock, "this machine"},
		{"::1", "80", policy.VerdictBlock, "[::1]:80"},
		{"::ffff:127.0.0.1", "80", policy.VerdictBlock, "this machine"},
		{"10.1.2.3", "443", policy.VerdictFree, "listed"},
		{"10.1.2.3", "22", policy.VerdictAsk, "443 only"},
		{"10.1.2.4", "443", policy.VerdictBlock, "a private address"},
		{"fd00::5", "443", policy.VerdictFree, "listed"},
		{"fd00::5", "444", policy.VerdictBlock, "a private address"},
		{"169.254.169.254", "80", policy.VerdictBlock, "metadata"},
		{"metadata.google.internal", "80", policy.VerdictBlock, "metadata"},
		{"100.64.1.1", "443", policy.VerdictBlock, "provider"},
		{"224.0.0.1", "443", policy.VerdictBlock, "multicast"},
		{"0.0.0.0", "443", policy.VerdictBlock, "this machine"},
		{"93.184.216.34", "443", policy.VerdictBlock, "an address of this machine"},
		{"93.184.216.35", "443", policy.VerdictAsk, "no rule allows"},
	} {
		act := p.Judge(Connection{Host: c.host, Port: c.port})
		if act.Verdict != c.want || !strings.Contains(act.Why, c.why) || !act.ByName {
			t.Errorf("%s:%s: %s, %q", c.host, c.port, act.Verdict, act.Why)
		}
	}
	for _, odd := range []Connection{{}, {Host: "a.example"}, {Host: "a b", Port: "443"}, {Host: "a.example\n", Port: "443"}, {Host: "docs.exаmple.org", Port: "443"}} {
		if act := (Policy{On: true}).Judge(odd); act.Verdict != policy.VerdictBlock {
			t.Errorf("%q: %s", odd, act.Verdict)
		}
	}
	for _, off := range []Policy{{}, {Deny: []string{"a.example"}}} {
		if act := off.Judge(Connection{Host: "b.example", Port: "443"}); act.Verdict != policy.VerdictBlock {
			t.Errorf("%+v: %s", off, act.Verdict)
		}
	}
}

// TestStagedBefore is about connections that are known before a command runs on a stage.
func TestStagedBefore(t *testing.T) {
	p := Policy{On: true, Staged: true, Allow: []string{"localhost:3000"}, Deny: []string{"evil.example"}}
	for host, want := range map[string]policy.Verdict{
		"localhost": policy.VerdictFree, "127.0.0.1": policy.VerdictFree, "::1": policy.VerdictFree, "10.0.0.1": policy.VerdictBlock,
		"169.254.169.254": policy.VerdictBlock, "a.example": policy.VerdictAsk, "evil.example": policy.VerdictBlock, "": policy.VerdictAsk,
	} {
		if act := p.Connect(host, "8080", false); act.Verdict != want || act.PersonOnly {
			t.Errorf("%q: %s, %q", host, act.Verdict, act.Why)
		}
	}
	p.Staged = false
	if act := p.Connect("", "", false); !act.PersonOnly || act.Verdict != policy.VerdictAsk {
		t.Errorf("a host that is not known and may be denied: %+v", act)
	}
	if act := p.Connect("localhost", "8080", false); act.Verdict != policy.VerdictAsk {
		t.Errorf("without a stage: %s", act.Verdict)
	}
}

func TestMayDial(t *testing.T) {
	p := Policy{
		Allow: []string{"dev.example", "api.example:8443", "*.wild.example", "10.0.0.7", "10.0.0.8:22"},
		Deny:  []string{"93.184.216.34"}, Own: []netip.Addr{netip.MustParseAddr("198.51.0.1")},
	}
	for _, c := range []struct {
		host, port, addr, wrong string
	}{
		{"public.example", "443", "93.184.216.35", ""},
		{"public.example", "443", "93.184.216.34", "denied"},
		{"public.example", "443", "10.0.0.1", "lists them: 10.0.0.1:443"},
		{"public.example", "443", "::ffff:10.0.0.1", "private"},
		{"public.example", "443", "127.0.0.1", "this machine"},
		{"public.example", "443", "fe80::1%eth0", "link-local"},
		{"public.example", "443", "198.51.0.1", "this machine"},
		{"public.example", "443", "10.0.0.7", ""},
		{"public.example", "22", "10.0.0.8", ""},
		{"public.example", "23", "10.0.0.8", "private"},
		{"dev.example", "443", "127.0.0.1", ""},
		{"Dev.Example.", "9000", "127.0.0.1", ""},
		{"api.example", "8443", "10.0.0.1", ""},
		{"api.example", "443", "10.0.0.1", "private"},
		{"a.wild.example", "443", "10.0.0.1", "private"}, // whoever owns the domain decides where it leads
	} {
		err := p.MayDial(c.host, c.port, netip.MustParseAddr(c.addr))
		if (err == nil) != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%s:%s at %s: %v", c.host, c.port, c.addr, err)
		}
	}
	if (Policy{}).MayDial("a.example", "443", netip.MustParseAddr("93.184.216.35")) == nil {
		t.Error("the network is off")
	}
}

func TestLocal(t *testing.T) {
	p := Policy{
		Allow: []string{"localhost:3000", "127.0.0.1:8080", "[::1]:3000", "localhost", "a.example:99", "localhost:22"},
		Deny:  []string{"localhost:22"},
	}
	if got := p.Local(); !slices.Equal(got, []uint16{3000, 8080}) {
		t.Error(got)
	}
}

func TestIntersect(t *testing.T) {
	a := Policy{Allow: []string{"*.example", "db.test:5432", "only.test", "tls.test:443"}, Deny: []string{"x.example"}, Source: "a:1"}
	b := Policy{On: true, Allow: []string{"api.example", "*.test:5432", "tls.test"}, Deny: []string{"y.example"}, Source: "b:2"}
	both := a.Intersect(b)
	for host, want := range map[string]policy.Verdict{
		"api.example:443": policy.VerdictFree, "other.example:443": policy.VerdictAsk, "db.test:5432": policy.VerdictFree, "db.test:443": policy.VerdictAsk,
		"only.test:443": policy.VerdictAsk, "x.example:443": policy.VerdictBlock, "y.example:443": policy.VerdictBlock, "z.test:443": policy.VerdictAsk,
	} {
		name, port, _ := strings.Cut(host, ":")
		if act := both.Judge(Connection{Host: name, Port: port}); act.Verdict != want {
			t.Errorf("%s: %s, %s", host, act.Verdict, act.Why)
		}
	}
	if act := both.Judge(Connection{Host: "y.example", Port: "1"}); !strings.Contains(act.Why, "b:2") {
		t.Errorf("the line behind a caller's deny: %s", act.Why)
	}
	if both.Connect("tls.test", "443", true).Verdict != policy.VerdictFree || both.Connect("tls.test", "443", false).Verdict != policy.VerdictAsk {
		t.Error("of an entry with and one without a port the narrower counts")
	}
	for _, off := range []Policy{a.Intersect(Policy{}), (Policy{}).Intersect(a)} {
		if off.Judge(Connection{Host: "api.example", Port: "443"}).Verdict != policy.VerdictBlock {
			t.Error("one of them is off")
		}
	}
}

// TestWords is about what a person is told before anything runs.
func TestWords(t *testing.T) {
	var rules []policy.Rule
	for _, text := range []string{
		"allow connect(a.example:443)", "deny connect(*.evil.example)", "deny shell(connect)", "allow connect", "allow http_request(https://a.example/**)", "allow connect(**)", "deny connect(off.example)",
	} {
		r, err := policy.ParseRule(text)
		if err != nil {
			t.Fatal(err)
		}
		r.Enabled = text != "deny connect(off.example)"
		rules = append(rules, r)
	}
	rules[1].Source = "policy.yaml:9"
	p := Policy{
		Allow: []string{"docs.example.org", "db.example:5432"}, Deny: []string{"bad.example:22"}, Source: "policy.yaml:3",
		Lines: map[string]string{"deny bad.example:22": "admin.yaml:2"},
	}
	var got []string
	for _, w := range p.Words(rules) {
		got = append(got, w.Word+" "+w.Hosts+" | "+w.Source)
	}
	want := []string{
		"denied bad.example:22 | admin.yaml:2",
		"denied *.evil.example | rule deny connect(*.evil.example) at policy.yaml:9",
		"free docs.example.org over https on port 443 | policy.yaml:3",
		"free db.example:5432 | policy.yaml:3",
		"free a.example:443 | rule allow connect(a.example:443)",
		"refused this machine, private networks and metadata services, unless they are listed by name or address | built in",
		"asked every other host | policy.yaml:3",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if off := (Policy{}).Words(rules); len(off) != 1 || off[0].Word != WordDenied {
		t.Errorf("%v", off)
	}
}
