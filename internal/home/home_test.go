package home

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/sandbox"
)

// planted is in every secret of these tests.
const planted = "PLANTED0token1value2"

// write makes files below a folder.
func write(t testing.TB, top string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		file := filepath.Join(top, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func folderFor(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func tools(home string, env map[string]string, network bool) config.HomeTools {
	return User{Home: home, Env: func(name string) string { return env[name] }}.Tools(sandbox.Network{On: network})
}

// shownFile is the text of a file as commands see it.
func shownFile(h config.HomeTools, path string) string {
	i := slices.IndexFunc(h.Files, func(f sandbox.HomeFile) bool { return f.Path == path })
	if i < 0 {
		return ""
	}
	return h.Files[i].Text
}

func TestSettingsWithoutSecrets(t *testing.T) {
	for name, c := range map[string]struct{ file, text, want string }{
		"git": {".gitconfig", `[user]
	name = Ann "A" O'Neil
	email = ann.very.longname1234567890@example.org
	signingkey = ` + planted + `
[init]
	defaultBranch = main
[core]
	autocrlf = input
	editor = vim
	hooksPath = ~/hooks
	fsmonitor = ` + planted + `
	pager = less
[credential]
	helper = store
[credential "https://example.org"]
	username = ` + planted + `
[url "https://ann:` + planted + `@example.org/"]
	insteadOf = https://example.org/
[http]
	extraHeader = Authorization: ` + planted + `
[alias]
	x = !sh
[log]
	date = ` + planted + `
`, "[user]\n\tname = \"Ann A O'Neil\"\n[user]\n\temail = \"ann.very.longname1234567890@example.org\"\n[init]\n\tdefaultbranch = \"main\"\n[core]\n\tautocrlf = \"input\"\n"},
		"npm": {".npmrc", `; ` + planted + `
registry = https://npm.example.org/api/
@mine:registry=https://npm.example.org/mine/
@other:registry=https://u:` + planted + `@npm.example.org/
@third:registry=https://npm.example.org/` + planted + `/npm/
//npm.example.org/:_authToken=` + planted + `
_auth=` + planted + `
_password=` + planted + `
proxy=http://u:` + planted + `@proxy.example.org:8080
https-proxy=http://proxy.example.org:8080
cafile=/x
script-shell=/bin/evil
save-exact=true
unknown=` + planted + `
save-prefix=` + planted + `
`, "registry=https://npm.example.org/api/\n@mine:registry=https://npm.example.org/mine/\nhttps-proxy=http://proxy.example.org:8080\nsave-exact=true\n"},
		"pip": {".config/pip/pip.conf", `[global]
index-url = https://pypi.example.org/simple
extra-index-url =
    https://a.example.org/simple
    https://u:` + planted + `@b.example.org/simple
    https://c.example.org/simple?token=` + planted + `
find-links =
    https://d.example.org/` + planted + `
    https://e.example.org/
timeout = 60
cert = /x
client-cert = ` + planted + `
[install]
extra_index_url = https://f.example.org/ https://x:` + planted + `@g.example.org/
`, "[global]\nindex-url = https://pypi.example.org/simple\nextra-index-url =\n    https://a.example.org/simple\ntimeout = 60\n[install]\nextra_index_url = https://f.example.org/\n"},
		"cargo": {".cargo/config.toml", `[registry]
default = "mine"
token = "` + planted + `"
[registries.mine]
index = "sparse+https://cargo.example.org/index/"
token = "` + planted + `"
[registries.other]
index = "https://u:` + planted + `@cargo.example.org/"
[registry.credential]
index = "https://x.example.org/"
[build]
rustc-wrapper = "` + planted + `"
jobs = 4
[net]
retry = 2
`, "[registry]\ndefault = \"mine\"\n[registries.mine]\nindex = \"sparse+https://cargo.example.org/index/\"\n[registries.other]\n[registry.credential]\n[build]\njobs = 4\n[net]\nretry = 2\n"},
		"maven": {".m2/settings.xml", `<?xml version="1.0"?><!-- ` + planted + ` --><settings xmlns="x" a="` + planted + `">
<servers><server><id>a</id><password>` + planted + `</password></server></servers>
<mirrors><mirror><id>m</id><url>https://m.example.org/maven</url><mirrorOf>*,!x</mirrorOf></mirror>
<mirror><id>n</id><url>https://u:` + planted + `@m.example.org/</url></mirror></mirrors>
<proxies><proxy><host>proxy.example.org</host><port>8080</port><username>u</username><password>` + planted + `</password></proxy></proxies>
<profiles><profile><id>p</id><properties><key>` + planted + `</key></properties></profile></profiles>
</settings>`, "<settings>\n<mirrors>\n<mirror>\n<id>m</id>\n<url>https://m.example.org/maven</url>\n<mirrorOf>*,!x</mirrorOf>\n</mirror>\n<mirror>\n<id>n</id>\n</mirror>\n</mirrors>\n" +
			"<proxies>\n<proxy>\n<host>proxy.example.org</host>\n<port>8080</port>\n</proxy>\n</proxies>\n<profiles>\n<profile>\n<id>p</id>\n</profile>\n</profiles>\n</settings>\n"},
		"maven, cut off": {".m2/settings.xml", "<settings><offline>true</offline>", ""},
		"go":             {".config/go/env", "GOPRIVATE=example.org/*\nGOAUTH=" + planted + "\nCC=" + planted + "\nGOPROXY=https://u:" + planted + "@p.example.org\n", "GOPRIVATE=example.org/*\n"},
	} {
		t.Run(name, func(t *testing.T) {
			home := folderFor(t)
			write(t, home, map[string]string{c.file: c.text})
			for _, network := range []bool{true, false} {
				h := tools(home, nil, network)
				if got := shownFile(h, filepath.Join(home, c.file)); got != c.want {
					t.Errorf("%s\nwant\n%s", got, c.want)
				}
				all, err := json.Marshal(h)
				if err != nil || strings.Contains(string(all), planted) {
					t.Errorf("%s, %v", all, err)
				}
			}
		})
	}
}

// Files that git's settings include are shown where they are, cleaned as well.
func TestIncludedGitSettings(t *testing.T) {
	home := folderFor(t)
	write(t, home, map[string]string{
		".gitconfig":     "[includeIf \"gitdir:~/work/\"]\n\tpath = ~/.git-work\n[include]\n\tpath = .gitconfig\n[include]\n\tpath = /etc/passwd\n",
		".git-work":      "[user]\n\temail = ann@work.example\n\tpassword = " + planted + "\n",
		"elsewhere/file": planted,
	})
	h := tools(home, nil, false)
	if got := shownFile(h, home+"/.gitconfig"); !strings.Contains(got, "[includeif \"gitdir:~/work/\"]\n\tpath = \"~/.git-work\"\n") {
		t.Errorf("%s", got)
	}
	if got := shownFile(h, home+"/.git-work"); got != "[user]\n\temail = \"ann@work.example\"\n" {
		t.Errorf("%s", got)
	}
	if len(h.Files) != 2 {
		t.Errorf("%+v", h.Files)
	}
}

func TestFoldersOfTools(t *testing.T) {
	home, other := folderFor(t), folderFor(t)
	write(t, home, map[string]string{
		".nvm/versions/node/v20/etc/npmrc": planted, ".nvm/versions/node/v20/bin/node": "x", ".nvm/.git/config": planted,
		".volta/tools/image/node/20/etc/npmrc": planted, ".asdf/installs/nodejs/20/etc/npmrc": planted,
		".local/bin/tool": "x", ".ssh/id_rsa": planted, ".cargo/credentials.toml": planted, ".cargo/bin/cargo": "x",
		"go/pkg/mod/cache/download/a/@v/list": "v1", "go/pkg/mod/cache/vcs/x/config": planted,
	})
	write(t, other, map[string]string{"versions/3.12/pip.conf": planted, "bin/pyenv": "x"})
	for link, target := range map[string]string{".pyenv": other, ".rbenv": home, ".goenv": "/", ".jenv": filepath.Dir(home), ".rustup": home + "/nowhere"} {
		if err := os.Symlink(target, filepath.Join(home, link)); err != nil {
			t.Fatal(err)
		}
	}
	h := tools(home, nil, false)
	var read, masked []string
	for _, e := range h.Read {
		read = append(read, e.Path)
	}
	for _, e := range h.Masked {
		masked = append(masked, e.Path)
	}
	if want := []string{home + "/.local/bin", home + "/.nvm", home + "/.volta", other, home + "/.asdf", home + "/.cargo/bin", home + "/go/pkg/mod/cache/download"}; !slices.Equal(read, want) {
		t.Errorf("read %q, want %q", read, want)
	}
	if want := []string{home + "/.nvm/.git", home + "/.nvm/versions/node/v20/etc/npmrc", home + "/.volta/tools/image/node/20/etc/npmrc", other + "/versions/3.12/pip.conf", home + "/.asdf/installs/nodejs/20/etc/npmrc"}; !slices.Equal(masked, want) {
		t.Errorf("masked %q, want %q", masked, want)
	}
	if want := []sandbox.HomeFile{{Path: home + "/.pyenv", Target: other, Source: source}}; !slices.Equal(h.Files, want) {
		t.Errorf("%+v", h.Files)
	}
	for _, top := range []string{"", "/", "relative"} {
		if h := tools(top, nil, false); len(h.Read)+len(h.Files) > 0 {
			t.Errorf("%q: %+v", top, h)
		}
	}
}

func TestGoProxies(t *testing.T) {
	home := folderFor(t)
	write(t, home, map[string]string{
		"mods/cache/download/x": "", ".config/go/env": "GOMODCACHE=" + home + "/mods\nGOPROXY=https://a.example.org|https://u:" + planted + "@b.example.org,direct\n",
	})
	file := "file://" + home + "/mods/cache/download"
	for name, c := range map[string]struct {
		env     map[string]string
		network bool
		want    map[string]string
	}{
		"network":  {nil, true, map[string]string{"GOPROXY": file + ",https://a.example.org,direct"}},
		"offline":  {nil, false, map[string]string{"GOPROXY": file + ",off", "GOSUMDB": "off", "GONOPROXY": "none"}},
		"variable": {map[string]string{"GOPROXY": "https://c.example.org", "GOMODCACHE": home + "/none"}, true, map[string]string{"GOPROXY": "https://c.example.org"}},
	} {
		got := tools(home, c.env, c.network).Env
		maps.DeleteFunc(got, func(name, _ string) bool { return !strings.HasPrefix(name, "GO") })
		if !maps.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// bucketOf is where npm's index has an address, and entryOf what stands there; the content is
// named by a digest of one byte, over and over.
func bucketOf(address string) string {
	name := fmt.Sprintf("%x", sha256.Sum256([]byte(npmKey+address)))
	return "_cacache/index-v5/" + name[:2] + "/" + name[2:4] + "/" + name[4:]
}

func entryOf(key, address string, digest byte) string {
	sum := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{digest}, 64))
	return "\nsum\t" + `{"key":"` + npmKey + key + `","integrity":"sha512-` + sum + `","time":1,"size":3,"metadata":{"time":1,"url":"` + address + `","reqHeaders":{"accept":"*/*","authorization":"Bearer ` +
		planted + `"},"resHeaders":{"etag":"x","set-cookie":"` + planted + `"},"options":{"compress":true}}}`
}

func contentPath(digest byte) string {
	name := fmt.Sprintf("%x", bytes.Repeat([]byte{digest}, 64))
	return "_cacache/content-v2/sha512/" + name[:2] + "/" + name[2:4] + "/" + name[4:]
}

const (
	leftPage    = "https://r.example.org/left"
	leftPackage = "https://r.example.org/left/-/left-1.0.0.tgz"
	deepPage    = "https://s.example.org/@mine%2fdeep"
	otherPage   = "https://r.example.org/other"
)

// caches is a profile with caches of npm and cargo, and the project's own.
func caches(t testing.TB) (home, own string, p sandbox.Profile) {
	t.Helper()
	home, own = folderFor(t), folderFor(t)+"/own"
	if err := os.Mkdir(own, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, home, map[string]string{
		".npmrc":                        "registry=https://r.example.org\n@mine:registry=https://s.example.org/\n//r.example.org/:_authToken=" + planted + "\n",
		".npm/" + bucketOf(leftPage):    entryOf(leftPage, leftPage, 1) + entryOf(leftPage+"?token="+planted, leftPage, 1),
		".npm/" + bucketOf(leftPackage): entryOf(leftPackage, leftPackage, 2),
		".npm/" + bucketOf(deepPage):    entryOf(deepPage, deepPage, 3),
		".npm/" + bucketOf(otherPage):   entryOf(otherPage, otherPage, 4),
		".npm/" + contentPath(1):        `{"versions": {"1.0.0": {"dist": {"tarball": "` + leftPackage + `"}, "dependencies": {"@mine/deep": "1"}}, "2.0.0": {"dist": {"tarball": "https://r.example.org/none"}, "dependencies": {"other": "1"}}}}`,
		".npm/" + contentPath(2):        "tarball", ".npm/" + contentPath(3): "{}", ".npm/" + contentPath(4): "{}", ".npm/_cacache/tmp/x": "",
		".cargo/registry/cache/r-1/left-1.0.0.crate": "crate", ".cargo/registry/index/r-1/.cache/le/ft/left": "left", ".cargo/registry/index/r-1/config.json": `{"dl":"https://r.example.org/dl"}`,
		"proj/sub/package.json": `{"dependencies": {"left": "^1"}}`, "proj/Cargo.toml": "",
	})
	p.Roots = []sandbox.Root{{Path: home + "/proj", Mode: sandbox.ModeReadWrite, Guarded: true}, {Path: own, Mode: sandbox.ModeReadWrite}}
	h := tools(home, nil, false)
	for _, e := range h.Read {
		p.Roots = append(p.Roots, sandbox.Root{Path: e.Path, Mode: sandbox.ModeReadOnly})
	}
	p.Files = h.Files
	p.Env.Set = map[string]string{"npm_config_cache": own + "/npm/cache", "CARGO_HOME": own + "/cargo/home"}
	return home, own, p
}

func TestCachesAreFilled(t *testing.T) {
	home, own, p := caches(t)
	Fill(p)
	for _, address := range []string{leftPage, leftPackage, deepPage} {
		index, err := os.ReadFile(own + "/npm/cache/" + bucketOf(address))
		if err != nil || !strings.Contains(string(index), `"url":"`+address+`"`) || strings.Contains(string(index), planted) {
			t.Errorf("%s: %s, %v", address, index, err)
		}
	}
	if _, err := os.Lstat(own + "/npm/cache/" + bucketOf(otherPage)); err == nil {
		t.Error("a package is taken over that only a version names which is not in the cache")
	}
	for link, want := range map[string]string{
		"npm/cache/" + contentPath(2): "tarball", "cargo/home/registry/cache/r-1/left-1.0.0.crate": "crate", "cargo/home/registry/index/r-1/.cache/le/ft/left": "left",
	} {
		got, err := os.ReadFile(own + "/" + link)
		if info, lerr := os.Lstat(own + "/" + link); err != nil || lerr != nil || string(got) != want || info.Mode()&os.ModeSymlink == 0 {
			t.Errorf("%s: %q, %v", link, got, err)
		}
	}
	// A lock names what is taken over, and is read when it has changed.
	write(t, home, map[string]string{"proj/sub/package-lock.json": `{"packages": {"node_modules/other": {"resolved": "` + otherPage + `"}}}`})
	Fill(p)
	if _, err := os.Lstat(own + "/npm/cache/" + bucketOf(otherPage)); err != nil {
		t.Error(err)
	}
	// What the user has removed is not linked any more: cargo loads it again.
	if err := os.Remove(home + "/.cargo/registry/cache/r-1/left-1.0.0.crate"); err != nil {
		t.Fatal(err)
	}
	Fill(p)
	if _, err := os.Lstat(own + "/cargo/home/registry/cache/r-1/left-1.0.0.crate"); err == nil {
		t.Error("a link to a crate that is gone stays")
	}
}

// Commands can write the project's caches. Whatever they leave there, filling them changes no
// file elsewhere, and does not wait.
func TestFillingFollowsNoLink(t *testing.T) {
	_, own, p := caches(t)
	victim := folderFor(t)
	for _, link := range []string{"npm", "cargo"} {
		if err := os.Symlink(victim, filepath.Join(own, link)); err != nil {
			t.Fatal(err)
		}
	}
	Fill(p)
	if left, err := os.ReadDir(victim); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
	for _, dir := range []string{"npm", "cargo"} {
		if err := os.Remove(filepath.Join(own, dir)); err != nil {
			t.Fatal(err)
		}
	}
	write(t, own, map[string]string{"npm/cache/_cacache/keep": "", "cargo/home/registry/keep": ""})
	for link, target := range map[string]string{
		"npm/cache/_cacache/index-v5": victim, "npm/cache/_cacache/content-v2": victim, "cargo/home/registry/cache": victim, "cargo/home/registry/index": victim,
	} {
		if err := os.Symlink(target, filepath.Join(own, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.RemoveAll(own + ".filled"); err != nil {
		t.Fatal(err)
	}
	Fill(p)
	if left, err := os.ReadDir(victim); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
}
