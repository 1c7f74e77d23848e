package seccomp

import "slices"

// newNamespaces are the flags of clone that make namespaces. CLONE_NEWTIME is not among
// them: clone reads these bits as a signal.
const newNamespaces = 0x00020000 | 0x02000000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000

// cloneFS gives a thread a folder and a file creation mask of its own, and nothing else.
const cloneFS = 0x200

// Requests to a terminal that put words into the mouth of whoever sits there.
const (
	tiocsti   = 0x5412 // types for the person
	tioclinux = 0x541c // pastes the console's selection
	tioccons  = 0x541d // takes over the console's output
)

// queryPersonality asks for the personality and changes nothing.
const queryPersonality = 0xffffffff

// Families, types and protocols of sockets.
const (
	familyUnix     = 1
	familyInternet = 2
	familyInet6    = 10
	familyNetlink  = 16
	typeMask       = 0xf // the rest are flags
	typeStream     = 1
	typeDatagram   = 2
	netlinkRoute   = 0 // which interfaces there are
)

// Bits of modes and of open's flags.
const (
	setID    = 0o6000
	creating = 0o100 | 0o20000000 // O_CREAT, O_TMPFILE
)

func ret(k uint32) []Instruction { return []Instruction{{Code: answer, K: k}} }

// denyBits denies a call if its argument has one of the bits.
func denyBits(arg int, bits uint32) []Instruction {
	return []Instruction{
		{Code: load, K: atArg(arg)},
		{Code: ifBits, K: bits, JF: 1},
		{Code: answer, K: Deny(eperm)},
		{Code: answer, K: Allow},
	}
}

// denyValues denies a call if its argument is one of the values.
func denyValues(arg int, values ...uint32) []Instruction {
	return compare(arg, values, Deny(eperm), Allow)
}

// allowValues denies a call unless its argument is one of the values.
func allowValues(arg int, values ...uint32) []Instruction {
	return compare(arg, values, Allow, Deny(eperm))
}

// compare gives one answer if the argument is one of the values, and another if not.
func compare(arg int, values []uint32, same, other uint32) []Instruction {
	block := []Instruction{{Code: load, K: atArg(arg)}}
	for i, v := range values {
		block = append(block, Instruction{Code: ifSame, K: v, JT: uint8(len(values) - i)})
	}
	return append(block, Instruction{Code: answer, K: other}, Instruction{Code: answer, K: same})
}

// socketRule allows what the options say and the list of network interfaces; raw sockets
// and other families (packets, virtual machines, Bluetooth …) are denied.
func socketRule(o Options) []Instruction {
	var block []Instruction
	family := func(k uint32, inner []Instruction) {
		block = append(block, Instruction{Code: ifSame, K: k, JF: uint8(len(inner))})
		block = append(block, inner...)
	}
	block = append(block, Instruction{Code: load, K: atArg(0)})
	if o.Internet {
		plain := slices.Concat(
			[]Instruction{{Code: load, K: atArg(1)}, {Code: and, K: typeMask}},
			[]Instruction{
				{Code: ifSame, K: typeStream, JT: 2},
				{Code: ifSame, K: typeDatagram, JT: 1},
				{Code: answer, K: Deny(eperm)},
				{Code: answer, K: Allow},
			})
		family(familyInternet, plain)
		family(familyInet6, plain)
	}
	family(familyNetlink, compare(2, []uint32{netlinkRoute}, Allow, Deny(eafnosupport)))
	if o.UnixSockets {
		family(familyUnix, ret(Allow))
	}
	return append(block, ret(Deny(eafnosupport))...)
}

// modeRule denies files that run as their owner or group.
func modeRule(m moded) []Instruction {
	if m.flags == none {
		return denyBits(m.mode, setID)
	}
	return append([]Instruction{
		{Code: load, K: atArg(m.flags)},
		{Code: ifBits, K: creating, JT: 1},
		{Code: answer, K: Allow},
	}, denyBits(m.mode, setID)...)
}
