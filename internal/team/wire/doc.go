// Package wire defines the messages between a machine and the server of its team: JSON over HTTPS, each call signed with
// the key of the machine. It has no effects.
//
//	POST /gate/v1/join       Join → Joined       with a token that works once; the only call without a signature
//	POST /gate/v1/requests   []Signed → Taken    questions, signed by the gate
//	POST /gate/v1/ended      []Ended             questions that need no answer any more
//	GET  /gate/v1/wait       → News              answered when there is something new, or after [LongestWait]
//	GET  /gate/v1/bundle     → the signed bundle, as it was published
//	POST /gate/v1/audit      Records → Kept      records of the machine's own log
//	POST /gate/v1/leave                          revokes the machine's key
//
// The team's key signs calls below /policy/ instead ([SignPolicyCall]); see internal/team/admin.
//
// No message has authority. The team's key signs a bundle, a person signs a vote, and both are checked where they take
// effect.
package wire
