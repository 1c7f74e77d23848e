package agents

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// The arguments of our tools, as package foreign reads them.
type (
	pathArgs struct {
		Path string `json:"path"`
	}
	writeArgs struct {
		Path    string `json:"path"`
		Content string `json:"content"`
	}
	editArgs struct {
		Path  string `json:"path"`
		Edits []edit `json:"edits"`
	}
	edit struct {
		Old string `json:"old_text"`
		New string `json:"new_text"`
		All bool   `json:"all,omitempty"`
	}
	notebookArgs struct {
		Path   string `json:"path"`
		Cell   string `json:"cell,omitempty"`
		Kind   string `json:"cell_type,omitempty"`
		Mode   string `json:"mode"`
		Source string `json:"source"`
	}
	patchArgs struct {
		Patch string `json:"patch"`
		Dir   string `json:"dir"`
	}
	shellArgs struct {
		Command string `json:"command"`
		Cwd     string `json:"cwd,omitempty"`
	}
	urlArgs struct {
		Method string `json:"method"`
		URL    string `json:"url"`
	}
)

// The names that agents have for one and the same argument.
var (
	pathNames = []string{"file_path", "path", "absolute_path", "target_file", "relative_workspace_path"}
	oldNames  = []string{"old_string", "old_str", "old_text"}
	newNames  = []string{"new_string", "new_str", "new_text"}
)

func own(object, string) (Want, error) { return Want{Own: true}, nil }

// asked is for a tool that is known, and of which nothing can be said but its name.
func asked(object, string) (Want, error) { return Want{}, nil }

// monitoring is for a tool that watches what a command prints, or a socket.
func monitoring(in object, dir string) (Want, error) {
	switch {
	case in.has("command") && in.has("ws"):
		return Want{}, errors.New("command and ws cannot be combined")
	case in.has("ws"):
		return Want{}, nil
	}
	return running("command")(in, dir)
}

// onPath returns a translator to one of our tools that takes nothing but a path.
func onPath(tool string, names ...string) translator {
	return func(in object, dir string) (Want, error) {
		p, err := in.path(dir, names...)
		if err != nil {
			return Want{}, err
		}
		return ours(tool, pathArgs{p})
	}
}

// inFolder returns a translator to one of our tools that looks at a folder, by default
// the agent's own. A pattern that leads out of the folder counts as a path.
func inFolder(tool string, names ...string) translator {
	return func(in object, dir string) (Want, error) {
		p, err := in.folder(dir, names...)
		if err != nil {
			return Want{}, err
		}
		if glob, err := in.optional("glob", "glob_pattern", "pattern"); err == nil && tool == "list_files" {
			p = fixedPart(p, glob)
		}
		return ours(tool, pathArgs{p})
	}
}

// fixedPart returns the folder at which a pattern begins to match.
func fixedPart(folder, glob string) string {
	if path.IsAbs(glob) {
		folder = "/"
	}
	for element := range strings.SplitSeq(strings.Trim(glob, "/"), "/") {
		if strings.ContainsAny(element, "*?[{(!") {
			break
		}
		folder += "/" + element
	}
	return folder
}

func writing(contentNames ...string) translator {
	return func(in object, dir string) (Want, error) {
		p, err := in.path(dir, pathNames...)
		if err != nil {
			return Want{}, err
		}
		content, err := in.given(contentNames...)
		if err != nil {
			return Want{}, err
		}
		w, err := ours("write_file", writeArgs{p, content})
		if i := slices.IndexFunc(contentNames, in.has); i >= 0 {
			w.edit, w.ours = contentNames[i], "content"
		}
		return w, err
	}
}

func editing(in object, dir string) (Want, error) {
	e, err := readEdit(in)
	if err != nil {
		return Want{}, err
	}
	return editsOf(in, dir, []edit{e})
}

func editingOften(in object, dir string) (Want, error) {
	list, err := in.list("edits")
	if err != nil {
		return Want{}, err
	}
	edits := make([]edit, len(list))
	for i, item := range list {
		if edits[i], err = readEdit(item); err != nil {
			return Want{}, err
		}
	}
	return editsOf(in, dir, edits)
}

func editsOf(in object, dir string, edits []edit) (Want, error) {
	if len(edits) == 0 {
		return Want{}, errors.New("there is nothing to edit")
	}
	p, err := in.path(dir, pathNames...)
	if err != nil {
		return Want{}, err
	}
	return ours("edit_file", editArgs{p, edits})
}

func readEdit(in object) (e edit, err error) {
	if e.Old, err = in.given(oldNames...); err != nil {
		return e, err
	}
	if e.New, err = in.given(newNames...); err != nil {
		return e, err
	}
	for _, name := range []string{"replace_all", "allow_multiple"} {
		set, err := in.flag(name)
		if err != nil {
			return e, err
		}
		e.All = e.All || set
	}
	if in.has("expected_replacements") {
		var n float64
		if err := json.Unmarshal(in["expected_replacements"], &n); err != nil {
			return e, errors.New("expected_replacements must be a number")
		}
		e.All = e.All || n > 1
	}
	return e, nil
}

