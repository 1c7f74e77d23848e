package seccomp

import (
	"fmt"
	"strings"
	"testing"

	"github.com/assent-dev/assent/internal/golden"
)

var arches = []string{"amd64", "arm64"}

func assemble(t *testing.T, o Options) []Instruction {
	t.Helper()
	code, err := Assemble(o)
	if err != nil {
		t.Fatal(err)
	}
	return code
}

// judge runs a call of the architecture through its filter.
func judge(t *testing.T, o Options, n number, args ...uint64) uint32 {
	t.Helper()
	arch := architectures[o.Arch]
	nr := arch.pick(n)
	if nr == none {
		return Deny(enosys) // there is no such call
	}
	got, err := run(assemble(t, o), describe(arch.audit, uint32(nr), args...))
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestFilter(t *testing.T) {
	const o_creat, o_tmpfile, o_rdonly = 0o100, 0o20200000, 0
	open, openat, chmod, fchmodat := number{2, none}, number{257, 56}, number{90, none}, number{268, 53}
	high := uint64(1) << 32
	for _, arch := range arches {
		o := Options{Arch: arch, Internet: true}
		for _, tt := range []struct {
			what string
			call number
			args []uint64
			want uint32
		}{
			{"read", number{0, 63}, nil, Allow},
			{"ptrace", denied["ptrace"], nil, Deny(eperm)},
			{"keyctl", denied["keyctl"], nil, Deny(eperm)},
			{"mount", denied["mount"], nil, Deny(eperm)},
			{"io_uring", denied["io_uring_setup"], nil, Deny(eperm)},
			{"clone3", absent["clone3"], nil, Deny(enosys)},
			{"a thread", clone, []uint64{0x3d0f00}, Allow},
			{"a child", clone, []uint64{17}, Allow},
			{"a user namespace", clone, []uint64{0x10000000 | 17}, Deny(eperm)},
			{"a mount namespace", clone, []uint64{0x00020000}, Deny(eperm)},
			{"typing into the terminal", ioctl, []uint64{0, tiocsti}, Deny(eperm)},
			{"the same with a high bit", ioctl, []uint64{0, high | tiocsti}, Deny(eperm)},
			{"pasting into the console", ioctl, []uint64{0, high | tioclinux}, Deny(eperm)},
			{"asking for the terminal's size", ioctl, []uint64{0, 0x5413}, Allow},
			{"tcp", socket, []uint64{2, 1}, Allow},
			{"tcp with flags", socket, []uint64{2, 1 | 0o2000000 | 0o4000}, Allow},
			{"udp over IPv6", socket, []uint64{10, 2}, Allow},
			{"raw", socket, []uint64{2, 3}, Deny(eperm)},
			{"raw with flags and high bits", socket, []uint64{high | 2, high | 3 | 0o2000000}, Deny(eperm)},
			{"packet", socket, []uint64{17, 3}, Deny(eafnosupport)},
			{"vsock", socket, []uint64{40, 1}, Deny(eafnosupport)},
			{"bluetooth", socket, []uint64{31, 1}, Deny(eafnosupport)},
			{"kernel crypto", socket, []uint64{38, 5}, Deny(eafnosupport)},
			{"unix", socket, []uint64{1, 1}, Deny(eafnosupport)},
			{"interfaces", socket, []uint64{16, 3, 0}, Allow},
			{"audit", socket, []uint64{16, 3, 9}, Deny(eafnosupport)},
			{"a pair", socketpair, []uint64{1, 1}, Allow},
			{"a pair of vsocks", socketpair, []uint64{40, 1}, Deny(eperm)},
			{"making a file", openat, []uint64{0, 0, o_creat, 0o644}, Allow},
			{"making a set-id file", openat, []uint64{0, 0, o_creat, 0o4755}, Deny(eperm)},
			{"making a set-id file without a name", openat, []uint64{0, 0, o_tmpfile | 2, 0o2755}, Deny(eperm)},
			{"opening with rubbish for a mode", openat, []uint64{0, 0, o_rdonly, 0o7777}, Allow},
			{"chmod", fchmodat, []uint64{0, 0, 0o755}, Allow},
			{"chmod u+s", fchmodat, []uint64{0, 0, high | 0o4755}, Deny(eperm)},
			{"old chmod u+s", chmod, []uint64{0, 0o4755}, map[string]uint32{"amd64": Deny(eperm), "arm64": Deny(enosys)}[arch]},
			{"old open of a set-id file", open, []uint64{0, o_creat, 0o4755}, map[string]uint32{"amd64": Deny(eperm), "arm64": Deny(enosys)}[arch]},
			{"no address randomisation", personality, []uint64{0x0040000}, Deny(eperm)},
			{"a file creation mask of one's own", unshare, []uint64{0x200}, Allow},
			{"a user namespace", unshare, []uint64{0x10000000}, Deny(eperm)},
			{"a mount namespace and a mask", unshare, []uint64{0x00020200}, Deny(eperm)},
			{"asking for the personality", personality, []uint64{0xffffffff}, Allow},
		} {
			if got := judge(t, o, tt.call, tt.args...); got != tt.want {
				t.Errorf("%s: %s: %#x, want %#x", arch, tt.what, got, tt.want)
			}
		}
	}
}

func TestOptions(t *testing.T) {
	for _, arch := range arches {
		if got := judge(t, Options{Arch: arch}, socket, 2, 1); got != Deny(eafnosupport) {
			t.Errorf("%s: without the internet: %#x", arch, got)
		}
		if got := judge(t, Options{Arch: arch, UnixSockets: true}, socket, 1, 1); got != Allow {
			t.Errorf("%s: with unix sockets: %#x", arch, got)
		}
	}
	if _, err := Assemble(Options{Arch: "riscv64"}); err == nil {
		t.Error("a filter for an architecture whose numbers nobody knows")
	}
}

func TestOtherWaysIn(t *testing.T) {
	for _, arch := range arches {
		code := assemble(t, Options{Arch: arch, Internet: true})
		for name, foreign := range map[string]uint32{"i386": 0x40000003, "arm": 0x40000028, "none": 0} {
			if got, err := run(code, describe(foreign, 1)); err != nil || got != Kill {
				t.Errorf("%s: a call of %s: %#x, %v", arch, name, got, err)
			}
		}
	}
	code := assemble(t, Options{Arch: "amd64", Internet: true})
	for _, nr := range []uint32{x32Bit, x32Bit | 101, 0xffffffff} {
		if got, err := run(code, describe(architectures["amd64"].audit, nr)); err != nil || got != Deny(enosys) {
			t.Errorf("x32 call %#x: %#x, %v", nr, got, err)
		}
	}
}

// TestGolden holds the filters as they are. ASSENT_UPDATE=1 rewrites them.
func TestGolden(t *testing.T) {
	for _, arch := range arches {
		var b strings.Builder
		code := assemble(t, Options{Arch: arch, Internet: true})
		for i, in := range code {
			fmt.Fprintf(&b, "%3d %x %s\n", i, Bytes(code[i:i+1]), in)
		}
		golden.Check(t, "testdata/filter-"+arch+".txt", b.String())
	}
}

// Every jump of every filter lands inside it, whatever call comes.
func FuzzFilter(f *testing.F) {
	f.Add(uint8(0), uint32(0), uint64(0), uint64(0), uint64(0))
	f.Fuzz(func(t *testing.T, which uint8, nr uint32, a, b, c uint64) {
		o := Options{Arch: arches[which%2], Internet: which&2 != 0, UnixSockets: which&4 != 0}
		code, err := Assemble(o)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := run(code, describe(architectures[o.Arch].audit, nr, a, b, c, a, b)); err != nil {
			t.Fatal(err)
		}
	})
}
