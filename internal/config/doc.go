// Package config reads what people write: policies, workers and the user's own config, in
// YAML, with every spelling of the same word that they may know.
//
// Three ideas carry it. Reading is strict: a key that nothing understands is an error that
// names the file, the line and the nearest key that something does, because a misspelt deny
// is an allow. All problems are reported at once, each with its place, so that a file is
// mended in one go. And each mapping has a table of its keys (see keys.go): files are read
// by it, and [Schema] is made of it.
//
//	policy, err := config.Load("policy.yaml", data, folder)
//
// A [Policy] is plain values of the packages that use them: roots, words about tools by
// name, rules. Those of several files, from the administrator's to the project's, become one
// with [Combine], where a deny of any holds and an untrusted file can only narrow.
//
// Load and its sisters open no file. [Read], [FindWorker] and [Places] do; nothing here
// writes one or starts anything.
package config
