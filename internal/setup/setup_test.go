package setup

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/trust"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/sandbox"
)

// A place is a project with the files of every tier.
type place struct {
	t      *testing.T
	places Places
	dir    string
}

func newPlace(t *testing.T, files map[string]string) *place {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &place{t: t, dir: filepath.Join(top, "project"), places: Places{
		Admin: filepath.Join(top, "etc", "policy.yaml"), Config: filepath.Join(top, "config"), State: filepath.Join(top, "state"), Programs: []string{filepath.Join(top, "bin", "assent")},
	}}
	p.put("project/a.txt", "")
	for name, text := range files {
		p.put(name, text)
	}
	return p
}

func (p *place) put(name, text string) {
	p.t.Helper()
	file := filepath.Join(filepath.Dir(p.dir), name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
		p.t.Fatal(err)
	}
}

func (p *place) trust(name string) {
	p.t.Helper()
	f, err := config.Read(filepath.Join(p.dir, name), "")
	if err != nil {
		p.t.Fatal(err)
	}
	b, err := trust.Of(f)
	if err == nil {
		err = trust.Folder(p.places.TrustFolder()).Put(p.t.Context(), trust.Record{Path: b.Path, Parts: b.Parts})
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *place) resolve(o Order) *Setup {
	p.t.Helper()
	o.Places, o.Dir = p.places, p.dir
	s, err := Resolve(p.t.Context(), o)
	if err != nil {
		p.t.Fatal(err)
	}
	return s
}

func rules(s *Setup) string {
	var out []string
	for _, r := range s.Rules.Rules() {
		out = append(out, r.String())
	}
	return strings.Join(out, ", ")
}

// tiers are files of which each has a rule that tells it from the others.
var tiers = map[string]string{
	"etc/policy.yaml":             "rules: [deny read_file(admin/**)]\n",
	"config/config.yaml":          "model: m\nrules: [deny read_file(user/**)]\n",
	"project/.assent/policy.yaml": "shell: {presets: [readonly]}\nrules: [allow write_file(own/**), deny read_file(own/**)]\n",
	"project/named.yaml":          "rules: [deny read_file(named/**)]\n",
	"project/w.worker":            "---\nrules: [allow write_file(w/**)]\n---\nhi\n",
	"config/workers/mine.worker":  "---\nrules: [allow write_file(mine/**)]\n---\nhi\n",
}

func TestTiers(t *testing.T) {
	p := newPlace(t, tiers)
	named := filepath.Join(p.dir, "named.yaml")
	for name, c := range map[string]struct {
		order     Order
		trusted   string
		want      string
		untrusted bool
		model     string
	}{
		"a project that is not trusted": {Order{}, "", "deny read_file(admin/**), deny read_file(user/**), deny read_file(own/**)", true, "m"},
		"a project that is trusted":     {Order{}, ".assent/policy.yaml", "deny read_file(admin/**), deny read_file(user/**), allow write_file(own/**), deny read_file(own/**)", false, "m"},
		"a file that is named":          {Order{File: named}, "", "deny read_file(admin/**), deny read_file(named/**)", false, ""},
		"a worker that is not trusted":  {Order{Worker: "./w.worker"}, "", "deny read_file(admin/**), deny read_file(user/**)", true, "m"},
		"a worker that is trusted":      {Order{Worker: "./w.worker"}, "w.worker", "deny read_file(admin/**), deny read_file(user/**), allow write_file(w/**)", false, "m"},
		"the user's own worker":         {Order{Worker: "mine"}, "", "deny read_file(admin/**), deny read_file(user/**), allow write_file(mine/**)", false, "m"},
		"a worker under a named file":   {Order{Worker: "mine", File: named}, "", "deny read_file(admin/**), deny read_file(named/**), allow write_file(mine/**)", false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t, tiers)
			if c.order.File != "" {
				c.order.File = filepath.Join(p.dir, "named.yaml")
			}
			if c.trusted != "" {
				p.trust(c.trusted)
			}
			s := p.resolve(c.order)
			if got := rules(s); got != c.want || s.Untrusted != c.untrusted || s.User.Model != c.model || s.Person.Model != "m" {
				t.Errorf("%s; untrusted %t, model %q", got, s.Untrusted, s.User.Model)
			}
			if c.untrusted && len(s.Ignored) == 0 {
				t.Error("what is left out is not said")
			}
		})
	}
}

