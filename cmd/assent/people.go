package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/internal/team/admin"
	"github.com/assent-dev/assent/internal/team/db"
	"github.com/assent-dev/assent/internal/team/server"
)

func peopleCmd() *cobra.Command {
	var flags teamFlags
	c := &cobra.Command{
		Use:   "people",
		Short: "Manage the people of a team",
		Long: "The sign-in service identifies a person by a subject, not by an e-mail address. These commands change the\n" +
			"server's database. A change takes effect when 'assent policy publish' signs it into a bundle.",
		Example: "  assent people add ann --name 'Ann Example' --subject 10293\n" +
			"  assent people invite ann --by bob\n" +
			"  assent people list",
	}
	flags.register(c)
	c.AddCommand(peopleAddCmd(&flags), peopleListCmd(&flags), peopleSwitchCmd(&flags, false), peopleSwitchCmd(&flags, true),
		peopleInviteCmd(&flags), peopleRevokeCmd(&flags))
	return c
}

func peopleAddCmd(flags *teamFlags) *cobra.Command {
	var name, issuer, subject string
	c := &cobra.Command{
		Use:   "add ID",
		Short: "Add a person",
		Long: "add adds a person, who can then sign in. ID is a short word for commands and policies; bundles write it as\n" +
			"p_ID. The subject is the id of the person at the sign-in service. If somebody signs in before you add them,\n" +
			"the page shows their subject.",
		Example: "  assent people add ann --name 'Ann Example' --subject 10293",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			word := strings.TrimPrefix(args[0], personPrefix)
			if !server.ValidName("._-", word) {
				return misused(c, "invalid id %q: use lower-case letters, digits, ., - and _, such as ann", args[0])
			}
			if subject == "" || strings.TrimSpace(name) == "" {
				return misused(c, "missing --subject or --name: "+
					"the person's id at the sign-in service, and a name for people to read")
			}
			return flags.beside(c, func(ctx context.Context, d *db.DB, cfg *server.Config) error {
				issuer, err := issuerOf(issuer, cfg)
				if err != nil {
					return err
				}
				p, err := d.AddPersonAs(ctx, personPrefix+word, issuer, subject, name)
				if errors.Is(err, db.ErrExists) {
					return fmt.Errorf("somebody already has the id %s, or the subject %s of %s; see 'assent people list'",
						word, subject, issuer)
				}
				if err != nil {
					return err
				}
				return flags.said(c, p, "Added %s (%s). They can sign in now. "+
					"For a passkey, run 'assent people invite %s'.", p.ID, p.Name, word)
			})
		},
	}
	c.Flags().StringVar(&name, "name", "", "the name that people read")
	c.Flags().StringVar(&issuer, "issuer", "", "the address of the sign-in service (default: oidc.issuer of the server's file)")
	c.Flags().StringVar(&subject, "subject", "", "the person's id at the sign-in service")
	return c
}

// issuerOf returns the sign-in service of a person. Only the server's own can let them in.
func issuerOf(named string, cfg *server.Config) (string, error) {
	switch of := cfg.OIDC.Issuer; {
	case named == "" && of == "":
		return "", errors.New("the server's file names no sign-in service (oidc.issuer); set it there first, or use --issuer")
	case named == "":
		return of, nil
	case of != "" && named != of:
		return "", fmt.Errorf("--issuer %s: people sign in at %s (oidc.issuer of the server's file); "+
			"leave --issuer out", named, of)
	}
	if u, err := url.Parse(named); err != nil || u.Host == "" {
		return "", fmt.Errorf("--issuer %q: write the address of the sign-in service, such as https://login.example.org", named)
	}
	return named, nil
}

// A listedPerson is a person with their keys.
type listedPerson struct {
	db.Person
	Credentials []listedKey `json:"credentials"`
}

// A listedKey is a key with what it waits for, in words.
type listedKey struct {
	db.Credential
	State string `json:"state"`
	isNew bool
}

func peopleListCmd(flags *teamFlags) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the people with their groups and keys",
		Long: "list prints the people of the server's database with their keys, and at the end the keys that no signed\n" +
			"bundle has yet, with the command that revokes each. Look at those before you publish.",
		Example: "  assent people list\n  assent people list --json",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return flags.beside(c, func(ctx context.Context, d *db.DB, cfg *server.Config) error {
				people, err := d.People(ctx)
				if err != nil {
					return err
				}
				keys, err := listedKeys(ctx, d, cfg)
				if err != nil {
					return err
				}
				list := []listedPerson{}
				for _, p := range people {
					l := listedPerson{Person: p, Credentials: []listedKey{}}
					for _, k := range keys {
						if k.Person == p.ID {
							l.Credentials = append(l.Credentials, k)
						}
					}
					list = append(list, l)
				}
				return flags.print(c, list, func(line func(...string)) { linePeople(list, line) })
			})
		},
	}
}

// listedKeys returns everybody's keys.
func listedKeys(ctx context.Context, d *db.DB, cfg *server.Config) ([]listedKey, error) {
	newest, err := admin.Newest(ctx, &admin.Local{DB: d, Trust: cfg.Trust}, cfg.Trust)
	if err != nil {
		return nil, err
	}
	var signed []string
	if newest != nil {
		signed = newest.CredentialIDs()
	}
	now, err := d.Now(ctx)
	if err != nil {
		return nil, err
	}
	all, err := d.Credentials(ctx, "")
	out := make([]listedKey, len(all))
	for i, k := range all {
		out[i] = listedKey{Credential: k, State: "since " + teamTime(k.CountsFrom, "")}
		switch {
		case !k.Revoked.IsZero():
			out[i].State = "revoked " + teamTime(k.Revoked, "")
		case slices.Contains(signed, k.ID):
		case k.CountsFrom.After(now):
			out[i].State, out[i].isNew = "waits until "+teamTime(k.CountsFrom, "")+", then for the next signed bundle", true
		default:
			out[i].State, out[i].isNew = "waits for the next signed bundle", true
		}
	}
	return out, err
}

