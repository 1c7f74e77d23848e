// Package proof verifies that the holder of a key gave an answer, with standard cryptography alone, so
// that the hook, which is a gate too, can link it. It touches nothing: keys come from who calls.
//
// A browser makes a key pair that nobody can take out of it, P-256 in WebCrypto, and a person who is at
// the terminal lets its public half in (see internal/web). Each answer carries a statement of all that it
// does ([approval.Statement]) and the signature of that key over
//
//	SHA-256("assent-answer-v1" 0x00 STATEMENT)
//
// The gate that asked checks the statement against its own request, and the signature here, before
// anything runs. A server in between can lose an answer, and cannot make or change one.
package proof
