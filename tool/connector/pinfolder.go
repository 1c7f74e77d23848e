package connector

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

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
		return Pin{}, false, fmt.Errorf("the kept definition of %s:%s in %s cannot be used: %w; remove the file to be asked anew", connector, tool, name, err)
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
