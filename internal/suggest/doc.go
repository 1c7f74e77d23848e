// Package suggest finds rules that would have answered what a person approved again and
// again.
//
// It starts from exactly what was approved and widens only where approvals differ: to the
// words that commands have in common, the folder and suffix of files, the folder of
// addresses. A suggestion is kept only if it passes three tests, all with the judgement that
// decides about calls: it answers enough prompts, it lets through nothing that somebody or
// something refused, and it is not as wide as an interpreter, a wrapper or a whole built-in
// tool. A command that changes files is only ever suggested exactly as it was.
package suggest
