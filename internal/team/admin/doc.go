// Package admin is what the commands about a team do: prepare the next bundle, say what it changes, try it on
// past calls, and publish it; and prove that a record is in the log.
//
// Everything works on the server's database, where somebody runs the command beside the server, or over HTTPS,
// where each call is signed with the team's key: see [Desk]. Neither gives any authority: a bundle counts by
// its signature, which is made where the key is.
package admin
