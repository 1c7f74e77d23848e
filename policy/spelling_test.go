package policy

import (
	"errors"
	"strings"
	"testing"
)

func TestSpelled(t *testing.T) {
	links := map[string]string{"/link": "/real", "/link/sub": "/real/sub", "/home/me/dot": "/home/me/files/dot"}
	ground := Ground{Home: "/home/me", Resolve: func(p string) string {
		for from, to := range links {
			if rest, ok := strings.CutPrefix(p, from); ok && (rest == "" || rest[0] == '/') {
				p = to + rest
			}
		}
		return p
	}}
	for text, want := range map[string]string{ // an empty want is a refusal
		"deny read_file(~/.ssh/**)":            "deny read_file(/home/me/.ssh/**)",
		"deny read_file($HOME/.ssh/**)":        "deny read_file(/home/me/.ssh/**)",
		"deny read_file(${HOME}/.ssh/**)":      "deny read_file(/home/me/.ssh/**)",
		"deny read_file(~)":                    "deny read_file(/home/me)",
		"deny read_file(~/)":                   "deny read_file(/home/me)",
		"deny read_file($HOME)":                "deny read_file(/home/me)",
		"deny *_file(~/x)":                     "deny *_file(/home/me/x)",
		"deny Edit_File(~/x)":                  "deny Edit_File(/home/me/x)",
		"deny share_file(~/x, scribe)":         "deny share_file(/home/me/x, scribe)",
		"allow project_code(~/shop)":           "allow project_code(/home/me/shop)",
		"except read_file(~/x)":                "except read_file(/home/me/x)",
		"deny write_file(build/)":              "deny write_file(build/)",
		"deny write_file(./build)":             "deny write_file(./build)",
		"deny read_file(/link/x)":              "deny read_file(/real/x)",
		"deny read_file(/link/*.md)":           "deny read_file(/real/*.md)",
		"deny read_file(/link/sub/)":           "deny read_file(/real/sub/)",
		"deny read_file(/link)":                "deny read_file(/link)", // the link itself
		"deny read_file(~/dot/**)":             "deny read_file(/home/me/files/dot/**)",
		`deny read_file(\~/x)`:                 `deny read_file(\~/x)`,
		"deny read_file(Foo$Bar.class)":        "deny read_file(Foo$Bar.class)",
		"deny read_file(a~)":                   "deny read_file(a~)",
		"deny read_file(src/$id/$types.ts)":    "deny read_file(src/$id/$types.ts)",
		`deny read_file(a/\$USER/x)`:           `deny read_file(a/\$USER/x)`,
		`deny read_file(\"a")`:                 `deny read_file(\"a")`,
		"deny read_file(it's)":                 "deny read_file(it's)",
		"deny read_file(~*)":                   "deny read_file(~*)",
		"deny gh:read_file(~/x)":               "deny gh:read_file(~/x)",
		"deny send(~/x)":                       "deny send(~/x)",
		"deny shell(cat ~/.ssh/id)":            "deny shell(cat /home/me/.ssh/id)",
		"deny shell($HOME/bin/x)":              "deny shell(/home/me/bin/x)",
		`deny shell(= ls "${HOME}/a b" ~)`:     `deny shell(= ls "/home/me/a b" /home/me)`,
		`deny shell(echo '~/x' 'a ~/b' "~/c")`: `deny shell(echo '~/x' 'a ~/b' "~/c")`,
		`deny shell(echo a~/b \~/x)`:           `deny shell(echo a~/b \~/x)`,

		"deny read_file(~root/x)":                "",
		"deny read_file($XDG_CONFIG_HOME/x)":     "",
		"deny read_file({~/.ssh,~/.aws}/**)":     "",
		"deny read_file(../x)":                   "",
		"deny read_file(a/../../x)":              "",
		`deny read_file("~/.ssh/**")`:            "",
		`deny read_file('a b')`:                  "",
		`deny read_file("$HOME"/.ssh)`:           "",
		"deny read_file(`pwd`/x)":                "",
		"deny read_file($(pwd)/x)":               "",
		"deny read_file(/home/$USER/.ssh/**)":    "",
		"deny read_file(/home/${USER}/.ssh)":     "",
		"deny read_file(~+/x)":                   "",
		"deny read_file({$HOME,/root}/.ssh)":     "",
		"deny read_file([[:alpha:]]*)":           "",
		"deny read_file()":                       "",
		"deny read_file(..)":                     "",
		"deny read_file(https://example.com/**)": "",
	} {
		got, err := ground.Parse(text)
		switch {
		case want == "" && !errors.Is(err, ErrMalformedRule) && !errors.Is(err, ErrEmptyPattern):
			t.Errorf("%s: %q, %v; want a refusal", text, got, err)
		case want != "" && (err != nil || got.String() != want):
			t.Errorf("%s: %q, %v; want %s", text, got, err, want)
		}
		if again, err := got.Spelled(ground); want != "" && (err != nil || again.Pattern != got.Pattern) {
			t.Errorf("%s: spelled twice it is %q, %v", text, again, err)
		}
	}
	for _, text := range []string{"deny read_file(~/x)", "deny shell($HOME/x)"} {
		if _, err := (Ground{}).Parse(text); err == nil {
			t.Errorf("%s without a home folder is taken", text)
		}
	}
}

