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
		Short: "Join a team, whose people then answer too",
		Long: "join makes this machine a member of a team: its gates send their questions to the team's server, take the\n" +
			"team's signed policy, and send their audit records from now on. An administrator of the team makes the token,\n" +
			"which works once. Nothing changes here before the server agrees.\n\n" +
			"What the team says counts once the administrator's file of this machine names the team's key. As root,\n" +
			"--trust KEY writes it there; otherwise the lines to add are printed.",
		Example: "  assent join https://assent.example.org --token TOKEN\n" +
			"  assent join https://assent.example.org --token - < token.txt\n" +
			"  sudo assent join https://assent.example.org --token TOKEN --trust KEY",
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := byPerson(c); err != nil {
				return err
			}
			j := bridge.Joining{Server: args[0], Token: token}
			if err := joinFlags(c, &j, ca, trust); err != nil {
				return err
			}
			return join(c, &k, j, trust)
		},
	}
	k.register(c)
	c.Flags().StringVar(&token, "token", "", "the one-time token; - reads it from standard input")
	c.Flags().StringVar(&ca, "ca", "", "a file with the certificates to check the server's with (default: the system's)")
	c.Flags().StringVar(&trust, "trust", "", "the public half of the team's key, to be put into the administrator's file; needs root")
	return c
}

// joinFlags reads what the flags name. Nothing has been asked of the server yet.
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
	fmt.Fprintf(out, "This machine has joined %s as %s; %s is behind it.\n", shownText(name), shownText(is.Gate), shownText(is.Sponsor))
	places.WakeBridge()
	team := config.Team{}
	if admin != nil {
		team = admin.Policy.Team
	}
	if trust != "" && team.Trust == "" {
		if err := bridge.WriteTrust(places.Admin, trust, is.Tenant); err != nil {
			fmt.Fprintf(c.ErrOrStderr(), "assent: %s\n", shownText(err.Error()))
		} else {
			team = config.Team{Trust: trust, Name: is.Tenant}
			fmt.Fprintf(out, "%s trusts the team's key now.\n", shownText(places.Admin))
		}
	}
	if team.Trust == "" {
		if trust == "" {
			trust = "KEY"
		}
		fmt.Fprintf(out, "\nThe policy and the answers of the team do not count yet: the administrator's file of this machine does not\n"+
			"name the team's key. Ask the team for its key, and add to %s:\n\n%s", shownText(places.Admin), bridge.TrustLines(trust, is.Tenant))
		return nil
	}
	if err := bridge.Fetch(c.Context(), places.State, team); err != nil {
		fmt.Fprintf(out, "The team's policy is not here yet: %s\n", shownText(err.Error()))
		return nil
	}
	if s := member.Load(places.State, team, time.Now).Status(); s.Why != "" {
		fmt.Fprintf(out, "%s.\n", shownText(s.Why))
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
		Long: "leave tells the team's server that this machine has left, and removes its key and the team's\n" +
			"policy. The administrator's file stays as it is: while it names a team, every call is denied, because nobody\n" +
			"knows any more what the team's policy reserves.",
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
				fmt.Fprintf(c.ErrOrStderr(), "assent: the server was not told: %s\nassent: have an administrator of the team revoke %s\n",
					shownText(untold.Error()), shownText(was.Gate))
			}
			admin, err := config.ReadAdmin(places.Admin)
			if err == nil && admin != nil && admin.Policy.Team.Trust != "" {
				fmt.Fprintf(c.ErrOrStderr(), "assent: %s still names the team %s: until its team section is removed, or this machine\n"+
					"assent: joins again, every call is denied\n", shownText(places.Admin), shownText(admin.Policy.Team.Name))
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
		Short: "Talk to the server of the team",
		Long: "bridge sends the questions of this machine to its team, takes answers and the team's policy, and sends audit\n" +
			"records. Agents start it by themselves when they need it; one runs for each user. It ends when the machine leaves\n" +
			"the team.",
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
			return nil // one is enough
		},
	}
	k.register(c)
	return c
}
