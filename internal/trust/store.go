package trust

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A Store keeps records. An error means that nothing is trusted.
type Store interface {
	Get(ctx context.Context, path string) (r Record, known bool, err error)
	Put(ctx context.Context, r Record) error
}

// A Folder keeps each record in a file of its own, so that processes do not get into each
// other's way. It is made when the first is put.
type Folder string

var _ Store = Folder("")

func (f Folder) file(path string) string {
	sum := sha256.Sum256([]byte(path))
	return filepath.Join(string(f), hex.EncodeToString(sum[:16])+".json")
}

// Get implements [Store].
func (f Folder) Get(_ context.Context, path string) (Record, bool, error) {
	r, err := readRecord(f.file(path))
	if errors.Is(err, fs.ErrNotExist) {
		return Record{}, false, nil
	}
	if err == nil && r.Path != path {
		err = fmt.Errorf("%s is about %s; remove it", f.file(path), r.Path)
	}
	return r, err == nil, err
}

func readRecord(file string) (Record, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return Record{}, err
	}
	var r Record
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return Record{}, fmt.Errorf("%s cannot be read: %w; remove it, and trust again", file, err)
	}
	return r, nil
}

// Put implements [Store].
func (f Folder) Put(_ context.Context, r Record) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(string(f), 0o700); err != nil {
		return err
	}
	t, err := os.CreateTemp(string(f), ".trust-*") // 0600
	if err != nil {
		return err
	}
	_, err = t.Write(append(data, '\n'))
	if err == nil {
		err = t.Sync()
	}
	if err = errors.Join(err, t.Close()); err == nil {
		err = os.Rename(t.Name(), f.file(r.Path))
	}
	if err != nil {
		return errors.Join(err, os.Remove(t.Name()))
	}
	return nil
}

// List returns the records, sorted by path.
func (f Folder) List(context.Context) ([]Record, error) {
	entries, err := os.ReadDir(string(f))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []Record
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".json") {
			continue
		}
		r, err := readRecord(filepath.Join(string(f), e.Name()))
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b Record) int { return strings.Compare(a.Path, b.Path) })
	return out, nil
}

// Remove takes a record away, and reports whether there was one.
func (f Folder) Remove(_ context.Context, path string) (bool, error) {
	err := os.Remove(f.file(path))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