// What is written as one rule is matched whatever way the file is spelled.
func TestSpellingsMeetTheFile(t *testing.T) {
	ground := Ground{Home: "/home/me"}
	inRoot := Act{Name: ActWriteFile, Target: PathTarget("build/x", "/home/me/shop/build/x")}
	folder := Act{Name: ActWriteFile, Target: PathTarget("build", "/home/me/shop/build")}
	for text, whole := range map[string]bool{
		"build/": true, "./build/": true, "./build/**": true, "build//": true, "build/x": false, "./build/x": false,
		"/home/me/shop/build/": true, "/home/me/shop/build/x": false, "~/shop/build/**": true, "$HOME/shop/./build/x": false,
	} {
		rule, err := mustRule(t, "deny write_file("+text+")").Spelled(ground)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if denies(t, rule.Pattern, inRoot) != MatchYes {
			t.Errorf("%s (%s) does not meet build/x", text, rule)
		}
		if got := denies(t, rule.Pattern, folder) == MatchYes; got != whole {
			t.Errorf("%s (%s) meets the folder: %v", text, rule, got)
		}
	}
}

// FuzzSpelled: what is spelled is a rule that is spelled the same again, and for a file act it meets
// the file that a shell would open.
func FuzzSpelled(f *testing.F) {
	for _, seed := range []string{"~/.ssh/**", "$HOME/x", "${HOME}", "../x", "./a/", "{~/a,b}", `\~`, "cat ~ '~/x'", `"$HOME/a"`} {
		f.Add(seed)
	}
	ground := Ground{Home: "/home/me"}
	f.Fuzz(func(t *testing.T, target string) {
		for _, name := range []string{ActReadFile, ActShell} {
			rule := "deny " + name + "(" + target + ")"
			got, err := ground.Parse(rule)
			if err != nil {
				continue
			}
			if again, err := got.Spelled(ground); err != nil || again.Pattern != got.Pattern {
				t.Errorf("%s, then %s (%v)", got, again, err)
			}
			if name == ActReadFile && homeSpelling().MatchString(target) && !strings.HasPrefix(got.Pattern, "read_file(/home/me") {
				t.Errorf("%s is spelled %s", rule, got)
			}
		}
	})
}

// An offer for a file that is called like a home folder is not one for the home folder.
func TestOffersForOddNames(t *testing.T) {
	for _, name := range []string{"~", "~/x", "$HOME/x", "${HOME}", "~me/x", "$X/y", `"a"`, "'a", "`a`", "a/$X/b", "a/$(x)"} {
		for _, o := range offersFor(Act{Name: ActWriteFile, Target: PathTarget(name, "/p/"+name), Verdict: VerdictAsk, Known: true}) {
			rule, err := Ground{Home: "/home/me"}.Parse(o.Allow[0])
			if err != nil || rule.String() != o.Allow[0] {
				t.Errorf("%s: %q is read as %q, %v", name, o.Allow[0], rule, err)
			}
		}
	}
	for _, o := range offersFor(commandAct(1, "~/bin/x", "$HOME/y", "~")) {
		if rule, err := (Ground{Home: "/home/me"}).Parse(o.Allow[0]); err != nil || rule.String() != o.Allow[0] {
			t.Errorf("%q is read as %q, %v", o.Allow[0], rule, err)
		}
	}
}

// A root that is reached through a link is allowed by its real path, a link in it is not.
func TestAnAllowByTheRealPathOfARoot(t *testing.T) {
	act := func(written, resolved []string) Act {
		return Act{Name: ActWriteFile, Verdict: VerdictAsk, Target: Target{Kind: KindPath, Written: written, Resolved: resolved}}
	}
	for _, c := range []struct {
		written, resolved []string
		want              bool
	}{
		{[]string{"build/x", "/link/build/x"}, []string{"build/x", "/real/build/x"}, true},
		{[]string{"build/x", "/real/build/x"}, []string{"build/x", "/real/build/x"}, true},
		{[]string{"other/x", "/link/other/x"}, []string{"build/x", "/real/build/x"}, false}, // through a link inside
		{[]string{"build/x", "/link/build/x"}, []string{"other/x", "/real/other/x"}, false},
		{[]string{"/link/build/x"}, []string{"/real/build/x"}, false}, // in no root
	} {
		if got := allows(t, "write_file(/real/build/**)", act(c.written, c.resolved)); got != c.want {
			t.Errorf("written %q, resolved %q: %v", c.written, c.resolved, got)
		}
	}
}
