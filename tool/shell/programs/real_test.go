//go:build all

package programs

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// These tests ask the real programs, of which scripts/need.sh knows the packages.

// TestRows runs every row: see the top of rows_test.go.
func TestRows(t *testing.T) {
	for _, r := range readRows(t) {
		t.Run(r.names[0], func(t *testing.T) {
			t.Parallel()
			r.check(t)
		})
	}
}

// TestAbsentProgramsAreAbsent finds lines of absent.txt that are out of date.
func TestAbsentProgramsAreAbsent(t *testing.T) {
	for _, one := range readAbsent(t) {
		if path, err := exec.LookPath(strings.Fields(one.name)[0]); !one.cannot && err == nil {
			t.Errorf("%s/absent.txt:%d: %s is installed as %s: write rows for it", rowsFolder, one.line, one.name, path)
		}
	}
}

// check runs the script and looks at what happened.
func (r row) check(t *testing.T) {
	dir := rowFolder(t)
	before := map[string]string{}
	for _, want := range r.wants {
		if _, file, ok := strings.Cut(want, " "); ok {
			before[file] = fileState(filepath.Join(dir, file))
		}
	}
	came, port := listen(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", r.script)
	cmd.Dir = dir
	// All that the script started ends with it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	cmd.Env = append(os.Environ(), "HOME="+dir, "TMPDIR="+dir+"/tmp", "PATH="+dir+"/bin:"+os.Getenv("PATH"), "PORT="+port,
		"LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	output, err := cmd.CombinedOutput()
	syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	for _, want := range r.wants {
		if !happened(ctx, want, dir, before, came) {
			t.Errorf("%s: %s: it did not: %s\n%s(%v)\n%s", r.at, strings.Join(r.names, ", "), want, r.script, err, output)
		}
	}
}

// happened looks for one thing that was to happen.
func happened(ctx context.Context, want, dir string, before map[string]string, came <-chan struct{}) bool {
	verb, file, _ := strings.Cut(want, " ")
	now := fileState(filepath.Join(dir, file))
	switch verb {
	case "runs":
		return fileState(filepath.Join(dir, "spied")) != ""
	case "writes":
		return now != "" && now != before[file]
	case "deletes":
		return now == "" && before[file] != "" || now == "" && strings.HasPrefix(file, "made")
	case "connects":
		select {
		case <-came:
			return true
		case <-ctx.Done():
		}
	}
	return false
}

// fileState is empty if there is no such file; else it changes when the file does.
func fileState(path string) string {
	info, err := os.Lstat(path)
	if err != nil {
		return ""
	}
	var content []byte
	if info.Mode().IsRegular() {
		content, _ = os.ReadFile(path)
	}
	return fmt.Sprintf("%v %v %s", info.Mode(), info.ModTime().UnixNano(), content)
}

// rowFolder makes the folder that a row runs in.
func rowFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "row")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) }) // a program that detached itself, as go does, may still write there
	for _, sub := range []string{"bin", "dir", "tmp"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	files := map[string]string{"in": "c\na\nb\n", "dir/in": "c\na\nb\n", "spy": "#!/bin/sh\n: > \"" + dir + "/spied\"\necho ok\n"}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// listen answers on a port of this machine, and tells when somebody comes.
func listen(t *testing.T) (<-chan struct{}, string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	came := make(chan struct{}, 100)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.Close()
			select {
			case came <- struct{}{}:
			default:
			}
		}
	}()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return came, port
}

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
// Some follow a file all the same, and are ended. A program that is ended before it said
// anything is taken to say nothing about the flag, so that a slow machine fails no test.
func complaint(t *testing.T, dir, program, flag string) (text string, ended bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
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
