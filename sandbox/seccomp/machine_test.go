package seccomp

import (
	"encoding/binary"
	"fmt"
)

// run is the kernel's machine for filters, as far as they use it.
func run(program []Instruction, data []byte) (uint32, error) {
	var a uint32
	for pc := 0; pc < len(program); pc++ {
		in := program[pc]
		jump := func(holds bool) {
			if holds {
				pc += int(in.JT)
			} else {
				pc += int(in.JF)
			}
		}
		switch in.Code {
		case load:
			a = binary.LittleEndian.Uint32(data[in.K:])
		case and:
			a &= in.K
		case ifSame:
			jump(a == in.K)
		case ifMore:
			jump(a >= in.K)
		case ifBits:
			jump(a&in.K != 0)
		case answer:
			return in.K, nil
		default:
			return 0, fmt.Errorf("instruction %d is %#x", pc, in.Code)
		}
	}
	return 0, fmt.Errorf("the program ends without an answer")
}

// describe is a call as the kernel describes it.
func describe(arch uint32, number uint32, args ...uint64) []byte {
	data := make([]byte, 64)
	binary.LittleEndian.PutUint32(data[atNumber:], number)
	binary.LittleEndian.PutUint32(data[atArch:], arch)
	for i, arg := range args {
		binary.LittleEndian.PutUint64(data[16+8*i:], arg)
	}
	return data
}
