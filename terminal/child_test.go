package terminal

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/reexec"
	"github.com/assent-dev/assent/policy"
)

// panicEnv says where the child panics: in an update or in a command of the program that
// draws the prompt.
const panicEnv = "ASSENT_TERM_PANIC"

// childEnviron panics, if it is to, when a pager is looked for.
func childEnviron(name string) string {
	if name == "PAGER" && os.Getenv(panicEnv) == "update" {
		panic("the environment is broken")
	}
	return os.Getenv(name)
}

type panicCoverer struct{}

func (panicCoverer) Covers(context.Context, *approval.Request, approval.Decision) []*approval.Request {
	panic("the gate is broken")
}

func TestMain(m *testing.M) {
	reexec.Main(map[string]reexec.Role{"child": reexec.Exits(child)})
	maxTokenise = time.Minute // on a busy machine too, what is drawn is the same
	flag.Parse()
	os.Exit(m.Run())
}

// child is a tiny program that asks about the calls it is told, and prints how each ended on
// standard output.
func child(cases []string) int {
	fmt.Fprintln(os.Stderr, "earlier output")
	memory := approval.NewMemory(0)
	asker := NewWith(Config{Grants: memory, Wide: wideBash, Status: NewStatus(os.Stderr, nil), Getenv: childEnviron})
	n := 0
	gate, err := approval.New(approval.Config{
		Preparer: fakeTool(prepare), Clock: time.Now, Session: "s", Approver: asker, Rules: memory, Grants: memory,
		NewID: func() string { n++; return fmt.Sprint("id", n) },
	})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	asker.Use(gate)
	if os.Getenv(panicEnv) == "command" {
		asker.Use(panicCoverer{})
	}
	ctx := context.Background()
	batch := gate.Review(ctx, calls(cases)...)
	withdrawOnSignal(batch)
	gate.Ask(ctx, batch)
	for _, o := range batch.Outcomes() {
		fmt.Printf("%s %s note=%q\n", o.Call.ID, o.State, o.Note())
	}
	switch err := asker.Err(); {
	case errors.Is(err, ErrStopped), errors.Is(err, ErrInterrupted):
		fmt.Println(err)
		return 3
	}
	fmt.Fprintln(os.Stderr, "later output")
	return 0
}

func calls(cases []string) []policy.Call {
	var out []policy.Call
	for _, c := range cases {
		out = append(out, callOf(c))
	}
	return out
}

// withdrawOnSignal answers the first request from elsewhere when SIGUSR1 comes.
func withdrawOnSignal(b *approval.Batch) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGUSR1)
	go func() {
		<-signals
		d := b.Pending()[0].Deny("from elsewhere")
		d.By = policy.Who{User: "bob", Via: policy.ViaInbox}
		_ = b.Resolve(context.Background(), d)
	}()
}
