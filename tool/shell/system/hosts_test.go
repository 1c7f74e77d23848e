package system

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/assent-dev/assent/tool/shell/analysis"
)

// place is a home with a project in it, as real programs would find it.
type hostsPlace struct {
	t         *testing.T
	home, dir string
	env       []string
}

func newHostsPlace(t *testing.T) *hostsPlace {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &hostsPlace{t: t, home: filepath.Join(top, "home"), dir: filepath.Join(top, "home/proj")}
	p.env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + p.home, "GIT_TERMINAL_PROMPT=0"}
	p.write("proj/package.json", "{}\n")
	return p
}

func (p *hostsPlace) write(name, text string) {
	p.t.Helper()
	file := filepath.Join(p.home, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

func (p *hostsPlace) git(args ...string) string {
	p.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = p.dir, p.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		p.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// hosts lists whom a command talks to: what was found in settings has a tilde, https a star, a
// host that is not known is a question mark, and a folder is its path.
func (p *hostsPlace) hosts(text string, env ...string) string {
	p.t.Helper()
	script, err := analysis.Read(text, p.dir, New(p.dir, append(p.env, env...)))
	if err != nil {
		p.t.Fatal(err)
	}
	var out []string
	for _, part := range script.Parts {
		switch {
		case part.Kind == analysis.Touches && strings.HasSuffix(part.Path, ".git") && !strings.HasSuffix(part.Path, "/.git"):
			out = append(out, strings.TrimPrefix(part.Path, p.home))
		case part.Kind != analysis.Connects:
		case part.Host == "":
			out = append(out, "?")
		default:
			text := part.Host + ":" + part.Port
			if part.Settled {
				text = "~" + text
			}
			if part.TLS {
				text += "*"
			}
			out = append(out, text)
		}
	}
	return strings.Join(out, " ")
}

func TestHostsOfGit(t *testing.T) {
	origin := func(url string) [][]string { return [][]string{{"remote", "add", "origin", url}} }
	both := append(origin("https://a.example/x.git"), []string{"remote", "add", "fork", "ssh://git@b.example:2222/x.git"})
	set := func(before [][]string, settings ...string) [][]string {
		out := append([][]string{}, before...)
		for i := 0; i < len(settings); i += 2 {
			out = append(out, []string{"config", "--add", settings[i], settings[i+1]})
		}
		return out
	}
	for _, c := range []struct {
		name    string
		setup   [][]string
		user    string // .gitconfig
		command string
		env     string
		want    string
		real    []string // what git says of itself
	}{
		{name: "https", setup: origin("https://a.example/x.git"), command: "git push", want: "~a.example:443*", real: []string{"remote", "get-url", "--push", "origin"}},
		{name: "by name", setup: origin("https://a.example/x.git"), command: "git fetch origin main", want: "~a.example:443*"},
		{name: "a port", setup: origin("https://a.example:8443/x.git"), command: "git push", want: "~a.example:8443*"},
		{name: "http", setup: origin("http://a.example/x.git"), command: "git pull", want: "~a.example:80"},
		{name: "ssh", setup: origin("ssh://git@a.example/x.git"), command: "git push", want: "~a.example:22"},
		{name: "like scp", setup: origin("git@a.example:x.git"), command: "git ls-remote", want: "~a.example:22"},
		{name: "git's own protocol", setup: origin("git://a.example/x.git"), command: "git fetch", want: "~a.example:9418"},
		{name: "a folder", setup: origin("../other.git"), command: "git push", want: "/other.git"},
		{name: "a folder with a scheme", setup: origin("file:///srv/other.git"), command: "git fetch", want: "/srv/other.git"},
		{name: "a program", setup: origin("ext::ssh a.example %S x"), command: "git push", want: "?"},
		{name: "another one", setup: both, command: "git push fork", want: "~b.example:2222"},
		{name: "the branch's", setup: set(both, "branch.main.remote", "fork"), command: "git push", want: "~b.example:2222"},
		{name: "another branch's", setup: set(both, "branch.other.remote", "fork"), command: "git push", want: "~a.example:443*"},
		{name: "the branch's for a push", setup: set(both, "branch.main.remote", "origin", "branch.main.pushremote", "fork"), command: "git push; git fetch", want: "~b.example:2222 ~a.example:443*"},
		{name: "the default for a push", setup: set(both, "remote.pushdefault", "fork"), command: "git push; git pull", want: "~b.example:2222 ~a.example:443*"},
		{name: "the only one", setup: [][]string{{"remote", "add", "up", "https://a.example/x"}}, command: "git fetch", want: "~a.example:443*", real: []string{"ls-remote", "--get-url"}},
		{name: "no remote", command: "git push", want: "?"},
		{name: "a name that is none", setup: both, command: "git push nowhere", want: "?"},
		{name: "every remote", setup: both, command: "git fetch --all", want: "~a.example:443* ~b.example:2222"},
		{name: "remote update", setup: both, command: "git remote update", want: "~a.example:443* ~b.example:2222"},
		{name: "pushurl", setup: set(origin("https://a.example/x"), "remote.origin.pushurl", "git@b.example:x"), command: "git push; git fetch", want: "~b.example:22 ~a.example:443*", real: []string{"remote", "get-url", "--push", "origin"}},
		{name: "two to push to", setup: set(origin("https://a.example/x"), "remote.origin.url", "https://b.example/x"), command: "git push; git fetch", want: "~a.example:443* ~b.example:443* ~a.example:443*"},
		{name: "instead of", setup: origin("gh:x/y"), user: "[url \"https://c.example/\"]\n insteadOf = gh:\n", command: "git push", want: "~c.example:443*", real: []string{"ls-remote", "--get-url", "origin"}},
		{name: "the longest", setup: origin("https://a.example/x/y"), user: "[url \"https://c.example/\"]\n insteadOf = https://a.example/\n[url \"ssh://d.example/\"]\n insteadOf = https://a.example/x/\n", command: "git fetch", want: "~d.example:22", real: []string{"ls-remote", "--get-url", "origin"}},
		{name: "instead of for a push", setup: origin("https://a.example/x"), user: "[url \"git@c.example:\"]\n pushInsteadOf = https://a.example/\n", command: "git push; git fetch", want: "~c.example:22 ~a.example:443*", real: []string{"remote", "get-url", "--push", "origin"}},
		{name: "a URL that is spelled", setup: both, command: "git push https://c.example/x", want: "c.example:443*"},
		{name: "and rewritten", setup: both, user: "[url \"https://d.example/\"]\n insteadOf = https://c.example/\n", command: "git clone https://c.example/x y", want: "~d.example:443*"},
		{name: "cloned with its submodules", command: "git clone --recurse-submodules https://c.example/x y", want: "c.example:443"},

		// What may change whom git talks to leaves the host open.
		{name: "a proxy", setup: origin("https://a.example/x"), user: "[http]\n proxy = http://p.example:3128\n", command: "git push", want: "~a.example:443 ?"},
		{name: "a proxy of the environment", setup: origin("https://a.example/x"), env: "https_proxy=http://p.example:3128", command: "git push", want: "~a.example:443 ?"},
		{name: "a proxy on the line", setup: origin("https://a.example/x"), command: "https_proxy=http://p.example:3128 git push", want: "~a.example:443 ?"},
		{name: "checks turned off", setup: set(origin("https://a.example/x"), "http.sslverify", "false"), command: "git push", want: "~a.example:443 ?"},
		{name: "a setting on the line", setup: origin("https://a.example/x"), command: "git -c http.proxy=http://p.example push", want: "~a.example:443 ?"},
		{name: "another ssh", setup: origin("git@a.example:x"), command: "GIT_SSH_COMMAND=./x git push", want: "~a.example:22 ?"},
		{name: "a helper", setup: origin("https://a.example/x"), user: "[credential]\n helper = ./x\n", command: "git push", want: "~a.example:443 ?"},
		{name: "the helper of gh", setup: origin("https://a.example/x"), user: "[credential]\n helper = !/usr/bin/gh auth git-credential\n", command: "git push", want: "~a.example:443*"},
		{name: "a usual helper", setup: origin("https://a.example/x"), user: "[credential]\n helper = cache --timeout=60\n", command: "git push", want: "~a.example:443*"},
		{name: "changed before", setup: origin("https://a.example/x"), command: "git remote set-url origin https://evil.example/; git push", want: "~a.example:443 ?"},
		{name: "a program before", setup: origin("https://a.example/x"), command: "make && git push", want: "~a.example:443 ?"},
		{name: "a commit before", setup: origin("https://a.example/x"), command: "git add a; git commit -m x && git push", want: "~a.example:443*"},
		{name: "another branch before", setup: set(both, "branch.other.remote", "fork"), command: "git checkout other && git push", want: "~b.example:2222 ~a.example:443 ?"},
		{name: "in a loop", setup: origin("https://a.example/x"), command: "for i in 1 2; do git push; git config remote.origin.url ssh://b.example/x; done", want: "~a.example:443* ~a.example:443 ?"},
		{name: "in a loop without an end", setup: origin("https://a.example/x"), command: "while true; do git push; git config remote.origin.url ssh://b.example/x; done", want: "~a.example:443 ?"},
		{name: "in a function", setup: origin("https://a.example/x"), command: "f() { git push; git config remote.origin.url ssh://b.example/x; }; f; f", want: "~a.example:443 ? ~a.example:443 ?"},
		{name: "elsewhere", setup: origin("https://a.example/x"), command: "ssh b.example git push", want: "b.example:22 ?"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newHostsPlace(t)
			p.git("init", "-q", "-b", "main")
			for _, args := range c.setup {
				p.git(args...)
			}
			if c.user != "" {
				p.write(".gitconfig", c.user)
			}
			var env []string
			if c.env != "" {
				env = []string{c.env}
			}
			if got := p.hosts(c.command, env...); got != c.want {
				t.Errorf("%s: %s, want %s", c.command, got, c.want)
			}
			if c.real != nil {
				first := strings.Trim(strings.Fields(c.want)[0], "~*")
				host, _, _ := strings.Cut(first, ":")
				if says := p.git(c.real...); !strings.Contains(says, host) {
					t.Errorf("git %s says %s, want %s", strings.Join(c.real, " "), says, host)
				}
			}
		})
	}
}

func TestHostsOfAHookArePartOfTheUnknown(t *testing.T) {
	p := newHostsPlace(t)
	p.git("init", "-q", "-b", "main")
	p.git("remote", "add", "origin", "https://a.example/x")
	p.write("proj/.git/hooks/pre-push", "#!/bin/sh\n")
	if got, want := p.hosts("git push"), "~a.example:443 ?"; got != want {
		t.Errorf("with a hook: %s, want %s", got, want)
	}
}

func TestHostsOfPackageManagers(t *testing.T) {
	for _, c := range []struct {
		name    string
		files   map[string]string
		command string
		env     []string
		want    string
	}{
		{name: "npm", command: "npm install", want: "~registry.npmjs.org:443* ?"},
		{name: "of the project", files: map[string]string{"proj/.npmrc": "registry=https://a.example/npm/\n", ".npmrc": "registry=https://b.example/\n"}, command: "npm ci", want: "~a.example:443* ?"},
		{name: "in a folder of it", files: map[string]string{"proj/.npmrc": "registry=https://a.example/npm/\n", "proj/sub/x": ""}, command: "cd sub && npm ci", want: "~a.example:443* ?"},
		{name: "of the person", files: map[string]string{".npmrc": "; mine\nregistry = \"http://b.example:4873/\"\n//b.example/:_authToken=x\n"}, command: "npm i left-pad", want: "~b.example:4873 ?"},
		{name: "of a scope", files: map[string]string{"proj/.npmrc": "@corp:registry=https://a.example/\n"}, command: "npm install", want: "~registry.npmjs.org:443* ~a.example:443* ?"},
		{name: "of the environment", files: map[string]string{"proj/.npmrc": "registry=https://a.example/\n"}, command: "npm install", env: []string{"npm_config_registry=https://c.example/"}, want: "~c.example:443* ?"},
		{name: "on the line", command: "NPM_CONFIG_REGISTRY=https://c.example/ npm install", want: "~c.example:443* ?"},
		{name: "by a variable", files: map[string]string{".npmrc": "registry=https://${REG}/\n"}, command: "npm install", env: []string{"REG=d.example"}, want: "~d.example:443* ?"},
		{name: "by a variable that names itself", files: map[string]string{".npmrc": "registry=https://${REG}/\n"}, command: "REG='${REG}' npm install", want: "?"},
		{name: "by a flag", command: "npm install --registry https://e.example/", want: "e.example:443 ?"},
		{name: "pnpm", command: "pnpm install", want: "~registry.npmjs.org:443* ?"},
		{name: "yarn", command: "yarn install", want: "~registry.yarnpkg.com:443* ?"},
		{name: "yarn's settings", files: map[string]string{"proj/.yarnrc.yml": "nodeLinker: node-modules\nnpmRegistryServer: \"https://y.example\"\n"}, command: "yarn add x", want: "~y.example:443* ?"},
		{name: "go", command: "go mod download", want: "~proxy.golang.org:443* ?"},
		{name: "go's variable", command: "go get x.example/y", env: []string{"GOPROXY=https://g.example|https://h.example/mod,direct"}, want: "~g.example:443* ~h.example:443* ?"},
		{name: "go's file", files: map[string]string{".config/go/env": "GOFLAGS=-mod=mod\nGOPROXY=https://g.example,off\n"}, command: "go install x.example/y@latest", want: "~g.example:443* ?"},
		{name: "go without a proxy", command: "GOPROXY=direct go mod tidy", want: "?"},
		{name: "pip", command: "pip install x", want: "~pypi.org:443* ~files.pythonhosted.org:443* ?"},
		{name: "pip3", command: "pip3 download x", want: "~pypi.org:443* ~files.pythonhosted.org:443* ?"},
		{name: "pip's file", files: map[string]string{".config/pip/pip.conf": "[global]\nindex-url = https://i.example/simple\nextra-index-url =\n    https://j.example/simple\n    https://k.example/simple\n"}, command: "pip install x", want: "~i.example:443* ~j.example:443* ~k.example:443* ?"},
		{name: "pip's variable", files: map[string]string{".config/pip/pip.conf": "[global]\nindex-url = https://i.example/simple\n"}, command: "pip install x", env: []string{"PIP_INDEX_URL=https://l.example/"}, want: "~l.example:443* ?"},
		{name: "pip's flag", command: "pip install -i https://m.example/simple x", want: "m.example:443 ?"},
		{name: "uv", command: "uv sync", env: []string{"UV_DEFAULT_INDEX=https://u.example/", "UV_INDEX=mine=https://v.example/"}, want: "~u.example:443* ~v.example:443* ?"},
		{name: "uv's flag", command: "uv pip install --index-url https://n.example/ x", want: "~n.example:443* ?"},
		{name: "cargo", command: "cargo update", want: "~index.crates.io:443* ~static.crates.io:443* ?"},
		{name: "cargo with another source", files: map[string]string{".cargo/config.toml": "[source.crates-io]\nreplace-with = \"x\"\n"}, command: "cargo update", want: "?"},
		{name: "gh", command: "gh pr list", want: "~api.github.com:443* ?"},
		{name: "gh elsewhere", command: "gh api x", env: []string{"GH_HOST=git.corp.example"}, want: "~git.corp.example:443* ?"},
		{name: "terraform is not known", command: "terraform init", want: "?"},
		{name: "curl", command: "curl https://a.example/x", want: "a.example:443*"},
		{name: "wget", command: "wget http://a.example:8080/x", want: "a.example:8080"},
		{name: "ssh", command: "ssh -p 2222 me@a.example ls", want: "a.example:2222"},
		{name: "scp", command: "scp x me@a.example:y", want: "a.example:22"},
		{name: "rsync", command: "rsync -a x a.example::mod", want: "a.example:873"},
		{name: "nc", command: "nc a.example 5000", want: "a.example:5000"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newHostsPlace(t)
			for name, text := range c.files {
				p.write(name, text)
			}
			if got := p.hosts(c.command, c.env...); got != c.want {
				t.Errorf("%s: %s, want %s", c.command, got, c.want)
			}
		})
	}
}
