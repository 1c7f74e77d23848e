package launch

import (
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/assent-dev/assent/sandbox"
)

// systemFolders hold programs and libraries and nothing of anybody's own.
var systemFolders = []string{
	"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32",
	"/nix/store", "/gnu/store", "/run/current-system",
}

// settings are the parts of /etc that programs need to start, to find users and hosts by
// name and to check certificates. The rest of /etc has passwords and keys in it, which
// root could read.
var settings = []string{
	"alternatives", "bash.bashrc", "crypto-policies", "debian_version", "environment", "fonts", "gai.conf",
	"gitconfig", "group", "host.conf", "hosts", "inputrc", "java-*-openjdk", "ld.so.cache", "ld.so.conf",
	"locale.alias", "locale.conf", "localtime", "mime.types", "nsswitch.conf", "os-release", "passwd", "pki/ca-trust",
	"pki/tls/certs", "pki/tls/cert.pem", "profile", "protocols", "resolv.conf", "services", "ssl/certs",
	"ssl/cert.pem", "ssl/openssl.cnf", "static", "timezone",
}

// settingFiles are the settings by their paths.
var settingFiles = sync.OnceValue(func() []string {
	var out []string
	for _, name := range settings {
		file := filepath.Join("/etc", name)
		if strings.Contains(name, "*") {
			found, _ := filepath.Glob(file) // the pattern is a good one
			out = append(out, found...)
		} else {
			out = append(out, file)
		}
	}
	return out
})

// Shared reports whether a path is among those that every process sees, read-only, or that
// are the kernel's.
func Shared(path string) bool {
	for _, dir := range append([]string{"/proc", "/dev"}, systemFolders...) {
		if sandbox.Below(dir, path) {
			return true
		}
	}
	for _, file := range settingFiles() {
		if sandbox.Below(file, path) {
			return true
		}
	}
	return path == "/etc"
}

// small is the size of the largest file that is copied: each mount costs more.
const small = 256 << 10

// system returns what of the host every process sees, read-only.
func system() []Link {
	var out []Link
	for _, dir := range systemFolders {
		out = appendLink(out, dir)
	}
	for _, file := range settingFiles() {
		out = appendSetting(out, file)
	}
	return out
}

// appendLink adds a folder, or the symbolic link that stands in its place.
func appendLink(list []Link, dir string) []Link {
	if target, err := os.Readlink(dir); err == nil {
		return append(list, Link{Path: dir, Target: target})
	}
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return append(list, Link{Path: dir, Source: dir})
	}
	return list
}

// appendSetting adds a setting by its content: where a link leads to need not be there.
func appendSetting(list []Link, file string) []Link {
	real, err := filepath.EvalSymlinks(file)
	if err != nil {
		return list
	}
	info, err := os.Stat(real)
	switch {
	case err != nil:
		return list
	case real != file && sandbox.Below("/usr", real):
		return append(list, Link{Path: file, Target: real})
	case info.Mode().IsRegular() && info.Size() <= small && info.Mode().Perm()&0o004 != 0:
		return append(list, Link{Path: file, Source: real, Small: true})
	}
	return append(list, Link{Path: file, Source: real})
}
