package fingerprint

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// Key names this boot, the kernel, who runs this process, with which rights and in which
// namespaces, and files as they are now. It is empty if that cannot be found out.
func Key(files ...string) string {
	var b strings.Builder
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	var kernel unix.Utsname
	if err != nil || len(boot) < 32 || unix.Uname(&kernel) != nil {
		return ""
	}
	fmt.Fprintf(&b, "%s %s %s %d %d\n", bytes.TrimSpace(boot), kernel.Release[:], kernel.Version[:],
		os.Geteuid(), os.Getegid())
	for _, name := range []string{"user", "mnt", "pid", "net", "ipc"} {
		namespace, err := os.Readlink("/proc/self/ns/" + name)
		if err != nil {
			return ""
		}
		fmt.Fprintln(&b, namespace)
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(status)) {
		switch name, _, _ := strings.Cut(line, ":"); name {
		case "CapEff", "CapPrm", "CapBnd", "NoNewPrivs", "Seccomp", "Seccomp_filters":
			b.WriteString(line)
		}
	}
	for _, file := range files {
		fmt.Fprintf(&b, "%q %s", file, FileKey(file))
	}
	return fmt.Sprintf("%x", sha256.Sum256([]byte(b.String())))
}

// FileKey names a file as it is now; empty if it is not there.
func FileKey(file string) string {
	var at unix.Stat_t
	if unix.Stat(file, &at) != nil {
		return ""
	}
	return fmt.Sprintf("%q %d %d %d %d %d\n", file, at.Dev, at.Ino, at.Size, at.Ctim.Sec, at.Ctim.Nsec)
}

// ReadOwn reads a file that nobody else can have written: this user's, and nobody else's to
// read or write.
func ReadOwn(file string) ([]byte, bool) {
	fd, err := unix.Open(file, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, false
	}
	f := os.NewFile(uintptr(fd), file)
	defer f.Close()
	var at unix.Stat_t
	if unix.Fstat(fd, &at) != nil || at.Mode&unix.S_IFMT != unix.S_IFREG || int(at.Uid) != os.Geteuid() ||
		at.Mode&0o077 != 0 || at.Size > MaxOwn {
		return nil, false
	}
	data, err := io.ReadAll(io.LimitReader(f, MaxOwn))
	return data, err == nil
}
