package inside

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// movers are the builtins that change the folder, or that run what may.
var movers = []string{"cd", "pushd", "popd", "eval", "source", ".", "command", "builtin", "trap"}

// Moves reports whether a shell that has run the text may be in another folder than before.
func Moves(file *syntax.File) bool {
	moves := false
	syntax.Walk(file, func(n syntax.Node) bool {
		if call, ok := n.(*syntax.CallExpr); ok && len(call.Args) > 0 {
			name := call.Args[0].Lit()
			moves = moves || name == "" || slices.Contains(movers, name)
		}
		return !moves
	})
	return moves
}
