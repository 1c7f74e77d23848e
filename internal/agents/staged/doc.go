// Package staged is what three programs say to each other so that the command which a hook
// judged is the one that runs: the hook itself, the text that it hands back to the agent
// (assent-hook exec TOKEN), and the keeper of the agent's session (internal/agents/keeper),
// which judges commands and runs them in the sandbox.
//
// They meet at a socket in assent's state folder, which no sandboxed command sees. A [Token]
// stands for one call that the keeper judged. It lives in the memory of that keeper only: it is
// of use to nobody else, counts once, and is gone with the keeper.
//
//	hook    Ask      → keeper judges, asks the inbox → Verdict with a token
//	agent   runs the text that the hook handed back
//	exec    Run      → keeper runs the command, writes to exec's own output → Ended
//	folder  Folder   → the folder that the command went to
package staged
