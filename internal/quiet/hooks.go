package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// An agent is one whose hooks the days are played through.
type agent struct {
	name string
	// event and call are its names for the hook and for the tool of ours; arguments are those of
	// its tool.
	event string
	call  func(c call, dir string) (tool string, args map[string]any)
	// text finds the command that it is told to run in place of the one that it asked about.
	reply func(out []byte) (decision, text string)
}

// hooked are the agents that take another command.
var hooked = []agent{
	{"claude-code", "PreToolUse", claudeCall, claudeReply},
	{"codex", "PreToolUse", codexCall, claudeReply},
	{"gemini", "BeforeTool", geminiCall, geminiReply},
}

type arguments struct {
	Command, Path, Content, Pattern string
	Old                             string `json:"old_text"`
	New                             string `json:"new_text"`
}

func (c call) arguments(dir string) (in arguments) {
	_ = json.Unmarshal(bytes.ReplaceAll(c.Args, []byte("@PROJ@"), []byte(dir)), &in) // the days are ours
	if in.Path != "" {
		in.Path = filepath.Join(dir, in.Path)
	}
	return in
}

func claudeCall(c call, dir string) (string, map[string]any) {
	in := c.arguments(dir)
	switch c.Tool {
	case "shell":
		return "Bash", map[string]any{"command": in.Command}
	case "write_file":
		return "Write", map[string]any{"file_path": in.Path, "content": in.Content}
	case "edit_file":
		return "Edit", map[string]any{"file_path": in.Path, "old_string": in.Old, "new_string": in.New}
	case "search_files":
		return "Grep", map[string]any{"path": in.Path, "pattern": in.Pattern}
	case "list_files":
		return "Glob", map[string]any{"path": in.Path, "pattern": in.Pattern}
	}
	return "Read", map[string]any{"file_path": in.Path}
}

// codexCall has a command in place of each tool that Codex does not have.
func codexCall(c call, dir string) (string, map[string]any) {
	in := c.arguments(dir)
	lines := func(prefix, text string) string {
		var b strings.Builder
		for line := range strings.Lines(text) {
			b.WriteString(prefix + strings.TrimSuffix(line, "\n") + "\n")
		}
		return b.String()
	}
	switch c.Tool {
	case "shell":
		return "Bash", map[string]any{"command": in.Command}
	case "write_file":
		verb := "Add"
		if _, err := os.Stat(in.Path); err == nil {
			verb = "Delete File: " + in.Path + "\n*** Add"
		}
		return patch(verb + " File: " + in.Path + "\n" + lines("+", in.Content))
	case "edit_file":
		return patch("Update File: " + in.Path + "\n@@\n" + lines("-", in.Old) + lines("+", in.New))
	case "search_files":
		return "Bash", map[string]any{"command": "grep -rn '" + in.Pattern + "' " + in.Path}
	case "list_files":
		return "Bash", map[string]any{"command": "find " + in.Path + " -type f"}
	}
	return "Bash", map[string]any{"command": "cat " + in.Path}
}

func geminiCall(c call, dir string) (string, map[string]any) {
	in := c.arguments(dir)
	switch c.Tool {
	case "shell":
		return "run_shell_command", map[string]any{"command": in.Command}
	case "write_file":
		return "write_file", map[string]any{"file_path": in.Path, "content": in.Content}
	case "edit_file":
		return "replace", map[string]any{"file_path": in.Path, "old_string": in.Old, "new_string": in.New}
	case "search_files":
		return "grep_search", map[string]any{"dir_path": in.Path, "pattern": in.Pattern}
	case "list_files":
		return "glob", map[string]any{"dir_path": in.Path, "pattern": in.Pattern}
	}
	return "read_file", map[string]any{"file_path": in.Path}
}

func claudeReply(out []byte) (decision, text string) {
	var r struct {
		Output struct {
			Decision string `json:"permissionDecision"`
			Input    struct {
				Command string `json:"command"`
			} `json:"updatedInput"`
		} `json:"hookSpecificOutput"`
	}
	if json.Unmarshal(out, &r) != nil {
		return "", ""
	}
	if r.Output.Decision == "" { // what Codex takes for yes
		return "allow", ""
	}
	return r.Output.Decision, r.Output.Input.Command
}

func geminiReply(out []byte) (decision, text string) {
	var r struct {
		Decision string `json:"decision"`
		Output   struct {
			Input struct {
				Command string `json:"command"`
			} `json:"tool_input"`
		} `json:"hookSpecificOutput"`
	}
	if json.Unmarshal(out, &r) != nil {
		return "", ""
	}
	return r.Decision, r.Output.Input.Command
}

// How says how days are played.
type how struct {
	agent, day     string // an empty day is all of them
	judge, verbose bool
}

