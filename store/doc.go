// Package store keeps what must last, where all processes of a user meet: runs,
// gateways, hooks and inboxes.
//
// A [Store] is one SQLite file in the state folder, with a few small ones beside
// it. [Open] makes it, for its owner alone. It is what package approval asks for
// under many names: rules, grants, sessions, requests, claims, runs, the audit log.
//
//	s, err := store.Open(ctx, stateFolder, store.Options{})
//	err = s.BeginSession(ctx, approval.Session{ID: id, Kind: approval.SessionRun, Owner: store.ThisProcess()})
//	gate, err := approval.New(approval.Config{
//		Session: id, Rules: s, Grants: s, Recorder: s, Requests: s, Claims: s,
//		Approver: approval.First(terminal, approval.Queue(s)),
//	})
//
// Another process shows what waits with [Store.Open] and answers with
// [Store.Answer]. Two ideas carry the package.
//
// One row, the head, is touched by every change. Its counters say what has changed,
// so that a process which waits is woken by the system, looks at one row, and reads
// again only what it must. Its sums say what the tables must hold. A number in a file
// beside the store says for a microsecond that it has not changed at all.
//
// Nothing is believed that is not as it was written. Tables add up to what the head
// says, or rows carry checksums, and a small file, the mark, counts the changes that
// were made durable: SQLite takes a log that was cut for a shorter one. What does
// not fit is an [*Error] that says what can be done; the file is never overwritten,
// and a gate whose store fails refuses.
//
// # The audit log
//
// [Store.Record] commits events in groups and returns when its own is committed, so
// that the death of the process cannot lose it; if a person's yes started the call,
// when it is on the disk, otherwise that follows within 100 ms. Each event carries
// the hash of the one before. [Store.Verify] names what was changed, removed,
// inserted or moved. Anyone who can write the file can also write a whole new log; against
// that, keep what [Store.Seal] returns elsewhere. [Store.Retain] removes what is too
// old and leaves a note that the rest can be verified from.
//
// # Versions
//
// The schema only goes forward: an older store is copied before it is changed, a
// newer one is refused, also by a program that had it open before.
package store
