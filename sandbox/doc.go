// Package sandbox says what a process may reach, whoever allowed it to start: the third
// layer, under the tools and the gate.
//
// Two ideas carry it. A [Profile] is plain data that knows no operating system: folders
// with a mode, paths that are protected or masked inside them, network, sockets,
// environment, limits. Each entry carries the line of config behind it. And a profile
// only ever narrows: nothing that it does not name can be reached, the zero profile
// reaches no file and no network, and [Profile.Intersect] gives a child no more than both
// its own profile and its parent's have.
//
//	p := sandbox.Profile{
//		Roots: []sandbox.Root{
//			{Path: "/home/u/proj", Mode: sandbox.ModeReadWrite, Source: "policy.yaml:3"},
//			{Path: "/home/u/proj/docs", Mode: sandbox.ModeReadOnly, Source: "policy.yaml:4"},
//		},
//	}
//	p.At("/home/u/proj/a.txt")      // ModeReadWrite
//	p.At("/home/u/proj/docs/a.txt") // ModeReadOnly: the deepest root decides
//	p.At("/home/u/.ssh/id_rsa")     // ModeHidden
//
// How a system holds a process to a profile is the business of a [Runner]: packages bwrap
// and landlock on Linux, seatbelt on macOS, and launch.None, which holds nothing and says so. A
// runner refuses a profile that it cannot hold.
//
// The package is pure: it opens nothing and starts nothing.
package sandbox
