// Package postgres keeps in one PostgreSQL database what many machines share: requests,
// rules, grants, sessions, runs and the audit log, behind the same interfaces as package store.
//
// Unique keys and conditional updates decide between writers, never locks or notifications,
// and the database's clock is the only one that counts.
package postgres
