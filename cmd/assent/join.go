package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/runs"
	"github.com/assent-dev/assent/internal/setup"
	"github.com/assent-dev/assent/internal/setup/open"
	"github.com/assent-dev/assent/internal/team/bridge"
	"github.com/assent-dev/assent/internal/team/link"
	"github.com/assent-dev/assent/internal/team/member"
)

func joinCmd() *cobra.Command {
	var k storeFlags
	var token, ca, trust string
	c := &cobra.Command{
		Use:   "join URL",
		Short: "Join a team",
		Long: "join makes this machine a member of a team, for the user who runs it. From then on it sends its questions and\n" +
			"its audit records to the team's server, and takes the team's signed policy. An administrator of the team makes\n" +
			"the token, which works once. Nothing changes here before the server agrees.\n\n" +
			"The team's policy and answers take effect when the administrator's file of this machine names the team's key.\n" +
			"join prints the lines to add. If your user can write that file, --trust KEY adds them.",
		Example: "  assent join https://assent.example.org --token TOKEN\n" +
			"  assent join https://assent.example.org --token - < token.txt\n" +
			"  assent join https://assent.example.org --token TOKEN --trust KEY",
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := byPerson(c); err != nil {
				return err
			}
			if who := os.Getenv("SUDO_USER"); who != "" && who != "root" && os.Getuid() == 0 {
				return fmt.Errorf("sudo would join the account of root, and not yours; run this without sudo, as %s", who)
			}
			j := bridge.Joining{Server: args[0], Token: token}
			if err := joinFlags(c, &j, ca, trust); err != nil {
				return err
			}
			return join(c, &k, j, trust)
		},
	}
	k.register(c)
	c.Flags().StringVar(&token, "token", "", "the token, which works once; - reads it from standard input")
	c.Flags().StringVar(&ca, "ca", "",
		"a `FILE` with the certificate authority of the server (default: the system's authorities)")
	c.Flags().StringVar(&trust, "trust", "",
		"add the public half of the team's key to the administrator's file, which your user must be able to write")
	return c
}

// joinFlags reads the flags, before anything is asked of the server.
func joinFlags(c *cobra.Command, j *bridge.Joining, ca, trust string) error {
	if j.Token == "-" {
		line, err := bufio.NewReader(c.InOrStdin()).ReadString('\n')
		if j.Token = strings.TrimSpace(line); j.Token == "" {
			return fmt.Errorf("no token on standard input: %w", err)
		}
	}
	if j.Token == "" {
		return misused(c, "missing --token; an administrator of the team makes one with 'assent gates invite'")
	}
	if ca != "" {
		data, err := os.ReadFile(ca)
		if err != nil {
			return fmt.Errorf("--ca: %w", err)
		}
		j.CA = string(data)
	}
	if _, err := bridge.NewClient(j.Server, j.CA); err != nil {
		return misused(c, "%v", err)
	}
	if trust == "" {
		return nil
	}
	if err := bridge.CheckTrust(trust); err != nil {
		return misused(c, "--trust: %v", err)
	}
	return nil
}

