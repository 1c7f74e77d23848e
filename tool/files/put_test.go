package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/assent-dev/assent/approval"
)

// both runs a test with the system's own exchange and without it.
func both(t *testing.T, f func(t *testing.T, d *dir, host string)) {
	for _, portable := range []bool{false, true} {
		t.Run(map[bool]string{false: "system", true: "portable"}[portable], func(t *testing.T) {
			host := t.TempDir()
			d := openTest(t, host)
			d.portable = portable
			f(t, d, host)
		})
	}
}

func openTest(t *testing.T, host string) *dir {
	t.Helper()
	root, err := os.OpenRoot(host)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	d, err := openDir(root, ".", false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.close)
	return d
}

func set(t *testing.T, host, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(host, name), []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// content lists the folder: NAME=CONTENT, sorted, those aside without their name.
func content(t *testing.T, host string) string {
	t.Helper()
	entries, err := os.ReadDir(host)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		name := e.Name()
		text, _ := os.Readlink(filepath.Join(host, name))
		if e.Type().IsRegular() {
			data, err := os.ReadFile(filepath.Join(host, name))
			if err != nil {
				t.Fatal(err)
			}
			text = string(data)
		}
		if strings.HasPrefix(name, ".assent-") {
			name = "aside"
		}
		out = append(out, name+"="+text)
	}
	return strings.Join(out, " ")
}

func wantContent(t *testing.T, host, want string) {
	t.Helper()
	if got := content(t, host); got != want {
		t.Errorf("the folder has %q, want %q", got, want)
	}
}

func wantChanged(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, approval.ErrChanged) {
		t.Errorf("got %v, want a change", err)
	}
}

var was, next = fileOf([]byte("was")), fileOf([]byte("next"))

func TestPut(t *testing.T) {
	both(t, func(t *testing.T, d *dir, host string) {
		if err := d.put("a", state{}, was); err != nil {
			t.Fatal(err)
		}
		wantContent(t, host, "a=was")
		if err := d.put("a", was, next); err != nil {
			t.Fatal(err)
		}
		wantContent(t, host, "a=next")
	})
}

func TestPutOnSomethingElse(t *testing.T) {
	both(t, func(t *testing.T, d *dir, host string) {
		set(t, host, "a", "unseen")
		wantChanged(t, d.put("a", was, next))
		wantChanged(t, d.put("a", state{}, next))
		wantContent(t, host, "a=unseen")
		set(t, host, "a", "was and more")
		wantChanged(t, d.put("a", was, next))
		wantContent(t, host, "a=was and more")
		os.Remove(filepath.Join(host, "a"))
		wantChanged(t, d.put("a", was, next))
		wantContent(t, host, "")
		os.Symlink("was-elsewhere", filepath.Join(host, "a"))
		set(t, host, "was-elsewhere", "was")
		wantChanged(t, d.put("a", was, next))
		wantChanged(t, d.put("a", state{}, next))
		wantContent(t, host, "a=was-elsewhere was-elsewhere=was")
	})
}

func TestPutOnAFolder(t *testing.T) {
	host := t.TempDir()
	os.MkdirAll(filepath.Join(host, "a/b"), 0o755)
	wantChanged(t, openTest(t, host).put("a", was, next))
	wantContent(t, host, "a=")
}

// What came out is put back even if our own file was changed in the meantime;
// then that one is kept too.
func TestTakeBackKeepsWhatNobodySaw(t *testing.T) {
	both(t, func(t *testing.T, d *dir, host string) {
		set(t, host, "a", "written over ours")
		set(t, host, ".assent-x", "unseen")
		err := d.takeBack(".assent-x", "a", next, changed("x"))
		wantChanged(t, err)
		if e := (*KeptError)(nil); !errors.As(err, &e) || e.Path != ".assent-x" {
			t.Errorf("got %v", err)
		}
		wantContent(t, host, "aside=written over ours a=unseen")
	})
}

func TestTakeBackWhenOursIsGone(t *testing.T) {
	both(t, func(t *testing.T, d *dir, host string) {
		set(t, host, ".assent-x", "unseen")
		wantChanged(t, d.takeBack(".assent-x", "a", next, changed("x")))
		wantContent(t, host, "a=unseen")
	})
}

