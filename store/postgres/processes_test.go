//go:build all && linux

package postgres_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/approval/approvaltest"
	"github.com/assent-dev/assent/internal/pgtest"
	"github.com/assent-dev/assent/internal/reexec"
	"github.com/assent-dev/assent/internal/rounds"
	"github.com/assent-dev/assent/store/postgres"
)

func TestMain(m *testing.M) {
	reexec.Main(map[string]reexec.Role{"answer": answerAll})
	os.Exit(m.Run())
}

// answerAll answers every request that is given after the DSN, from the last or from the first, and prints those that it won.
func answerAll(args []string) error {
	s, err := postgres.Open(context.Background(), args[0], postgres.Options{})
	if err != nil {
		return err
	}
	ids := args[1:]
	for i := range ids {
		id := ids[(i+os.Getpid())%len(ids)]
		p, err := s.Posted(context.Background(), id)
		if err != nil {
			return err
		}
		d := p.Request.Approve("")
		d.By.User = fmt.Sprint("process ", os.Getpid())
		if os.Getpid()%2 == 0 {
			err = s.Answer(context.Background(), d)
		} else {
			err = s.Settle(context.Background(), p.Request, d.Settled())
		}
		switch {
		case err == nil:
			fmt.Println(id)
		case !errors.Is(err, approval.ErrSettled):
			return err
		}
	}
	return s.Close()
}

// Processes answer and settle the same requests at once: each is won exactly once.
func TestOneProcessWinsEachRequest(t *testing.T) {
	dsn := pgtest.Start(t).DSN()
	s := openStore(t, dsn, postgres.Options{})
	requests := approvaltest.Requests(t, rounds.N(40, 200), "s")
	if err := s.Post(t.Context(), requests...); err != nil {
		t.Fatal(err)
	}
	args := []string{dsn}
	for _, r := range requests {
		args = append(args, r.ID)
	}
	var started []*exec.Cmd
	var printed []*bytes.Buffer
	for range rounds.N(6, 32) {
		cmd, out := reexec.Command("answer", args...), new(bytes.Buffer)
		cmd.Stdout, cmd.Stderr = out, os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		started, printed = append(started, cmd), append(printed, out)
	}
	won := map[string]int{}
	for i, cmd := range started {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
		for id := range strings.Lines(printed[i].String()) {
			won[strings.TrimSpace(id)]++
		}
	}
	for _, r := range requests {
		if won[r.ID] != 1 {
			t.Errorf("request %s was won %d times", r.ID, won[r.ID])
		}
	}
}
