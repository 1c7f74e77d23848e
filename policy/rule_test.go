package policy

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseRuleReadsTheTextForms(t *testing.T) {
	for text, want := range map[string]Rule{
		"allow write_file(notes/**)":               {Effect: EffectAllow, Scope: ScopeTool, Pattern: "write_file(notes/**)"},
		"deny shell(git push)":                     {Effect: EffectDeny, Scope: ScopeTool, Pattern: "shell(git push)"},
		"allow github:search_*":                    {Effect: EffectAllow, Scope: ScopeTool, Pattern: "github:search_*"},
		"deny connector github-mcp":                {Effect: EffectDeny, Scope: ScopeConnector, Pattern: "github-mcp"},
		"  DENY   connector   g*  ":                {Effect: EffectDeny, Scope: ScopeConnector, Pattern: "g*"},
		"deny read_file(**/.env.*)":                {Effect: EffectDeny, Scope: ScopeTool, Pattern: "read_file(**/.env.*)"},
		"except read_file(**/.env.example)":        {Effect: EffectExcept, Scope: ScopeTool, Pattern: "read_file(**/.env.example)"},
		"allow shell(= npm test)":                  {Effect: EffectAllow, Scope: ScopeTool, Pattern: "shell(= npm test)"},
		"allow shell":                              {Effect: EffectAllow, Scope: ScopeTool, Pattern: "shell"},
		"allow shell(*)":                           {Effect: EffectAllow, Scope: ScopeTool, Pattern: "shell(*)"},
		"allow connect(a.b:443)":                   {Effect: EffectAllow, Scope: ScopeTool, Pattern: "connect(a.b:443)"},
		"allow http_request(GET https://*.a.b/**)": {Effect: EffectAllow, Scope: ScopeTool, Pattern: "http_request(GET https://*.a.b/**)"},
		"allow share_file(notes/**, helper)":       {Effect: EffectAllow, Scope: ScopeTool, Pattern: "share_file(notes/**, helper)"},
		"allow gh:create_issue(title: [a-z]*)":     {Effect: EffectAllow, Scope: ScopeTool, Pattern: "gh:create_issue(title: [a-z]*)"},
		"allow connector":                          {Effect: EffectAllow, Scope: ScopeTool, Pattern: "connector"},
		`allow a.b+c(d\e`:                          {Effect: EffectAllow, Scope: ScopeTool, Pattern: `a.b+c(d\e`},
	} {
		t.Run(text, func(t *testing.T) {
			got, err := ParseRule(text)
			want.Enabled = true
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Fatalf("error %v (-want +got):\n%s", err, diff)
			}
			if again := mustRule(t, got.String()); again != got {
				t.Errorf("%s reads as %v", got, again)
			}
		})
	}
}

func TestParseRuleRefuses(t *testing.T) {
	for text, want := range map[string]error{
		"":                                   ErrMalformedRule,
		"permit shell":                       ErrMalformedRule,
		"allow":                              ErrEmptyPattern,
		"deny   ":                            ErrEmptyPattern,
		"deny :name":                         ErrEmptyPattern,
		"deny github:":                       ErrEmptyPattern,
		"deny shell()":                       ErrEmptyPattern,
		"deny shell(  )":                     ErrEmptyPattern,
		"deny two words":                     ErrMalformedRule,
		"deny connector two words":           ErrMalformedRule,
		"deny tool[":                         ErrMalformedRule,
		"deny tool[a":                        ErrMalformedRule,
		"deny tool]":                         ErrMalformedRule,
		"deny tool[]":                        ErrMalformedRule,
		"deny tool[!]":                       ErrMalformedRule,
		"deny tool[b-a]":                     ErrMalformedRule,
		"deny tool[[a]":                      ErrMalformedRule,
		"deny connector g[":                  ErrMalformedRule,
		"deny gh[:x":                         ErrMalformedRule,
		"deny tool(a[)":                      ErrMalformedRule,
		`deny tool(a\)`:                      ErrMalformedRule,
		"deny read_file(a[)":                 ErrMalformedRule,
		"deny read_file({a)":                 ErrMalformedRule,
		"deny shell(git 'push)":              ErrMalformedRule,
		"deny shell(git * push)":             ErrMalformedRule,
		"deny shell(git push; ls)":           ErrMalformedRule,
		"deny shell(echo $HOME)":             ErrMalformedRule,
		"deny shell(=npm)":                   ErrMalformedRule,
		"deny shell(= )":                     ErrMalformedRule,
		"deny shell(= npm *)":                ErrMalformedRule,
		`deny shell(git \)`:                  ErrMalformedRule,
		"deny http_request(a.b)":             ErrMalformedRule,
		"deny http_request(https://a.b)":     ErrMalformedRule,
		"deny http_request(https:///x)":      ErrMalformedRule,
		"deny http_request(https://u@a.b/x)": ErrMalformedRule,
		"deny http_request(https://*./x)":    ErrMalformedRule,
		"deny http_request(https://a.*/x)":   ErrMalformedRule,
		"deny http_request(https://a.b/[)":   ErrMalformedRule,
		"deny connect(https://a.b/x)":        ErrMalformedRule,
		"deny connect(évil.com)":             ErrMalformedRule,
		"deny read_file(a\x00b)":             ErrMalformedRule,
		"deny read_file(a\nb)":               ErrMalformedRule,
		"deny read_file(\xff)":               ErrMalformedRule,
		"deny read_file(" + strings.Repeat("{a,a}", 30) + ")": ErrMalformedRule,
	} {
		t.Run(text, func(t *testing.T) {
			got, err := ParseRule(text)
			var fault *RuleError
			if !errors.Is(err, want) || !errors.As(err, &fault) || fault.Detail == "" || got != (Rule{}) {
				t.Errorf("ParseRule(%q) = %v, %v; want %v with a detail", text, got, err, want)
			}
		})
	}
	if err := (Rule{Effect: EffectDeny, Pattern: "x"}).Validate(); !errors.Is(err, ErrMalformedRule) {
		t.Errorf("a rule without a scope: %v", err)
	}
	if err := (Rule{Effect: EffectDeny, Scope: ScopeTool, Pattern: " x"}).Validate(); !errors.Is(err, ErrMalformedRule) {
		t.Errorf("white space around a pattern: %v", err)
	}
}

