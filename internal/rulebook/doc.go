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
package rulebook
