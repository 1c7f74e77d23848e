// Package machine is what a machine that has joined a team keeps for itself, in STATE/team: its key, how far its
// log has reached the server, and what the process that talks to the server (package bridge) says about it. It
// starts that process where none runs. It knows no network, so that a hook can use it.
package machine
