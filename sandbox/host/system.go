package host

import (
	"os"
	"path/filepath"

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
	"alternatives", "bash.bashrc", "ca-certificates", "ca-certificates.conf", "crypto-policies", "debian_version",
	"environment", "fonts", "gai.conf", "gitconfig", "group", "host.conf", "hosts", "inputrc", "ld.so.cache", "ld.so.conf",
	"ld.so.conf.d", "locale.alias", "locale.conf", "localtime", "magic", "magic.mime", "mailcap", "mime.types",
	"nsswitch.conf", "os-release", "papersize", "passwd", "pki/ca-trust", "pki/tls/certs", "pki/tls/cert.pem",
	"profile", "protocols", "python3", "resolv.conf", "rpc", "services", "shells", "skel",
	"ssl/certs", "ssl/cert.pem", "ssl/openssl.cnf", "static", "terminfo", "timezone", "vimrc", "xattr.conf", "xdg",
}

// system returns what of the host every process sees, read-only.
func system() []sandbox.Link {
	var out []sandbox.Link
	for _, dir := range systemFolders {
		out = appendLink(out, dir)
	}
	for _, name := range settings {
		// Settings are seen by content: their links lead to places that are not there.
		file := filepath.Join("/etc", name)
		if real, err := filepath.EvalSymlinks(file); err == nil {
			out = append(out, sandbox.Link{Path: file, Source: real})
		}
	}
	return out
}

// appendLink adds a folder, or the symbolic link that stands in its place.
func appendLink(list []sandbox.Link, dir string) []sandbox.Link {
	if target, err := os.Readlink(dir); err == nil {
		return append(list, sandbox.Link{Path: dir, Target: target})
	}
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return append(list, sandbox.Link{Path: dir, Source: dir})
	}
	return list
}
