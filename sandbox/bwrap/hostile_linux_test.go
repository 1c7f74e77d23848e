package bwrap

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/assent-dev/assent/sandbox"
)

// What a child does to outlive, fill or flood is ended and reported, and the next command
// works.
func TestHostileChildren(t *testing.T) {
	const asleep = "until grep -qsx sleep /proc/[0-9]*/comm; do :; done; "
	r := newRunner(t)
	for _, tt := range []struct {
		name   string
		script string
		limits sandbox.Limits
		exit   func(sandbox.Exit) bool
		says   string
	}{
		{"forks into the background", "(setsid sh -c 'sleep 300; : MARK' &) ; " + asleep + "echo left", sandbox.Limits{},
			func(e sandbox.Exit) bool {
				return e == sandbox.Exit{Left: "2 processes left in the background (sh, sleep)"}
			}, "left"},
		{"holds its output open", "sleep 300 & " + asleep + "echo left", sandbox.Limits{},
			func(e sandbox.Exit) bool {
				return e == sandbox.Exit{Left: "1 process left in the background (sleep)"}
			}, "left"},
		{"ignores signals", "trap '' TERM INT HUP QUIT; while :; do sleep 1; done; : MARK", sandbox.Limits{Time: 300 * time.Millisecond},
			func(e sandbox.Exit) bool { return e.Ended == sandbox.EndingTime }, ""},
		{"fills its private /tmp", "head -c 50000000 /dev/zero > /tmp/big", sandbox.Limits{Tmp: 1 << 20},
			func(e sandbox.Exit) bool { return e.Code == 1 }, "No space left"},
		{"fills its home folder", "head -c 50000000 /dev/zero > $HOME/big", sandbox.Limits{Tmp: 1 << 20},
			func(e sandbox.Exit) bool { return e.Code == 1 }, "No space left"},
		{"fills shared memory", "head -c 50000000 /dev/zero > /dev/shm/big", sandbox.Limits{Tmp: 1 << 20},
			func(e sandbox.Exit) bool { return e.Code == 1 }, "No space left"},
		{"fills /dev", "head -c 50000000 /dev/zero > /dev/big", sandbox.Limits{},
			func(e sandbox.Exit) bool { return e.Code != 0 }, "Read-only"},
		{"passes the file size limit", "head -c 50000000 /dev/zero > big", sandbox.Limits{FileSize: 1 << 20},
			func(e sandbox.Exit) bool { return e.Ended == sandbox.EndingSize }, ""},
		{"prints without end", "yes MARK", sandbox.Limits{Output: 1 << 20},
			func(e sandbox.Exit) bool { return e.Ended == sandbox.EndingOutput }, "MARK"},
		{"prints without end on the other stream", "yes MARK >&2", sandbox.Limits{Output: 1 << 20},
			func(e sandbox.Exit) bool { return e.Ended == sandbox.EndingOutput }, "MARK"},
		{"opens 10,000 files", "/usr/bin/python3 -c 'l=[open(\"/dev/null\") for _ in range(10000)]'", sandbox.Limits{OpenFiles: 256},
			func(e sandbox.Exit) bool { return e.Code == 1 }, "Too many open files"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root := project(t)
			mark := "mark" + filepath.Base(filepath.Dir(root))
			c := command(root, strings.ReplaceAll(tt.script, "MARK", mark))
			c.Profile.Limits = tt.limits
			exit, out := try(t, r, c)
			if !tt.exit(exit) || !strings.Contains(out, strings.ReplaceAll(tt.says, "MARK", mark)) {
				t.Errorf("%+v\n%.300s", exit, out)
			}
			tidy(t, root, mark)
			works(t, r, root)
		})
	}
}

// A gigabyte is read to its end where nobody limits it, and nothing of it is kept.
func TestAGigabyteOfOutput(t *testing.T) {
	r, root := newRunner(t), project(t)
	c := command(root, "head -c 1000000000 /dev/zero")
	count := &counter{}
	c.Stdout = count
	if exit, _ := try(t, r, c); exit != (sandbox.Exit{}) || count.n != 1000000000 {
		t.Errorf("%+v, %d bytes", exit, count.n)
	}
	works(t, r, root)
}

type counter struct{ n int64 }

func (c *counter) Write(p []byte) (int, error) { c.n += int64(len(p)); return len(p), nil }

var _ io.Writer = (*counter)(nil)

// An ordinary user cannot start processes without end. The kernel does not hold root to it.
func TestProcessLimit(t *testing.T) {
	if os.Geteuid() == 0 {
		runAsOrdinaryUser(t, "TestProcessLimit")
		return
	}
	r, root := newRunner(t), project(t)
	c := command(root, "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do sleep 100 & done")
	c.Profile.Limits.Processes = 10
	if exit, out := try(t, r, c); exit.Code == 0 || !strings.Contains(out, "fork") {
		t.Errorf("%+v\n%s", exit, out)
	}
	tidy(t, root, root)
	works(t, r, root)
}
