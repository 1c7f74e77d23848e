package connector

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"sync"
)

// A Pin is the definition of a tool as it was first met, or as a person last agreed to it.
type Pin struct {
	// Hash covers the definition and how its server is started or reached.
	Hash string `json:"hash"`
	// Launch is how the server was started or reached, for a person.
	Launch string `json:"launch"`
	// Tool is the definition, in canonical JSON.
	Tool json.RawMessage `json:"tool,omitempty"`
	// Agreed says that a person agreed to it. Otherwise it is as it was first met.
	Agreed bool `json:"agreed,omitempty"`
	// Doubt is why a person had to look at it when it was first met, and has not.
	Doubt string `json:"doubt,omitempty"`

	// Of a connector as such: Server is the digest of what is launched, As the name under
	// which the pins of the last command line are kept, and Before those of the one before.
	Server string `json:"server,omitempty"`
	As     string `json:"as,omitempty"`
	Before string `json:"before,omitempty"`
}

// Pins keeps definitions. The pin of the tool "" says that the connector as such is
// known. Pins are never removed: a tool that goes away and comes back is compared with
// what it was. Implementations are safe for concurrent use.
type Pins interface {
	// Get returns the pin of a tool, and whether there is one. With an error the tool is
	// refused.
	Get(ctx context.Context, connector, tool string) (Pin, bool, error)
	// Put keeps a pin in the place of the one before.
	Put(ctx context.Context, connector, tool string, p Pin) error
}

// MemoryPins keeps definitions as long as the program runs.
type MemoryPins struct {
	mu   sync.Mutex
	pins map[[2]string]Pin
}

// NewMemoryPins returns pins that know nothing yet.
func NewMemoryPins() *MemoryPins { return &MemoryPins{pins: map[[2]string]Pin{}} }

var _ Pins = (*MemoryPins)(nil)

// Get implements [Pins].
func (m *MemoryPins) Get(_ context.Context, connector, tool string) (Pin, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p, ok := m.pins[[2]string{connector, tool}]
	return p, ok, nil
}

// Put implements [Pins].
func (m *MemoryPins) Put(_ context.Context, connector, tool string, p Pin) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pins[[2]string{connector, tool}] = p
	return nil
}

// All returns what is kept, by connector and tool.
func (m *MemoryPins) All() map[[2]string]Pin {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.pins)
}

// FolderPins keeps definitions in a folder, one file each, so that processes that share
// it do not undo each other's work. The folder is made when something is first kept.
type FolderPins struct{ dir string }

// NewFolderPins returns the pins in a folder, which need not be there yet.
func NewFolderPins(dir string) *FolderPins { return &FolderPins{dir: dir} }

var _ Pins = (*FolderPins)(nil)

// pinFile is what a file holds. The names are checked when it is read: the file's own name
// is a digest of them, because a tool may call itself anything.
type pinFile struct {
	Connector string `json:"connector"`
	Tool      string `json:"tool"`
	Pin       Pin    `json:"pin"`
}

func (f *FolderPins) file(connector, tool string) string {
	sum := sha256.Sum256([]byte(connector + "\x00" + tool))
	return filepath.Join(f.dir, hex.EncodeToString(sum[:])+".json")
}

// Get implements [Pins].
func (f *FolderPins) Get(_ context.Context, connector, tool string) (Pin, bool, error) {
	name := f.file(connector, tool)
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return Pin{}, false, nil
	}
	var held pinFile
	if err == nil {
		err = json.Unmarshal(data, &held)
	}
	if err == nil && (held.Connector != connector || held.Tool != tool || held.Pin.Hash == "") {
		err = errors.New("it is about something else")
	}
	if err != nil {
		return Pin{}, false, fmt.Errorf("the kept definition of %s:%s in %s cannot be used: %w; remove the file to be "+
			"asked anew", connector, tool, name, err)
	}
	return held.Pin, true, nil
}

// Put implements [Pins].
func (f *FolderPins) Put(_ context.Context, connector, tool string, p Pin) error {
	data, err := json.Marshal(pinFile{Connector: connector, Tool: tool, Pin: p})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return fmt.Errorf("keeping the definition of %s:%s: %w", connector, tool, err)
	}
	if err := replace(f.file(connector, tool), data); err != nil {
		return fmt.Errorf("keeping the definition of %s:%s: %w", connector, tool, err)
	}
	return nil
}

// replace writes a file in one step: others see the old content or the new.
func replace(name string, data []byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(name), ".new-*") // with mode 0600
	if err != nil {
		return err
	}
	_, err = tmp.Write(data)
	if err == nil {
		err = tmp.Sync()
	}
	err = errors.Join(err, tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(tmp.Name()))
	}
	return nil
}
