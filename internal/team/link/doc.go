// Package link is what processes of a joined machine know of its link to the server, in STATE/team: how far its log has
// reached the server, and what the process that talks to it (package bridge) says. It starts that process where none
// runs. It knows no network, so that a hook can use it.
package link
