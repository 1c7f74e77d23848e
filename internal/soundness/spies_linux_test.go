package soundness

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// A start is one program that was started: what a spy wrote down.
type start struct {
	Folder  string
	Program string // the spy's own path
	Words   []string
}

func (s start) String() string { return fmt.Sprintf("%q in %s", s.Words, s.Folder) }

// buildSpies makes a folder with the spies, links to the programs behind them as the jail
// knows those, and the one that sets limits.
func buildSpies(top string) error {
	spy := filepath.Join(top, "limit")
	if out, err := exec.Command("cc", "-O1", "-static", "-o", spy, "testdata/spy.c").CombinedOutput(); err != nil {
		return fmt.Errorf("the spy does not compile: %w\n%s", err, out)
	}
	for _, folder := range []string{"spies", "real"} {
		if err := os.Mkdir(filepath.Join(top, folder), 0o755); err != nil {
			return err
		}
	}
	for _, name := range slices.Concat(acting, mute) {
		if err := os.Link(spy, filepath.Join(top, "spies", name)); err != nil {
			return err
		}
	}
	for _, name := range acting {
		if err := linkReal(name, filepath.Join(top, "real", name)); err != nil {
			return err
		}
	}
	return nil
}

// linkReal makes the link from a spy to its program: to the file itself, as the links that
// lead there lead to spies in the jail.
func linkReal(name, link string) error {
	found, err := exec.LookPath(name)
	if err != nil {
		return fmt.Errorf("the tests need %s: %w", name, err)
	}
	if found, err = filepath.EvalSymlinks(found); err != nil {
		return err
	}
	return os.Symlink("/w/bin/"+filepath.Base(found), link)
}

// A spyLog is the file that spies write to.
type spyLog struct{ file *os.File }

func newSpyLog() (*spyLog, error) {
	if err := os.Mkdir("/w/log", 0o755); err != nil {
		return nil, err
	}
	f, err := os.OpenFile("/w/log/spies", os.O_RDWR|os.O_CREATE, 0o666)
	return &spyLog{f}, err
}

// take returns what was started since it was last asked.
func (l *spyLog) take() ([]start, error) {
	data, err := os.ReadFile(l.file.Name())
	if err != nil {
		return nil, err
	}
	var starts []start
	for len(data) > 0 {
		n := int(binary.NativeEndian.Uint32(data))
		if len(data) < 4+n {
			return nil, errors.New("a spy did not write all")
		}
		fields := strings.Split(strings.TrimSuffix(string(data[4:4+n]), "\x00"), "\x00")
		starts = append(starts, start{fields[0], fields[1], fields[2:]})
		data = data[4+n:]
	}
	return starts, l.file.Truncate(0)
}
