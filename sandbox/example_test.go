package sandbox_test

import (
	"fmt"

	"github.com/assent-dev/assent/sandbox"
)

// A child is given a profile of its own, and reaches no more than its parent.
func ExampleProfile_Intersect() {
	parent := sandbox.Profile{
		Roots: []sandbox.Root{
			{Path: "/home/u/proj", Mode: sandbox.ModeReadWrite, Source: "policy.yaml:3"},
			{Path: "/home/u/proj/docs", Mode: sandbox.ModeReadOnly, Source: "policy.yaml:4"},
		},
	}
	child := sandbox.Profile{
		Roots:   []sandbox.Root{{Path: "/home/u", Mode: sandbox.ModeReadWrite, Source: "worker.yaml:2"}},
		Network: sandbox.Network{On: true},
	}
	both := parent.Intersect(child)
	for _, file := range []string{"/home/u/proj/a", "/home/u/proj/docs/a", "/home/u/.ssh/id_rsa"} {
		fmt.Println(both.At(file), file)
	}
	fmt.Println("network:", both.Network.On)
	// Output:
	// rw /home/u/proj/a
	// ro /home/u/proj/docs/a
	// none /home/u/.ssh/id_rsa
	// network: false
}
