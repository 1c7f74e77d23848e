package main

import (
	"context"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/assent-dev/assent/approval/approvaltest"
	"github.com/assent-dev/assent/store"
)

// BenchmarkAudit is what it takes to look at a log of a million events, each time with a new
// process of the program.
func BenchmarkAudit(b *testing.B) {
	const events = 1_000_000
	state := b.TempDir()
	s, err := store.Open(b.Context(), state, store.Options{})
	if err == nil {
		err = approvaltest.Fill(context.Background(), s, events)
	}
	if err == nil {
		err = s.Close()
	}
	path, built := program()
	if err != nil || built != nil {
		b.Fatal(err, built)
	}
	b.Setenv("XDG_CONFIG_HOME", b.TempDir())
	b.Run("list", func(b *testing.B) {
		took := medianRun(b, path, "audit", "list", "--state", state)
		b.ReportMetric(took.Seconds()*1000, "ms-median")
	})
	b.Run("verify", func(b *testing.B) {
		took := medianRun(b, path, "audit", "verify", "--state", state)
		b.ReportMetric(events/took.Seconds(), "events/s")
	})
}

// medianRun runs a command again and again, and returns how long it takes.
func medianRun(b *testing.B, path string, args ...string) time.Duration {
	b.Helper()
	var all []time.Duration
	for b.Loop() {
		begun := time.Now()
		if out, err := exec.Command(path, args...).CombinedOutput(); err != nil {
			b.Fatalf("%v: %v\n%s", args, err, out)
		}
		all = append(all, time.Since(begun))
	}
	slices.Sort(all)
	return all[len(all)/2]
}
