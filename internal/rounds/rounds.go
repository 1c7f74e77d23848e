// Package rounds says how long a test that repeats itself should go on: a short while on
// every change, in full when somebody asks for it (make soak).
package rounds

import "os"

// Variable is the environment variable that [N] reads.
const Variable = "ASSENT_ROUNDS"

// N returns full if ASSENT_ROUNDS is "full", and short otherwise.
func N(short, full int) int {
	if os.Getenv(Variable) == "full" {
		return full
	}
	return short
}
