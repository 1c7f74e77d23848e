// Package settings writes our hook into the settings of other agents, and takes it out again.
//
// The files are other people's: they have comments, an order and a layout. So nothing is
// decoded and written anew. A [Plan] is a list of insertions into the bytes that are there;
// everything else stays as it is, to the byte, and taking the insertions out again gives the
// file back as it was. What cannot be parsed is left alone.
//
//	plan, err := settings.Add(before, target.Entries(program))
//	after := plan.After   // to be shown as a diff, and asked about
//	…
//	back, err := settings.Remove(now, plan.Inserted)
//
// A hook in a file is not yet one that is called. [Target.Inspect] reads the files that the
// agent would read, as strictly as it does, and returns what keeps it from calling the hook.
package settings
