// Package keeper holds the commands of one session of another agent. Its process judges them with
// the tools, the gate and the sandbox that a run of our own has, and runs those that may run: what
// was judged is what runs.
//
// The hook starts it with the first command of a session and asks it about each (package staged).
// A command that may run gets a token, and runs when the agent hands that back. The keeper stays
// for what commands leave in the background, whose network the later ones share, and ends with
// the agent, with its session, or when nothing was asked of it for long.
package keeper
