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

var initBytes = regexp.MustCompile(`^init (\S+) @.* clock, (\d+) bytes`)

// maxInit is how much all packages together may make before the program begins.
const maxInit = 256 << 10

// TestPackagesDoLittleBeforehand sums what the runtime says that each package made when it
// was initialised: tables and patterns that the hook may not need, and that every event
// would wait for. How long that takes is for the benchmark.
func TestPackagesDoLittleBeforehand(t *testing.T) {
	sum, most, name := 0, 0, ""
	for line := range bytes.Lines(initTrace(t, build(t, t.TempDir()))) {
		found := initBytes.FindStringSubmatch(string(line))
		if found == nil {
			continue
		}
		made, err := strconv.Atoi(found[2])
		if err != nil {
			t.Fatal(err)
		}
		if sum += made; made > most {
			most, name = made, found[1]
		}
	}
	if sum == 0 || sum > maxInit {
		t.Errorf("the packages make %d bytes when they are initialised, want %d at most; most is of %s", sum, maxInit, name)
	}
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
