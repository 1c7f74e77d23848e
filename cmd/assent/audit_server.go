package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/auditview"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/setup"
	"github.com/assent-dev/assent/internal/team/admin"
	"github.com/assent-dev/assent/internal/team/bundle"
	"github.com/assent-dev/assent/internal/team/link"
	"github.com/assent-dev/assent/internal/team/log"
	"github.com/assent-dev/assent/internal/team/member"
	"github.com/assent-dev/assent/store"
)

// ownServer is the value of --server for the server that this machine has joined.
const ownServer = "joined"

// serverFlags say which server's log a command is about.
type serverFlags struct {
	server, config, key string
	gate                string
}

func (f *serverFlags) register(c *cobra.Command) {
	c.Flags().StringVar(&f.server, "server", "",
		"use the log of the team's server: the one that this machine has joined, or the one at `URL`")
	c.Flags().Lookup("server").NoOptDefVal = ownServer
	c.Flags().StringVar(&f.config, "config", "", "use the log in the database that this server's `FILE` names")
	c.Flags().StringVar(&f.key, "key", "",
		"with --server: sign calls with the team's key in this `FILE` instead of the machine's key")
}

// registerGate adds the flag for records of other machines.
func (f *serverFlags) registerGate(c *cobra.Command) {
	c.Flags().StringVar(&f.gate, "gate", "", "the id of the machine that made the record (default: this one)")
}

// given reports whether the command is about a server.
func (f *serverFlags) given() bool { return f.server != "" || f.config != "" || f.key != "" }

// A serverLog is the log of a team's server, and what is known of it here.
type serverLog struct {
	admin.Desk
	// logKey is from the signed bundle, or from the server's own file if that was named.
	logKey string
	// gate is this machine, if it has joined.
	gate  string
	state string
	close func()
}

