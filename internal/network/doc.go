// Package network puts what assent starts on a stage, decides about each connection there with
// the gate of whoever started it, and opens those that may be.
//
// [Runner] is a sandbox's runner that does all of it: commands of the shell tool, custom tools,
// connectors and `assent sandbox run --ask` are started with it. Where no stage can be made,
// [Client.Proxy] serves programs that know proxies.
package network
