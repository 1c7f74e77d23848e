package home

import (
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/sandbox"
)

// caches shows the parts of the user's caches that hold packages and nothing else, and tells the
// programs how to read them. What they add goes to a cache of the project's own: see [Fill] and
// config.Caches.
//
// Of Go's module cache that is what a proxy would serve; the clones beside it may have
// passwords in their addresses. Of npm's and cargo's it is what is named by its content or its
// version. pip's is not shown: pip asks the index before it uses what it has, so without the
// network the cache is of no use, and its entries may hold the headers of requests.
func (u User) caches(t *config.HomeTools, network sandbox.Network) {
	read := func(dir string) bool {
		real, ok := folder(dir)
		if ok {
			t.Read = append(t.Read, sandbox.Entry{Path: real, Source: "home: tools, a cache"})
		}
		return ok
	}
	u.goCache(t, network, read)
	read(filepath.Join(u.Home, npmContent))
	read(filepath.Join(u.Home, cargoRegistry, "cache"))
	indexes, _ := filepath.Glob(escape(filepath.Join(u.Home, cargoRegistry, "index")) + "/*/.cache")
	for _, index := range indexes {
		read(index)
	}
	if !network.On && !network.ByName {
		// What is cached is used as it is, and what is not fails at once.
		for name, value := range map[string]string{"prefer_offline": "true", "fetch_retries": "0", "audit": "false",
			"fund": "false", "update_notifier": "false"} {
			t.Env["npm_config_"+name] = value
		}
		t.Env["CARGO_NET_OFFLINE"] = "true"
		t.Env["PIP_DISABLE_PIP_VERSION_CHECK"] = "1"
	}
}

const (
	npmContent    = ".npm/_cacache/content-v2"
	npmIndex      = ".npm/_cacache/index-v5"
	cargoRegistry = ".cargo/registry"
)

// goCache makes the user's module cache the first proxy. Modules are checked against go.sum as
// always. Without the network they can come from that cache alone, where they were checked
// when they were downloaded, so the checksum database, which could not be reached, is not asked.
func (u User) goCache(t *config.HomeTools, network sandbox.Network, read func(string) bool) {
	settings := u.read(".config/go/env")
	get := func(name string) string {
		value := u.Env(name)
		for line := range strings.Lines(settings) {
			if rest, ok := strings.CutPrefix(line, name+"="); ok && value == "" {
				value = strings.TrimSpace(rest)
			}
		}
		return value
	}
	mod := get("GOMODCACHE")
	if mod == "" {
		top, _, _ := strings.Cut(get("GOPATH"), string(filepath.ListSeparator))
		if top == "" {
			top = filepath.Join(u.Home, "go")
		}
		mod = filepath.Join(top, "pkg", "mod")
	}
	var proxies []string
	if download := filepath.Join(mod, "cache", "download"); filepath.IsAbs(mod) && read(download) {
		proxies = append(proxies, (&url.URL{Scheme: "file", Path: download}).String())
	}
	if !network.On && !network.ByName {
		t.Env["GOPROXY"] = strings.Join(append(proxies, "off"), ",")
		t.Env["GOSUMDB"] = "off"
		t.Env["GONOPROXY"] = "none" // private modules are in that cache too
		return
	}
	own := get("GOPROXY")
	if own == "" {
		own = "https://proxy.golang.org,direct"
	}
	for _, proxy := range strings.FieldsFunc(own, func(c rune) bool { return c == ',' || c == '|' }) {
		if _, ok := address(proxy); ok || proxy == "direct" || proxy == "off" {
			proxies = append(proxies, proxy)
		}
	}
	t.Env["GOPROXY"] = strings.Join(proxies, ",")
}

