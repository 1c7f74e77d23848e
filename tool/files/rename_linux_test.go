package files

import (
	"os"
	"path/filepath"
	"testing"
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
	wantChanged(t, d.put("a", was, next))
	wantChanged(t, d.drop("a", was))
	wantContent(t, host, "a=was")
	f.Close()
	if err := d.put("a", was, next); err != nil {
		t.Error(err)
	}
}
