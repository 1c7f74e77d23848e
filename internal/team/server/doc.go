// Package server implements 'assent serve', the HTTP server that carries the questions, votes and records of a team.
// Replicas share one PostgreSQL and keep no state of their own, so any of them can be killed.
//
// The server makes no decisions. Machines sign each call with their own key (see internal/team/wire). They can ask, and
// cannot answer. A bundle is valid by the team's signature and a vote by a person's, and both are checked again where
// they take effect. The checks in this package keep the database tidy and attackers out.
//
// Another package has the pages and the API for people; it provides [Options.People].
package server