func notebook(in object, dir string) (Want, error) {
	p, err := in.path(dir, "notebook_path")
	if err != nil {
		return Want{}, err
	}
	args := notebookArgs{Path: p, Mode: "replace"}
	if args.Cell, err = in.optional("cell_id"); err != nil {
		return Want{}, err
	}
	if args.Kind, err = in.optional("cell_type"); err != nil {
		return Want{}, err
	}
	if args.Source, err = in.optional("new_source"); err != nil {
		return Want{}, err
	}
	if mode, err := in.optional("edit_mode"); err != nil {
		return Want{}, err
	} else if mode != "" {
		args.Mode = mode
	}
	return ours("edit_file", struct {
		Notebook notebookArgs `json:"notebook"`
	}{args})
}

func patching(in object, dir string) (Want, error) {
	text, err := in.text("command", "input", "patch")
	if err != nil {
		return Want{}, err
	}
	return ours("edit_file", patchArgs{Patch: text, Dir: dir})
}

// patchText is a command that Codex does not run but applies itself: there need be no program of
// this name, and its tool that edits files is not offered to every model. Codex takes more forms;
// these are the ones in which a shell would change nothing either before the program starts.
var patchText = regexp.MustCompile(`^\s*(?:cd +(?:'([^'\n]+)'|"([^"$\x60\\\n]+)"|([\w./][\w./-]*)) +&& +)?` +
	`apply_?patch +<< *(?:'(\w+)'|"(\w+)")\n`)

// patchOf returns the patch of such a command, and the folder that it names.
func patchOf(command string) (patch, dir string, ok bool) {
	m := patchText.FindStringSubmatch(command)
	if m == nil {
		return "", "", false
	}
	end := "\n" + m[4] + m[5] + "\n"
	// The first such line ends the patch, and the command with it.
	patch, rest, ok := strings.Cut("\n"+command[len(m[0]):]+"\n", end)
	return strings.TrimPrefix(patch, "\n") + "\n", m[1] + m[2] + m[3], ok && strings.TrimSpace(rest) == ""
}

// runningOrPatching returns a translator to the shell, or to the edits of a patch.
func runningOrPatching(names ...string) translator {
	run := running(names...)
	return func(in object, dir string) (Want, error) {
		w, err := run(in, dir)
		command, _, failed := commandOf(in, names)
		patch, folder, ok := patchOf(command)
		if err != nil || failed != nil || !ok {
			return w, err
		}
		cwd, err := in.workdir(dir)
		if err != nil {
			return Want{}, err
		}
		if folder != "" && cwd != "" {
			if cwd, err = absolute(folder, cwd); err != nil {
				return Want{}, err
			}
		}
		edits, err := ours("edit_file", patchArgs{Patch: patch, Dir: cwd})
		edits.Person = w.Person
		return edits, err
	}
}

// running returns a translator to the shell.
func running(names ...string) translator {
	return func(in object, dir string) (Want, error) {
		command, edit, err := commandOf(in, names)
		if err != nil {
			return Want{}, err
		}
		cwd, err := in.workdir(dir)
		if err != nil {
			return Want{}, err
		}
		escalated, err := in.escalated()
		if err != nil {
			return Want{}, err
		}
		w, err := ours("shell", shellArgs{command, cwd})
		if escalated {
			w.Person = leaves
		}
		w.edit, w.ours = edit, "command"
		return w, err
	}
}

// escalated reports whether the arguments have a command run with more than the agent's own
// sandbox gives.
func (o object) escalated() (bool, error) {
	old, err := o.flag("with_escalated_permissions")
	if err != nil {
		return false, err
	}
	claude, err := o.flag("dangerouslyDisableSandbox")
	if err != nil {
		return false, err
	}
	now, err := o.optional("sandbox_permissions")
	return old || claude || now != "" && now != "use_default", err
}

// workdir is the folder that a command runs in; empty if it is not known.
func (o object) workdir(dir string) (string, error) {
	named, err := o.optional("cwd", "workdir", "directory", "dir_path", "working_directory")
	if err != nil || named == "" && dir == "" {
		return "", err
	}
	cwd, err := absolute(cmp.Or(named, dir), dir)
	return path.Clean(cwd), err
}

// commandOf reads a command: a text, or the words of one. Only a text can be changed.
func commandOf(in object, names []string) (command, edit string, err error) {
	for _, name := range names {
		var words []string
		if in.has(name) && json.Unmarshal(in[name], &words) == nil {
			command, err = joined(words)
			return command, "", err
		}
	}
	command, err = in.text(names...)
	if i := slices.IndexFunc(names, in.has); err == nil && i >= 0 {
		edit = names[i]
	}
	return command, edit, err
}

