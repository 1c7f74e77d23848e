package approval

import (
	"errors"
	"fmt"
)

// maxAgain is how often a call is tried while what it acts on keeps changing.
const maxAgain = 10

// ErrKeepsChanging says that a call was given up because [ErrChanged] came up each time that
// it was about to run. It does not match ErrChanged.
var ErrKeepsChanging = fmt.Errorf("what it would act on changed %d times while it was about to run", maxAgain)

// Again calls try until it returns something else than [ErrChanged], which says that the call
// was judged anew and perhaps must be asked again. A world that never holds still is given up
// with [ErrKeepsChanging]. Whoever asks, starts or releases calls loops here and nowhere else.
func Again(try func() error) error {
	for range maxAgain {
		if err := try(); !errors.Is(err, ErrChanged) {
			return err
		}
	}
	return ErrKeepsChanging
}