func TestDrop(t *testing.T) {
	both(t, func(t *testing.T, d *dir, host string) {
		set(t, host, "a", "unseen")
		wantChanged(t, d.drop("a", was))
		wantContent(t, host, "a=unseen")
		wantChanged(t, d.drop("none", was))
		set(t, host, "a", "was")
		if err := d.drop("a", was); err != nil {
			t.Fatal(err)
		}
		wantContent(t, host, "")
		set(t, host, ".assent-x", "unseen")
		set(t, host, "a", "newer")
		err := d.returnTo(".assent-x", d, "a", changed("x"))
		if e := (*KeptError)(nil); !errors.As(err, &e) {
			t.Errorf("got %v", err)
		}
		wantContent(t, host, "aside=unseen a=newer")
	})
}

func wantNotMoved(t *testing.T, d, to *dir, dest string) {
	t.Helper()
	_, err := d.moveTo("a", to, dest, was)
	wantChanged(t, err)
}

func TestMoveTo(t *testing.T) {
	both(t, func(t *testing.T, d *dir, host string) {
		if err := os.Mkdir(filepath.Join(host, "sub"), 0o755); err != nil {
			t.Fatal(err)
		}
		sub, err := d.sub("sub")
		if err != nil {
			t.Fatal(err)
		}
		defer sub.close()
		set(t, host, "a", "unseen")
		wantNotMoved(t, d, sub, "b")
		wantContent(t, host, "a=unseen sub=")
		set(t, host, "a", "was")
		set(t, host, "sub/b", "taken")
		wantNotMoved(t, d, sub, "b")
		wantContent(t, host, "a=was sub=")
		wantContent(t, host+"/sub", "b=taken")
		if carried, err := d.moveTo("a", sub, "c", was); err != nil || carried {
			t.Fatal(carried, err)
		}
		wantContent(t, host+"/sub", "b=taken c=was")
		// As between two file systems.
		if err := sub.carryTo("c", d, "a", was); err != nil {
			t.Fatal(err)
		}
		wantContent(t, host, "a=was sub=")
		wantChanged(t, d.carryTo("a", sub, "b", was))
		set(t, host, "a", "unseen")
		wantChanged(t, d.carryTo("a", sub, "d", was))
		wantContent(t, host, "a=unseen sub=")
		wantContent(t, host+"/sub", "b=taken")
	})
}

func TestNoLinkIsFollowed(t *testing.T) {
	host, outside := t.TempDir(), t.TempDir()
	os.MkdirAll(filepath.Join(host, "real/deep"), 0o755)
	os.Symlink("real", filepath.Join(host, "inside"))
	os.Symlink(outside, filepath.Join(host, "out"))
	root, err := os.OpenRoot(host)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for _, rel := range []string{"inside", "inside/deep", "out", "out/new"} {
		for _, create := range []bool{false, true} {
			if d, err := openDir(root, rel, create); err == nil {
				d.close()
				t.Errorf("%s was opened", rel)
			}
		}
	}
	if names, _ := os.ReadDir(outside); len(names) != 0 {
		t.Errorf("outside there is %v", names)
	}
	os.Symlink("real", filepath.Join(host, "f"))
	if _, _, err := openTest(t, host).open("f"); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func TestSwapThatFailsLosesNothing(t *testing.T) {
	host := t.TempDir()
	set(t, host, "a", "was")
	if err := openTest(t, host).swap("missing", "a"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	wantContent(t, host, "a=was")
}

// A file whose owner cannot be kept stays as it is.
func TestPutKeepsTheOwnerOrNothingHappens(t *testing.T) {
	host := t.TempDir()
	set(t, host, "a", "was")
	nobody := was
	nobody.meta = meta{known: true, mode: 0o644, uid: -1}
	if err := openTest(t, host).put("a", nobody, next); err == nil || !strings.Contains(err.Error(), "owner") {
		t.Errorf("got %v", err)
	}
	wantContent(t, host, "a=was")
}
