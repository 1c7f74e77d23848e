package main

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// build builds the program as it is shipped, and copies it as installing does. What the
// linker has just written through a mapping lies in memory page by page, and starts a tenth
// slower than a file that was copied, or read from the disk.
func build(t testing.TB, dir string) string {
	t.Helper()
	linked, program := filepath.Join(dir, "linked"), filepath.Join(dir, "assent-hook")
	c := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", linked, ".")
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	data, err := os.ReadFile(linked)
	if err == nil {
		err = os.WriteFile(program, data, 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	return program
}

var initLine = regexp.MustCompile(`^init (\S+) @\S+ ms, (\S+) ms clock, (\d+) bytes`)

// What all packages together may take and make before the program begins.
const (
	maxInit      = 3.0 // milliseconds
	maxInitBytes = 288 << 10
)

// TestPackagesDoLittleBeforehand sums what the runtime says that each package took and made
// when it was initialised: tables and patterns that the hook may not need, and that every
// event would wait for. Of many runs the fastest counts: the others measure who else uses
// the machine.
func TestPackagesDoLittleBeforehand(t *testing.T) {
	program := build(t, t.TempDir())
	took, made := initSums(t, program)
	for runs := 1; took > maxInit && runs < 50; runs++ {
		again, _ := initSums(t, program)
		took = min(took, again)
	}
	if took > maxInit {
		t.Errorf("the packages take %.2f ms to be initialised, want %.0f at most", took, maxInit)
	}
	if made == 0 || made > maxInitBytes {
		t.Errorf("the packages make %d bytes when they are initialised, want %d at most", made, maxInitBytes)
	}
}

// initSums runs the program, and returns the milliseconds and bytes of all packages.
func initSums(t *testing.T, program string) (took float64, made int) {
	t.Helper()
	for line := range bytes.Lines(initTrace(t, program)) {
		found := initLine.FindStringSubmatch(string(line))
		if found == nil {
			continue
		}
		ms, err := strconv.ParseFloat(found[2], 64)
		if err != nil {
			t.Fatal(err)
		}
		n, err := strconv.Atoi(found[3])
		if err != nil {
			t.Fatal(err)
		}
		took, made = took+ms, made+n
	}
	return took, made
}

func initTrace(t *testing.T, program string) []byte {
	t.Helper()
	c := exec.Command(program)
	c.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	out, err := c.CombinedOutput()
	if exit, ok := err.(*exec.ExitError); !ok || exit.ExitCode() != 2 {
		t.Fatalf("without arguments it ends with %v, want status 2: %s", err, out)
	}
	return out
}

// TestNothingHeavyIsLinked keeps out what takes time to start and is not needed.
func TestNothingHeavyIsLinked(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		for _, heavy := range []string{"net/http", "crypto/tls", "html/template", "github.com/alecthomas/chroma", "charm.land/", "github.com/modelcontextprotocol/", "github.com/spf13/cobra", "anthropic", "openai"} {
			if lines.Text() == heavy || strings.HasPrefix(lines.Text(), heavy) && strings.Contains(heavy, ".") || strings.Contains(lines.Text(), "/"+heavy+"-") {
				t.Errorf("%s is linked", lines.Text())
			}
		}
	}
}
