package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/assent-dev/assent/internal/mcpserver"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/internal/gateway"
)

type mcpFlags struct {
	askFlags
	config, state   string
	http, tokenFile string
	name            string
	env, tools      []string
	hold            time.Duration
	clientAnswers   bool
}

func mcpCmd() *cobra.Command {
	var flags mcpFlags
	c := &cobra.Command{
		Use:   "mcp [-c CONFIG] [NAME…] | mcp [FLAGS] -- COMMAND [ARGS…]",
		Short: "Be an MCP server that asks before the tools of others run",
		Long: "mcp offers the tools of the connectors in a config, or of one MCP server that it starts, to\n" +
			"any MCP client, and takes every call through the gate. What must be asked waits where all\n" +
			"processes see it; a client that cannot wait as long is told to call again.\n\n" +
			"Without -c what holds is your own config and the policy of the project that this folder\n" +
			"belongs to. NAMEs pick some of the connectors.\n\n" +
			"A server behind -- gets the whole environment of mcp, as from the client that would start it; a\n" +
			"connector of a config gets PATH, HOME and the like, the env of the config, and what --env names.",
		Example: "  assent mcp -- npx -y @modelcontextprotocol/server-filesystem ~/notes\n" +
			"  assent mcp github\n" +
			"  assent mcp -c policy.yaml --tools files,shell",
		RunE: func(c *cobra.Command, args []string) error {
			if err := flags.check(c); err != nil {
				return err
			}
			return flags.run(c, args)
		},
	}
	flags.register(c)
	c.Flags().StringVarP(&flags.config, "config", "c", "",
		"the policy, worker or config file (default: your own config, and the project's policy)")
	c.Flags().StringVar(&flags.state, "state", "", "the state folder (default: assent's own)")
	c.Flags().StringVar(&flags.http, "http", "",
		"serve over HTTP at this address of this machine, such as 127.0.0.1:7777, instead of on standard streams")
	c.Flags().StringVar(&flags.tokenFile, "token-file", "",
		"the file with the token that clients over HTTP need; made if it is not there (default: mcp-token in the "+
			"state folder)")
	c.Flags().StringVar(&flags.name, "name", "",
		"what rules call the server behind -- (default: made of what is launched)")
	c.Flags().StringArrayVar(&flags.env, "env", nil,
		"pass this environment variable to the connectors of the config too; repeatable")
	c.Flags().StringSliceVar(&flags.tools, "tools", nil, "offer tools of the policy too: files, shell")
	c.Flags().DurationVar(&flags.hold, "hold", 0,
		"how long a call is held before the client is told to call again (default 50s)")
	c.Flags().BoolVar(&flags.clientAnswers, "client-answers", false,
		"let the user of the agent's own client answer, once each time")
	return c
}

// check refuses flags that make no sense.
func (f *mcpFlags) check(c *cobra.Command) error {
	for _, name := range f.tools {
		if name != "files" && name != "shell" {
			return misused(c, "--tools %q: it is files, shell or both", name)
		}
	}
	for _, name := range f.env {
		if _, set := os.LookupEnv(name); !set {
			return misused(c, "--env %s: there is no such variable in the environment; set it where the agent starts "+
				"assent", name)
		}
	}
	if f.http != "" {
		if err := gateway.Loopback(f.http); err != nil {
			return misused(c, "--http: %v", err)
		}
	}
	return f.askFlags.check(c)
}

func (f *mcpFlags) run(c *cobra.Command, args []string) (err error) {
	s, err := (&policyFlags{config: f.config, state: f.state}).resolve(c)
	if err != nil {
		return err
	}
	names, command := args, []string(nil)
	if dash := c.ArgsLenAtDash(); dash >= 0 {
		names, command = args[:dash], args[dash:]
	}
	server, err := mcpserver.Open(c.Context(), s, mcpserver.Options{
		Connectors: names, Command: command, Name: f.name, Env: f.env, Tools: f.tools,
		HTTP: f.http, TokenFile: f.tokenFile, Mode: f.mode(), AskTimeout: f.askTimeout, Hold: f.hold,
		ClientAnswers: f.clientAnswers,
		Version:       thisBuild().Version,
		Report:        func(text string) { fmt.Fprintln(c.ErrOrStderr(), "assent: "+shownText(text)) },
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	warnApprovals(c, server.Store)
	return server.Serve(c.Context(), c.OutOrStdout())
}
