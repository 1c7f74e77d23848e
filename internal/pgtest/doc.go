// Package pgtest starts a PostgreSQL server for tests: one of their own, in a temporary
// folder, as an ordinary user, reached through a unix socket and ended with the test program.
// Tests that use it carry the build tag `all`, because PostgreSQL must be installed.
package pgtest
