// Package policy says what is allowed, denied or left to a person: it is the judge that
// everything else asks.
//
// An [Act] is one thing that a call would do, on a [Target]: a file, a command, a URL, a name. A
// [Rule] allows or denies acts forever, a [Grant] for a session. A [Policy] is what is remembered
// and configured, and [Policy.Judge] answers a [Question] in this order:
//
//  1. what the tool blocks: nobody can approve it
//  2. deny rules, and denials of this session
//  3. what the tool says is free
//  4. a person's yes to exactly this call
//  5. allow rules, then grants of this session
//  6. the mode: approve-all, strict, or ask
//
// What nothing answers is pending. A deny that may be met, because part of the act is unknown,
// leaves the answer to a person alone. The zero value of every verdict and judgement refuses.
//
// # Rules
//
//	allow write_file(notes/**)
//	deny shell(git push)
//	allow github:search_*
//	deny connector github-mcp
//
// An allow reaches as little as its words say, a deny as much as they may mean: an allow needs
// every word of a command known and every spelling of a file covered, a deny is met by one
// spelling, through paths, options and abbreviations.
//
// The package is pure: it touches no file, no network and no clock; time is an argument.
package policy
