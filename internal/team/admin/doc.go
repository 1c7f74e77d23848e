// Package admin implements the commands that administer a team. It prepares the next bundle, shows what it changes,
// tries it on past calls, and publishes it. It also proves that a record is in the log.
//
// A [Desk] works on the server's database when the command runs on the server, or over HTTPS with calls that the
// team's key signs. Neither way gives any authority: a bundle is valid only with the signature of the team's key.
package admin
