// Package wire is what a machine and the server of its team say to each other: JSON over HTTPS, each call
// signed with the key of the machine. It touches nothing.
//
//	POST /gate/v1/join       Join → Joined       with a one-time token; the only call without a signature
//	POST /gate/v1/requests   []Signed → Taken    questions, signed by the gate
//	POST /gate/v1/ended      []Ended             questions that need no answer any more
//	GET  /gate/v1/wait       → News              held until there is something new, at most [LongestWait]
//	GET  /gate/v1/bundle     → the signed bundle, as it was published
//	POST /gate/v1/audit      Records → Kept      records of the machine's own log
//	POST /gate/v1/leave                          the machine's key ends
//
// Calls below /policy/ are signed with the team's key instead ([SignPolicyCall]); see internal/team/admin.
//
// Nothing in here carries authority. A bundle is signed with the team's key, a vote by a person, and both
// are checked where they take effect.
package wire