func TestRuleNamesAreGlobsWithoutCase(t *testing.T) {
	for _, c := range []struct {
		pattern, connector, name string
		want                     bool
	}{
		{"Send_Email", "", "send_EMAIL", true},
		{"send_email", "", "send_emails", false},
		{"send_*", "", "SEND_email", true},
		{"*_search_*", "", "a_search_b", true},
		{"*_search_*", "", "a_search", false},
		{"a?c", "", "abc", true}, {"a?c", "", "ac", false}, {"a?c", "", "aéc", true},
		{"a[B-D]e", "", "ace", true}, {"a[!b-d]e", "", "ace", false}, {"a[^b]e", "", "ace", true},
		{"a.c", "", "abc", false}, {"a.c", "", "a.c", true},
		{"a+", "", "aa", false}, {"a+", "", "a+", true},
		{`a\*`, "", `a\b`, true}, {`a\*`, "", "a*", false},
		{"a(b", "", "a(b", true},
		{"*a*b*", "", "xxaxxbxx", true}, {"*a*b*", "", "xxbxxaxx", false},
		{"a*a", "", "a", false}, {"a*a", "", "aa", true}, {"**", "", "x", true}, {"a*?b", "", "ab", false}, {"a*?b", "", "axb", true},
		{"search", "github", "search", true},
		{"GitHub:search", "github", "Search", true},
		{"git*:search", "github", "search", true},
		{"github:search", "gitlab", "search", false},
		{"github:search", "", "search", false},
		{"*:search", "", "search", false},
		{"*:search", "any", "search", true},
	} {
		for _, effect := range []string{"allow ", "deny "} {
			set := mustRules(t, effect+c.pattern)
			act := Act{Connector: c.connector, Name: c.name, Target: TextTarget("t")}
			got := set.allowed(allowing{call: callOf(act), act: &act, now: testNow}) != nil
			if effect == "deny " {
				_, meets := set.denied(callOf(act), &act, testNow)
				got = meets == MatchYes
			}
			if got != c.want {
				t.Errorf("%s%s on %s: %v, want %v", effect, c.pattern, act, got, c.want)
			}
		}
	}
}

func TestConnectorRulesNeverMatchBuiltinTools(t *testing.T) {
	act := Act{Name: "search", Target: TextTarget("t")}
	if denies(t, "connector *", act) != MatchNo || allows(t, "connector *", act) {
		t.Error("a connector rule reaches a tool without a connector")
	}
	act.Connector = "github-mcp"
	if denies(t, "connector GitHub-*", act) != MatchYes || !allows(t, "connector github-mcp", act) || denies(t, "connector github", act) != MatchNo {
		t.Error("a connector rule does not match its connector")
	}
	act.ByName = true
	if allows(t, "connector *", act) {
		t.Error("an allow for a connector answers what is answered by name only")
	}
}

func TestAllowForABuiltinNameDoesNotReachAStrangersTool(t *testing.T) {
	for _, name := range []string{"read_file", "READ_FILE", "write_file", "shell", "list_files", "edit_file"} {
		act := Act{Connector: "evil", Name: name, Target: TextTarget("t")}
		for _, rule := range []string{name, "*", "*e*", name[:1] + "*", "[a-z]*"} {
			if allows(t, rule, act) {
				t.Errorf("allow %s reaches %s", rule, act)
			}
			if denies(t, rule, act) != MatchYes {
				t.Errorf("deny %s does not reach %s", rule, act)
			}
		}
		for _, rule := range []string{"evil:" + name, "evil:*", "*:*", "connector evil"} {
			if !allows(t, rule, act) {
				t.Errorf("allow %s does not reach %s", rule, act)
			}
		}
	}
	if !allows(t, "read_*", Act{Connector: "evil", Name: "read_mail", Target: TextTarget("t")}) {
		t.Error("a bare name does not reach a connector's tool")
	}
}

func TestLookAlikeLettersMeetDeniesOnly(t *testing.T) {
	for name, pattern := range map[string]string{"\u212aill": "kill", "\u017fhell": "shell", "GROẞ": "groß"} {
		act := Act{Name: name, Connector: "c", Target: TextTarget("t")}
		if allows(t, pattern, act) {
			t.Errorf("allow %s covers %s", pattern, name)
		}
		if denies(t, pattern, act) != MatchYes || denies(t, "c:"+pattern[:2]+"*", act) != MatchYes {
			t.Errorf("deny %s is not met by %s", pattern, name)
		}
	}
}