// Fill puts into a project's own caches, which the profile names, links to what the user's
// caches have and the profile shows. It is done before a command runs; what fails is left out,
// and the program loads it again if it can.
//
// The project's commands can write there, so nothing is followed that they may have put in the
// way: everything goes through an [os.Root].
func Fill(p sandbox.Profile) {
	if own := p.Env.Set["npm_config_cache"]; own != "" {
		fillNpm(p, own, projects(p, "package.json"))
	}
	if own := p.Env.Set["CARGO_HOME"]; own != "" && len(projects(p, "Cargo.toml")) > 0 {
		fillCargo(p, own)
	}
}

// projects are the files of the name in the roots, as far down as projects are kept together.
func projects(p sandbox.Profile, name string) []string {
	var out []string
	for _, r := range p.Roots {
		if !r.Guarded { // it holds no project
			continue
		}
		for _, depth := range []string{"/", "/*/", "/*/*/"} {
			found, _ := filepath.Glob(escape(r.Path) + depth + name)
			out = append(out, found...)
		}
	}
	return slices.DeleteFunc(out, func(file string) bool { return strings.Contains(file, "/node_modules/") })
}

// shown returns the read-only root of the profile whose path ends so.
func shown(p sandbox.Profile, suffix string) []string {
	var out []string
	for _, r := range p.Roots {
		if matched, _ := filepath.Match("*/"+suffix, tail(r.Path, strings.Count(suffix, "/")+2)); matched &&
			r.Mode == sandbox.ModeReadOnly && !r.Guarded {
			out = append(out, r.Path)
		}
	}
	return out
}

// tail returns the last parts of a path.
func tail(path string, parts int) string {
	all := strings.Split(path, "/")
	return strings.Join(all[max(0, len(all)-parts):], "/")
}

// fillCargo links the packed crates and the entries of the index. cargo unpacks them itself.
func fillCargo(p sandbox.Profile, own string) {
	root, within, _, err := openOwn(p, own)
	if err != nil {
		return
	}
	defer root.Close()
	for _, dir := range shown(p, cargoRegistry+"/cache") {
		linkAll(root, dir, within+"/registry/cache", 2)
	}
	for _, dir := range shown(p, cargoRegistry+"/index/*/.cache") {
		index := within + "/registry/index/" + filepath.Base(filepath.Dir(dir))
		linkAll(root, dir, index+"/.cache", 4)
		config := readSmall(filepath.Join(filepath.Dir(dir), "config.json"))
		if config != "" && !strings.Contains(config, "@") && !opaque(config) {
			_ = create(root, index+"/config.json", config) // it may be there
		}
	}
}

// openOwn opens the writable root that holds a cache, and returns where in it the cache is. The
// root is a mount for the commands inside: they cannot put a link in its place.
func openOwn(p sandbox.Profile, cache string) (root *os.Root, within, beside string, err error) {
	for _, r := range p.Roots {
		if r.Mode == sandbox.ModeReadWrite && !r.Guarded && r.Path != cache && sandbox.Below(r.Path, cache) {
			root, err = os.OpenRoot(r.Path)
			return root, strings.TrimPrefix(cache, r.Path+"/"), r.Path, err
		}
	}
	return nil, "", "", fs.ErrNotExist
}

// create makes a file. What is there already is not opened: it may be a pipe.
func create(root *os.Root, name, text string) error {
	if err := root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// linkAll links what lies in a folder into the project's own, so many levels deep. What is there
// already stays, but for links to what the user has no longer: cargo could not write there.
func linkAll(root *os.Root, dir, own string, levels int) {
	entries, err := os.ReadDir(dir)
	if err != nil || root.MkdirAll(own, 0o700) != nil {
		return
	}
	old, _ := fs.ReadDir(root.FS(), own)
	for _, o := range old {
		if o.Type()&fs.ModeSymlink != 0 &&
			!slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == o.Name() }) {
			_ = root.Remove(filepath.Join(own, o.Name()))
		}
	}
	for _, e := range entries {
		from, to := filepath.Join(dir, e.Name()), filepath.Join(own, e.Name())
		if e.IsDir() && levels > 1 {
			linkAll(root, from, to, levels-1)
		} else {
			_ = root.Symlink(from, to) // it may be there
		}
	}
}
