package words_test

import (
	"strings"
	"testing"
	"time"

	"github.com/assent-dev/assent/internal/agents/words"
	"github.com/assent-dev/assent/policy"
)

// said writes a reading in a line: the rules, then what differs, then what is missing.
func said(r words.Reading) string {
	var out []string
	for _, rule := range r.Rules {
		out = append(out, rule.String())
	}
	if r.Differs != "" {
		out = append(out, "~ "+r.Differs)
	}
	if r.Missing != "" {
		out = append(out, "! "+r.Missing)
	}
	return strings.Join(out, "; ")
}

func check(t *testing.T, entry string, got words.Reading, want string) {
	t.Helper()
	text := said(got)
	if prefix, ok := strings.CutSuffix(want, "…"); ok {
		if strings.HasPrefix(text, prefix) {
			return
		}
	}
	if text != want {
		t.Errorf("%s:\n got %s\nwant %s", entry, text, want)
	}
}

func TestClaude(t *testing.T) {
	user, project := words.Place{Home: "/h/me"}, words.Place{Home: "/h/me", Project: true}
	for _, c := range []struct {
		entry string
		at    words.Place
		want  string
	}{
		{"allow Bash(git push:*)", user, "allow shell(git push)"},
		{"allow Bash(git push *)", user, "allow shell(git push)"},
		{"allow Bash(npm run test)", user, "allow shell(= npm run test)"},
		{"deny Bash(npm run test)", user, "deny shell(= npm run test)"},
		{"allow Bash(npm   run  test:*)", user, "allow shell(npm run test)"},
		{"allow Bash(make\ntest)", user, "! it has line breaks, unusual white space…"},
		{"allow Bash(make\rtest:*)", user, "! it has line breaks, unusual white space…"},
		{"allow Bash(echo \"a  b\")", user, "! it has line breaks, unusual white space…"},
		{"allow Bash(echo \"a b\")", user, `allow shell(= echo "a b")`},
		{"allow Bash(git\u00a0status:*)", user, "! it has line breaks, unusual white space…"},
		{"allow Bash(git status\u00a0)", user, "! it has line breaks, unusual white space…"},
		{"allow Edit($HOME/x)", user, "! Claude Code expands no variable…"},
		{"allow Edit(.//etc/x.d/**)", user, "allow write_file(etc/x.d/**)"},
		{"deny Read(.//etc/x)", user, "deny read_file(etc/x)"},
		{"allow Edit(#x)", user, "! Claude Code expands no variable…"},
		{"deny Edit(#x)", user, "deny write_file(**/#x); deny delete_file(**/#x)"},
		{`allow Edit(src\)`, user, `! it ends in a \…`},
		{`allow Edit(src\\)`, user, `allow write_file(**/src\\/**)`},
		{"deny Read([[:alpha:]])", user, "! a rule has no classes…"},
		{"allow Bash(mytool:*)", user, "allow shell(mytool *)"},
		{"deny Bash(mytool:*)", user, "deny shell(mytool)"},
		{"allow Bash", user, "allow shell(*)"},
		{"deny Bash(*)", user, "deny shell(*)"},
		{"allow Bash(git push*)", user, "allow shell(git push); ~ words that only begin with push…"},
		{"deny Bash(git push*)", user, "deny shell(git push); ! words that only begin with push…"},
		{"allow Bash(./scripts/*)", user, "! a rule names whole words…"},
		{"allow Bash(git * main)", user, "! a rule has a * at the end…"},
		{"deny Bash(git * main)", user, "! a rule has a * at the end of a command only; the next wider one is deny shell(git)"},
		{"deny Bash(git push * --force)", user, "deny shell(git push --force); ~ the flags are meant…"},
		{"deny Bash(curl * | bash)", user, "! a rule has a * at the end…"},
		{"allow Bash(npm test && npm run lint)", user, "! it is more than one command…"},
		{"allow Bash(echo $HOME:*)", user, "! it is more than one command…"},
		{`allow Bash(git commit -m "a b":*)`, user, `allow shell(git commit -m "a b")`},
		{"allow Bash(:*)", user, "! it names no command"},
		{"deny Bash(run_in_background:true)", user, "! rules are about the command…"},

		{"deny Read(.env)", user, "deny read_file(**/.env)"},
		{"deny Read(./.env)", user, "deny read_file(**/.env)"},
		{"allow Read(./.env)", user, "allow read_file(.env)"},
		{"allow Read(.env)", user, "allow read_file(**/.env)"},
		{"deny Read(~/.ssh/**)", user, "deny read_file(/h/me/.ssh/**)"},
		{"deny Read(~/.ssh)", user, "deny read_file(/h/me/.ssh)"},
		{"allow Read(//etc/hosts)", user, "allow read_file(/etc/hosts/**)"},
		{"deny Read(//etc)", user, "deny read_file(/etc)"},
		{"allow Read(/docs/**)", project, "allow read_file(docs/**)"},
		{"allow Read(/docs/**)", user, "! in settings for all projects…"},
		{"deny Read(/docs/**)", project, "deny read_file(docs/**); deny read_file(/docs/**)"},
		{"deny Read(/docs/**)", user, "deny read_file(docs/**); deny read_file(/docs/**); deny read_file(/h/me/docs/**)"},
		{"allow Edit(src/**)", user, "allow write_file(src/**)"},
		{"allow Edit(src)", user, "allow write_file(**/src/**)"},
		{"deny Edit(src/**)", user, "deny write_file(src/**); deny delete_file(src/**)"},
		{"allow Edit(*.md)", user, "allow write_file(**/*.md)"},
		{"allow Edit(docs/*.md)", user, "allow write_file(docs/*.md)"},
		{"deny Edit(docs/*.md)", user, "deny write_file(docs/*.md/**); deny delete_file(docs/*.md/**)"},
		{"allow Edit(a{b}.md)", user, `allow write_file(**/a\{b\}.md)`},
		{"allow Write(src/**)", user, "! Claude Code does not apply a path of Write…"},
		{"deny Write(src/**)", user, "deny write_file(src/**); deny delete_file(src/**)"},
		{"deny Read(../x)", user, "! it has .. in it…"},
		{"allow Read", user, "allow read_file"},
		{"allow Edit", user, "allow write_file"},
		{"allow Grep", user, "allow search_files"},
		{"allow Glob(src/**)", user, "! Claude Code does not apply…"},

		{"allow WebFetch(domain:go.dev)", user, "allow http_request(GET https://go.dev/**)"},
		{"allow WebFetch(domain:*.go.dev)", user, "allow http_request(GET https://*.go.dev/**)"},
		{"deny WebFetch(domain:evil.example)", user, "deny http_request(*://evil.example/**)"},
		{"deny WebFetch", user, "deny http_request"},
		{"allow WebSearch", user, "allow claude-code:WebSearch"},
		{"allow Skill(deploy)", user, "! assent has no rules for one kind of Skill"},
		{"allow mcp__github__create_issue", user, "allow github:create_issue"},
		{"allow mcp__github__get_*", user, "allow github:get_*"},
		{"allow mcp__github", user, "allow github:*"},
		{"deny mcp__github__*", user, "deny connector github"},
		{"allow mcp__a__b__c", user, "! it can be read as a:b__c or a__b:c…"},
		{"deny mcp__a__b__c", user, "deny a:b__c; deny a__b:c"},
		{"allow mcp__*", user, "! it names servers by a pattern…"},
		{"allow", user, "! it is neither…"},
	} {
		effect, text, _ := strings.Cut(c.entry, " ")
		check(t, c.entry, words.Claude(policy.Effect(effect), text, c.at), c.want)
	}
}

