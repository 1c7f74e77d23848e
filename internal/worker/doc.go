// Package worker runs an agent: it takes turns from a model, puts the calls of each turn
// through the gate as one batch, and gives the model the results in the model's order.
//
// The package knows neither models nor terminals. A [Talker] is where turns come from; a
// [Watcher] sees what happens, to print it.
//
//	run := &worker.Run{Talker: model, Gate: gate, Workers: []string{"notes"}}
//	round, err := run.Say(ctx, worker.Message{Text: "Tidy up my notes."})
//
// A run ends when the model wants nothing more, when an answer stops it ([*StoppedError]),
// or at a limit ([ErrLimit]). A denial by itself is a result like any other; a model that
// asks for the same three times in a row does not take no for an answer, and is stopped.
//
// With an [RunStore] a run waits for nobody. It is saved before the calls of a turn run and
// after they have, and returns a [*PausedError] when it cannot go on without a person; then
// [Run.Resume] takes it up, perhaps in another process. A call that had started when the
// program died is found claimed in the store: the model is told that its fate is unknown,
// and it is not repeated.
package worker