// hooks plays the days through the hooks of an agent, with hook.shell: stage and the quiet policy
// where a project has none. What may run does, on the stage in one copy of the project and in bash
// in another. It fails if more is asked than a quiet policy may, or if a command works in bash and
// not on the stage.
func hooks(ctx context.Context, out io.Writer, program string, o how) error {
	program, err := filepath.Abs(program)
	if err != nil {
		return err
	}
	days, err := readDays()
	if err != nil {
		return err
	}
	var of *agent
	for i := range hooked {
		if hooked[i].name == o.agent {
			of = &hooked[i]
		}
	}
	if of == nil {
		return fmt.Errorf("no days are played through the hooks of %q", o.agent)
	}
	all, broken := row{}, 0
	for _, d := range days {
		if o.day != "" && d.name != o.day {
			continue
		}
		p := player{agent: of, day: d, program: program, out: out, how: o}
		if err := p.play(ctx); err != nil {
			return fmt.Errorf("%s day: %w", d.name, err)
		}
		fmt.Fprintf(out, "%12s %8s: %d calls, %d asked, %d denied, %d commands ran, %d are broken on the stage\n",
			o.agent, d.name, p.count.calls, p.count.asked, p.count.denied, p.ran, p.broken)
		all.calls, all.asked, broken = all.calls+p.count.calls, all.asked+p.count.asked+p.count.denied, broken+p.broken
	}
	fmt.Fprintf(out, "%12s: %.1f questions in 20 calls\n", o.agent, all.inTwenty())
	switch {
	case all.inTwenty() > most:
		return fmt.Errorf("it asks %.1f questions in 20 calls, and may ask %d", all.inTwenty(), most)
	case broken > 0:
		return fmt.Errorf("%d commands work in bash and fail on the stage", broken)
	}
	return nil
}

// A player plays a day.
type player struct {
	*agent
	day
	program string
	out     io.Writer
	how
	inside, outside copyOf

	count       row
	ran, broken int
}

func (p *player) play(ctx context.Context) (err error) {
	top, err := os.MkdirTemp("/var/tmp", "assent-quiet-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, exec.Command("chmod", "-R", "u+w", top).Run(), os.RemoveAll(top)) }()
	if p.outside, err = p.copy(top, "outside"); err != nil {
		return err
	}
	if p.inside, err = p.copy(top, "inside"); err != nil {
		return err
	}
	config := "hook: {shell: stage, policy: quiet}\n"
	if err := write(filepath.Join(p.inside.home, ".config", "assent", "config.yaml"), config); err != nil {
		return err
	}
	if err := write(filepath.Join(p.inside.home, ".codex", "config.toml"), "sandbox_mode = \"danger-full-access\"\n"); err != nil {
		return err
	}
	for i, c := range p.day.calls {
		if err := p.one(ctx, i, c); err != nil {
			return fmt.Errorf("%s: %w", c.ID, err)
		}
	}
	_, _, err = p.hook(ctx, map[string]any{"hook_event_name": "SessionEnd", "session_id": "day"})
	return err
}

// hook has the hook answer an event.
func (p *player) hook(ctx context.Context, event map[string]any) (decision, text string, err error) {
	input, err := json.Marshal(event)
	if err != nil {
		return "", "", err
	}
	c := p.inside.command(ctx, filepath.Join(filepath.Dir(p.program), "assent-hook"), p.agent.name)
	c.Env = append(c.Env, "CLAUDE_PROJECT_DIR="+p.inside.dir, "GEMINI_PROJECT_DIR="+p.inside.dir)
	c.Stdin = bytes.NewReader(input)
	var said bytes.Buffer
	c.Stderr = &said
	out, err := c.Output()
	if err != nil {
		if event["hook_event_name"] == "SessionEnd" { // which Codex does not have
			return "", "", nil
		}
		return "", "", fmt.Errorf("the hook: %w: %s", err, said.String())
	}
	decision, text = p.reply(out)
	if decision == "deny" || decision == "ask" {
		text = string(out)
	}
	return decision, text, nil
}

func (p *player) one(ctx context.Context, i int, c call) error {
	tool, args := p.agent.call(c, p.inside.dir)
	p.count.calls++
	decision, text, err := p.hook(ctx, map[string]any{
		"hook_event_name": p.event, "session_id": "day", "tool_use_id": fmt.Sprint("t", i), "cwd": p.inside.dir,
		"tool_name": tool, "tool_input": args,
	})
	if err != nil {
		return err
	}
	switch decision {
	case "allow":
	case "ask", "deny":
		if decision == "ask" {
			p.count.asked++
		} else {
			p.count.denied++
		}
		if p.verbose {
			fmt.Fprintf(p.out, "%s %s: %s\n  %s\n", c.ID, decision, c.Args, bytes.TrimSpace([]byte(text)))
		}
	default:
		return fmt.Errorf("the hook says %q", decision)
	}
	if c.Tool != "shell" { // the agent's own tool would do it
		_ = errors.Join(c.change(p.outside.dir), c.change(p.inside.dir)) // as far as the commands before did the same
		return nil
	}
	if decision != "allow" || p.how.judge {
		return nil
	}
	if text == "" {
		return fmt.Errorf("%s was not put on the stage", c.Args)
	}
	p.ran++
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := p.inside.command(limited, "bash", "-c", text)
	output, _ := cmd.CombinedOutput() // its status is looked at
	if status := cmd.ProcessState.ExitCode(); status != 0 && c.outside(ctx, p.outside) == 0 {
		p.broken++
		fmt.Fprintf(p.out, "%s works in bash and ends with %d on the stage: %s\n  %s\n", c.ID, status, c.Args,
			bytes.TrimSpace(output))
	} else if status == 0 {
		c.outside(ctx, p.outside)
	}
	return nil
}

// patch is a call that applies a patch with one part.
func patch(part string) (string, map[string]any) {
	return "apply_patch", map[string]any{"command": "*** Begin Patch\n*** " + part + "*** End Patch\n"}
}
