package policy

import "testing"

func FuzzParseRule(f *testing.F) {
	for _, seed := range []string{
		"allow write_file(notes/**)", "deny shell(git push)", "allow github:search_*", "deny connector github-mcp",
		"allow shell(= npm 'a b')", "deny read_file({a,[!b-c]}/\\**)", "allow http_request(GET https://*.a.b:8443/x/**?y)",
		"except share_file(a, b)", "deny connect([::1]:443)", "allow *(**)", "deny x[a-z]?y:z*(?[a])", "deny shell(git -rf --hard=x *)",
	} {
		f.Add(seed, "git", "a/b", "push")
	}
	f.Fuzz(func(t *testing.T, text, a, b, c string) {
		rule, err := ParseRule(text)
		if err != nil {
			return
		}
		again, err := ParseRule(rule.String())
		if err != nil || again != rule {
			t.Fatalf("%q is written as %q and read as %v, %v", text, rule, again, err)
		}
		set, err := CompileRules([]Rule{rule})
		if err != nil {
			t.Fatalf("%q parses and does not compile: %v", text, err)
		}
		targets := []Target{
			PathTarget(a, b), LinkTarget([]string{a}, []string{b, c}).SharedWith(c), CommandTarget(a, b, c), words(a, "?", c), CommandTarget(),
			TextTarget(a), ArgumentsTarget([]byte(a)), HostTarget(a, b), UnknownTarget(KindPath), {},
		}
		if url, err := URLTarget(b, a); err == nil {
			targets = append(targets, url)
		}
		names := []string{a, ActShell, ActReadFile, ActShareFile, ActHTTPRequest, ActConnect}
		for i, target := range targets {
			act := Act{Name: names[i%len(names)], Connector: c, Target: target}
			for _, act := range []Act{act, {Name: act.Name, Target: target, ByName: true}} {
				call := &Call{Connector: c, Tool: b}
				s := newScan(set, call, &act)
				got, meets := set.denied(call, &act, testNow)
				if want, m := s.denied(); got != want || meets != m {
					t.Fatalf("%s on %s: %v, a scan says %v", rule, act, meets, m)
				}
				if set.allowed(allowing{call: call, act: &act, byName: act.ByName, now: testNow}) != s.allowed(act.ByName, false) {
					t.Fatalf("%s on %s: the index and a scan disagree", rule, act)
				}
			}
		}
	})
}
