package bridge

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/team/link"
	"github.com/assent-dev/assent/internal/team/member"
	"github.com/assent-dev/assent/internal/team/wire"
)

// A Joining is what a machine needs to join.
type Joining struct {
	State, Server, Token, CA, Host, User string
}

// Join makes this machine a member. Nothing changes here before the server agrees. Seal opens the log, and returns the
// number of its last record: earlier records do not belong to the team.
func Join(ctx context.Context, j Joining, seal func() (int64, error)) (wire.Joined, error) {
	var none wire.Joined
	if m, err := member.LoadMachine(j.State); !errors.Is(err, fs.ErrNotExist) {
		if err != nil {
			return none, err
		}
		return none, fmt.Errorf("this machine has joined %s already; run 'assent leave' first", m.Server)
	}
	c, err := NewClient(j.Server, j.CA)
	if err != nil {
		return none, err
	}
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return none, err
	}
	is, err := c.Join(ctx, wire.Join{Token: j.Token, Public: public, Host: j.Host, User: j.User})
	if err != nil {
		return none, fmt.Errorf("this machine has not joined: %w", err)
	}
	m := &member.Machine{Tenant: is.Tenant, Gate: is.Gate, Server: c.base.String(), Private: private, CA: j.CA}
	if err := keep(ctx, j.State, m, seal); err != nil {
		c.gate, c.key = m.Gate, m.Private
		if left := c.Leave(context.WithoutCancel(ctx)); left != nil {
			err = fmt.Errorf("%w; the server still has this machine as %s: ask an administrator to run "+
				"'assent gates revoke %[2]s'", err, m.Gate)
		}
		return none, fmt.Errorf("this machine has not joined: %w", err)
	}
	return is, nil
}

// keep writes what the machine is, while no bridge of an earlier membership runs.
func keep(ctx context.Context, state string, m *member.Machine, seal func() (int64, error)) error {
	lock, err := link.Lock(state)
	for range 50 {
		if !errors.Is(err, link.ErrRuns) || !pause(ctx, 100*time.Millisecond) {
			break
		}
		lock, err = link.Lock(state)
	}
	if err != nil {
		return err
	}
	defer lock.Close()
	if m.After, err = seal(); err != nil {
		return err
	}
	if err := errors.Join(link.Forget(state), link.SaveShipped(state, m.After)); err != nil {
		return err
	}
	return member.SaveMachine(state, m)
}

// Leave ends the membership of this machine. It returns the error of the server separately, because it removes the
// files in any case.
func Leave(ctx context.Context, state string) (was *member.Machine, untold, err error) {
	was, err = member.LoadMachine(state)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, errors.New("this machine has not joined a team")
	}
	if err != nil {
		return nil, nil, err
	}
	c, untold := ForMachine(was)
	if untold == nil {
		untold = c.Leave(ctx)
	}
	if ctx.Err() != nil {
		return was, untold, ctx.Err() // interrupted: nothing was removed
	}
	return was, untold, errors.Join(member.Forget(state), link.Forget(state))
}

// Fetch gets the bundle once, for a machine that has just joined.
func Fetch(ctx context.Context, state string, team config.Team) error {
	m, err := member.LoadMachine(state)
	if err != nil {
		return err
	}
	c, err := ForMachine(m)
	if err != nil {
		return err
	}
	data, err := c.Bundle(ctx)
	if err == nil {
		_, err = member.SaveBundle(state, team, data)
	}
	return err
}

// CheckTrust reports why a text is not the public half of a team's key.
func CheckTrust(trust string) error {
	if _, err := note.NewVerifier(trust); err != nil {
		return fmt.Errorf("%q is not the public half of a team's key: %w; it looks like NAME+HASH+KEY", trust, err)
	}
	return nil
}

// TrustLines are the lines of the administrator's file that name a team.
func TrustLines(trust, tenant string) string {
	return fmt.Sprintf("team:\n  trust: %q\n  name: %q\n", trust, tenant)
}

// WriteTrust adds the team to the administrator's file, which it makes if there is none. It does not change a file that
// names a team already.
func WriteTrust(path, trust, tenant string) error {
	admin, err := config.ReadAdmin(path)
	if err != nil {
		return err
	}
	text := "version: 1\n"
	if admin != nil {
		switch is := admin.Policy.Team; {
		case is.Trust == trust && is.Name == tenant:
			return nil
		case is.Trust != "":
			return fmt.Errorf("%s names a team already, with the key %s; edit the file", path, is.Trust)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		text = string(data)
		if len(text) > 0 && text[len(text)-1] != '\n' {
			text += "\n"
		}
	} else if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".policy-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // unless it has its name by then
	_, err = f.WriteString(text + TrustLines(trust, tenant))
	err = errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close())
	if err != nil {
		return err
	}
	// What the gates could not read would refuse every call.
	if read, err := config.ReadAdmin(f.Name()); err != nil || read == nil || read.Policy.Team.Trust != trust {
		return fmt.Errorf("%s cannot be extended automatically (%w); add these lines to it:\n%s", path, err,
			TrustLines(trust, tenant))
	}
	return os.Rename(f.Name(), path)
}
