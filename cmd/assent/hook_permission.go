package main

import (
	"cmp"
	"crypto/rand"
	"errors"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/internal/agents"
	"github.com/assent-dev/assent/internal/agents/hook"
	"github.com/assent-dev/assent/internal/agents/prompttool"
)

func permissionToolCmd() *cobra.Command {
	var state string
	var deadline time.Duration
	c := &cobra.Command{
		Use:   "permission-tool",
		Short: "Be the tool that Claude Code asks in place of its prompt",
		Long: "permission-tool is an MCP server on the standard streams, with the tool that claude -p calls where\n" +
			"it would ask its user. The call is judged by the same rules as a hook's; what must be asked goes to\n" +
			"the inbox if one is open, else it is denied. Whatever goes wrong is a denial.",
		Example: "  claude -p --mcp-config '{\"mcpServers\":{\"assent\":{\"command\":\"assent\",\"args\":[\"hook\",\"permission-tool\"]}}}' \\\n" +
			"    --permission-prompt-tool mcp__assent__" + prompttool.Name + " 'tidy up'",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			o, err := hook.Here(agents.Prompt(), state)
			if err != nil {
				return err
			}
			o.Deadline = deadline
			dir, err := os.Getwd()
			if err != nil {
				return err
			}
			err = prompttool.Serve(c.Context(), prompttool.Options{Hook: o, Dir: dir, Session: promptSession(), Version: cmp.Or(version, "devel")},
				io.NopCloser(c.InOrStdin()), outAndNoClose{c.OutOrStdout()})
			if errors.Is(err, io.EOF) {
				return nil // Claude Code is gone
			}
			return err
		},
	}
	c.Flags().StringVar(&state, "state", "", "the state folder (default: assent's own)")
	c.Flags().DurationVar(&deadline, "deadline", 0, "deny what has no answer by then (default: 9m50s)")
	return c
}

// promptSession is the session of Claude Code, which it tells those it starts; else one of
// this server's own.
func promptSession() string { return cmp.Or(os.Getenv("CLAUDE_CODE_SESSION_ID"), rand.Text()) }

// outAndNoClose is a stream that stays open.
type outAndNoClose struct{ io.Writer }

func (outAndNoClose) Close() error { return nil }