func TestTrustIsAskedForOnceAndOnlyWhereItIsNeeded(t *testing.T) {
	p := newPlace(t, tiers)
	var asked []string
	answer := true
	ask := func(_ context.Context, f *config.File) (bool, error) {
		asked = append(asked, f.Path)
		return answer, nil
	}
	s := p.resolve(Order{Trust: ask})
	if len(asked) != 1 || s.Untrusted || !s.HasShell {
		t.Errorf("asked %q, untrusted %t", asked, s.Untrusted)
	}
	answer = false
	if s := p.resolve(Order{Trust: ask}); !s.Untrusted || s.HasShell {
		t.Error("a no counts as yes")
	}
	p.resolve(Order{Worker: "mine", Trust: ask})
	p.resolve(Order{File: filepath.Join(p.dir, "named.yaml"), Trust: ask})
	if len(asked) != 2 {
		t.Errorf("asked about %q", asked)
	}
	if _, err := Resolve(t.Context(), Order{Places: p.places, Dir: p.dir, Trust: func(context.Context, *config.File) (bool, error) { return true, errors.New("no") }}); err == nil {
		t.Error("an error counts as yes")
	}
}

// A repository must not borrow the trust of the user's own file by a link to it: the programs
// and folders that the file names would be the repository's.
func TestALinkToTheUsersOwnFileIsNotTrusted(t *testing.T) {
	p := newPlace(t, map[string]string{
		"config/workers/notes.worker": "---\ncustom_tools:\n  fetch: {description: f, command: [./fetch.sh], approval: allow}\n---\nYou work.\n",
		"config/workers/fetch.sh":     "#!/bin/sh\n", "project/workers/fetch.sh": "#!/bin/sh\n",
		"config/loose.yaml": "rules:\n  - allow shell(make)\n",
	})
	own := filepath.Join(p.places.Config, "workers", "notes.worker")
	if s := p.resolve(Order{Worker: own}); s.Untrusted || len(s.CustomTools) != 1 {
		t.Errorf("the user's own worker: untrusted %v, tools %v", s.Untrusted, s.CustomTools)
	}
	for link, target := range map[string]string{
		"workers/notes.worker": own, "all": filepath.Join(p.places.Config, "workers"), ".assent/policy.yaml": filepath.Join(p.places.Config, "loose.yaml"),
	} {
		link = filepath.Join(p.dir, link)
		if err := errors.Join(os.MkdirAll(filepath.Dir(link), 0o700), os.Symlink(target, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, worker := range []string{"notes", "all/notes.worker", ""} {
		if s := p.resolve(Order{Worker: worker}); !s.Untrusted || len(s.CustomTools) != 0 || rules(s) != "" {
			t.Errorf("worker %q through a link: untrusted %v, tools %v, rules %s", worker, s.Untrusted, s.CustomTools, rules(s))
		}
	}
}

func TestOwnIsEverythingThatNoToolMayChange(t *testing.T) {
	p := newPlace(t, tiers)
	s := p.resolve(Order{})
	top := filepath.Dir(p.dir)
	for _, want := range []string{"state", "config", "bin/assent", "etc/policy.yaml", "config/config.yaml", "project/.assent/policy.yaml"} {
		if !slices.Contains(s.Protected(), filepath.Join(top, want)) {
			t.Errorf("%s is not protected: %q", want, s.Protected())
		}
	}
	set := s.Setting(s.Policy)
	for _, e := range s.Own() {
		if !slices.Contains(set.Own, sandbox.Entry{Path: e.Path, Source: e.Source}) {
			t.Errorf("the sandbox does not know %v", e)
		}
	}
}

// Whatever the operator names, tools reach neither the config that the person has nor the
// state that runs without these flags believe.
func TestOwnIsAlsoWhatTheFlagsPutAside(t *testing.T) {
	p := newPlace(t, map[string]string{"op.yaml": "version: 1\n", "dot/config.yaml": "version: 1\n", "config/x": ""})
	top := filepath.Dir(p.dir)
	if err := os.Symlink(filepath.Join(top, "dot", "config.yaml"), filepath.Join(p.places.Config, "config.yaml")); err != nil {
		t.Fatal(err)
	}
	s := p.resolve(Order{File: filepath.Join(top, "op.yaml")})
	if want := filepath.Join(p.places.Config, "config.yaml"); !slices.Contains(s.Protected(), want) {
		t.Errorf("with -c the user's config is not protected where it lies: %q", s.Protected())
	}
	t.Setenv("XDG_STATE_HOME", filepath.Join(top, "usual"))
	named, err := Here(filepath.Join(top, "named"))
	if err != nil {
		t.Fatal(err)
	}
	s.Places = named
	for _, want := range []string{"named", "usual/assent"} {
		if !slices.Contains(s.Protected(), filepath.Join(top, want)) {
			t.Errorf("%s is not protected: %q", want, s.Protected())
		}
	}
}

func TestMode(t *testing.T) {
	for name, c := range map[string]struct {
		user, file string
		named      bool
		want       policy.Mode
	}{
		"nothing said":                      {"", "", false, policy.ModeAsk},
		"strict":                            {"mode: strict\n", "", false, policy.ModeStrict},
		"approve-all":                       {"mode: approve-all\n", "", false, policy.ModeApproveAll},
		"approve-all, and a file is named":  {"mode: approve-all\n", "", true, policy.ModeAsk},
		"strict holds under a named file":   {"mode: strict\n", "", true, policy.ModeStrict},
		"the master switch":                 {"approvals: false\n", "", false, policy.ModeApproveAll},
		"the master switch does not loosen": {"approvals: false\nmode: strict\n", "", false, policy.ModeStrict},
	} {
		p := newPlace(t, map[string]string{"config/config.yaml": c.user, "project/named.yaml": c.file})
		o := Order{}
		if c.named {
			o.File = filepath.Join(p.dir, "named.yaml")
		}
		if got := p.resolve(o).Mode(); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestDefaultSpeaksWhereNoFileDoes(t *testing.T) {
	p := newPlace(t, nil)
	s := p.resolve(Order{Default: true})
	if !s.HasShell || !s.Shell.Readonly || len(s.Policy.Roots) != 1 || s.Policy.Roots[0].Host != p.dir {
		t.Errorf("%+v", s.Policy)
	}
	if s := p.resolve(Order{}); s.HasShell || len(s.Policy.Roots) != 0 {
		t.Errorf("it speaks for everybody: %+v", s.Policy)
	}
	p.put("config/config.yaml", "shell: {rules: [{pattern: ls, approval: ask}]}\n")
	if s := p.resolve(Order{Default: true}); s.Shell.Readonly {
		t.Error("it speaks about commands although the user's config does")
	}
	p.put("project/.assent/policy.yaml", "shell: {}\n")
	p.put("config/config.yaml", "")
	if s := p.resolve(Order{Default: true}); !s.HasShell || !s.Shell.Readonly {
		t.Error("a file that is not trusted takes the default away")
	}
}

func TestWhatIsWrongRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		order Order
	}{
		"the administrator's file":   {map[string]string{"etc/policy.yaml": "no: such key\n"}, Order{}},
		"the user's config":          {map[string]string{"config/config.yaml": "no: such key\n"}, Order{}},
		"the project's policy":       {map[string]string{"project/.assent/policy.yaml": "no: such key\n"}, Order{}},
		"a file that is not there":   {nil, Order{File: "/nowhere/policy.yaml"}},
		"a worker that is not there": {nil, Order{Worker: "nobody"}},
		"a value that is no value":   {map[string]string{"project/.assent/policy.yaml": "shell: {}\n"}, Order{Set: []string{"nothing"}}},
	} {
		p := newPlace(t, c.files)
		c.order.Places, c.order.Dir = p.places, p.dir
		if s, err := Resolve(t.Context(), c.order); err == nil {
			t.Errorf("%s: %+v", name, s)
		}
	}
	p := newPlace(t, map[string]string{"etc/policy.yaml": "rules: [deny shell(x)]\n"})
	if err := os.Chmod(p.places.Admin, 0o622); err != nil {
		t.Fatal(err)
	}
	if _, err := Resolve(t.Context(), Order{Places: p.places, Dir: p.dir}); err == nil {
		t.Error("an administrator's file that others can write is used")
	}
}

// What assent starts from its own folder is protected before it is there; another program starts
// nothing from its folder.
func TestProgramsBesideAreOwnBeforeTheyAreThere(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"assent", "assent-hook"} {
		got := programs(filepath.Join(dir, name))
		for _, want := range ownPrograms {
			if !slices.Contains(got, filepath.Join(dir, want)) {
				t.Errorf("%s: %s is not among %q", name, want, got)
			}
		}
		if p := (Places{Programs: got}).Program(); p != filepath.Join(dir, name) {
			t.Errorf("%s: sandboxes are tried by %s, which is not there", name, p)
		}
	}
	other := filepath.Join(dir, "embedder")
	if got := programs(other); len(got) != 1 || got[0] != other {
		t.Errorf("another program: %q", got)
	}
}
