// Package trust remembers which files a person lets widen what their own config allows.
//
// A worker or a policy that comes with a project can only narrow until somebody said yes to
// it. That yes is for a [Bundle]: the file and everything that it would load or start, each
// with its digest. If one of them changes, appears or goes away, the yes does not hold any
// more, and [Compare] says what changed.
//
//	bundle, err := trust.Of(file)
//	record, known, err := store.Get(ctx, bundle.Path)
//	state, changes := trust.Compare(bundle, record, known)
//
// What a program loads by itself, such as the modules of a script, is not in the bundle.
package trust
