// Package home finds what of a user's home folder commands may see where the policy says
// sandbox.home: tools. Everything is an allow list: folders that hold programs, and the user's
// settings written anew from the keys that are known to hold no secret. What is not known is
// left out.
package home

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/sandbox"
)

// source is why an entry is there, besides the line of the policy.
const source = "home: tools"

// folders are the places below a home that hold programs and what they need to start, and
// nothing of anybody's own.
var folders = []string{
	".local/bin", ".local/lib",
	".local/share/pnpm", ".local/share/fnm", ".local/share/mise/installs", ".local/share/mise/shims",
	".local/share/pipx", ".local/pipx", ".local/share/uv/python", ".local/share/uv/tools", ".local/share/virtualenv/wheel",
	".nvm", ".volta", ".fnm", ".n/bin", ".npm-global/bin", ".npm-global/lib", ".yarn/bin", ".bun/bin", ".deno/bin",
	".pyenv", ".rye/shims", ".rye/py", ".rbenv", ".rvm/rubies", ".rvm/bin", ".gem/ruby", ".local/share/gem/ruby",
	".asdf", ".sdkman/candidates", ".jenv", ".goenv", ".gvm/gos", "go/bin", ".cargo/bin", ".rustup", ".ghcup/bin", ".ghcup/ghc",
	".dotnet/tools", ".dotnet/sdk", ".dotnet/shared", ".dotnet/host", ".elan", ".juliaup", ".nix-profile",
}

// hidden are the files and folders among them in which tools keep settings of their own, from
// the top of a folder and of each version that it holds: a registry's token stands in an npmrc
// of a Node version as well as in ~/.npmrc, and a clone of a tool's repository may have been
// made with a password in its address.
var (
	hidden          = []string{".git", ".npmrc", ".env", "hooks.json", "plugins/*/.git", "repository/.git", "repos/*/.git"}
	hiddenInVersion = []string{".npmrc", "etc/npmrc", "lib/node_modules/npm/npmrc", "pip.conf", "conf/settings.xml"}
)

// versions are where the folders hold versions of something.
var versions = map[string][]string{
	".nvm": {"versions/*/*", "v*"}, ".volta": {"tools/image/*/*"},
	".fnm": {"node-versions/*/installation"}, ".local/share/fnm": {"node-versions/*/installation"},
	".pyenv": {"versions/*", "versions/*/envs/*"}, ".rbenv": {"versions/*"}, ".jenv": {"versions/*"},
	".goenv": {"versions/*"}, ".asdf": {"installs/*/*"}, ".sdkman/candidates": {"*/*"}, ".rye/py": {"*"},
	".local/share/mise/installs": {"*/*"}, ".local/share/pnpm": {"nodejs/*"}, ".local/share/uv/python": {"*"},
	".local/share/pipx": {"venvs/*"}, ".local/pipx": {"venvs/*"}, ".local/share/uv/tools": {"*"},
}

// A User is whose home it is.
type User struct {
	// Home is the folder, an absolute path.
	Home string
	// Env tells the user's own variables.
	Env func(string) string
}

// Tools looks at the home folder. Network says whether commands will have the network.
func (u User) Tools(network sandbox.Network) config.HomeTools {
	t := config.HomeTools{Env: map[string]string{}}
	if !filepath.IsAbs(u.Home) || filepath.Clean(u.Home) == "/" {
		return t
	}
	for _, name := range folders {
		u.show(&t, name)
	}
	u.settings(&t)
	u.caches(&t, network)
	return t
}

// show adds a folder, if it is there. One that a link leads to is shown where it is, with the
// link in the home; one that would show the home itself, or what lies above it, is left out.
func (u User) show(t *config.HomeTools, name string) {
	at := filepath.Join(u.Home, name)
	real, ok := folder(at)
	top, err := filepath.EvalSymlinks(u.Home)
	if !ok || err != nil || sandbox.Below(real, top) || strings.HasPrefix(real, "/proc/") {
		return
	}
	if !strings.HasPrefix(real, "/nix/store/") && !strings.HasPrefix(real, "/usr/") { // which every command sees
		t.Read = append(t.Read, sandbox.Entry{Path: real, Source: source})
		t.Masked = append(t.Masked, secretsIn(real, versions[name])...)
	}
	if real != at {
		t.Files = append(t.Files, sandbox.HomeFile{Path: at, Target: real, Source: source})
	}
}

// folder returns where a path leads, if that is a folder.
func folder(path string) (string, bool) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", false
	}
	info, err := os.Stat(real)
	return real, err == nil && info.IsDir()
}

// secretsIn finds what must not be seen in a folder of tools and the versions in it.
func secretsIn(dir string, versions []string) []sandbox.Entry {
	var out []sandbox.Entry
	mask := func(pattern string) {
		found, _ := filepath.Glob(escape(dir) + "/" + pattern)
		for _, file := range found {
			// A link's target is out of sight, or below the folder.
			if real, err := filepath.EvalSymlinks(file); err == nil && sandbox.Below(dir, real) && real != dir {
				out = append(out, sandbox.Entry{Path: real, Source: "home: tools shows no settings of tools"})
			}
		}
	}
	for _, name := range hidden {
		mask(name)
	}
	for _, version := range versions {
		for _, name := range hiddenInVersion {
			mask(version + "/" + name)
		}
	}
	return out
}

// escape takes the meaning from the characters of a path that a pattern would read.
func escape(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}
