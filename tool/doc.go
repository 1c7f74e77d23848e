// Package tool is where asking and doing meet. A [Tool] says what a call would
// do; a [Gate] gets it answered; [Call] does it, and nothing else can.
//
// Two ideas carry the package.
//
// Saying and doing are separate. [Tool.Prepare] looks and describes, without side
// effects; it returns an [Action], built from acts that are free, ask or blocked,
// together with a summary, a view for the person, and the function that does it.
// That function is out of reach for everybody but this package.
//
// What runs is what was shown. Right before an action runs, the call is prepared
// once more. If it would now do something else than what was answered (another
// file content, another definition, a rule that is gone) it is judged and asked
// again.
//
// # A tool in front of a person
//
//	send := tool.Func("send_email", "Sends an email.", sendEmail)
//	send = tool.RequireApproval(send, tool.Approval[Email]{
//		Describe: func(e Email) string { return "Send email to " + e.To },
//	})
//	gate, err := tool.Guard(approval.Config{Approver: terminal}, send)
//
//	result := tool.Call(ctx, gate, approval.Call{Tool: "send_email", Arguments: args})
//	fmt.Println(result.Text) // what the model is told, whatever happened
//
// # Ways to say that a tool asks
//
//   - Implement Prepare, or give [FuncAction] a function that does the same with a
//     struct of arguments, and say it act by act.
//   - [Func]: a Go function; it is the program's own code and runs without asking.
//   - [RequireApproval]: like a decorator, with a description, a target or payload,
//     and a view.
//   - [NeedsApproval] and [NeedsApprovalIf]: a bool or a function, for one tool or
//     a whole set.
//   - [Configure]: the operator's config by name, for tools that stay untouched.
//     It wins over the tool's own word, except over what the tool blocks.
//
// # What the model is told
//
// [Result] has text for the model in every case. Its error tells the cases apart:
// [*approval.BlockedError] (policy; nobody was asked), [*approval.DeniedError]
// (a person, a rule or a mode said no), [*approval.InvalidError] (the call made no
// sense), [*FailedError] (it ran and failed), [*CancelledError], [*UnknownError]
// (it had started and its end was not seen) and, for what still waits,
// [approval.ErrOpen]. What a person said or changed on the way is told too.
//
// # Waiting, or not
//
// [Calls] waits for the gate's approver. To stop instead, review the calls, save
// the batch as JSON, collect the answers wherever they come from, restore the
// batch in any gate with the same tools, and [Finish] it. A call whose body is a
// run of its own returns [ErrSuspended] while that waits; it is entered again by
// the next Finish.
//
// # While a call runs
//
// A [Do] finds its call with [RunningIn]: what the person chose, further acts to be judged or
// asked, connections to be decided about, and what is to be recorded. [Progress] takes output as
// it comes.
package tool
