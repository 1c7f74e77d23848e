package seccomp

import (
	"runtime"
	"syscall"
	"testing"
)

// The kernel's own numbers, where this test runs.
func TestNumbers(t *testing.T) {
	pick := architectures[runtime.GOARCH].pick
	for _, tt := range []struct {
		name string
		n    number
		want int
	}{
		{"ptrace", denied["ptrace"], syscall.SYS_PTRACE}, {"mount", denied["mount"], syscall.SYS_MOUNT},
		{"keyctl", denied["keyctl"], syscall.SYS_KEYCTL},
		{"clone", clone, syscall.SYS_CLONE}, {"socket", socket, syscall.SYS_SOCKET}, {"socketpair", socketpair, syscall.SYS_SOCKETPAIR},
		{"ioctl", ioctl, syscall.SYS_IOCTL}, {"personality", personality, syscall.SYS_PERSONALITY},
		{"unshare", unshare, syscall.SYS_UNSHARE},
		{"openat", modes[len(modes)-1].number, syscall.SYS_OPENAT},
	} {
		if got := pick(tt.n); got != tt.want {
			t.Errorf("%s is %d here, not %d", tt.name, tt.want, got)
		}
	}
}