// open finds the server, how calls to it are signed, and the key of its log.
func (f *serverFlags) open(c *cobra.Command, state string) (*serverLog, error) {
	places, err := setup.Here(state)
	if err != nil {
		return nil, err
	}
	out := &serverLog{state: places.State, close: func() {}}
	machine, err := member.LoadMachine(places.State)
	switch {
	case err == nil:
		out.gate = machine.Gate
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	if f.config != "" {
		local, done, err := localDesk(c, f.config)
		if err != nil {
			return nil, err
		}
		out.Desk, out.logKey, out.close = local, local.LogKey, done
		return out, nil
	}
	url := f.server
	if url == "" || url == ownServer {
		if machine == nil {
			return nil, errors.New("this machine has not joined a team; " +
				"name the server with --server=URL and --key, or use --config")
		}
		url = machine.Server
	}
	if f.key != "" {
		key, err := admin.ReadKey(f.key)
		if err != nil {
			return nil, fmt.Errorf("the team's key: %w", err)
		}
		remote, err := admin.Dial(url, admin.Signed(key))
		if err == nil && machine != nil && machine.CA != "" && url == machine.Server {
			err = remote.Trust(machine.CA)
		}
		if err != nil {
			return nil, err
		}
		out.Desk = remote
		b, err := admin.Newest(c.Context(), remote, key.Public)
		if err != nil {
			return nil, err
		}
		if b == nil {
			return nil, errors.New("the key of the log is unknown, because the team has published no bundle yet; " +
				"run 'assent policy publish' first")
		}
		out.logKey = b.Checkpoint
		return out, nil
	}
	if machine == nil {
		return nil, errors.New("this machine has not joined a team: add --key with the team's key, or use --config beside the server")
	}
	if out.logKey, err = trustedLogKey(places); err != nil {
		return nil, err
	}
	remote, err := admin.Dial(url, admin.SignedBy(machine.Gate, machine.Private))
	if err == nil && machine.CA != "" {
		err = remote.Trust(machine.CA)
	}
	out.Desk = remote
	return out, err
}

// trustedLogKey is the key of the log that the bundle of this machine names, if the team's key signed it.
func trustedLogKey(places setup.Places) (string, error) {
	file, err := config.ReadAdmin(places.Admin)
	if err != nil {
		return "", err
	}
	if file == nil || file.Policy.Team.Trust == "" {
		return "", fmt.Errorf("%s has no team.trust, so the key of the team's log is unknown; "+
			"add the team's key there", places.Admin)
	}
	data, err := os.ReadFile(member.BundleFile(places.State))
	if errors.Is(err, fs.ErrNotExist) {
		return "", errors.New("this machine has no bundle yet; run 'assent bridge' to fetch it")
	}
	if err != nil {
		return "", err
	}
	b, err := bundle.Open(data, file.Policy.Team.Trust)
	if err != nil {
		return "", err
	}
	if b.Checkpoint == "" {
		return "", errors.New("the bundle does not contain the key of the log; publish it again")
	}
	return b.Checkpoint, nil
}

// checkpointFile is where the last checkpoint is kept that was good.
func checkpointFile(state string) string { return filepath.Join(member.Folder(state), "checkpoint") }

// older reads a checkpoint from before: the one that was named, or else the one that is kept; "" if there is none.
func (l *serverLog) older(named string) (text string, size int64, err error) {
	file := named
	if file == "" {
		file = checkpointFile(l.state)
	}
	data, err := os.ReadFile(file)
	if named == "" && errors.Is(err, fs.ErrNotExist) {
		return "", 0, nil
	}
	if err != nil {
		return "", 0, err
	}
	c, err := admin.OpenCheckpoint(string(data), l.logKey)
	if err != nil {
		return "", 0, fmt.Errorf("%s is not a checkpoint of this log, as 'assent audit seal --server' prints it: %w", file, err)
	}
	return string(data), c.Size, nil
}

// A serverVerification is what a check of a server's log found.
type serverVerification struct {
	// Record is the newest record of this machine that is in the log; 0 if none was asked for.
	Record int64 `json:"record,omitempty"`
	// Newer is how many records of this machine are not in a checkpoint yet.
	Newer int64 `json:"newer,omitempty"`
	// Since is the size of the older checkpoint, Size that of the newest.
	Since int64  `json:"since,omitempty"`
	Size  int64  `json:"size"`
	Root  string `json:"root"`
}

// verifyServer checks that this machine's log is in the server's, and that the server's only grew.
func verifyServer(c *cobra.Command, flags *auditFlags, f *serverFlags, since string) error {
	l, err := f.open(c, flags.state)
	if err != nil {
		return err
	}
	defer l.close()
	older, size, err := l.older(since)
	if err != nil {
		return err
	}
	p, err := l.Prove(c.Context(), admin.Query{Gate: l.gate, Since: size})
	if err != nil {
		return err
	}
	found, err := p.Check(l.logKey, older)
	if err != nil {
		return err
	}
	out := serverVerification{Since: size, Size: found.Checkpoint.Size, Root: found.Checkpoint.Root.String()}
	var late error
	if l.gate != "" {
		if out.Record, out.Newer, late, err = l.compare(c.Context(), flags, found); err != nil {
			return err
		}
	}
	if err := l.keep(p.Checkpoint); err != nil {
		return err
	}
	if flags.json {
		err = writeJSON(c.OutOrStdout(), out)
	} else {
		err = out.print(c.OutOrStdout())
	}
	return errors.Join(err, late)
}

// checkpointLag is how long after a record a checkpoint must have it: the server makes one each minute.
const checkpointLag = 10 * time.Minute

// compare checks that the record which the server has is the one of this machine's own log. Late says that the log lacks
// a record that it should have by now: a server that shows an old checkpoint hides what came after it.
func (l *serverLog) compare(ctx context.Context, flags *auditFlags, found admin.Finding) (seq, newer int64, late, err error) {
	if err := found.About(admin.Query{Gate: l.gate}); err != nil {
		return 0, 0, nil, err
	}
	seq = found.Record.Seq
	err = flags.read(ctx, func(s *store.Store) error {
		own, err := s.RecordAt(ctx, seq)
		if err != nil {
			return fmt.Errorf("record %d, which the server has, is not in this machine's log: %w", seq, err)
		}
		if own.Hash != found.Record.Hash {
			return fmt.Errorf("record %d of this machine's log differs from the server's: one of the two was changed", seq)
		}
		head, err := s.Seal(ctx)
		if newer = head.Seq - seq; err != nil || newer <= 0 {
			return err
		}
		next, err := s.RecordAt(ctx, seq+1)
		if err == nil && time.Since(next.At) > checkpointLag {
			late = l.missing(next, found.Checkpoint)
		}
		return err
	})
	return seq, newer, late, err
}

// missing says that the newest checkpoint lacks a record of this machine, and whose fault it is.
func (l *serverLog) missing(r approval.Record, newest log.Checkpoint) error {
	when := teamTime(r.At, "")
	if shipped, err := link.Shipped(l.state); err != nil || shipped < r.Seq {
		return fmt.Errorf("the server has not acknowledged record %d of %s yet: 'assent status' says whether the bridge "+
			"reaches it", r.Seq, when)
	}
	return fmt.Errorf("the server acknowledged record %d of %s, and its newest checkpoint, of %s, does not have it; "+
		"if this machine was offline until now, try again in two minutes, else ask the administrator why",
		r.Seq, when, teamTime(newest.Time, ""))
}

// keep keeps a checkpoint that was good for the next check, on a machine that has joined.
func (l *serverLog) keep(checkpoint string) error {
	if l.gate == "" {
		return nil
	}
	file := checkpointFile(l.state)
	if err := os.WriteFile(file+".new", []byte(checkpoint), 0o600); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}

func (v serverVerification) print(w io.Writer) error {
	if v.Record > 0 {
		fmt.Fprintf(w, "The records that this machine shipped, up to %d, are in the server's log.\n", v.Record)
		if v.Newer > 0 {
			fmt.Fprintf(w, "%d newer ones are not in a checkpoint yet.\n", v.Newer)
		}
	}
	if v.Since > 0 {
		fmt.Fprintf(w, "The log only grew since the older checkpoint: from %d to %d leaves.\n", v.Since, v.Size)
	}
	_, err := fmt.Fprintf(w, "The newest checkpoint has %d leaves; its root is %s.\n", v.Size, v.Root)
	return err
}

// verifyProof checks a proof that somebody else made, with the log's key alone.
func verifyProof(c *cobra.Command, flags *auditFlags, file, logKey, since string) error {
	in, done, err := openFileOrInput(c, file)
	if err != nil {
		return err
	}
	defer done()
	data, err := readAll(in)
	if err != nil {
		return err
	}
	p, err := admin.ReadProof(data)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	var older []byte
	if since != "" {
		if older, err = os.ReadFile(since); err != nil {
			return err
		}
	}
	found, err := p.Check(logKey, string(older))
	if err != nil {
		return fmt.Errorf("the proof does not hold: %w", err)
	}
	if flags.json {
		return writeJSON(c.OutOrStdout(), found)
	}
	w := c.OutOrStdout()
	if found.Record != nil {
		fmt.Fprintf(w, "Record %d of machine %s is in the log, as it was recorded:\n", found.Record.Seq, shownText(found.Gate))
		if err := auditview.Record(w, found.Record, false); err != nil {
			return err
		}
	}
	if found.Older != nil {
		fmt.Fprintf(w, "The log of %s is the beginning of that of %s: it grew from %d to %d leaves.\n", teamTime(found.Older.Time, ""),
			teamTime(found.Checkpoint.Time, ""), found.Older.Size, found.Checkpoint.Size)
	}
	_, err = fmt.Fprintf(w, "The checkpoint of %s, with %d leaves, is signed with the key of the log.\n", teamTime(found.Checkpoint.Time, ""), found.Checkpoint.Size)
	return err
}

func auditProveCmd(flags *auditFlags) *cobra.Command {
	f := serverFlags{}
	var since string
	c := &cobra.Command{
		Use:   "prove [RECORD]",
		Short: "Print a proof that a record is in the team's log",
		Long: "prove prints a proof that a record is in the team's log and unchanged. Somebody outside can check it with\n" +
			"'assent audit verify --proof', without the server and without trusting it. With --since and an older checkpoint,\n" +
			"the proof also shows that nothing was removed since then. The proof contains the record and the records that\n" +
			"follow it up to the next checkpoint, so anyone who receives the proof can read them.",
		Example: "  assent audit prove 4711 > proof.json\n" +
			"  assent audit prove --since last-month.checkpoint > growth.json\n" +
			"  assent audit prove 12 --gate g_4kq2 --config serve.yaml > proof.json",
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			q := admin.Query{}
			var err error
			if len(args) > 0 {
				if q.Seq, err = strconv.ParseInt(args[0], 10, 64); err != nil || q.Seq < 1 {
					return misused(c, "record %q: write its number, as 'assent audit list' shows it", args[0])
				}
			} else if since == "" {
				return misused(c, "name a record, or an older checkpoint with --since")
			}
			l, err := f.open(c, flags.state)
			if err != nil {
				return err
			}
			defer l.close()
			if q.Seq > 0 {
				if q.Gate = f.gate; q.Gate == "" {
					q.Gate = l.gate
				}
				if q.Gate == "" {
					return misused(c, "missing --gate: the id of the machine that made the record")
				}
			}
			older := ""
			if since != "" {
				if older, q.Since, err = l.older(since); err != nil {
					return err
				}
			}
			p, err := l.Prove(c.Context(), q)
			if err != nil {
				return err
			}
			found, err := p.Check(l.logKey, older)
			if err == nil {
				err = found.About(q)
			}
			if err != nil {
				return fmt.Errorf("the server's proof does not hold: %w", err)
			}
			return writeJSON(c.OutOrStdout(), p)
		},
	}
	f.register(c)
	f.registerGate(c)
	c.Flags().StringVar(&since, "since", "", "a `FILE` with an older checkpoint, from 'assent audit seal --server'")
	return c
}

// exportServer prints the records of all machines, a line of JSON for each.
func exportServer(c *cobra.Command, flags *auditFlags, f *serverFlags, filter auditview.Filter) error {
	wanted, err := filter.Records(c.Context(), nil, time.Now()) // no rule is named, so that no store is needed
	if err != nil {
		return err
	}
	l, err := f.open(c, flags.state)
	if err != nil {
		return err
	}
	defer l.close()
	return admin.Export(c.OutOrStdout(), l.Records(c.Context(), wanted.Since))
}

// sealServer prints the newest checkpoint of the server's log.
func sealServer(c *cobra.Command, flags *auditFlags, f *serverFlags) error {
	l, err := f.open(c, flags.state)
	if err != nil {
		return err
	}
	defer l.close()
	p, err := l.Prove(c.Context(), admin.Query{})
	if err != nil {
		return err
	}
	if _, err := p.Check(l.logKey, ""); err != nil {
		return err
	}
	_, err = io.WriteString(c.OutOrStdout(), p.Checkpoint)
	return err
}
