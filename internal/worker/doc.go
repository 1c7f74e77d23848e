// Package worker runs an agent: it takes turns from a model, puts the calls of each turn
// through the gate as one batch, and gives the model the results in the model's order.
//
// The package knows neither models nor terminals. A [Model] is where turns come from; a
// [Watcher] sees what happens, to print it.
package worker
