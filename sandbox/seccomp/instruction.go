package seccomp

import (
	"encoding/binary"
	"fmt"
)

// An Instruction is one of the kernel's classic BPF machine.
type Instruction struct {
	Code   uint16
	JT, JF uint8 // how many instructions are jumped over if the condition holds, or not
	K      uint32
}

// The codes that filters here are made of.
const (
	load   = 0x20 // A = word at K of the call's description
	and    = 0x54 // A &= K
	ifSame = 0x15 // A == K
	ifMore = 0x35 // A >= K
	ifBits = 0x45 // A & K != 0
	answer = 0x06 // return K
)

// What a filter can answer.
const (
	Allow = 0x7fff0000
	Kill  = 0x80000000 // the whole process
	errno = 0x00050000
)

// Deny is the answer that lets a call fail with this error number.
func Deny(number uint16) uint32 { return errno | uint32(number) }

// Error numbers, the same on every architecture here.
const (
	eperm        = 1
	enosys       = 38
	eafnosupport = 97
)

// Where the parts of a call's description lie: struct seccomp_data on a little-endian
// machine.
const (
	atNumber = 0
	atArch   = 4
)

// atArg is the low word of an argument.
func atArg(i int) uint32 { return uint32(16 + 8*i) }

// Bytes returns the program as the kernel takes it: an array of struct sock_filter.
func Bytes(program []Instruction) []byte {
	var out []byte
	for _, in := range program {
		out = binary.LittleEndian.AppendUint16(out, in.Code)
		out = append(out, in.JT, in.JF)
		out = binary.LittleEndian.AppendUint32(out, in.K)
	}
	return out
}

// String is the instruction as a line of an assembler.
func (in Instruction) String() string {
	switch in.Code {
	case load:
		return fmt.Sprintf("load  %d", in.K)
	case and:
		return fmt.Sprintf("and   %#x", in.K)
	case ifSame:
		return fmt.Sprintf("same  %#x +%d -%d", in.K, in.JT, in.JF)
	case ifMore:
		return fmt.Sprintf("more  %#x +%d -%d", in.K, in.JT, in.JF)
	case ifBits:
		return fmt.Sprintf("bits  %#x +%d -%d", in.K, in.JT, in.JF)
	case answer:
		return fmt.Sprintf("answer %#x", in.K)
	}
	return fmt.Sprintf("? %#x %d %d %#x", in.Code, in.JT, in.JF, in.K)
}
