package bwrap

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/assent-dev/assent/internal/rounds"
	"github.com/assent-dev/assent/sandbox"
)

func TestNoLeftovers(t *testing.T) {
	leaveNothing(t)
	if os.Geteuid() == 0 {
		runAsOrdinaryUser(t, "TestNoLeftovers")
	}
}

// leaveNothing ends commands in every way that there is and looks for what they leave.
func leaveNothing(t *testing.T) {
	r, root := newRunner(t), project(t)
	mark := "mark" + filepath.Base(filepath.Dir(root))
	background := "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do setsid sh -c 'sleep 300; : " + mark + "' & done; "
	ways := map[string]func(){
		"success": func() { silently(t, r, command(root, background+"true"), 0) },
		"failure": func() { silently(t, r, command(root, background+"exit 3"), 3) },
		"timeout": func() {
			c := command(root, background+"sleep 300")
			c.Profile.Limits.Time = 30 * time.Millisecond
			if exit, err := sandbox.Run(t.Context(), r, c); err == nil && exit.Ended != sandbox.EndingTime {
				t.Errorf("%+v", exit)
			}
		},
		"cancel": func() {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Duration(rand.IntN(30))*time.Millisecond, cancel)
			if exit, err := sandbox.Run(ctx, r, command(root, background+"sleep 300")); err == nil && exit.Ended != sandbox.EndingCancelled {
				t.Errorf("%+v", exit)
			}
		},
	}
	for name, way := range ways {
		for range rounds.N(3, 100) {
			way()
			tidy(t, root, mark)
			if t.Failed() {
				t.Fatalf("after %s", name)
			}
		}
	}
}

// silently runs a command whose streams nobody holds: only its end says that it is gone.
func silently(t *testing.T, r *Runner, c sandbox.Command, code int) {
	t.Helper()
	if exit, err := sandbox.Run(t.Context(), r, c); err != nil || exit.Code != code {
		t.Errorf("%+v, %v", exit, err)
	}
}

func TestKilledPrograms(t *testing.T) {
	killPrograms(t)
	if os.Geteuid() == 0 {
		runAsOrdinaryUser(t, "TestKilledPrograms")
	}
}

// killPrograms kills programs with -9, once their command runs and at any moment before.
func killPrograms(t *testing.T) {
	root := project(t)
	mark := "mark" + filepath.Base(filepath.Dir(root))
	for i := range rounds.N(6, 200) {
		cmd, out := startVictim(t, root, "/bin/sh", "-c", "echo runs; (setsid sh -c 'sleep 300; : "+mark+"' &) ; sleep 300; : "+mark)
		if i%2 == 0 {
			if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || strings.TrimSpace(line) != "runs" {
				t.Fatalf("%q, %v", line, err)
			}
		} else {
			<-time.After(time.Duration(rand.IntN(40)) * time.Millisecond)
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, out)
		_ = cmd.Wait() // it was killed
		eventually(t, fmt.Sprintf("round %d: everything of a killed program is gone", i), func() string {
			left, err := os.ReadDir(root)
			if err != nil {
				return err.Error()
			}
			if processes := slices.Concat(withWord(t, mark), withWord(t, root)); len(left)+len(processes) > 0 {
				return fmt.Sprint(left, processes)
			}
			return ""
		})
	}
	tidy(t, root, mark)
}
