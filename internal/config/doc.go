// Package config reads what people write: policy files in YAML, with every spelling of the
// same word that they may know.
//
// Two ideas carry it. Reading is strict: a key that nothing understands is an error that
// names the file, the line and the nearest key that something does, because a misspelt deny
// is an allow. And all problems are reported at once, each with its place, so that a file is
// mended in one go.
//
//	policy, err := config.Load("policy.yaml", data, folder)
//
// A [Policy] is plain values of the packages that use them: roots, words about tools by
// name, rules. The package opens no file and starts nothing.
package config
