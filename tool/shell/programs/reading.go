package programs

import (
	"slices"
	"strings"
)

// A Kind is what an effect is.
type Kind int

// The kinds of effects.
const (
	Read    Kind = iota + 1 // reads a file
	Write                   // makes or changes a file
	Delete                  // removes a file
	Connect                 // talks to a host
)

// An Effect is one thing that an invocation does to a file or a host.
type Effect struct {
	Kind Kind
	// What is the path or host, as the program is given it. For a value inside a
	// word (--output=F, -oF, of=F) it is the value alone.
	What Word
	// Arg is the index of the argument it comes from, -1 for none: a program
	// that reads the working directory by default, or writes a fixed name.
	Arg int
	// Tree says that everything below the path is meant as well.
	Tree bool
	// Names says that of what lies below the path only names and sizes are read,
	// as by ls and find.
	Names bool
	// Only are patterns, if there are any: of the files below the path those are
	// left alone whose base name matches none (grep --include).
	Only []string
	// Visible says that what begins with a dot below the path is left alone, unless
	// a file with rules of what to ignore makes an exception (rg).
	Visible bool
	// Unpiped says that it does so only if standard input is no pipe or file, as
	// rg without a path.
	Unpiped bool
	// Into says that the path may be a folder that receives the file under the
	// base name of From, as the last operand of cp.
	Into bool
	From Word
	// Port is the port of a connection; empty if it is not known.
	Port string
	// TLS says that the connection is https for certain.
	TLS bool
	// Missing says that it connects only for what is missing here, and does without where it
	// cannot (go list).
	Missing bool
	// ByFlag says that a flag causes it, and not what the program is for: it is
	// covered only by an allow that spells the flag.
	ByFlag bool
}

// A Run is another command that an invocation starts.
type Run struct {
	// Words are the command's own words; the last may be an unknown word that
	// stands for what is added when it runs (xargs, find -exec).
	Words []Word
	// Script is text for a shell (sh -c, eval, trap), instead of Words; it is
	// literal text unless it is not Known.
	Script Word
	// IsScript tells the two apart.
	IsScript bool
	// Args are the positional parameters of a script, $0 first.
	Args []Word
	// Env are the assignments made for it, as by env and sudo.
	Env []Assignment
	// Shell is the program that reads Script, such as bash; empty for sh.
	Shell string
	// Dir is the folder that it runs in, if the wrapper changes it; empty Text
	// and Known for no change.
	Dir Word
	// Cleared says that it starts with an empty environment (env -i).
	Cleared bool
	// Elsewhere says that it runs on another machine, in another root or in a
	// container, so that its paths are not ours.
	Elsewhere bool
}

// A Listing is what find prints: paths of what lies at or below a folder.
type Listing struct {
	// Below is the folder, as each path begins; a word that is not Known if the output is
	// something else.
	Below Word
	// Name is a pattern for the last part of each path; empty for any.
	Name string
	// Zero says that a zero byte ends each path, and not a newline.
	Zero bool
}

// An Assignment sets a variable in the environment of a command.
type Assignment struct {
	Name  string
	Value Word
}

