// Package setup says what holds for a call: which files speak about it, whose word each of
// them is, whether a project's file is trusted, which files no tool may change, and who
// answers when nothing remembered does. Every way into the program ("door": run, chat, call,
// explain, check, mcp, hook, resume, sandbox run, assent.Open) asks [Resolve] and adds nothing of its own,
// so that all of them give the same verdict.
//
//	s, err := setup.Resolve(ctx, setup.Order{Places: places, Dir: dir})
//	…
//	s.Policy      // what all tiers say together
//	s.Own()       // what no tool may change
//
// It reads files and starts nothing. Package setup/open opens tools, sandbox, connectors,
// store and gates from what it returns; the hook does without that part, so that its program
// stays small.
package setup
