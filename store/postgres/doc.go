// Package postgres keeps in one PostgreSQL database what many machines share: requests, rules, grants, sessions, runs and the
// audit log, behind the same interfaces as package store.
//
//	s, err := postgres.Open(ctx, "postgres://assent@db/assent", postgres.Options{Stream: gate})
//
// Unique keys and conditional updates decide between writers, never locks or notifications: each row that is changed has a
// version, and whoever writes it back must know the one that is there. What may become of a row is a pure function in
// package kept, which is called again if somebody else was faster. The database's clock is the only one that counts.
//
// A process is there as long as it renews its lease; with the lease end its sessions, and what it asked. Events go into a chain
// for each stream, many to a commit. Others are told of changes by notifications that are gathered for some milliseconds, and
// look each second anyway. Behind a proxy that shares connections between transactions, such as PgBouncer, notifications do not
// arrive: a store notices, looks 20 times a second and says so. There, add default_query_exec_mode=exec to the DSN.
//
// After a write that failed because the database went away, nobody knows whether it was committed. A call whose claim or
// record failed does not run.
package postgres
