// Package permissions reads the lists in which people tell an agent which commands it must not
// run, or must ask about, and says what they mean for a command.
//
// A hook that replaces a command hides the original from those lists, because the agent compares
// them with what it is about to run. So the hook compares them itself, before. It is at least as
// strict as the agent: a command that the agent alone would refuse is [Deny], one that it would ask
// about is at least [Ask]. Some spellings that an agent overlooks, such as bash -c with the command
// as a text, are found here.
//
// What is not understood is never taken for permission: [Read] fails on a file or an entry that it
// cannot read, and the command is then left to the agent as it is.
//
// Not seen are the lists that an agent gets over the network and does not keep in a file, and the
// tools that the definition of a subagent takes away.
package permissions
