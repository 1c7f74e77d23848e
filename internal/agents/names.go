package agents

import "maps"

// The tools of each agent by its own names. What is not here asks, unless config names it.
var (
	claudeTools = with(map[string]translator{
		"Bash": running("command"), "Write": writing("content"), "Edit": editing, "MultiEdit": editingOften,
		"NotebookEdit": notebook, "Read": onPath("read_file", "file_path"), "NotebookRead": onPath("read_file", "notebook_path"),
		"LS": inFolder("list_files", "path"), "Glob": inFolder("list_files", "path"), "Grep": inFolder("search_files", "path"),
		"WebFetch": fetching,
	}, "TodoWrite", "Task", "Agent", "ExitPlanMode", "EnterPlanMode", "AskUserQuestion", "BashOutput", "KillShell",
		"KillBash", "TaskCreate", "TaskGet", "TaskList", "TaskUpdate", "TaskOutput", "TaskStop", "ToolSearch")

	codexTools = with(map[string]translator{
		"Bash": running("command", "cmd"), "shell": running("command"), "local_shell": running("command"),
		"exec_command": running("cmd", "command"), "shell_command": running("command"), "apply_patch": patching,
		"view_image": onPath("read_file", "path"),
		"read_file":  onPath("read_file", "file_path", "path"), "list_dir": inFolder("list_files", "dir_path", "path"),
		"grep_files": inFolder("search_files", "path"),
	}, "update_plan")

	geminiTools = with(map[string]translator{
		"run_shell_command": running("command"), "write_file": writing("content"), "replace": editing,
		"read_file": onPath("read_file", pathNames...), "list_directory": inFolder("list_files", "path", "dir_path"),
		"glob": inFolder("list_files", "path", "dir_path"), "search_file_content": inFolder("search_files", "path", "dir_path"),
		"grep_search": inFolder("search_files", "path", "dir_path"),
	}, "write_todos", "ask_user", "enter_plan_mode", "exit_plan_mode")

	cursorTools = with(map[string]translator{
		"Shell": running("command"), "Write": writing("content", "contents"), "Edit": editing, "StrReplace": editing,
		"MultiEdit": editingOften, "Delete": onPath("delete_file", pathNames...), "Read": onPath("read_file", pathNames...),
		"LS": inFolder("list_files", "path", "target_directory"), "Glob": inFolder("list_files", "path", "target_directory"),
		"Grep": inFolder("search_files", "path"), "WebFetch": fetching,
	}, "Task", "TodoWrite")
)

// with adds the tools that touch nothing but the agent's own conversation, and what
// calls tools that ask for themselves.
func with(tools map[string]translator, names ...string) map[string]translator {
	out := maps.Clone(tools)
	for _, name := range names {
		out[name] = own
	}
	return out
}
