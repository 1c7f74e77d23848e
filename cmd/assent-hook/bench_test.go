package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/store"
)

const (
	benchRules  = 100
	benchEvents = 1_000_000
	benchRounds = 200
)

// BenchmarkHook starts the program 200 times, and /bin/true between: the median from
// process start to verdict, and how many times that of a program which does nothing; the
// same to the end of the process, when the record is on the disk too.
func BenchmarkHook(b *testing.B) {
	top := b.TempDir()
	program := build(b, top)
	seed(b, filepath.Join(top, "state", "assent"))
	event := `{"session_id":"s","cwd":"` + top + `","hook_event_name":"PreToolUse","tool_name":"Bash","tool_use_id":"t","tool_input":{"command":"git status && ls -la"}}`
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + top, "XDG_STATE_HOME=" + filepath.Join(top, "state"), "XDG_CONFIG_HOME=" + filepath.Join(top, "config")}
	for b.Loop() {
		var verdicts, hooks, nothings []time.Duration
		for range benchRounds {
			verdict, hook := timed(b, exec.Command(program, "claude-code"), env, event, `"allow"`)
			_, nothing := timed(b, exec.Command("/bin/true"), env, "", "")
			verdicts, hooks, nothings = append(verdicts, verdict), append(hooks, hook), append(nothings, nothing)
		}
		b.ReportMetric(float64(median(verdicts).Microseconds())/1000, "ms/verdict")
		b.ReportMetric(float64(median(verdicts))/float64(median(nothings)), "x-true")
		b.ReportMetric(float64(median(hooks).Microseconds())/1000, "ms/process")
		b.ReportMetric(float64(median(hooks))/float64(median(nothings)), "process-x-true")
	}
}

// noted is what a program writes, and when it last did.
type noted struct {
	text bytes.Buffer
	at   time.Time
}

func (n *noted) Write(data []byte) (int, error) {
	n.at = time.Now()
	return n.text.Write(data)
}

// timed runs a program, and returns when it had written its answer, and when it ended.
func timed(b *testing.B, c *exec.Cmd, env []string, in, want string) (answered, ended time.Duration) {
	b.Helper()
	var out noted
	var errs bytes.Buffer
	c.Env, c.Stdin, c.Stdout, c.Stderr = env, strings.NewReader(in), &out, &errs
	began := time.Now()
	err := c.Run()
	ended = time.Since(began)
	if err != nil || !strings.Contains(out.text.String(), want) {
		b.Fatalf("%v: %s%s", err, out.text.String(), errs.String())
	}
	return out.at.Sub(began), ended
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}

// seed fills a store with rules and events.
func seed(b *testing.B, state string) {
	b.Helper()
	s, err := store.Open(b.Context(), state, store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	rules := make([]policy.Rule, benchRules)
	for i := range rules {
		if rules[i], err = policy.ParseRule(fmt.Sprintf("allow shell(tool%d run)", i)); err != nil {
			b.Fatal(err)
		}
		rules[i].ID = fmt.Sprint("r", i)
	}
	if err := s.AddRules(b.Context(), rules...); err != nil {
		b.Fatal(err)
	}
	var wait sync.WaitGroup
	for range 512 { // who record together are committed together
		wait.Go(func() {
			for range benchEvents / 512 {
				e := approval.Event{Kind: approval.EventEnded, At: time.Now(), Session: "old", Tool: "shell", State: policy.StateFree, Stage: approval.StageReleased}
				if err := s.Record(b.Context(), e); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wait.Wait()
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
}
