package programs

import (
	"context"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// getopts are programs that parse their flags with getopt_long, and of which no flag does
// anything before all of them were read. They can be asked what their flags take.
var getopts = strings.Fields(`ls cat tac head tail wc cut tr uniq sort grep sed diff stat du file df base64 comm
	join paste expand unexpand nl od fold fmt pr date numfmt shuf ptx nproc uname id who cp mv ln install rm
	rmdir shred mkdir mkfifo mktemp touch truncate tee split csplit chmod chown readlink realpath basename
	dirname cksum cmp diff3 sdiff tar xargs env timeout stdbuf nice chroot column hexdump strings iconv patch lsblk findmnt
	dmesg flock setsid ionice taskset chrt prlimit logger pgrep man gzip xz cpio inotifywait`)

// TestFlagsTakeArguments asks the real programs: a flag that is thought to take an argument
// and does not would hide the word behind it.
func TestFlagsTakeArguments(t *testing.T) {
	for _, name := range getopts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, err := lookup(name)
			if err != nil || e == nil {
				t.Fatalf("%s: %v", name, err)
			}
			dir := t.TempDir()
			for _, f := range e.flags {
				for _, flag := range f.names {
					if got := takes(t, dir, name, flag); got != "" && got != f.takes() && !(got == "none" && f.optional) {
						t.Errorf("%s %s: it takes %s, the table says %s", name, flag, got, f.takes())
					}
				}
			}
		})
	}
}

// takes is what the table says about a flag. That newer versions may take an argument, and
// only if it is attached, hides nothing.
func (f *flag) takes() string {
	switch {
	case f.optional:
		return "maybe an argument"
	case f.args > 0:
		return "an argument"
	}
	return "none"
}

// takes asks the program; empty if it does not know the flag, or does not say.
func takes(t *testing.T, dir, program, flag string) string {
	t.Helper()
	if flag == "-NUMBER" || flag[0] == '+' || flag == "--help" || flag == "--version" || flag == "-V" && program == "grep" {
		return ""
	}
	alone, said := complaint(t, dir, program, flag)
	switch {
	case strings.Contains(alone, "requires an argument"):
		return "an argument"
	case strings.Contains(alone, "unrecognized option '"+flag), strings.Contains(alone, "invalid option"),
		strings.Contains(alone, "ambiguous"):
		return ""
	}
	if !strings.HasPrefix(flag, "--") {
		// Behind one letter, another that no program has: it is an argument, or a flag.
		if with, _ := complaint(t, dir, program, flag+"\x01"); strings.Contains(with, "invalid option -- '\x01'") {
			return "none"
		}
		return ""
	}
	with, ended := complaint(t, dir, program, flag+"=\x01")
	switch {
	case strings.Contains(with, "doesn't allow an argument"):
		return "none"
	case !said || !ended:
		return ""
	}
	return "maybe an argument"
}

// complaint runs the program with a flag and one that no program has, so that nothing is done.
// Some wait for ever all the same: they are ended.
func complaint(t *testing.T, dir, program, flag string) (text string, ended bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	args := []string{flag, "--\x01nothing"}
	if !strings.Contains(flag, "\x01") {
		args = []string{flag}
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=/usr/bin:/bin", "LC_ALL=C", "HOME=" + dir}
	out, _ := cmd.CombinedOutput()
	return string(out), ctx.Err() == nil
}
