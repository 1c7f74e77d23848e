package programs

import "strings"

// startNothing are programs that do all they do themselves, whatever flags they are given
// that a complete reading knows: a wrapper's command is a part of its own.
const startNothing = `
	true false echo printf pwd ls dir vdir cat tac head tail wc cut tr uniq sort stat du df basename dirname readlink
	realpath base32 base64 basenc cksum sum md5sum b2sum sha1sum sha224sum sha256sum sha384sum sha512sum comm join paste
	expand unexpand nl od fold fmt pr date cal ncal seq yes sleep factor expr test [ numfmt shuf tsort ptx arch hostid
	logname whoami nproc tty uname uptime id groups users who pathchk printenv dircolors cp mv install ln link rm unlink
	rmdir shred mkdir mkfifo mktemp touch truncate tee split csplit dd sync chmod chown chgrp stty env nice nohup timeout
	stdbuf setsid time xargs find grep sed awk gawk mawk jq cmp diff column colrm rev look hexdump hd xxd strings iconv
	which whereis tree ps pgrep pidof free file`

var starters = func() map[string][]string {
	m := map[string][]string{
		// Git has parts of its own beside it. Paths are seen from the program's folder.
		"git": {"git", "../lib/git-core", "../libexec/git-core"},
	}
	for name := range strings.FieldsSeq(startNothing) {
		m[name] = nil
	}
	return m
}()

// gitScripts are subcommands of git that are scripts, and start what a shell needs.
const gitScripts = " submodule filter-branch mergetool difftool request-pull instaweb quiltimport send-email svn p4 citool gui bisect "

// Starts returns the programs that an invocation may start by itself, besides those of its
// reading: names, or paths that are seen from the program's own folder. It is not ok if they
// are not known.
func (r Reading) Starts() (names []string, ok bool) {
	if r.Program == "git" && len(r.Sub) > 0 && strings.Contains(gitScripts, " "+r.Sub[0]+" ") {
		return nil, false
	}
	names, ok = starters[r.Program]
	return names, ok && r.Known && r.Complete
}

// ScriptStarts returns what a program that is a script on this machine may start, besides
// its interpreter. It is not ok if that is not known: shims start what they like.
func ScriptStarts(name string) (names []string, ok bool) {
	switch name {
	case "which":
		return nil, true
	case "egrep", "fgrep":
		return []string{"grep"}, true
	}
	return nil, false
}

// inPlace are programs that write a file where it is, if it exists. Others replace it.
const inPlace = " tee dd truncate touch cp sort shred chmod chown chgrp "

// WritesInPlace reports whether the program changes files that exist without making new ones
// beside them.
func (r Reading) WritesInPlace() bool { return strings.Contains(inPlace, " "+r.Program+" ") }
