// Package gateway is an MCP server in front of MCP servers: any client that speaks the
// protocol gets the tools of the connectors, and every call goes through the gate.
//
// A call that the gate lets through is handed on at once. One that needs an answer is held,
// with a sign of life every few seconds, until somebody answers or the client's patience is
// likely to end; then the client is told that the call is pending and to call again. Two
// rules make that safe.
//
// A call belongs to whoever made it. A call attaches to an earlier one only if it is of the
// same client session, is the same to the letter, and if nobody waits for that one any
// more. Two calls that wait at the same time are two questions.
//
// An answer is used once. A call that was approved runs when a caller claims it, and not
// before; unclaimed it expires. A result that nobody took is kept as long, and given once.
//
// Calls over standard streams keep their bytes: of a message only the envelope is read, and
// what a server answers is handed on as it came. Lists of tools are read, compared with
// what was agreed to, and written anew, so that nothing reaches a model that nobody
// understood.
package gateway
