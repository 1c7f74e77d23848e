package launch

import (
	"fmt"
	"os"

	"github.com/assent-dev/assent/sandbox"
)

// NotAPart refuses to start a sandbox in a process that was started to do a part of the
// work of one. A program that hands itself over for that, and does not know the words that
// it is then started with, would otherwise start itself without end.
func NotAPart() error {
	word, is := os.LookupEnv(sandbox.PartVariable)
	if !is {
		return nil
	}
	return fmt.Errorf("this process was started for a part of a sandbox's work (%q) and starts a sandbox itself: "+
		"%s does not do that work; name a program that does, such as assent", word, os.Args[0])
}