// joined makes a command of words. A shell with a script is the script.
func joined(words []string) (string, error) {
	switch {
	case len(words) == 0:
		return "", errors.New("the command is empty")
	case len(words) == 3 && slices.Contains([]string{"bash", "sh", "/bin/bash", "/bin/sh"}, words[0]) &&
		slices.Contains([]string{"-c", "-lc"}, words[1]):
		return words[2], nil
	}
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
	}
	return strings.Join(quoted, " "), nil
}

func fetching(in object, _ string) (Want, error) {
	url, err := in.text("url")
	if err != nil {
		return Want{}, err
	}
	return ours("http_request", urlArgs{"GET", url})
}

// The tools of each agent by its own names, and those that it has besides: own touch nothing but the
// agent's own conversation, or call tools that ask for themselves; known ones ask, unless config
// names them, and so does what is not here.
var (
	claudeTools = tools{
		mapped: map[string]translator{
			"Bash": running("command"), "Monitor": monitoring, "Write": writing("content"), "Edit": editing,
			"MultiEdit":    editingOften,
			"NotebookEdit": notebook, "Read": onPath("read_file", "file_path"),
			"NotebookRead": onPath("read_file", "notebook_path"),
			"LS":           inFolder("list_files", "path"), "Glob": inFolder("list_files", "path"),
			"Grep":     inFolder("search_files", "path"),
			"WebFetch": fetching,
		},
		own: []string{
			"TodoWrite", "Task", "Agent", "ExitPlanMode", "EnterPlanMode", "AskUserQuestion", "BashOutput",
			"KillShell", "KillBash", "TaskCreate", "TaskGet", "TaskList", "TaskUpdate", "TaskOutput", "TaskStop",
			"ToolSearch", "DeferredToolPlaceholder", "ListAgents", "ReportFindings", "ScheduleWakeup", "CronList",
			"CronDelete", "ReadNotifications", "ProposeGoal", "ShowOnboardingRolePicker",
		},
		known: []string{
			"PowerShell", "Skill", "Workflow", "SendMessage", "CronCreate", "EnterWorktree", "ExitWorktree",
			"WebSearch", "RemoteTrigger", "ListMcpResources", "ListMcpResourcesTool", "ReadMcpResource",
			"ReadMcpResourceTool", "ReadMcpResourceDir", "RefreshMcpTools", "Mcp", "SendFeedback", "ClaudeDesign",
			"Projects", "OfferChromeSetup", "ProposeSkills", "Artifact", "PushNotification",
		},
	}.all()

	codexTools = tools{
		mapped: map[string]translator{
			"Bash": runningOrPatching("command", "cmd"), "shell": runningOrPatching("command"),
			"local_shell":  running("command"),
			"exec_command": runningOrPatching("cmd", "command"), "shell_command": runningOrPatching("command"),
			"apply_patch": patching,
			"view_image":  onPath("read_file", "path"),
			"read_file":   onPath("read_file", "file_path", "path"),
			"list_dir":    inFolder("list_files", "dir_path", "path"),
			"grep_files":  inFolder("search_files", "path"),
		},
		own: append(
			inside("multi_agent_v1", "spawn_agent", "send_input", "resume_agent", "wait_agent", "close_agent"),
			"update_plan", "get_goal", "create_goal", "update_goal", "request_user_input",
		),
		known: []string{"write_stdin", "web_search", "request_permissions"},
	}.all()

	geminiTools = tools{
		mapped: map[string]translator{
			"run_shell_command": running("command"), "write_file": writing("content"), "replace": editing,
			"read_file":           onPath("read_file", pathNames...),
			"list_directory":      inFolder("list_files", "path", "dir_path"),
			"glob":                inFolder("list_files", "path", "dir_path"),
			"search_file_content": inFolder("search_files", "path", "dir_path"),
			"grep_search":         inFolder("search_files", "path", "dir_path"),
		},
		own: []string{
			"write_todos", "ask_user", "enter_plan_mode", "exit_plan_mode", "update_topic", "invoke_agent",
			"complete_task", "list_background_processes", "read_background_output", "get_internal_docs",
			"tracker_create_task", "tracker_update_task", "tracker_get_task", "tracker_list_tasks",
			"tracker_add_dependency", "tracker_visualize",
		},
		known: []string{"activate_skill", "google_web_search", "web_fetch", "read_many_files", "read_mcp_resource",
			"list_mcp_resources", "take_snapshot"},
	}.all()

	cursorTools = tools{
		mapped: map[string]translator{
			"Shell": running("command"), "Write": writing("content", "contents"), "Edit": editing,
			"StrReplace": editing,
			"MultiEdit":  editingOften, "Delete": onPath("delete_file", pathNames...),
			"Read": onPath("read_file", pathNames...),
			"LS":   inFolder("list_files", "path", "target_directory"),
			"Glob": inFolder("list_files", "path", "target_directory"),
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
