// Package bridge is the process of a joined machine that talks to the server of its team. One runs for each user of a
// machine, beside the gates. The gates continue when the bridge or the server is not there.
//
// It does four things, each in a loop of its own that survives the absence of the server. It sends the questions of the
// local store, and tells the server when they need no answer any more. It waits for answers and passes them to the local
// store, where the gate that asked verifies them. It fetches the signed bundle. It sends the local log.
//
// The bridge can lose everything that it holds in memory. STATE/team has what the server must not forget, and the store
// has what the machine must not forget. Everything that it sends can be sent again. Everything that it receives counts
// once, because the store settles a request once.
package bridge
