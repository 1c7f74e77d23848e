// Package network decides about the connections of what assent starts: it gives each command a
// network of its own (package stage), asks the gate of whoever started it about each connection,
// and opens those that may be.
//
// [Runner] is a sandbox's runner that does all of it: commands of the shell tool, custom tools,
// connectors and `assent sandbox run --ask` are started with it. Where no such network can be made,
// [Client.Proxy] serves programs that know proxies.
package network
