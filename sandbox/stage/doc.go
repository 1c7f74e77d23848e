// Package stage runs a command in a network namespace of its own, in which each connection is
// brought to the caller with the name of its host, before anything of it leaves the machine.
//
// A small process of ours is started in a new network namespace. There every address is local:
// connections to any of them are led to a listener that is handed out to the caller, and names
// are answered by a stub resolver with an address of their own. Then the process becomes the
// sandbox's own program. Nothing of ours runs inside, and no capability over the namespace is
// left to what does.
//
// A command that is started while another one of the same [Stage] runs joins that one's
// network, so that it finds what the other listens on. Nothing else is shared.
//
// The caller decides about each connection with [Options.Dial], which opens it, or not. The
// package sees that what is then said to the host is for that host: the name in a TLS greeting
// and in each request of HTTP must be the one that was looked up. It reads no further: no
// encryption is broken.
//
// What follows from that:
//   - Where several hosts stand behind one address, who speaks TLS with one of them may ask it
//     for another (fronting): what is said inside is not seen.
//   - Text that could still become a request of HTTP is passed on when its first line has ended,
//     not before. A client that waits for an answer in the middle of its first line gets none.
//   - UDP is refused, and so is every server for names but the network's own.
package stage
