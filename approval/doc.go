// Package approval puts consent between what an agent wants and what happens.
//
// An agent wants a [policy.Call]. Whoever knows the tool says, as a [Proposal], which
// acts the call would perform: a compound command that writes a log is
// shell(git push) and write_file(out/log.txt). A [Gate] turns that into an
// [Outcome]. Two ideas carry the package.
//
// The unit of asking is the request; the unit of consent is the [policy.Act]. A call
// passes without a person only if every act that asks is covered by something
// remembered, and it is refused if any act is denied. So a rule about files holds
// in the shell too, and "always allow git status" keeps working inside a longer
// command without covering the rest of it.
//
// An answer is bound to what was shown. A [Decision] answers one fingerprint:
// connector, tool, definition, canonical arguments, session, worker chain,
// working directory, environment, sandbox profile, and the state that the view
// was built from. It is used once, and at the last moment before the call runs
// everything is looked at again.
//
// # How a call is judged
//
// [policy.Policy.Judge] is a pure function; it looks in this order:
//
//  1. what the tool blocks: nobody can approve it
//  2. deny rules, and denials of this session
//  3. what the tool says is free
//  4. a person's yes to exactly this call
//  5. allow rules, then grants of this session
//  6. the mode: approve-all, strict, or ask
//
// What nothing answers is pending. A deny that may be met, because part of the
// act is unknown, leaves the answer to a person alone. The zero value of every
// verdict, answer, judgement and outcome refuses; so does a store, an approver
// or a tool that fails.
//
// # Asking now, or later
//
// [Gate.Decide] waits for the gate's [Approver]:
//
//	outcomes := gate.Decide(ctx, calls...)
//
// It is nothing but review, ask, and resolve, and the parts can be used alone, by
// a program that stops until somebody answers:
//
//	batch := gate.Review(ctx, calls...)     // never waits
//	saved, err := json.Marshal(batch)       // and the program ends
//
//	batch, err := gate.Restore(ctx, saved)  // later, perhaps elsewhere
//	err = batch.Resolve(ctx, batch.Pending()[0].Approve("go ahead"))
//
// A batch is the calls of one turn of a model. They are asked together and may be
// answered one by one, in any order, by several approvers at once: the first
// answer wins ([First]), silence can be made a no ([Timeout]).
//
// # What is remembered
//
// A [policy.Rule] is kept permanently, a [policy.Grant] as long as its session. Both are written
// the same way:
//
//	allow write_file(notes/**)
//	deny shell(git push)
//	allow github:search_*
//	deny connector github-mcp
//
// An allow reaches as little as its words say, a deny as much as they may mean:
// an allow needs every word of a command known and every spelling of a file
// covered, a deny is met by one spelling, through paths, options and
// abbreviations. [Memory] keeps both in memory and may be shared by several
// gates; other stores implement [RuleStore] and [GrantStore] and pass the suites
// in package approvaltest.
//
// # What is recorded
//
// Every call gives events to the [Recorder]: what was decided, by whom or what,
// and the [policy.Trace] of how. Secret-looking values are redacted in events; digests
// are over the real ones.
//
// The package is pure: it touches no file, no network and no clock of its own.
// Package tool joins it to tools that do something.
package approval
