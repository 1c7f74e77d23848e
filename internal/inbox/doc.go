// Package inbox is where a person answers for other processes: what waits in a
// store, whoever posted it, and where the answers go.
//
// An [Inbox] is what [terminal.Approver.Attend] asks about, so that a question from another
// process is the same prompt, with the same keys and views, as one from this process:
//
//	in, err := inbox.Open(ctx, store, inbox.Options{Owner: store.ThisProcess()})
//	defer in.Close()
//	asker := terminal.NewWith(terminal.Config{Who: policy.Who{Via: policy.ViaInbox}})
//	asker.Use(in)
//	err = asker.Attend(ctx, in)
//
// An answer is only written to the store, bound to the fingerprint of what was shown. The
// process that asked takes it, checks it once more and does the rest: it keeps grants and
// rules, judges changed arguments, stops its run. If it cannot, it opens the request
// again and says why, and the inbox shows that.
//
// While it is open the inbox has a session of its own, by which hooks and gateways know
// that somebody is there. It ends with the process, however that ends.
package inbox
