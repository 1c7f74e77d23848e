package seccomp

import (
	"fmt"
	"maps"
	"slices"
)

// Options are what a filter depends on.
type Options struct {
	// Arch is the architecture, as runtime.GOARCH names it: amd64 or arm64.
	Arch string
	// Internet lets processes make sockets of the internet. What they reach is for
	// namespaces to decide.
	Internet bool
	// UnixSockets lets processes make unix sockets.
	UnixSockets bool
}

// An architecture is one that filters are made for.
type architecture struct {
	audit uint32 // how the kernel names it
	pick  func(number) int
	x32   bool // whether numbers above x32Bit are a second way into the same calls
}

const x32Bit = 0x40000000

var architectures = map[string]architecture{
	"amd64": {0xc000003e, func(n number) int { return n.amd64 }, true},
	"arm64": {0xc00000b7, func(n number) int { return n.arm64 }, false},
}

// Assemble returns the filter. It fails for an architecture that it does not know: a
// filter with the wrong numbers would be none.
func Assemble(o Options) ([]Instruction, error) {
	arch, ok := architectures[o.Arch]
	if !ok {
		return nil, fmt.Errorf("there is no system call filter for the architecture %s; it is made for amd64 and arm64", o.Arch)
	}
	a := &assembler{arch: arch}
	a.start()
	for _, name := range slices.Sorted(maps.Keys(denied)) {
		a.call(denied[name], ret(Deny(eperm)))
	}
	for _, name := range slices.Sorted(maps.Keys(absent)) {
		a.call(absent[name], ret(Deny(enosys)))
	}
	a.call(clone, denyBits(0, newNamespaces))
	a.call(ioctl, denyValues(1, tiocsti, tioclinux, tioccons))
	a.call(personality, allowValues(0, 0, queryPersonality))
	a.call(unshare, allowValues(0, cloneFS))
	a.call(socket, socketRule(o))
	a.call(socketpair, allowValues(0, familyUnix))
	for _, m := range modes {
		a.call(m.number, modeRule(m))
	}
	a.add(ret(Allow))
	return a.program, nil
}

// An assembler collects the instructions of a filter for one architecture.
type assembler struct {
	arch    architecture
	program []Instruction
}

func (a *assembler) add(block []Instruction) { a.program = append(a.program, block...) }

// start ends what comes by another architecture, and leaves the call's number in A.
func (a *assembler) start() {
	a.add([]Instruction{
		{Code: load, K: atArch},
		{Code: ifSame, K: a.arch.audit, JT: 1},
		{Code: answer, K: Kill},
		{Code: load, K: atNumber},
	})
	if a.arch.x32 {
		a.add([]Instruction{
			{Code: ifMore, K: x32Bit, JF: 1},
			{Code: answer, K: Deny(enosys)},
		})
	}
}

// call adds a block for one call. A block always answers, so A may be used freely in it.
func (a *assembler) call(n number, block []Instruction) {
	nr := a.arch.pick(n)
	if nr == none {
		return
	}
	a.add([]Instruction{{Code: ifSame, K: uint32(nr), JF: uint8(len(block))}})
	a.add(block)
}
