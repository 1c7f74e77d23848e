// Package starter has the policies and the worker that people start from, with comments that say
// what each line does. The quiet one is also what holds for other agents where a person chose it
// and a project has no policy of its own.
package starter

import "embed"

// Files are the texts by their names.
//
//go:embed *.yaml *.worker
var Files embed.FS

// The names of the policies.
const (
	Careful     = "policy.yaml"
	Quiet       = "quiet.yaml"
	HookCareful = "hook.yaml"
	HookQuiet   = "hook-quiet.yaml"
	Worker      = "worker.worker"
)
