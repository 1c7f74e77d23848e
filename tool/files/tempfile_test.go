package files

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/assent-dev/assent/internal/reexec"
)

func TestMain(m *testing.M) {
	reexec.Main(map[string]reexec.Role{
		"stage": func(args []string) error { stageAndWait(args[0]); return nil },
	})
	os.Exit(m.Run())
}

// stageAndWait stages a file in a folder and waits to be killed.
func stageAndWait(host string) {
	root, err := os.OpenRoot(host)
	if err == nil {
		var d *dir
		if d, err = openDir(root, ".", false); err == nil {
			_, err = d.stage(was, next)
		}
	}
	fmt.Println("staged", err)
	select {}
}

// What a process that was killed had staged goes with the next change, when it is
// old enough that nobody can be at it any more.
func TestWhatAKilledProcessLeftIsSwept(t *testing.T) {
	host := t.TempDir()
	set(t, host, "a", "was")
	cmd := reexec.Command("stage", host)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "staged <nil>\n" {
		t.Fatalf("%q, %v", line, err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	wantContent(t, host, "aside=next a=was")
	d := openTest(t, host)
	d.sweep(time.Now())
	wantContent(t, host, "aside=next a=was") // its process may be at it yet
	d.sweep(time.Now().Add(2 * staleAfter))
	wantContent(t, host, "a=was")
}

// Sweeping removes what its name says nobody misses, and nothing else.
func TestSweepKeepsWhatNobodySaw(t *testing.T) {
	host := t.TempDir()
	d := openTest(t, host)
	for content, name := range map[string]string{
		"next": tempName(next, was), "was": tempName(next, was), "gone": tempName(fileOf([]byte("gone"))),
		"unseen": tempName(next, was), "unknown": tempName(), "short": ".assent-", "theirs": ".assentx-" + tempName(next),
	} {
		set(t, host, name, content)
	}
	target := filepath.Join(t.TempDir(), "target")
	if err := os.WriteFile(target, next.data, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, filepath.Join(host, tempName(next))); err != nil {
		t.Fatal(err)
	}
	d.sweep(time.Now().Add(2 * staleAfter))
	kept := map[string]bool{}
	entries, err := os.ReadDir(host)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		data, _ := os.ReadFile(filepath.Join(host, e.Name()))
		kept[string(data)] = true
	}
	for _, content := range []string{"unseen", "unknown", "short", "theirs"} {
		if !kept[content] {
			t.Errorf("%q is lost", content)
		}
	}
	if kept["was"] || kept["gone"] || len(kept) != 5 || !kept["next"] { // the link still leads to it
		t.Errorf("left: %v", kept)
	}
}

// What a version that nobody saw is called tells of the contents that were known,
// and of no other.
func TestKeptVersionsAreNeverSwept(t *testing.T) {
	host := t.TempDir()
	d := openTest(t, host)
	set(t, host, "a", "unseen")
	aside, err := d.moveToTemp("a", d, was)
	if err != nil {
		t.Fatal(err)
	}
	d.sweep(time.Now().Add(1000 * staleAfter))
	if data, err := os.ReadFile(filepath.Join(host, aside)); err != nil || string(data) != "unseen" {
		t.Errorf("%q, %v", data, err)
	}
}
