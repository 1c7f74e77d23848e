// Package web is the inbox in a browser, and an API for the user's own programs: an approver like the
// terminal, which knows requests and views and no tool. Rules, records, status and explanations reach it
// through the small interfaces of [Config], which cmd/assent fills.
//
// It listens on loopback only. Two ideas carry it.
//
// Nothing that a program can steal lets it answer. There is no cookie and no password: a one-time link in
// the terminal brings a code in its fragment, the page makes a key that nobody can take out of the
// browser, and the code lets that key in for as long as this server runs. The key signs every call to the
// API. An answer carries a signature of its own, over all that it does and what was shown
// ([approval.Statement]); the gate that asked verifies it, so that neither this server nor whoever writes
// to the store in its name can approve. Tokens for programs can read and deny.
//
// What a model wrote stays text. The page is one static shell; the server renders what is shown with
// html/template from values that [present] made visible, lists are JSON put into cloned elements as text,
// and the browser is told by a strict policy with Trusted Types to run nothing else and to talk to nobody.
package web
