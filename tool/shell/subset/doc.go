// Package subset is a second reader of shell commands. It reads the raw text that somebody
// else's shell will run, in a strict subset of shell, and shares no code with the parser by
// which commands are judged. If both read the same commands, the judgement holds for the raw
// text. If they differ, or the text leaves the subset, only a person can allow it.
//
// Two ideas carry it. The subset holds only what bash, dash and zsh have read alike for
// decades, and what a page of code can read without a grammar: words with quotes, plain
// expansions, lists, pipelines, redirections, here-documents with a quoted delimiter,
// substitutions, groups, and plain for, if and while. Everything else is [Outside], by its
// name and line, and so is everything whose reading depends on the shell at hand, on an option
// or on a position: [Read] takes the [Shell] that will run the text. And the result is flat: a
// list of simple commands with the operators between them, which is easy to compare.
//
// Reading is not judging. What a builtin does with its arguments, what a variable holds and
// which files a glob matches are for the judgement to say. The reader names only those
// builtins that change how the shell reads what follows, or that read text as a command.
//
// It assumes a shell that was started with -c, is not interactive, has its default options and
// no aliases, and runs in the C or a UTF-8 locale; bash 4.4 or newer, dash 0.5.8 or newer, zsh
// 5.8 or newer.
package subset
