// Package server is what 'assent serve' runs: the HTTP server that carries the questions, votes and records
// of a team. Replicas share one PostgreSQL and hold nothing themselves, so any of them can be killed.
//
// The server decides nothing. Machines sign each call with their own key (see internal/team/wire) and may
// ask, never answer. A bundle counts by the team's signature, a vote by a person's, and both are checked
// again where they take effect. What this package checks keeps the database tidy and attackers out.
//
// The pages and the API of people are another package's: it gives [Options.People].
package server
