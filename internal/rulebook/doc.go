// Package rulebook is what a person does with rules besides keeping them: reading and
// writing them as text, and being told what a rule would mean before it is saved.
//
// [Write] and [Parse] are the text form, a `rules:` list as policy files have it; what such
// a file cannot say stands in comments, so that pasted into a policy it allows no more than
// it says.
//
// [Wide] tells rules that allow nearly everything. [Advise] compares a new rule with
// those that are there. Patterns are not compared as text: both rules are tried on
// examples of what the patterns mean, with the matching that decides about calls.
//
// [Compare] tries another set of rules on calls of the past: a [Case] is a call with its acts
// as they were recorded, and how it was answered then. What rules do not decide stays as it
// was: a grant that was given is taken as given again, a mode as still chosen, and where only a
// person can answer the question is asked. What was not kept cannot be tried: a record without
// acts, because the log keeps no arguments, and an act whose target looked like a secret, which
// no allow covers. [Suggest] finds rules that would have answered what a person approved again
// and again.
//
// Nothing here runs, asks or records anything.
package rulebook
