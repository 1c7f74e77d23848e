// Package db keeps in PostgreSQL what a team shares: its directory, its bundles, open questions and votes, the logs of
// its machines, and the notices to send. Any number of replicas use the same database at once.
//
// Nothing in the database has authority. A signed bundle names the deciders, a gate signs its questions, and people
// sign their votes. Somebody who changes a row can lose a question, and cannot answer one.
//
// Unique keys and conditional updates decide between writers. Rows are locked only so that two replicas take them in the
// same order. Only the clock of the database counts.
package db
