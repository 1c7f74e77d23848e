package member

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/team/bundle"
	"github.com/assent-dev/assent/internal/team/link"
	"github.com/assent-dev/assent/policy"
)

// Folder is where a machine keeps what it holds of its team.
func Folder(state string) string { return filepath.Join(state, "team") }

// BundleFile is where the newest bundle lies.
func BundleFile(state string) string { return filepath.Join(Folder(state), bundleName) }

const (
	machineName = "machine.json"
	bundleName  = "bundle"
	seenName    = "seen"
	lockName    = "lock"
)

// A Machine is who this machine is in its team.
type Machine struct {
	Tenant string `json:"tenant"`
	Gate   string `json:"gate"`
	Server string `json:"server"`
	// Private is the key that it signs its questions with.
	Private ed25519.PrivateKey `json:"private"`
	// CA are the certificates, as PEM, that the server's is checked with; empty means those of the system.
	CA string `json:"ca,omitempty"`
	// After is the number of the last record of the log from before it joined: those are not the team's.
	After int64 `json:"after,omitempty"`
}

// LoadMachine reads who this machine is; the error is [fs.ErrNotExist] if it has joined no team.
func LoadMachine(state string) (*Machine, error) {
	data, err := link.Read(filepath.Join(Folder(state), machineName), 64<<10)
	if err != nil {
		return nil, err
	}
	m := new(Machine)
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(m); err != nil {
		return nil, fmt.Errorf("%s: %w", machineName, err)
	}
	if m.Tenant == "" || m.Gate == "" || m.Server == "" || len(m.Private) != ed25519.PrivateKeySize {
		return nil, fmt.Errorf("%s lacks a tenant, gate, server or key; join again with 'assent join URL'", machineName)
	}
	return m, nil
}

// SaveMachine keeps who this machine is.
func SaveMachine(state string, m *Machine) error {
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return replace(state, machineName, append(data, '\n'))
}

// Forget makes the machine a member of no team. What it has seen stays, so that joining again cannot roll its
// policy back.
func Forget(state string) error {
	var failed error
	for _, name := range []string{machineName, bundleName} {
		if err := os.Remove(filepath.Join(Folder(state), name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			failed = errors.Join(failed, err)
		}
	}
	return failed
}

// SaveBundle takes a bundle that the server sent, if the team's key signed it, it is this team's, and it is not
// older than one that was taken before. It is in force when this returns, and fresh.
func SaveBundle(state string, team config.Team, data []byte) (*bundle.Bundle, error) {
	b, err := open(data, team)
	if err != nil {
		return nil, err
	}
	unlock, err := lock(state)
	if err != nil {
		return nil, err
	}
	defer unlock()
	have, err := readSeen(state)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	now := seen{b.Serial, policy.DigestOf(data)}
	if err := have.allows(now); err != nil {
		return nil, err
	}
	// The bundle first: if this ends in between, a bundle is there that is newer than what was seen.
	if err := replace(state, bundleName, data); err != nil {
		return nil, err
	}
	return b, replace(state, seenName, []byte(now.String()))
}

// Confirm notes that the server said just now that this serial is still the newest.
func Confirm(state string, team config.Team, serial int64, now time.Time) error {
	unlock, err := lock(state)
	if err != nil {
		return err
	}
	defer unlock()
	b, _, err := readBundle(state, team)
	if err != nil {
		return err
	}
	if b.Serial != serial {
		return fmt.Errorf("the server speaks of policy %d, and this machine has %d", serial, b.Serial)
	}
	return os.Chtimes(BundleFile(state), now, now)
}

// open reads a bundle of the team.
func open(data []byte, team config.Team) (*bundle.Bundle, error) {
	b, err := bundle.Open(data, team.Trust)
	if err != nil {
		return nil, err
	}
	if b.Tenant != team.Name {
		return nil, fmt.Errorf("%w: it is the policy of the team %q, and the administrator's file names %q", bundle.ErrRefused, b.Tenant, team.Name)
	}
	return b, nil
}

// readBundle reads the bundle that is there, and when it was last confirmed.
func readBundle(state string, team config.Team) (*bundle.Bundle, time.Time, error) {
	name := BundleFile(state)
	info, err := os.Stat(name) // before it is read: a newer one then has an older time, which is stricter
	if err != nil {
		return nil, time.Time{}, err
	}
	data, err := link.Read(name, bundle.MaxBytes)
	if err != nil {
		return nil, time.Time{}, err
	}
	b, err := open(data, team)
	if err != nil {
		return nil, time.Time{}, err
	}
	have, err := readSeen(state)
	if err == nil {
		err = have.allows(seen{b.Serial, policy.DigestOf(data)})
	}
	return b, info.ModTime(), err
}

// seen is the newest bundle that was ever taken.
type seen struct {
	serial int64
	digest policy.Digest
}

func (s seen) String() string { return fmt.Sprintf("%d %s\n", s.serial, s.digest) }

// allows reports why another bundle must not be taken.
func (s seen) allows(other seen) error {
	switch {
	case other.serial < s.serial:
		return fmt.Errorf("%w: it is the team's policy %d, and this machine had %d already", bundle.ErrRefused, other.serial, s.serial)
	case other.serial == s.serial && other.digest != s.digest:
		return fmt.Errorf("%w: it is another policy %d than the one that this machine had; the team must publish a newer one",
			bundle.ErrRefused, other.serial)
	}
	return nil
}

func readSeen(state string) (seen, error) {
	data, err := link.Read(filepath.Join(Folder(state), seenName), 1<<10)
	if err != nil {
		return seen{}, err
	}
	serial, digest, _ := strings.Cut(strings.TrimSuffix(string(data), "\n"), " ")
	var s seen
	if s.serial, err = strconv.ParseInt(serial, 10, 64); err == nil {
		err = s.digest.UnmarshalText([]byte(digest))
	}
	if err != nil || s.String() != string(data) {
		return seen{}, fmt.Errorf("the file %s of the team's folder is damaged", seenName)
	}
	return s, nil
}

// replace puts a file of the team's folder in its place as a whole.
func replace(state, name string, data []byte) (err error) {
	if err := os.MkdirAll(Folder(state), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(Folder(state), name+".*") // readable by its owner alone
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	if err := os.Rename(f.Name(), filepath.Join(Folder(state), name)); err != nil {
		return err
	}
	return syncFolder(Folder(state))
}

func syncFolder(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

// lock lets one process at a time change what was seen.
func lock(state string) (unlock func(), err error) {
	if err := os.MkdirAll(Folder(state), 0o700); err != nil {
		return nil, err
	}
	f, err := link.Open(filepath.Join(Folder(state), lockName), os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		f.Close()
		return nil, err
	}
	return func() { f.Close() }, nil
}
