// Package model holds the models that a worker can run with, and what those behind a
// network share.
//
// A [Script] plays turns from a file. It is a model without a network, for demonstrations,
// tests, and people who try out rules.
//
// Providers are packages below this one, so that their libraries are loaded only by
// programs that talk to them; package providers opens a model by its name. Two ideas
// carry them.
//
// A turn is whole or it is not a turn. A [Collector] gathers the pieces of a stream, and
// gives nothing away before the provider has said that the message is complete and why it
// ended. A stream that breaks off, a message that reached its limit of tokens and a reason
// that nobody knows are a [*Fault]; whatever call they held is never seen by the gate. Those
// that may pass are tried again by [Retry].
//
// A tool's name belongs to us. Providers take fewer characters than we do, so [Names]
// gives each tool a name there and looks up what it stands for. It never splits one.
//
// Keys are told to nobody: a Fault is made from parts that have none, and is searched for
// the key all the same.
package model