func TestCursor(t *testing.T) {
	at := words.Place{Home: "/h/me", Project: true}
	for entry, want := range map[string]string{
		"allow Shell(git)":             "allow shell(git)",
		"allow Shell(curl:*)":          "allow shell(curl)",
		"allow Shell(git:status)":      "allow shell(= git status)",
		"deny Shell(git:push)":         "deny shell(git push)",
		"allow Shell(git:push *)":      "allow shell(git push)",
		"allow Shell(**)":              "allow shell(*)",
		"allow Shell(git status)":      "! Cursor compares the first word…",
		"deny Shell(git status)":       "deny shell(git status)",
		"allow Shell(py*)":             "! it names programs by a pattern…",
		"allow Read(src/**/*.ts)":      "allow read_file(src/**/*.ts)",
		"deny Read(.env*)":             "deny read_file(**/.env*/**)",
		"allow Read(.env*)":            "allow read_file(.env*)",
		"deny Read(/etc/passwd)":       "deny read_file(/etc/passwd)",
		"deny Write(**/*.key)":         "deny write_file(**/*.key/**); deny delete_file(**/*.key/**)",
		"allow Mcp(github:get_issue)":  "allow github:get_issue",
		"deny Mcp(github, *)":          "deny connector github",
		"allow Mcp(git?ub:x)":          "! a rule would take ?…",
		"allow Mcp(github:[a-z]*)":     "! a rule would take ?…",
		"allow Mcp(github:x(y))":       "! a rule would take ?…",
		"deny Write({a,b}/**)":         "! what {} mean there is not documented…",
		"allow WebFetch(docs.example)": "allow http_request(GET https://docs.example/**)",
	} {
		effect, text, _ := strings.Cut(entry, " ")
		check(t, entry, words.Cursor(policy.Effect(effect), text, at), want)
	}
}

