// Package hook answers the hooks of other agents: one event on standard input, one answer,
// and the process ends.
//
// [Run] takes the event through the same rules as any other call: the administrator's, the
// user's and the project's files, the rules and grants that are kept, the audit log. What
// must be asked goes to the inbox if one is open, else to the agent's own prompt, else it is
// denied.
//
// The agents run the tool when a hook fails. So Run always returns a reply, and whatever
// goes wrong on the way (input that makes no sense, a store that is held, a panic, a
// deadline) is one that blocks.
package hook
