package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/explain"
	"github.com/assent-dev/assent/internal/toolbox"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/tool"
)

func explainCmd() *cobra.Command {
	var file, state string
	var asJSON, batch bool
	c := &cobra.Command{
		Use:   "explain [-c CONFIG] TOOL 'JSON or command'",
		Short: "Say what would happen to a call, and why",
		Long: "explain takes a call through the policy and prints each step of the decision. It runs\n" +
			"nothing, asks nobody and leaves no record.\n\n" +
			"With --batch it reads one call a line from standard input, {\"tool\": …, \"args\": {…}}, and\n" +
			"prints one answer a line.",
		Example: "  assent explain shell 'git status && git push'\n" +
			"  assent explain -c policy.yaml write_file '{\"path\": \"notes/a.md\", \"content\": \"…\"}'",
		Args: func(c *cobra.Command, args []string) error {
			if batch {
				return cobra.NoArgs(c, args)
			}
			return cobra.ExactArgs(2)(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			file, err := policyToShow(c, file, state)
			if err != nil {
				return err
			}
			e, closing, err := openExplainer(c.Context(), file, state)
			if err != nil {
				return err
			}
			defer closing()
			if batch {
				return e.Batch(c.Context(), c.InOrStdin(), c.OutOrStdout())
			}
			answer := e.Explain(c.Context(), callOf(args[0], args[1]))
			if asJSON {
				return writeJSON(c.OutOrStdout(), answer)
			}
			return printAnswer(c.OutOrStdout(), answer)
		},
	}
	c.Flags().StringVarP(&file, "config", "c", "", "the policy file (default: the project's)")
	c.Flags().StringVar(&state, "state", "", "the state folder (default: assent's own)")
	c.Flags().BoolVar(&asJSON, "json", false, "print the answer as JSON")
	c.Flags().BoolVar(&batch, "batch", false, "explain one call a line of standard input")
	return c
}

// callOf reads the call from the command line; the shell takes its command as it stands.
func callOf(name, args string) explain.Call {
	if name == approval.Shell && !strings.HasPrefix(strings.TrimSpace(args), "{") {
		data, err := json.Marshal(map[string]string{"command": args})
		if err == nil {
			return explain.Call{Tool: name, Args: data}
		}
	}
	return explain.Call{Tool: name, Args: json.RawMessage(args)}
}

// openExplainer reads the policy and what is remembered, and changes nothing.
func openExplainer(ctx context.Context, file, state string) (*explain.Explainer, func() error, error) {
	dir, err := stateFolder(state)
	if err != nil {
		return nil, nil, err
	}
	policy, err := readPolicy(file)
	if err != nil {
		return nil, nil, err
	}
	rules, err := rememberedRules(ctx, dir)
	if err != nil {
		return nil, nil, err
	}
	e := &explain.Explainer{Policy: approval.Policy{Rules: rules, Fixed: policy.Rules}, Clock: time.Now}
	options := toolbox.Options{
		State: dir, Protected: []string{file}, Environ: os.Environ(), Looking: true, Denied: e.Denied, Rules: rules.Rules(),
	}
	if policy.Shell.Default.WhenSandboxed != "" {
		held, err := findSandbox(ctx, policy, state, file)
		if err != nil {
			return nil, nil, err
		}
		defer held.close()
		options.Hold = held.looked
	}
	box, err := toolbox.Open(policy, options)
	if err != nil {
		return nil, nil, err
	}
	set, err := tool.NewSet(box.Tools...)
	if err != nil {
		return nil, nil, err
	}
	e.Tools = set
	return e, box.Close, nil
}

// rememberedRules are the rules that were kept; there are none if there is no store, and
// none is made.
func rememberedRules(ctx context.Context, state string) (*approval.RuleSet, error) {
	s, err := (&keeper{state: state}).reading(ctx)
	switch {
	case errors.Is(err, errNoStore):
		return nil, nil
	case err != nil:
		return nil, err
	}
	rules, err := s.Rules(ctx)
	return rules, errors.Join(err, s.Close())
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
