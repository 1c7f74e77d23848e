// Package shell is the tool that runs commands: what you approve is what runs.
//
// A command is read before anything else (package analysis): every program that
// it would start, however deeply nested, becomes an act of its own, and so does
// every file that it would touch and every host it would talk to. Two ideas carry
// the package.
//
// The tree that was read is what runs: our own shell interprets it (packages inside and
// interp), and before each program that it starts and each file that it opens it asks here
// once more, with real values. Reading predicts, for the person; running enforces.
//
// Allow reaches as far as it is certain, deny as far as it is possible. A rule,
// preset or default lets a command pass only if all of its words are known, and
// flags that make it do more than it is for must be spelled. A deny is met through
// quotes, paths, wrappers and nesting; where an unknown part leaves it open, only a
// person may answer.
//
//	sh, err := shell.New(shell.Config{
//		Readonly: true,
//		Rules:    []shell.Rule{{Pattern: "go test", Approval: tool.WordAllow}},
//	}, set, shell.Options{
//		World: func(dir string) analysis.World { return system.New(dir, environment) },
//		Run:   run, // such as one around runner.Run
//	})
package shell
