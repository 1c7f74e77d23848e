package toolbox_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/home"
	"github.com/assent-dev/assent/internal/toolbox"
	"github.com/assent-dev/assent/sandbox"
)

// developer is a policy under which commands run in a home with tools.
const developer = `
sandbox:
  paths:
    .: {root: TOP/proj, mode: rw, approval: allow}
  home: tools
shell:
  default: {approval: ask, when_sandboxed: allow}
`

// planted is in every secret of a home, and not in the program of the test, which commands see.
var planted = strings.Join([]string{"PLANTED0", "token1", "value2"}, "")

// secretsOfAHome are files with and without secrets.
var secretsOfAHome = map[string]string{
	".ssh/id_ed25519": planted, ".netrc": "machine x password " + planted, ".git-credentials": "https://u:" + planted + "@example.org",
	".aws/credentials": planted, ".docker/config.json": planted, ".config/gh/hosts.yml": planted, ".kube/config": planted, ".gnupg/key": planted,
	".pypirc": planted, ".cargo/credentials.toml": planted, ".cargo/env": planted, ".gem/credentials": planted, ".bash_history": planted,
	".config/assent/config.yaml": "# " + planted, ".local/state/assent/x": planted, ".local/share/keyrings/x": planted, ".rustup/x": "fine",
	".npm/_logs/x": planted, ".npm/_cacache/index-v5/aa/bb/cc": "\nx\t{\"key\":\"make-fetch-happen:request-cache:https://r.example.org/x?" + planted + "\"}",
	".npm/_cacache/content-v2/sha512/aa/bb/cc": "content", ".npm/_cacache/tmp/x": "",
	".cache/pip/http-v2/a": planted, "go/pkg/mod/cache/vcs/x/config": planted, "go/pkg/mod/cache/download/x/@v/list": "v1.0.0\n",
	".cargo/registry/index/r/.git/config": planted, ".cargo/registry/index/r/.cache/x": "fine", ".cargo/git/db/x/config": planted, ".cargo/bin/tool": "#!/bin/sh\necho tool ran\n",
	".nvm/versions/node/v20/etc/npmrc": planted, ".nvm/.git/config": planted, ".pyenv/versions/3.12/pip.conf": planted, ".volta/hooks.json": planted,
	".sdkman/candidates/maven/3/conf/settings.xml": planted,
	".gitconfig":           "[user]\n\tname = Ann\n\temail = ann@example.org\n[credential]\n\thelper = " + planted + "\n[include]\n\tpath = .git-more\n",
	".git-more":            "[init]\n\tdefaultBranch = trunk\n[http]\n\textraHeader = " + planted + "\n",
	".npmrc":               "registry=https://r.example.org/\n//r.example.org/:_authToken=" + planted + "\n",
	".config/pip/pip.conf": "[global]\nindex-url = https://u:" + planted + "@example.org/\ntimeout = 7\n",
	".m2/settings.xml":     "<settings><servers><server><password>" + planted + "</password></server></servers><offline>true</offline></settings>",
	".cargo/config.toml":   "[registry]\ntoken = \"" + planted + "\"\n[net]\nretry = 3\n",
	".config/go/env":       "GOPROXY=https://u:" + planted + "@example.org\nGOAUTH=" + planted + "\nGOPRIVATE=example.org\n",
}

// newHome opens the box of a policy for a user whose home is TOP/home.
func newHome(t testing.TB, policy string, files map[string]string) *world {
	t.Helper()
	w := newWorld(t, free)
	for name, text := range files {
		w.write("home/"+name, text)
	}
	must(t, os.MkdirAll(w.top+"/home", 0o755))
	must(t, os.Chmod(w.top+"/home", 0o700))
	plain := w.hold
	w.hold = func(p *config.Policy) (toolbox.Hold, error) {
		h, err := plain(p)
		if err != nil {
			return h, err
		}
		h.Profile, err = p.Profile(config.Setting{
			Limits: sandbox.DefaultLimits(), Home: w.top + "/home", CacheFolder: w.top + "/caches",
			Resolve: func(path string) (string, error) { return path, nil },
			Tools:   home.User{Home: w.top + "/home", Env: func(string) string { return "" }}.Tools,
		})
		for _, r := range h.Profile.Roots {
			if !r.Guarded && r.Mode == sandbox.ModeReadWrite {
				must(t, os.MkdirAll(r.Path, 0o700))
			}
		}
		home.Fill(h.Profile)
		return h, err
	}
	t.Cleanup(func() { // go makes the folders of modules read-only
		_ = filepath.WalkDir(w.top+"/caches", func(file string, e os.DirEntry, err error) error {
			if err == nil && e.IsDir() {
				_ = os.Chmod(file, 0o700)
			}
			return nil
		})
	})
	w.box = w.open(policy, nil)
	return w
}

