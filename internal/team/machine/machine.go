package machine

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// The files in the folder.
const (
	machineName = "machine.json"
	shippedName = "shipped"
	statusName  = "status.json"
	lockName    = "bridge.lock"
	logName     = "bridge.log"
)

// Folder is where a state folder keeps what is about the team.
func Folder(state string) string { return filepath.Join(state, "team") }

// A Machine is a member of a team. Its key lets it ask, and never answer.
type Machine struct {
	Tenant string `json:"tenant"`
	Gate   string `json:"gate"`
	// Sponsor is the person behind the machine, and Team what people call the team, as the server said when it joined.
	Sponsor string             `json:"sponsor,omitempty"`
	Team    string             `json:"team,omitempty"`
	Server  string             `json:"server"`
	Key     ed25519.PrivateKey `json:"key"`
	// CA are the certificates, as PEM, that the server's is checked with; empty means those of the system.
	CA string `json:"ca,omitempty"`
}

// ErrNotJoined says that this machine belongs to no team.
var ErrNotJoined = errors.New("this machine has not joined a team; see 'assent join --help'")

// Joined reports whether this machine belongs to a team. It is quick: every call of every agent asks.
func Joined(state string) bool {
	_, err := os.Lstat(filepath.Join(Folder(state), machineName))
	return err == nil
}

// Load reads what this machine is, or returns [ErrNotJoined].
func Load(state string) (*Machine, error) {
	path := filepath.Join(Folder(state), machineName)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNotJoined
	}
	if err != nil {
		return nil, err
	}
	m := new(Machine)
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(m); err != nil {
		return nil, fmt.Errorf("%s: %w; remove it, and join again", path, err)
	}
	if m.Tenant == "" || m.Gate == "" || m.Server == "" || len(m.Key) != ed25519.PrivateKeySize {
		return nil, fmt.Errorf("%s: it has no tenant, gate, server or key; remove it, and join again", path)
	}
	return m, nil
}

// Save makes this machine a member. Sent is the number of the last record that stays the machine's own: what it
// did before it joined is not the team's.
func (m *Machine) Save(state string, sent int64) error {
	data, err := json.Marshal(m)
	if err == nil {
		err = SaveShipped(state, sent)
	}
	if err != nil {
		return err
	}
	return write(state, machineName, data, true)
}

// Remove makes this machine no member any more. What else lies in the folder goes too, but for what is kept for the
// administrator's file: the bundle and the highest serial.
func Remove(state string) error {
	var errs []error
	for _, name := range []string{machineName, shippedName, statusName, logName} {
		if err := os.Remove(filepath.Join(Folder(state), name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// Shipped returns the number of the last record that the server has acknowledged.
func Shipped(state string) (seq int64, err error) {
	path := filepath.Join(Folder(state), shippedName)
	data, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	if err := json.Unmarshal(data, &seq); err != nil || seq < 0 {
		return 0, fmt.Errorf("%s is not the number of a record: %q", path, data)
	}
	return seq, nil
}

// SaveShipped notes the number of the last record that the server has acknowledged.
func SaveShipped(state string, seq int64) error {
	data, err := json.Marshal(seq)
	if err != nil {
		return err
	}
	return write(state, shippedName, data, true)
}

// WriteFile replaces a file of the folder as a whole. Should the power fail it may be lost.
func WriteFile(state, name string, data []byte) error { return write(state, name, data, false) }

func write(state, name string, data []byte, sync bool) error {
	folder := Folder(state)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(folder, "."+name+"-*") // 0600
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil && sync {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), filepath.Join(folder, name))
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// ReadFile reads a file of the folder.
func ReadFile(state, name string) ([]byte, error) {
	return os.ReadFile(filepath.Join(Folder(state), name))
}
