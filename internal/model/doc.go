// Package model holds the models that a worker can run with.
//
// A [Script] plays turns from a file. It is a model without a network, for demonstrations,
// tests, and people who try out rules.
package model
