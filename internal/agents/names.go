package agents

import "maps"

// The tools of each agent by its own names, and those that it has besides: own touch nothing but the
// agent's own conversation, or call tools that ask for themselves; known ones ask, unless config
// names them, and so does what is not here.
var (
	claudeTools = tools{
		mapped: map[string]translator{
			"Bash": running("command"), "Monitor": monitoring, "Write": writing("content"), "Edit": editing, "MultiEdit": editingOften,
			"NotebookEdit": notebook, "Read": onPath("read_file", "file_path"), "NotebookRead": onPath("read_file", "notebook_path"),
			"LS": inFolder("list_files", "path"), "Glob": inFolder("list_files", "path"), "Grep": inFolder("search_files", "path"),
			"WebFetch": fetching,
		},
		own: []string{
			"TodoWrite", "Task", "Agent", "ExitPlanMode", "EnterPlanMode", "AskUserQuestion", "BashOutput", "KillShell", "KillBash",
			"TaskCreate", "TaskGet", "TaskList", "TaskUpdate", "TaskOutput", "TaskStop", "ToolSearch", "DeferredToolPlaceholder",
			"ListAgents", "ReportFindings", "ScheduleWakeup", "CronList", "CronDelete", "ReadNotifications", "ProposeGoal",
			"ShowOnboardingRolePicker",
		},
		known: []string{
			"PowerShell", "Skill", "Workflow", "SendMessage", "CronCreate", "EnterWorktree", "ExitWorktree", "WebSearch", "RemoteTrigger",
			"ListMcpResources", "ListMcpResourcesTool", "ReadMcpResource", "ReadMcpResourceTool", "ReadMcpResourceDir", "RefreshMcpTools",
			"Mcp", "SendFeedback", "ClaudeDesign", "Projects", "OfferChromeSetup", "ProposeSkills", "Artifact", "PushNotification",
		},
	}.all()

	codexTools = tools{
		mapped: map[string]translator{
			"Bash": runningOrPatching("command", "cmd"), "shell": runningOrPatching("command"), "local_shell": running("command"),
			"exec_command": runningOrPatching("cmd", "command"), "shell_command": runningOrPatching("command"), "apply_patch": patching,
			"view_image": onPath("read_file", "path"),
			"read_file":  onPath("read_file", "file_path", "path"), "list_dir": inFolder("list_files", "dir_path", "path"),
			"grep_files": inFolder("search_files", "path"),
		},
		own:   append([]string{"update_plan", "get_goal", "create_goal", "update_goal", "request_user_input"}, inside("multi_agent_v1", "spawn_agent", "send_input", "resume_agent", "wait_agent", "close_agent")...),
		known: []string{"write_stdin", "web_search", "request_permissions"},
	}.all()

	geminiTools = tools{
		mapped: map[string]translator{
			"run_shell_command": running("command"), "write_file": writing("content"), "replace": editing,
			"read_file": onPath("read_file", pathNames...), "list_directory": inFolder("list_files", "path", "dir_path"),
			"glob": inFolder("list_files", "path", "dir_path"), "search_file_content": inFolder("search_files", "path", "dir_path"),
			"grep_search": inFolder("search_files", "path", "dir_path"),
		},
		own: []string{
			"write_todos", "ask_user", "enter_plan_mode", "exit_plan_mode", "update_topic", "invoke_agent", "complete_task",
			"list_background_processes", "read_background_output", "get_internal_docs", "tracker_create_task", "tracker_update_task",
			"tracker_get_task", "tracker_list_tasks", "tracker_add_dependency", "tracker_visualize",
		},
		known: []string{"activate_skill", "google_web_search", "web_fetch", "read_many_files", "read_mcp_resource", "list_mcp_resources", "take_snapshot"},
	}.all()

	cursorTools = tools{
		mapped: map[string]translator{
			"Shell": running("command"), "Write": writing("content", "contents"), "Edit": editing, "StrReplace": editing,
			"MultiEdit": editingOften, "Delete": onPath("delete_file", pathNames...), "Read": onPath("read_file", pathNames...),
			"LS": inFolder("list_files", "path", "target_directory"), "Glob": inFolder("list_files", "path", "target_directory"),
			"Grep": inFolder("search_files", "path"), "WebFetch": fetching,
		},
		own: []string{"Task", "TodoWrite"},
	}.all()
)

type tools struct {
	mapped     map[string]translator
	own, known []string
}

func (t tools) all() map[string]translator {
	out := maps.Clone(t.mapped)
	for _, name := range t.own {
		out[name] = own
	}
	for _, name := range t.known {
		out[name] = asked
	}
	return out
}

// inside are the names of tools in a space of names, which Codex puts in front without a sign
// between them, and the plain ones.
func inside(space string, names ...string) (out []string) {
	for _, name := range names {
		out = append(out, name, space+name)
	}
	return out
}
