package files

import (
	"os"
	"path/filepath"
	"testing"
)

func openMade(t *testing.T, host, rel string) *dir {
	t.Helper()
	root, err := os.OpenRoot(host)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	d, err := openDir(root, rel, true)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestFoldersThatWereMadeGoAgain(t *testing.T) {
	host := t.TempDir()
	if err := os.Mkdir(filepath.Join(host, "there"), 0o755); err != nil {
		t.Fatal(err)
	}
	openMade(t, host, "there/a/b/c").discard()
	wantContent(t, host, "there=")
	wantContent(t, host+"/there", "")
}

// A folder that somebody has used, or put in the place of ours, stays.
func TestFoldersOfOthersStay(t *testing.T) {
	host := t.TempDir()
	d := openMade(t, host, "a/b/c")
	set(t, host, "a/b/theirs", "x")
	d.discard()
	wantContent(t, host+"/a", "b=")
	wantContent(t, host+"/a/b", "theirs=x")

	d = openMade(t, host, "d/e")
	if err := os.Rename(host+"/d", host+"/ours"); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(host+"/d", 0o755); err != nil {
		t.Fatal(err)
	}
	d.discard()
	if _, err := os.Stat(host + "/d"); err != nil {
		t.Errorf("somebody's folder is gone: %v", err)
	}
}

func TestMadeFoldersGoWhenOneOnTheWayCannotBeMade(t *testing.T) {
	host := t.TempDir()
	root, err := os.OpenRoot(host)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	long := make([]byte, 300)
	for i := range long {
		long[i] = 'x'
	}
	if _, err := openDir(root, "a/b/"+string(long), true); err == nil {
		t.Fatal("the folder was made")
	}
	wantContent(t, host, "")
}
