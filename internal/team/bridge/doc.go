// Package bridge is the process of a joined machine that talks to the server of its team. One runs for each user of
// a machine, beside the gates, which go on without it and without the server.
//
// It does four things, each in a loop of its own that survives the absence of the server: it sends the questions
// of the local store and says when they need no answer any more; it waits for answers and gives them to the local
// store, where the gate that asked verifies them; it fetches the signed bundle; it ships the local log.
//
// Whatever it holds in memory can be lost at any time. What the server must not forget lies in STATE/team, what the
// machine must not forget in the store. Everything that it sends can be sent again, and everything that it gets
// counts once, because the store settles a request once.
package bridge
