package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/internal/agents"
	theirs "github.com/assent-dev/assent/internal/agents/foreign"
	"github.com/assent-dev/assent/internal/agents/hook"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/explain"
	"github.com/assent-dev/assent/internal/setup"
	"github.com/assent-dev/assent/internal/setup/open"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
)

// explainFlags say which door answers, and under which policy.
type explainFlags struct {
	policyFlags
	door          string
	asJSON, batch bool
}

func explainCmd() *cobra.Command {
	var flags explainFlags
	c := &cobra.Command{
		Use:   "explain [-c CONFIG] [--for DOOR] COMMAND | TOOL ARGUMENTS",
		Short: "Say what would happen to a call, and why",
		Long: "explain takes a call through what holds in this folder and prints each step of the decision.\n" +
			"It runs nothing, asks nobody and leaves no record.\n\n" +
			"A tool's name with its arguments, as JSON or as the one that matters, is a call of that tool;\n" +
			"everything else is a shell command. --for says who would call it: run, mcp, or another agent\n" +
			"whose hook answers: " + strings.Join(agentNames(), ", ") + ". Without it the answer is that of\n" +
			"'assent run', or of the agent whose tool is named; where no policy gives agents a shell, it is\n" +
			"that of " + agents.All()[0].Title + ".\n\n" +
			"With --batch it reads one call a line from standard input, {\"tool\": …, \"args\": {…}}, and\n" +
			"prints one answer a line.",
		Example: "  assent explain 'git status && git push'\n" +
			"  assent explain --for claude-code 'npm test'\n" +
			"  assent explain 'Bash(git push)'\n" +
			"  assent explain -c policy.yaml write_file '{\"path\": \"notes/a.md\", \"content\": \"…\"}'",
		Args: func(c *cobra.Command, args []string) error {
			if flags.batch {
				return cobra.NoArgs(c, args)
			}
			return cobra.MinimumNArgs(1)(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error { return flags.run(c, args) },
	}
	flags.register(c)
	c.Flags().StringVar(&flags.door, "for", "", "who would call it: run, mcp, "+strings.Join(agentNames(), ", "))
	c.Flags().BoolVar(&flags.asJSON, "json", false, "print the answer as JSON")
	c.Flags().BoolVar(&flags.batch, "batch", false, "explain one call a line of standard input")
	return c
}

func (f *explainFlags) run(c *cobra.Command, args []string) (err error) {
	agent, err := f.agent(c)
	if err != nil {
		return err
	}
	s, err := f.resolve(c)
	if err != nil {
		return err
	}
	if f.batch && agent == nil {
		return f.ours(c, s, func(e *explain.Explainer) error { return e.Batch(c.Context(), c.InOrStdin(), c.OutOrStdout()) })
	}
	if f.batch {
		return explain.Batch(c.Context(), c.InOrStdin(), c.OutOrStdout(), func(ctx context.Context, call explain.Call) explain.Answer {
			answer, err := f.theirs(ctx, agent, call)
			if err != nil {
				return explain.Failed(err)
			}
			return answer
		})
	}
	call, owner := callFrom(args, s)
	if agent == nil && f.door == "" && f.config == "" {
		agent = owner
		if agent == nil && call.Tool == policy.ActShell && !s.HasShell {
			agent = agents.All()[0]
		}
	}
	var answer explain.Answer
	if agent != nil {
		answer, err = f.theirs(c.Context(), agent, call)
	} else {
		err = f.ours(c, s, func(e *explain.Explainer) error {
			answer = e.Explain(c.Context(), call)
			if call.Tool == policy.ActShell && answer.Outcome != explain.Deny {
				answer.Undo = e.Undoing(c.Context(), call.Args)
			}
			return nil
		})
	}
	if err != nil {
		return err
	}
	if f.asJSON {
		return writeJSON(c.OutOrStdout(), answer)
	}
	return printAnswer(c.OutOrStdout(), answer)
}

// agent is the one that --for names; nil if it is a door of our own.
func (f *explainFlags) agent(c *cobra.Command) (*agents.Agent, error) {
	if f.door == "" || f.door == "run" || f.door == "mcp" {
		return nil, nil
	}
	agent, err := agents.Named(f.door)
	switch {
	case err != nil:
		return nil, misused(c, "--for %q: use run, mcp, %s", f.door, strings.Join(agentNames(), ", "))
	case f.config != "":
		return nil, misused(c, "-c does not go with --for %s: its hook takes the policy of the folder", f.door)
	}
	return agent, nil
}

// ours explains calls of our own doors, which all stand on the same base.
func (f *explainFlags) ours(c *cobra.Command, s *setup.Setup, do func(*explain.Explainer) error) error {
	base, err := open.Open(c.Context(), s, open.Order{Use: open.Look, Held: s.HasShell})
	if err != nil {
		return err
	}
	defer base.Close()
	e, closing, err := base.Explainer(c.Context())
	if err != nil {
		return err
	}
	defer closing()
	e.For, e.Held = f.door, !f.batch
	return do(e)
}

// theirs explains a call of another agent.
func (f *explainFlags) theirs(ctx context.Context, agent *agents.Agent, call explain.Call) (explain.Answer, error) {
	o, err := hook.Here(agent, f.state)
	if err != nil {
		return explain.Answer{}, err
	}
	dir, err := os.Getwd()
	if err != nil {
		return explain.Answer{}, err
	}
	event, err := agent.Sample(dir, call.Tool, call.Args)
	if err != nil {
		return explain.Answer{}, err
	}
	o.Sandbox = sandboxNow(o.Places)
	o.Exits, o.Environ, o.Look = false, append(o.Environ, agent.Variables(dir)...), lookOnStage
	return hook.Explain(ctx, o, event)
}

// lookOnStage explains a command of another agent that its keeper would judge and run.
func lookOnStage(ctx context.Context, s *setup.Setup, command, dir string) (answer explain.Answer, ok bool, err error) {
	base, err := open.Open(ctx, s, open.Order{Use: open.Look, Held: true})
	if err != nil {
		return answer, false, err
	}
	defer func() { err = errors.Join(err, base.Close()) }()
	if base.Sandbox.Missing() {
		return answer, false, nil
	}
	set, err := s.Roots()
	if err != nil {
		return answer, false, err
	}
	defer set.Close()
	args, err := theirs.Located(set, command, dir)
	if err != nil {
		return explain.Failed(err), true, nil
	}
	e, closing, err := base.Explainer(ctx)
	if err != nil {
		return answer, false, err
	}
	answer = e.Judge(ctx, policy.Call{Tool: policy.ActShell, Arguments: args})
	if answer.Outcome != explain.Deny {
		answer.Undo = e.Undoing(ctx, args)
	}
	return answer, true, closing()
}

// sandboxNow says why no sandbox works here, as it is noted or else found out now.
func sandboxNow(places setup.Places) func(context.Context) string {
	return func(ctx context.Context) string {
		if why, known, _ := places.SandboxNoted(); known {
			return why
		}
		why, err := open.TrySandbox(ctx, places)
		if err != nil {
			return err.Error()
		}
		return why
	}
}

// callFrom reads a call from the command line: NAME(ARGUMENT), NAME ARGUMENTS, or a shell
// command. Owner is the agent that has the tool, if it is none of ours.
func callFrom(args []string, s *setup.Setup) (call explain.Call, owner *agents.Agent) {
	if len(args) == 1 {
		if name, rest, ok := strings.Cut(args[0], "("); ok && strings.HasSuffix(rest, ")") {
			if owner, known := toolNamed(name, s); known {
				return callOf(name, strings.TrimSuffix(rest, ")")), owner
			}
		}
	}
	if len(args) == 2 {
		owner, known := toolNamed(args[0], s)
		if object := json.Valid([]byte(args[1])) && strings.HasPrefix(strings.TrimSpace(args[1]), "{"); known || object {
			return callOf(args[0], args[1]), owner // no command takes an object
		}
	}
	command := args[0]
	if len(args) > 1 {
		words := make([]string, len(args))
		for i, w := range args {
			words[i] = shellWord(w)
		}
		command = strings.Join(words, " ")
	}
	return callOf(policy.ActShell, command), nil
}

// shellWord quotes a word for a shell, if it needs it.
func shellWord(w string) string {
	plain := func(r rune) bool {
		return r > ' ' && !strings.ContainsRune("'\"\\$`|&;<>()*?[]{}~#!", r)
	}
	if w != "" && strings.IndexFunc(w, func(r rune) bool { return !plain(r) }) < 0 {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}

// toolNamed reports whether a tool of the name is known here, and whose it is if it is one
// that only another agent has.
func toolNamed(name string, s *setup.Setup) (owner *agents.Agent, known bool) {
	if slices.Contains(config.BuiltinTools(), name) {
		return nil, true
	}
	for _, t := range s.CustomTools {
		if t.Name == name {
			return nil, true
		}
	}
	if connector, tool, ok := strings.Cut(name, ":"); ok && connector != "" && tool != "" && !strings.ContainsAny(name, " /") {
		return nil, true
	}
	for _, a := range agents.All() {
		if a.Has(name) {
			return a, true
		}
	}
	return nil, false
}

// mainArgument is the argument that matters most of tools whose arguments a person may write
// as one word.
var mainArgument = map[string]string{
	"read_file": "path", "write_file": "path", "delete_file": "path", "edit_file": "path", "list_files": "path", "make_dir": "path", "file_info": "path",
	"http_request": "url", "shell": "command",
	"Bash": "command", "Shell": "command", "run_shell_command": "command", "local_shell": "command", "shell_command": "command", "exec_command": "cmd",
	"Read": "file_path", "Write": "file_path", "Edit": "file_path", "replace": "file_path", "Delete": "file_path", "WebFetch": "url",
}

// callOf reads the call from the command line; a text that is not a JSON object is the
// argument that matters. A command may begin with a brace.
func callOf(name, args string) explain.Call {
	argument := mainArgument[name]
	command := argument == "command" || argument == "cmd"
	if argument == "" || strings.HasPrefix(strings.TrimSpace(args), "{") && (!command || json.Valid([]byte(args))) {
		return explain.Call{Tool: name, Args: json.RawMessage(args)}
	}
	given := map[string]string{argument: args}
	switch name {
	case "Write", "write_file":
		given["content"] = ""
	case "Edit", "replace", "edit_file":
		given["old_string"], given["new_string"] = "", ""
	}
	data, err := json.Marshal(given)
	if err != nil {
		return explain.Call{Tool: name, Args: json.RawMessage(args)}
	}
	return explain.Call{Tool: name, Args: data}
}

func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// printAnswer prints the answer for a person.
func printAnswer(w io.Writer, a explain.Answer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", verdictLine(a))
	for _, act := range a.Acts {
		name := act.Tool
		if act.Target != "" {
			name += "(" + act.Target + ")"
		}
		fmt.Fprintf(&b, "  %-5s %s\n", act.Outcome, present.SafeLine(name))
		if act.Why != "" {
			fmt.Fprintf(&b, "        %s\n", present.SafeLine(act.Why))
		}
	}
	if len(a.Held) > 0 {
		b.WriteString("\nWhat the operating system holds it to:\n")
		for _, line := range a.Held {
			fmt.Fprintf(&b, "  %s\n", present.SafeLine(line))
		}
	}
	if len(a.Hosts) > 0 {
		b.WriteString("\nHosts:\n")
		for _, h := range a.Hosts {
			fmt.Fprintf(&b, "  %-7s %s (%s)\n", h.Word, present.SafeLine(h.Hosts), present.SafeLine(h.Source))
		}
	}
	if a.Undo != "" {
		fmt.Fprintf(&b, "Undo: %s.\n", present.SafeLine(a.Undo))
	}
	if a.Policy != "" {
		fmt.Fprintf(&b, "Policy: %s.\n", present.SafeLine(a.Policy))
	}
	if len(a.Trace) > 0 {
		b.WriteString("\nHow it was decided:\n")
		for i, s := range a.Trace {
			fmt.Fprintf(&b, "  %d. %s\n", i+1, present.SafeLine(s.String()))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func verdictLine(a explain.Answer) string {
	words := map[string]string{explain.Allow: "It would run without a question", explain.Ask: "It would ask", explain.Deny: "It would be refused"}
	text := words[a.Outcome]
	if agent, err := agents.Named(a.For); err == nil {
		text = agent.Title + ": i" + text[1:]
	}
	if a.Where != "" {
		text += " " + a.Where
	}
	if a.PersonOnly {
		text += ", and only a person may answer"
	}
	if a.Error != "" {
		return text + ": " + present.SafeLine(a.Error) + "."
	}
	if a.Why != "" {
		return text + ": " + present.SafeLine(a.Why) + "."
	}
	return text + "."
}
