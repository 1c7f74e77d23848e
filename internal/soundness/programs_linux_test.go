package soundness

// acting are the programs that do in the jail what they do elsewhere.
var acting = []string{
	"[", "awk", "basename", "bash", "cat", "chmod", "cmp", "comm", "cp", "cut", "dash", "dd", "diff", "dirname",
	"du", "echo", "env", "expr", "false", "find", "fold", "grep", "gzip", "head", "install", "join", "link", "ln", "ls",
	"mkdir", "mktemp", "mv", "nice", "nl", "nohup", "od", "paste", "printf", "pwd", "readlink", "realpath", "rev", "rm",
	"rmdir", "sed", "seq", "setsid", "sh", "shuf", "sort", "split", "stat", "stdbuf", "tac", "tail", "tar", "tee", "test",
	"timeout", "touch", "tr", "true", "truncate", "tsort", "uniq", "unlink", "wc", "xargs",
}

// mute are those that only say that they were started.
var mute = []string{
	"busybox", "gawk", "jq", "rg", // with the build tag all they act
	"assent", "build", "cargo", "curl", "docker", "doas", "file", "git", "go", "ionice", "kill", "make", "node", "npm", "parallel",
	"perl", "pip", "pkill", "ps", "python3", "sleep", "spy", "spy2", "ssh", "sudo", "watch", "wget", "x-tool",
}
