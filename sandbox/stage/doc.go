// Package stage gives a command a network of its own, in which each connection is brought to
// the caller with the name of its host, before anything of it leaves the machine.
//
// A small process of ours is started in a new network namespace. There every address is local:
// connections to any of them are led to a listener that is handed out to the caller, and names
// are answered by a stub resolver with an address of their own. Then the process becomes the
// sandbox's own program. Nothing of ours runs inside, and no capability over the namespace is
// left to what does.
//
// The caller decides about each connection with [Options.Dial], which opens it, or not. The
// package sees that what is then said to the host is for that host: the name in a TLS greeting
// and in requests of HTTP must be the one that was looked up. It reads no further: no
// encryption is broken.
package stage
