// Package crew lets workers call and create workers.
//
// A [Crew] is all workers of one run. Its first [Member] is opened for the worker that a
// person named; a member has the tools worker_call, worker_create and list_workers, and
// opens further members with them. Two ideas carry the package.
//
// A member reaches at most what its caller does. Its tools are opened inside those of the
// caller, its rules are the denies of both and the allows that both have, and there is no
// way back: neither a circle of callers nor more than [MaxDepth] of them.
//
// A file that is handed over is a question of its own. Each attachment of a worker_call
// becomes a call of share_file before it, in the same batch. [Dependencies] ends a delegation as
// soon as one of its files is refused, and a delegation runs only with the files that were
// shared in its turn.
package crew
