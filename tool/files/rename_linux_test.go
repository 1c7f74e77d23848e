package files

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Somebody who has the file open may write to it after it was compared.
func TestFileThatIsBeingWrittenStays(t *testing.T) {
	host := t.TempDir()
	d := openTest(t, host)
	set(t, host, "a", "was")
	f, err := os.OpenFile(filepath.Join(host, "a"), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, moved := d.moveTo("a", d, "b", was)
	for _, err := range []error{d.put("a", was, next), d.drop("a", was), moved} {
		if !errors.Is(err, ErrBusy) {
			t.Errorf("got %v", err)
		}
	}
	wantContent(t, host, "a=was")
	f.Close()
	if err := d.put("a", was, next); err != nil {
		t.Error(err)
	}
}

// A move takes effect in one step: there is no moment in which a crash leaves the
// file under neither of its names.
func TestAMoveIsOneStep(t *testing.T) {
	host := t.TempDir()
	d := openTest(t, host)
	set(t, host, "a", "was")
	watch, err := unix.InotifyInit1(unix.IN_NONBLOCK)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(watch)
	if _, err := unix.InotifyAddWatch(watch, host, unix.IN_MOVE|unix.IN_CREATE|unix.IN_DELETE); err != nil {
		t.Fatal(err)
	}
	if _, err := d.moveTo("a", d, "b", was); err != nil {
		t.Fatal(err)
	}
	if got := events(t, watch); !slices.Equal(got, []string{"from a", "to b"}) {
		t.Errorf("the folder saw %q", got)
	}
}

// events reads what happened to the names of a folder.
func events(t *testing.T, watch int) []string {
	t.Helper()
	buf := make([]byte, 4096)
	n, err := unix.Read(watch, buf)
	if err != nil {
		t.Fatal(err)
	}
	words := map[uint32]string{unix.IN_MOVED_FROM: "from ", unix.IN_MOVED_TO: "to ", unix.IN_CREATE: "create ", unix.IN_DELETE: "delete "}
	var out []string
	for at := 0; at < n; {
		e := (*unix.InotifyEvent)(unsafe.Pointer(&buf[at]))
		at += unix.SizeofInotifyEvent
		name := strings.TrimRight(string(buf[at:at+int(e.Len)]), "\x00")
		at += int(e.Len)
		out = append(out, words[e.Mask]+name)
	}
	return out
}
