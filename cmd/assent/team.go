package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/internal/auditview"
	"github.com/assent-dev/assent/internal/team/bundle"
	"github.com/assent-dev/assent/internal/team/db"
	"github.com/assent-dev/assent/internal/team/server"
)

// teamFlags are those of the commands that change the directory of a team, in the server's database.
type teamFlags struct {
	config string
	json   bool
}

func (f *teamFlags) register(c *cobra.Command) {
	c.PersistentFlags().StringVar(&f.config, "config", server.DefaultConfig, "the server's `FILE`, which names the database")
	c.PersistentFlags().BoolVar(&f.json, "json", false, "print JSON")
}

// do opens the database for a function. Only a person may change the directory, so an agent is refused.
func (f *teamFlags) do(c *cobra.Command, do func(context.Context, *db.DB) error) error {
	return f.beside(c, func(ctx context.Context, d *db.DB, _ *server.Config) error { return do(ctx, d) })
}

// beside is do for a function that also needs the server's file.
func (f *teamFlags) beside(c *cobra.Command, do func(context.Context, *db.DB, *server.Config) error) error {
	if err := byPerson(c); err != nil {
		return err
	}
	d, cfg, err := openTeam(c.Context(), f.config)
	if err != nil {
		return err
	}
	defer d.Close()
	return do(c.Context(), d, cfg)
}

// openTeam opens the database that a server's file names.
func openTeam(ctx context.Context, config string) (*db.DB, *server.Config, error) {
	cfg, err := server.ReadConfig(config)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("%s does not exist; run this on the server, or name the server's file with --config", config)
	}
	if err != nil {
		return nil, nil, err
	}
	dsn, err := cfg.DSN()
	if err != nil {
		return nil, nil, err
	}
	d, err := db.Open(ctx, dsn, cfg.Tenant)
	return d, cfg, err
}

// print prints a value as JSON, or has show write it as columns.
func (f *teamFlags) print(c *cobra.Command, v any, show func(line func(columns ...string))) error {
	if f.json {
		return writeJSON(c.OutOrStdout(), v)
	}
	w := tabwriter.NewWriter(c.OutOrStdout(), 0, 0, 2, ' ', 0)
	show(func(columns ...string) {
		for i, text := range columns {
			columns[i] = shownLine(text)
		}
		fmt.Fprintln(w, strings.TrimRight(strings.Join(columns, "\t"), "\t"))
	})
	return w.Flush()
}

// said prints what the command did, as a sentence or as JSON.
func (f *teamFlags) said(c *cobra.Command, v any, format string, args ...any) error {
	if f.json {
		return writeJSON(c.OutOrStdout(), v)
	}
	_, err := fmt.Fprintln(c.OutOrStdout(), shownLine(fmt.Sprintf(format, args...)))
	return err
}

// personPrefix begins the ids of people.
const personPrefix = "p_"

// findPerson returns the person with an id, which may lack the prefix.
func findPerson(ctx context.Context, d *db.DB, word string) (db.Person, error) {
	p, err := d.Person(ctx, word)
	if errors.Is(err, db.ErrNotFound) {
		p, err = d.Person(ctx, personPrefix+word)
	}
	if errors.Is(err, db.ErrNotFound) {
		err = fmt.Errorf("unknown person %q; see 'assent people list'", word)
	}
	return p, err
}

// activePerson is findPerson, and refuses somebody who is disabled.
func activePerson(ctx context.Context, d *db.DB, word string) (db.Person, error) {
	p, err := findPerson(ctx, d, word)
	if err == nil && !p.Disabled.IsZero() {
		err = fmt.Errorf("%s is disabled; run 'assent people enable %s' first", p.ID, word)
	}
	return p, err
}

// afterwards says that a change takes effect only once it is signed.
const afterwards = "To put this into effect, run 'assent policy publish'."

// teamTime shows a time, or none if it is zero.
func teamTime(t time.Time, none string) string {
	if t.IsZero() {
		return none
	}
	return t.Local().Format("2006-01-02 15:04")
}

// parseTeamTime reads a time such as 30d or a date; an empty text means none.
func parseTeamTime(c *cobra.Command, flag, text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	t, err := auditview.ParseUntil(text, now)
	if err != nil {
		return t, misused(c, "%s: %v", flag, err)
	}
	return t, nil
}

// whoRuns names the administrator who runs a command, for the record of who invited. Behind sudo that is not root.
func whoRuns() string {
	name := os.Getenv("SUDO_USER")
	if me, err := user.Current(); name == "" && err == nil {
		name = me.Username
	}
	return "administrator " + cmp.Or(name, fmt.Sprint("with uid ", os.Getuid()))
}

// count is a number of things in words.
func count(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}

// A daysValue is a flag with a duration that can be written, and is shown, in days.
type daysValue time.Duration

func (d *daysValue) String() string {
	const day = daysValue(24 * time.Hour)
	if *d >= 2*day && *d%day == 0 {
		return fmt.Sprintf("%dd", *d/day)
	}
	return bundle.Duration(*d).String()
}

func (d *daysValue) Set(text string) error {
	if number, ok := strings.CutSuffix(text, "d"); ok {
		days, err := strconv.Atoi(number)
		if err != nil || days < 0 || days > 100_000 { // more is not a duration
			return fmt.Errorf("%q is not a number of days", text)
		}
		*d = daysValue(time.Duration(days) * 24 * time.Hour)
		return nil
	}
	v, err := time.ParseDuration(text)
	*d = daysValue(v)
	return err
}

func (d *daysValue) Type() string { return "duration" }