func linePeople(list []listedPerson, line func(...string)) {
	if len(list) == 0 {
		line("There are no people; 'assent people add' adds one.")
	}
	for _, p := range list {
		state := ""
		if !p.Disabled.IsZero() {
			state = "disabled since " + teamTime(p.Disabled, "")
		}
		line(p.ID, p.Name, p.Subject+" at "+p.Issuer, strings.Join(p.Groups, ", "), state)
		for _, k := range p.Credentials {
			line("  "+k.ID, string(k.Kind)+" "+k.Name, "let in by "+k.EnrolledBy, "", k.State)
		}
	}
	for _, p := range list {
		for _, k := range p.Credentials {
			if k.isNew {
				line(fmt.Sprintf("New: %s %q of %s, added %s, let in by %s. If %s did not add it: %s",
					k.Kind, k.Name, p.ID, teamTime(k.Created, ""),
					k.EnrolledBy, p.Name, k.RevokeCommand()))
			}
		}
	}
}

func peopleSwitchCmd(flags *teamFlags, on bool) *cobra.Command {
	use, short, done := "disable ID", "Disable a person", "Disabled"
	long := "disable signs a person out and cancels their invitations, at once. Machines accept their votes until you publish\n" +
		"a bundle without them."
	if on {
		use, short, done, long = "enable ID", "Enable a person who was disabled", "Enabled", ""
	}
	return &cobra.Command{
		Use: use, Short: short, Long: long, Example: "  assent people " + strings.Fields(use)[0] + " ann", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return flags.do(c, func(ctx context.Context, d *db.DB) error {
				p, err := findPerson(ctx, d, args[0])
				if err != nil {
					return err
				}
				if err := d.DisablePerson(ctx, p.ID, !on); err != nil {
					return err
				}
				if p, err = d.Person(ctx, p.ID); err != nil {
					return err
				}
				return flags.said(c, p, "%s %s (%s). %s", done, p.ID, p.Name, afterwards)
			})
		},
	}
}

// An invitation is a secret that a command shows once.
type invitation struct {
	For     string    `json:"for"`
	Secret  string    `json:"secret"`
	Expires time.Time `json:"expires"`
}

func peopleInviteCmd(flags *teamFlags) *cobra.Command {
	var by string
	var lasts time.Duration
	c := &cobra.Command{
		Use:   "invite ID",
		Short: "Make an invitation to enrol a passkey, and print it once",
		Long: "invite prints a code. After signing in, the person enters it on the page Keys to make a passkey. The code\n" +
			"works once. Give it to them yourself, not over a channel that an agent can read. Everybody is told about the\n" +
			"new passkey, and it waits (passkey_wait in the server's file) before a bundle can include it.",
		Example: "  assent people invite ann\n  assent people invite ann --by bob --lasts 2h",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if lasts <= 0 || lasts > 7*24*time.Hour {
				return misused(c, "--lasts %v: use more than 0 and at most 168h", lasts)
			}
			return flags.do(c, func(ctx context.Context, d *db.DB) error {
				p, err := activePerson(ctx, d, args[0])
				if err != nil {
					return err
				}
				inviter := whoRuns()
				if by != "" {
					who, err := activePerson(ctx, d, by)
					if err != nil {
						return fmt.Errorf("--by: %w", err)
					}
					inviter = who.ID
				}
				secret, err := d.Invite(ctx, p.ID, inviter, "", lasts)
				if err != nil {
					return err
				}
				return flags.secret(c, invitation{p.ID, secret, time.Now().Add(lasts).UTC().Truncate(time.Second)},
					"The invitation for %s (%s) is shown only now. It works once, until %s.", p.ID, p.Name)
			})
		},
	}
	c.Flags().StringVar(&by, "by", "", "the person who invites (default: the administrator)")
	c.Flags().DurationVar(&lasts, "lasts", 24*time.Hour, "how long the code can be used")
	return c
}

// secret prints a secret on standard output, alone or as JSON, and an explanation on standard error.
func (f *teamFlags) secret(c *cobra.Command, i invitation, format string, args ...any) error {
	fmt.Fprintln(c.ErrOrStderr(), shownLine(fmt.Sprintf(format, append(args, teamTime(i.Expires, ""))...)))
	if f.json {
		return writeJSON(c.OutOrStdout(), i)
	}
	_, err := fmt.Fprintln(c.OutOrStdout(), i.Secret)
	return err
}

func peopleRevokeCmd(flags *teamFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "revoke-key KEY",
		Short: "Revoke a passkey or device key of a person",
		Long: "revoke-key revokes a key; 'assent people list' shows the ids of keys. Machines accept votes with it until you\n" +
			"publish a bundle without it.",
		Example: "  assent people revoke-key c_7f3a",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return flags.do(c, func(ctx context.Context, d *db.DB) error {
				err := d.RevokeCredential(ctx, args[0])
				if errors.Is(err, db.ErrNotFound) {
					err = fmt.Errorf("unknown key %q; see 'assent people list'", args[0])
				}
				if err != nil {
					return err
				}
				return flags.said(c, map[string]string{"revoked": args[0]}, "Revoked %s. %s", args[0], afterwards)
			})
		},
	}
}