// A Reading is what one invocation of a program would do.
type Reading struct {
	// Program is the entry's name; empty if the program is not in the table.
	Program string
	// Sub are the subcommands that were found, such as ["remote", "add"].
	Sub []string
	// Prefix is how many leading words, the program's name among them, make the
	// invocation worth remembering (`git push`: 2); 0 for an interpreter or a
	// wrapper, where no prefix says anything.
	Prefix int
	// Flags are all the spellings of the flags that it is given, for denies:
	// `rm -r` has -r, -R and --recursive.
	Flags []string
	// Known says that all it would do is understood: every flag and operand was
	// recognised, and no word that matters is unknown.
	Known bool
	// Why says what was not understood; empty if Known.
	Why string
	// Readonly says that the read-only preset covers it: the table says that the
	// program only reads, and every word is recognised and does no more than read files and
	// print. Its file effects are judged on their own, and so are the commands that it starts.
	Readonly bool
	// Simple says that it does nothing but what it does to the files that it names, so that
	// it is as free as that (mkdir, tee).
	Simple bool
	// Complete says that Effects and Runs are all it does. False for what runs
	// the project's own code (make, npm test), whose effects are open.
	Complete bool
	// Spelled are the indices of the arguments that only an allow which spells
	// them covers: flags that write, delete, run a program or use the network,
	// and flags that are not known.
	Spelled []int
	// Plain are the indices of unknown arguments that are certainly operands,
	// of which every effect is listed, so that they hide nothing.
	Plain []int
	// Dir is the folder that it works in, if a flag changes it (git -C); empty
	// Text and Known for no change. The effects' paths have it in them already.
	Dir Word
	// Effects are what it does to files and hosts.
	Effects []Effect
	// Runs are the commands that it starts.
	Runs []Run
	// Transparent says that it does nothing of its own besides starting Runs, as
	// nice and timeout.
	Transparent bool
	// Opaque says why code that it is handed cannot be read: inline code for an
	// interpreter, a script on standard input. Empty if there is none.
	Opaque string
	// Stdin says that what arrives on standard input is code for a shell
	// (`sh`, `bash -s`): the caller knows whether that is literal text.
	Stdin bool
	// Lists is set if all that it prints are paths of files (find).
	Lists Listing
	// Scripts are files that it runs as code (bash x.sh, python x.py, make -f).
	Scripts []Word
	// Shows are the variables of the environment whose values it prints; an empty name
	// stands for all of them.
	Shows []string
	// Project says that it runs the project's own code: its tests, builds and scripts.
	Project bool
	// Raises says that it takes more rights than the caller has (sudo, doas).
	Raises bool
}

// OwnWords is how many leading words of an invocation an allow has to spell to answer the
// connections that it makes by itself too: the program and its subcommand. Host is the index of
// the word that names the host, as in curl URL, or 0. If it spells the host, all is spelled as far
// as that word; so it is for a program without subcommands, or else to its first operand. Where
// no prefix says enough it is more words than there are.
func (r Reading) OwnWords(words []Word, host int, spells bool) int {
	switch {
	case host > 0 && spells:
		return max(host+1, r.Prefix)
	case r.Prefix >= 2:
		return r.Prefix
	case host > 0:
		return host + 1
	case r.Prefix == 0 || len(words) < 2 || strings.HasPrefix(words[1].Text, "-"):
		return len(words) + 1
	}
	return 2
}

// RunsFiles reports whether it runs code that files decide: a script that it names, or what
// the project makes it run. Git is kept from running what a repository says.
func (r Reading) RunsFiles() bool {
	return r.Program != "" && r.Program != "git" && (!r.Complete || len(r.Scripts) > 0)
}

// A Word is one word of a command, as far as it can be told before it runs.
type Word struct {
	// Text is what the program will see if the word is Known, and otherwise how
	// it is written.
	Text string
	// Known says that Text is exactly what the program will see.
	Known bool
	// Begin is what an unknown word is known to begin with.
	Begin string
	// Glob says that the word is a pattern for names that are there when the
	// command runs; Text is the pattern, with quoted characters escaped.
	Glob bool
	// Many says that an unknown word may turn out to be none, or several. A
	// quoted expansion is one word whatever its value.
	Many bool
	// Below is a folder: an unknown word is the path of something that lies at or below it, or
	// several if Many. Name is a pattern for the last part of the path; empty for any.
	Below, Name string
	// Input says that the word stands for what is read from standard input (xargs).
	Input bool
	// Number says that an unknown word is made of digits, such as $? and $#.
	Number bool
}

// Literal returns a word that is known.
func Literal(text string) Word { return Word{Text: text, Known: true} }

// MayBeFlag reports whether the word may begin with a hyphen.
func (w Word) MayBeFlag() bool {
	switch {
	case w.Known:
		return len(w.Text) > 0 && w.Text[0] == '-'
	case w.Number:
		return false
	case w.Begin != "":
		return w.Begin[0] == '-'
	}
	return true
}

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

// gitWriters are the subcommands of git that write to the repository's own folder.
var gitWriters = []string{
	"add", "am", "bisect", "branch", "checkout", "cherry-pick", "clean", "commit", "fetch", "gc", "init",
	"maintenance", "merge", "mv", "notes", "pull", "push", "rebase", "reset", "restore", "revert", "rm", "stash",
	"submodule", "switch", "tag", "update-index", "update-ref", "worktree",
}

// GitWrites reports whether a subcommand of git writes to .git.
func GitWrites(sub string) bool { return slices.Contains(gitWriters, sub) }
