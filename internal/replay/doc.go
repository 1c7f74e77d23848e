// Package replay tries rules on calls of the past. It says what another set of rules would
// have changed, and runs, asks and records nothing.
//
// A [Case] is a call with its acts as they were recorded, and how it was answered then.
// [Compare] judges every case twice, by the rules before and after a change, with the same
// judgement that decides about calls. What rules do not decide stays as it was: a grant
// that was given is taken as given again, a mode as still chosen, and where only a person
// can answer the question is asked.
//
// What was not kept cannot be tried: a record without acts, because the log keeps no
// arguments, and an act whose target looked like a secret, which no allow covers.
package replay
