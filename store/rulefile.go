package store

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/assent-dev/assent/approval"
)

// ruleFileVersion is the version of the file's format.
const ruleFileVersion = 1

// A RuleFile keeps rules in a file. It implements [approval.RuleStore] and
// [approval.Notifier], the latter for changes made through it. Make one with [OpenRules].
type RuleFile struct {
	path  string
	limit int

	mu        sync.Mutex
	seen      fs.FileInfo // the file that set was read from; nil if there was none
	set       *approval.RuleSet
	listeners map[int]func()
	next      int
}

var (
	_ approval.RuleStore = (*RuleFile)(nil)
	_ approval.Notifier  = (*RuleFile)(nil)
)

type savedRules struct {
	Version int             `json:"version"`
	Rules   []approval.Rule `json:"rules"`
}

// OpenRules returns the rules kept at path, of which there may be limit at most; 0 means
// [approval.DefaultRuleLimit]. A file that is not there has no rules and is made, with its
// folder, when the first is saved. A file that cannot be read is an error, and stays as it is.
func OpenRules(path string, limit int) (*RuleFile, error) {
	if limit == 0 {
		limit = approval.DefaultRuleLimit
	}
	f := &RuleFile{path: path, limit: limit, listeners: map[int]func(){}}
	_, err := f.Rules(context.Background())
	return f, err
}

// Rules returns the rules as they are in the file now.
func (f *RuleFile) Rules(context.Context) (*approval.RuleSet, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.read()
}

// read reads the file if it is another than the one that was read last.
func (f *RuleFile) read() (*approval.RuleSet, error) {
	info, err := os.Stat(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		f.seen, f.set = nil, &approval.RuleSet{}
		return f.set, nil
	}
	if err != nil {
		return nil, fmt.Errorf("rules: %w", err)
	}
	if f.seen != nil && os.SameFile(f.seen, info) && f.seen.ModTime().Equal(info.ModTime()) && f.seen.Size() == info.Size() {
		return f.set, nil
	}
	data, err := os.ReadFile(f.path)
	if err != nil {
		return nil, fmt.Errorf("rules: %w", err)
	}
	set, err := parseRules(data)
	if err != nil {
		return nil, fmt.Errorf("rules in %s: %w; mend the file or move it away", f.path, err)
	}
	f.seen, f.set = info, set
	return set, nil
}

func parseRules(data []byte) (*approval.RuleSet, error) {
	var in savedRules
	if err := json.Unmarshal(data, &in); err != nil {
		return nil, err
	}
	if in.Version != ruleFileVersion {
		return nil, fmt.Errorf("version %d; this program knows version %d", in.Version, ruleFileVersion)
	}
	return approval.CompileRules(in.Rules)
}

// AddRules implements [approval.RuleStore]. A rule without an id gets one. The errors about
// rules are of type [*approval.RuleError].
func (f *RuleFile) AddRules(ctx context.Context, rules ...approval.Rule) error {
	if err := f.add(ctx, rules); err != nil {
		return err
	}
	f.tell()
	return nil
}

func (f *RuleFile) add(ctx context.Context, rules []approval.Rule) error {
	if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
		return fmt.Errorf("rules: %w", err)
	}
	unlock, err := lock(ctx, f.path+".lock")
	if err != nil {
		return fmt.Errorf("rules: %w", err)
	}
	defer unlock()
	f.mu.Lock()
	defer f.mu.Unlock()
	set, err := f.read()
	if err != nil {
		return err
	}
	all := set.Rules()
	for _, r := range rules {
		if err := approval.CheckNewRule(all, r, f.limit); err != nil {
			return err
		}
		if r.ID == "" {
			r.ID = rand.Text()
		}
		all = append(all, r)
	}
	return f.write(all)
}

// write replaces the file; whoever reads sees the old rules or the new.
func (f *RuleFile) write(rules []approval.Rule) error {
	data, err := json.MarshalIndent(savedRules{Version: ruleFileVersion, Rules: rules}, "", "  ")
	if err != nil {
		return err
	}
	t, err := os.CreateTemp(filepath.Dir(f.path), ".rules-*") // 0600
	if err != nil {
		return fmt.Errorf("rules: %w", err)
	}
	_, err = t.Write(append(data, '\n'))
	if err == nil {
		err = t.Sync()
	}
	if err = errors.Join(err, t.Close()); err == nil {
		err = os.Rename(t.Name(), f.path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("rules: %w", err), os.Remove(t.Name()))
	}
	_, err = f.read()
	return err
}

// patience is how long another process may change the rules.
const patience = 5 * time.Second

// lock waits until no other process changes the file, not for ever.
func lock(ctx context.Context, path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errors.New("another process holds the lock "+path))
	defer cancel()
	retry := time.NewTicker(5 * time.Millisecond)
	defer retry.Stop()
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { f.Close() }, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			return nil, errors.Join(err, f.Close())
		}
		select {
		case <-retry.C:
		case <-ctx.Done():
			return nil, errors.Join(context.Cause(ctx), f.Close())
		}
	}
}

// Notify implements [approval.Notifier].
func (f *RuleFile) Notify(changed func()) (stop func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.next++
	id := f.next
	f.listeners[id] = changed
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.listeners, id)
	}
}

func (f *RuleFile) tell() {
	f.mu.Lock()
	listeners := make([]func(), 0, len(f.listeners))
	for _, l := range f.listeners {
		listeners = append(listeners, l)
	}
	f.mu.Unlock()
	for _, l := range listeners {
		l()
	}
}
