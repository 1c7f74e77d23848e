package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/assent-dev/assent/internal/mcpserver"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/internal/gateway"
)

type mcpFlags struct {
	askFlags
	policyFlags
	options mcpserver.Options
}

func mcpCmd() *cobra.Command {
	var flags mcpFlags
	c := &cobra.Command{
		Use:   "mcp [-c CONFIG] [NAME…] | mcp [FLAGS] -- COMMAND [ARGS…]",
		Short: "Run an MCP gateway that requires approval",
		Long: "mcp offers the tools of the connectors in a config, or of one MCP server that it starts, to any MCP\n" +
			"client. Every call is judged first. Requests that need an answer wait in the inbox; a client that\n" +
			"cannot wait that long is told to call again.\n" +
			"\n" +
			"Without -c it uses your config and the policy of the project in this folder. NAME selects connectors.\n" +
			"\n" +
			"A server after -- gets the whole environment of mcp, as it would from a client that starts it. A\n" +
			"connector from a config gets PATH, HOME and the like, the env of the config, and what --env names.",
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
	flags.askFlags.register(c)
	flags.policyFlags.register(c)
	c.Flags().StringVar(&flags.options.HTTP, "http", "",
		"serve over HTTP at this address of this machine, such as 127.0.0.1:7777, instead of on standard streams")
	c.Flags().StringVar(&flags.options.TokenFile, "token-file", "",
		"the file with the token that HTTP clients need; created if missing (default: mcp-token in the state "+
			"folder)")
	c.Flags().StringVar(&flags.options.Name, "name", "",
		"the name of the server after -- in rules (default: derived from the command)")
	c.Flags().StringArrayVar(&flags.options.Env, "env", nil,
		"also pass this environment variable to the connectors of the config; may be repeated")
	c.Flags().StringSliceVar(&flags.options.Tools, "tools", nil, "also offer tools of the policy: files, shell")
	c.Flags().DurationVar(&flags.options.Hold, "hold", 0,
		"how long a call may wait before the client is told to call again (default 50s)")
	c.Flags().BoolVar(&flags.options.ClientAnswers, "client-answers", false,
		"let the user of the MCP client answer too, for one call at a time")
	return c
}

// check refuses flags that make no sense.
func (f *mcpFlags) check(c *cobra.Command) error {
	for _, name := range f.options.Tools {
		if name != "files" && name != "shell" {
			return misused(c, "--tools %q: it is files, shell or both", name)
		}
	}
	for _, name := range f.options.Env {
		if _, set := os.LookupEnv(name); !set {
			return misused(c, "--env %s: there is no such variable in the environment; set it where the agent starts "+
				"assent", name)
		}
	}
	if f.options.HTTP != "" {
		if err := gateway.Loopback(f.options.HTTP); err != nil {
			return misused(c, "--http: %v", err)
		}
	}
	return f.askFlags.check(c)
}

func (f *mcpFlags) run(c *cobra.Command, args []string) (err error) {
	s, err := f.resolve(c)
	if err != nil {
		return err
	}
	o := f.options
	o.Connectors, o.Mode, o.AskTimeout, o.Version = args, f.mode(), f.askTimeout, thisBuild().Version
	if dash := c.ArgsLenAtDash(); dash >= 0 {
		o.Connectors, o.Command = args[:dash], args[dash:]
	}
	o.Report = func(text string) { fmt.Fprintln(c.ErrOrStderr(), "assent: "+shownText(text)) }
	server, err := mcpserver.Open(c.Context(), s, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	warnApprovals(c, server.Store)
	return server.Serve(c.Context(), c.OutOrStdout())
}
