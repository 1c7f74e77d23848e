// Package runs lets agents of our own run, as 'assent run', 'chat', 'call' and 'resume' do: it
// opens the session of a run and the gates that share it, has the worker's crew work, shows what
// happens, and saves a run that waits for answers.
//
//	o := runs.Options{View: runs.NewView(out, errs, false, status)}
//	err := o.Run(ctx, s, worker.Message{Text: "Tidy up my notes."})
//
// What holds for a run comes from package setup, what is opened for it from setup/open. Packages
// crew and worker know nothing of stores and terminals; they are put together here. Commands add
// flags only.
package runs
