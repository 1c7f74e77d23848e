package staged

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const aKey = "0123456789abcdef0123456789abcdef"

// A keeper that was there ends without ever listening: the next one is started, and its word counts.
func TestReachDoesNotWaitForAKeeperThatIsGone(t *testing.T) {
	state := t.TempDir()
	script := `if [ -e "$0" ]; then echo "failed: the second says why" >&3; else : > "$0"; echo "another: " >&3; fi`
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	_, err := Reach(ctx, state, aKey, state, os.Environ(), []string{"/bin/sh", "-c", script, filepath.Join(state, "tried")})
	if err == nil || !strings.Contains(err.Error(), "the second says why") {
		t.Errorf("%v", err)
	}
}

// A folder has one keeper; one that ends takes nothing of the next one away.
func TestLock(t *testing.T) {
	folder := Place(t.TempDir(), aKey)
	first, err := Lock(folder)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Lock(folder); !errors.Is(err, ErrAnother) {
		t.Fatalf("a second one: %v", err)
	}
	if err := Remove(folder); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(folder); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder is left: %v", err)
	}
	next, err := Lock(folder)
	if err != nil {
		t.Fatalf("the next one, while the first still ends: %v", err)
	}
	defer next.Close()
	first.Close()
	if _, err := Lock(folder); !errors.Is(err, ErrAnother) {
		t.Errorf("beside the next one: %v", err)
	}
}