func TestOpencode(t *testing.T) {
	at := words.Place{Home: "/h/me"}
	for entry, want := range map[string]string{
		"allow bash git *":                   "allow shell(git)",
		"allow bash git status":              "allow shell(= git status)",
		"allow bash git status*":             "allow shell(git status); ~ words…",
		"deny bash rm *":                     "deny shell(rm)",
		"allow bash *":                       "allow shell(*)",
		"allow edit packages/*.mdx":          "allow write_file(packages/*.mdx)",
		"deny edit packages/*.mdx":           "deny write_file(packages/**/*.mdx/**); deny delete_file(packages/**/*.mdx/**)",
		"deny read *.env":                    "deny read_file(**/*.env/**)",
		"deny read src/a*b":                  "! a * inside of a name…",
		"deny read ~/.aws/*":                 "deny read_file(/h/me/.aws/**)",
		"deny edit *":                        "deny write_file; deny delete_file",
		"allow edit .//etc/x.conf":           "allow write_file(etc/x.conf)",
		"deny read app/[id]/.env":            `deny read_file(app/\[id\]/.env)`,
		"allow edit app/[id]/page.ts":        `allow write_file(app/\[id\]/page.ts)`,
		`deny read app\x`:                    "! assent does not know what this path means",
		"allow webfetch *":                   "allow http_request(GET *)",
		"allow external_directory ~/other/*": "! assent has no rule for external_directory…",
	} {
		parts := strings.SplitN(entry, " ", 3)
		check(t, entry, words.Opencode(policy.Effect(parts[0]), parts[1], parts[2], at), want)
	}
}

// TestADenyByTheStartOfANameCoversTheName has the deny that most lists have: .env and all that begins so.
func TestADenyByTheStartOfANameCoversTheName(t *testing.T) {
	r := words.Claude(policy.EffectDeny, "Read(./.env*)", words.Place{Home: "/h/me"})
	set, err := policy.CompileRules(r.Rules)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{".env", ".env.local", "a/.env", ".env/x"} {
		act := policy.Act{Name: policy.ActReadFile, Target: policy.PathTarget(path)}
		if meets, _ := (policy.Policy{Rules: set}).Denies(policy.Call{}, act, time.Now()); meets != policy.MatchYes {
			t.Errorf("%s does not deny %s", said(r), path)
		}
	}
}

func TestPrefix(t *testing.T) {
	check(t, "git status|log", words.Prefix(policy.EffectAllow, []string{"git"}, []string{"status", "log"}),
		"allow shell(git status); allow shell(git log)")
	check(t, "a b", words.Prefix(policy.EffectDeny, []string{"git"}, []string{"a b"}), "deny shell(git 'a b')")
	check(t, "mytool", words.Prefix(policy.EffectAllow, []string{"mytool"}), "allow shell(mytool *)")
	check(t, "nothing", words.Prefix(policy.EffectAllow), "! it names no command")
}

// TestInner has commands that start another program, which needs a rule of its own.
func TestInner(t *testing.T) {
	for entry, want := range map[string]string{
		"Bash(npx tsc:*)": "allow shell(tsc)", "Bash(npx tsc)": "allow shell(= tsc)", "Bash(git status:*)": "",
		"Bash(python3 -m pytest:*)": "allow shell(pytest)", "Bash(timeout 5 npm test:*)": "allow shell(npm test)",
		"Bash(bash -c:*)": "", "Bash(xargs:*)": "",
	} {
		r := words.Claude(policy.EffectAllow, entry, words.Place{})
		check(t, entry, words.Reading{Rules: r.Inner}, want)
	}
}

func TestRule(t *testing.T) {
	for text, want := range map[string]string{
		"allow Bash(git push:*)":           "allow shell(git push)",
		"deny Read(./.env)":                "deny read_file(**/.env)",
		"allow Edit(src/**)":               "allow write_file(src/**)",
		"allow Write(src/**)":              "allow write_file(src/**)",
		"allow WebFetch(domain:x.example)": "allow http_request(GET https://x.example/**)",
		"deny mcp__github__create_issue":   "deny github:create_issue",
		"allow git status":                 "allow shell(git status)",
		"deny git push --force":            "deny shell(git push --force)",
		"deny Git push":                    "",
		"allow run_shell_command(git log)": "allow shell(git log)",
		"ask Bash(git push:*)":             "! there are no rules that ask…",
		"allow shell(git push)":            "",
		"allow Shell(git push)":            "",
		"allow write_file notes/**":        "",
		"allow everything":                 "",
		"deny all pushes":                  "",
		"deny connector github":            "",
		"allow github:search_*":            "",
		"allow Mcp(github:search)":         "allow github:search",
		"nonsense":                         "",
	} {
		check(t, text, words.Rule(text, "/h/me"), want)
	}
}