func join(c *cobra.Command, k *storeFlags, j bridge.Joining, trust string) error {
	places, err := setup.Here(k.state)
	if err != nil {
		return err
	}
	// A file that cannot be read would refuse every call: that is to be mended first.
	admin, err := config.ReadAdmin(places.Admin)
	if err != nil {
		return err
	}
	me := runs.Whoami()
	j.State, j.Host, j.User = places.State, me.Host, me.User
	is, err := bridge.Join(c.Context(), j, func() (int64, error) {
		s, err := k.open(c.Context(), open.Store)
		if err != nil {
			return 0, err
		}
		seal, err := s.Seal(c.Context())
		return seal.Seq, errors.Join(err, s.Close())
	})
	if err != nil {
		return err
	}
	out := c.OutOrStdout()
	name := is.Team
	if name == "" {
		name = is.Tenant
	}
	fmt.Fprintf(out, "This machine has joined %s as %s; its sponsor is %s.\n",
		shownLine(name), shownLine(is.Gate), shownLine(is.Sponsor))
	places.WakeBridge()
	team := config.Team{}
	if admin != nil {
		team = admin.Policy.Team
	}
	var unwritten error
	if trust != "" && team.Trust == "" {
		if err := bridge.WriteTrust(places.Admin, trust, is.Tenant); err != nil {
			unwritten = fmt.Errorf("this machine has joined, and --trust could not add the team's key: %w", err)
		} else {
			team = config.Team{Trust: trust, Name: is.Tenant}
			fmt.Fprintf(out, "Added the team's key to %s.\n", shownText(places.Admin))
		}
	}
	if team.Trust == "" {
		if trust == "" {
			trust = "KEY"
		}
		fmt.Fprintf(out, "\nThe team's policy and answers have no effect yet, "+
			"because the administrator's file of this machine does not\n"+
			"name the team's key. Ask the team for its key and, as root, add to %s:\n\n%s",
			shownText(places.Admin), bridge.TrustLines(trust, is.Tenant))
		return unwritten
	}
	if err := bridge.Fetch(c.Context(), places.State, team); err != nil {
		fmt.Fprintf(out, "This machine does not have the team's policy yet: %s\n", shownText(err.Error()))
		return nil
	}
	if s := member.Load(places.State, team, time.Now).Status(); s.Why != "" {
		fmt.Fprintf(out, "%s.\n", shownText(strings.ToUpper(s.Why[:1])+s.Why[1:]))
	} else {
		fmt.Fprintf(out, "The team's policy %d is in force.\n", s.Serial)
	}
	return nil
}

func leaveCmd() *cobra.Command {
	var k storeFlags
	c := &cobra.Command{
		Use:   "leave",
		Short: "Leave the team that this machine has joined",
		Long: "leave tells the team's server that this machine has left, and removes the machine's key and the team's\n" +
			"policy. It does not change the administrator's file. While that file names a team, every call is denied,\n" +
			"because assent cannot know which calls the team's policy reserves.",
		Example: "  assent leave",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := byPerson(c); err != nil {
				return err
			}
			places, err := setup.Here(k.state)
			if err != nil {
				return err
			}
			was, untold, err := bridge.Leave(c.Context(), places.State)
			if err != nil {
				return err
			}
			fmt.Fprintf(c.OutOrStdout(), "This machine has left %s.\n", shownText(was.Tenant))
			if untold != nil {
				fmt.Fprintf(c.ErrOrStderr(), "assent: the server does not know yet that this machine has left: %s\n"+
					"assent: ask an administrator of the team to run 'assent gates revoke %s'\n",
					shownText(untold.Error()), shownText(was.Gate))
			}
			admin, err := config.ReadAdmin(places.Admin)
			if err == nil && admin != nil && admin.Policy.Team.Trust != "" {
				fmt.Fprintf(c.ErrOrStderr(), "assent: %s still names the team %s, so every call is denied;\n"+
					"assent: remove its team section as root, or join again\n",
					shownText(places.Admin), shownText(admin.Policy.Team.Name))
			}
			return nil
		},
	}
	k.register(c)
	return c
}

func bridgeCmd() *cobra.Command {
	var k storeFlags
	c := &cobra.Command{
		Use:   "bridge",
		Short: "Connect this machine to the server of its team",
		Long: "bridge sends the questions and audit records of this machine to its team, and receives answers and the team's\n" +
			"policy. Agents start it when they need it, and one runs for each user. It ends when the machine leaves the team.",
		Example: "  assent bridge",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			places, err := setup.Here(k.state)
			if err != nil {
				return err
			}
			m, err := member.LoadMachine(places.State)
			if err != nil {
				if !link.Joined(places.State) {
					err = errors.New("this machine has not joined a team; run 'assent join URL'")
				}
				return err
			}
			s, err := k.open(c.Context(), open.Store)
			if err != nil {
				return err
			}
			defer s.Close()
			b, err := bridge.New(bridge.Options{State: places.State, Machine: m, Store: s, Team: bridge.AdminTeam(places.Admin),
				Log: func(line string) {
					fmt.Fprintf(c.ErrOrStderr(), "%s %s\n", time.Now().Format(time.RFC3339), shownText(line))
				}})
			if err != nil {
				return err
			}
			if err := b.Run(c.Context()); !errors.Is(err, link.ErrRuns) {
				return err
			}
			fmt.Fprintln(c.ErrOrStderr(), "assent: a bridge runs already; 'assent status' shows whether it is connected")
			return nil // one is enough
		},
	}
	k.register(c)
	return c
}
