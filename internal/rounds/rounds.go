// Package rounds says how long a test that repeats itself should go on: a short while on
// every change, in full when somebody asks for it (make soak).
package rounds

import (
	"os"
	"strconv"
	"time"
)

// Variable is the environment variable that [N] reads.
const Variable = "ASSENT_ROUNDS"

// N returns full if ASSENT_ROUNDS is "full", and short otherwise.
func N(short, full int) int {
	if os.Getenv(Variable) == "full" {
		return full
	}
	return short
}

// Seed is for a search that goes on for some time: ASSENT_FUZZ_SEED, or another one each
// time.
func Seed() uint64 {
	if seed, err := strconv.ParseUint(os.Getenv("ASSENT_FUZZ_SEED"), 10, 64); err == nil {
		return seed
	}
	return uint64(time.Now().UnixNano())
}
