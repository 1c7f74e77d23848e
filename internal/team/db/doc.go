// Package db keeps what a team shares in PostgreSQL: its directory, its bundles, open questions and
// votes, the logs of its machines, and what has to be sent to somebody. Any number of replicas use the
// same database at once.
//
// Nothing in here carries authority. Who may decide stands in a signed bundle, a question is signed by
// its gate and a vote by a person; whoever changes a row can lose a question and cannot answer one.
//
// Unique keys and conditional updates decide between writers. Where rows are locked, it is only so that
// two replicas take them in the same order. The database's clock is the only one that counts.
package db
