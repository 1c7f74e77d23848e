// Package link has what the processes of a joined machine share about the connection to the server, in STATE/team: how
// much of the log the server has, and the status that the bridge (package bridge) reports. It starts a bridge if none
// runs. It does not use the network, so a hook can import it.
package link