// seeker reads every file that there is, but for the system's, and prints those with the
// planted secret, and a mark at its end.
const seeker = `
import os, sys
needle = b"PLANTED0" + b"token1" + b"value2"
seen = 0
def look(path):
    global seen
    try:
        with open(path, "rb") as f: data = f.read()
    except OSError: return
    seen += 1
    if needle in data: print("FOUND", path)
for top in os.listdir("/"):
    if top in ("proc", "sys", "dev", "usr") or os.path.islink("/" + top): continue
    for folder, _, names in os.walk("/" + top):
        for name in names:
            path = os.path.join(folder, name)
            if os.path.islink(path) and os.readlink(path).startswith("/usr"): continue
            if os.path.isfile(path): look(path)
for folder in os.listdir("/proc"):
    if folder.isdigit():
        for name in ("environ", "cmdline", "mountinfo"): look("/proc/" + folder + "/" + name)
print("LOOKED", seen > 20)
`

// Whatever is secret in a home is in no file that a command can read.
func TestNoSecretOfTheHomeIsSeen(t *testing.T) {
	for _, network := range []string{"", "  network: true\n"} {
		w := newHome(t, strings.Replace(developer, "shell:", network+"shell:", 1)+"rules: [allow shell(python3 seek.py)]\n", secretsOfAHome)
		w.write("proj/seek.py", seeker)
		w.write("proj/package.json", "{}")
		w.write("proj/Cargo.toml", "")
		w.write("proj/control", planted)
		r := w.shell("python3 seek.py")
		if r.Err != nil || !strings.Contains(r.Text, "LOOKED True") || strings.Count(r.Text, "FOUND") != 1 || !strings.Contains(r.Text, "FOUND "+w.top+"/proj/control") {
			t.Errorf("network %q: %s %v", network, r.Text, r.Err)
		}
	}
}

func TestToolsAndSettingsOfTheHome(t *testing.T) {
	w := newHome(t, developer, secretsOfAHome)
	must(t, os.Chmod(w.top+"/home/.cargo/bin/tool", 0o755))
	for command, want := range map[string]string{
		"~/.cargo/bin/tool":                       "tool ran",
		"git config user.email":                   "ann@example.org",
		"git config --get-all init.defaultBranch": "trunk",
		"python3 -c 'import os; print(open(os.environ[\"HOME\"] + \"/.npm\" + \"rc\").read())'": "registry=https://r.example.org/",
		"sh -c 'cat ~/.config/pip/pip.conf'":                                                    "timeout = 7",
		"sh -c 'cat ~/.m2/settings.xml'":                                                        "offline",
		"sh -c 'cat ~/.cargo/config.toml'":                                                      "retry = 3",
		"sh -c 'cat ~/.config/go/env'":                                                          "GOPRIVATE=example.org",
		// The home is private: what is written there ends with the command, and the user's
		// own stays.
		"sh -c 'echo x >> ~/.gitconfig; echo y > ~/new; cat ~/new'":                                   `"stdout":"y`,
		"sh -c 'echo x > ~/.cargo/bin/tool || echo refused'":                                          "refused",
		"sh -c 'rm -rf ~/.npm/_cacache/content-v2/sha512 2>/dev/null; ls ~/.npm/_cacache/content-v2'": "sha512",
	} {
		if r := w.shell(command); r.Err != nil || !strings.Contains(r.Text, want) {
			t.Errorf("%s: %s %v", command, r.Text, r.Err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(secretsOfAHome)) {
		if got, err := os.ReadFile(w.top + "/home/" + name); err != nil || string(got) != secretsOfAHome[name] {
			t.Errorf("%s has changed: %q, %v", name, got, err)
		}
	}
	private := newHome(t, strings.Replace(developer, "  home: tools\n", "", 1), secretsOfAHome)
	if r := private.shell("ls -A " + private.top + "/home"); r.Err != nil || strings.Contains(r.Text, ".cargo") {
		t.Errorf("a private home shows: %s %v", r.Text, r.Err)
	}
}

// A root that is the home decides about it: nothing is put over the user's own files.
func TestAHomeThatIsARoot(t *testing.T) {
	w := newHome(t, strings.Replace(developer, "TOP/proj", "TOP/home", 1), secretsOfAHome)
	if r := w.shell("sh -c 'cat ~/.git-more'"); r.Err != nil || !strings.Contains(r.Text, "extraHeader") {
		t.Errorf("%s %v", r.Text, r.Err)
	}
	for _, name := range []string{".gitconfig", ".npmrc"} {
		if got, err := os.ReadFile(w.top + "/home/" + name); err != nil || string(got) != secretsOfAHome[name] {
			t.Errorf("%s has changed: %q, %v", name, got, err)
		}
	}
}
