// Package seatbelt holds processes to a profile with macOS's own sandbox, through
// sandbox-exec.
//
// A profile of that sandbox is a small program, and a path in it that is not quoted right
// is a hole. So the text is put together from constant lines only; every path is a
// parameter beside it, which no character can escape from. The last rule that matches
// decides: reads, then writes, then what is taken out of them again, then the anchors that
// keep folders above protected paths from being renamed.
//
// What this package writes is tested on every system, with an evaluator for the few forms
// that it uses. Whether macOS reads it alike can only be seen on macOS.
package seatbelt
