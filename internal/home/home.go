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

// hidden are the files and folders among them in which tools keep settings of their own: a
// registry's token stands in an npmrc of a Node version as well as in ~/.npmrc, and a clone of
// a tool's repository may have been made with a password in its address. A pattern that
// begins with / counts from the top of each folder.
var hidden = []string{
	"/.git", "/.npmrc", "/.env", "/hooks.json", "/plugins/*/.git", "/repository/.git", "/repos/*/.git",
	"/etc/npmrc", "/lib/node_modules/npm/npmrc", "/pip.conf", "/conf/settings.xml",
}

// depths are how deep a version of a tool lies in the folders: versions/3.12, versions/node/v20,
// installs/node/20, tools/image/node/20, node-versions/v20/installation.
var depths = []string{"", "/*", "/*/*", "/*/*/*"}

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
	for i := range t.Read {
		t.Masked = append(t.Masked, secretsIn(t.Read[i].Path)...)
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
	if strings.HasPrefix(real, "/nix/store/") || strings.HasPrefix(real, "/usr/") {
		// Every command sees it.
	} else {
		t.Read = append(t.Read, sandbox.Entry{Path: real, Source: source})
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

// secretsIn finds what must not be seen in a folder of tools.
func secretsIn(dir string) []sandbox.Entry {
	var out []sandbox.Entry
	for _, depth := range depths {
		for _, name := range hidden {
			found, _ := filepath.Glob(escape(dir) + depth + name)
			for _, file := range found {
				// A link's target is out of sight, or below the folder and found by itself.
				if real, err := filepath.EvalSymlinks(file); err == nil && sandbox.Below(dir, real) && real != dir {
					out = append(out, sandbox.Entry{Path: real, Source: "home: tools shows no settings of tools"})
				}
			}
		}
	}
	return out
}

// escape takes the meaning from the characters of a path that a pattern would read.
func escape(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}
