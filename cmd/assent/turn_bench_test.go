package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/model"
	"github.com/assent-dev/assent/internal/runs"
	"github.com/assent-dev/assent/internal/setup"
	"github.com/assent-dev/assent/internal/setup/open"
	"github.com/assent-dev/assent/internal/worker"
	"github.com/assent-dev/assent/tool"
)

// BenchmarkTurn is what loop and gate cost for a run of one turn of ten free calls with the
// scripted model: all in memory, and with the real store.
func BenchmarkTurn(b *testing.B) {
	text := "turns:\n  - calls:\n" + strings.Repeat("      - {tool: nothing, args: {a: 1, b: two}}\n", 10)
	script, err := model.ParseScript("bench.yaml", []byte(text))
	if err != nil {
		b.Fatal(err)
	}
	nothing := tool.Func("nothing", "Does nothing.", func(_ context.Context, in struct {
		A int    `json:"a"`
		B string `json:"b"`
	}) (string, error) {
		return fmt.Sprint(in.A, in.B), nil
	})
	run := func(b *testing.B, gate *tool.Gate) {
		b.ReportAllocs()
		for b.Loop() {
			r := &worker.Run{Talker: script, Gate: gate, Workers: []string{"bench"}}
			round, err := r.Say(b.Context(), worker.Message{Text: "Go on."})
			if err != nil || len(round.Steps[0].Results) != 10 || round.Steps[0].Results[9].Err != nil {
				b.Fatal(err, round)
			}
		}
	}
	b.Run("store=memory", func(b *testing.B) {
		memory := approval.NewMemory(0)
		gate, err := tool.Guard(approval.Config{Rules: memory, Grants: memory}, nothing)
		if err != nil {
			b.Fatal(err)
		}
		run(b, gate)
	})
	b.Run("store=sqlite", func(b *testing.B) {
		b.Setenv("XDG_CONFIG_HOME", b.TempDir())
		s, err := setup.Named(b.Context(), "", filepath.Join(b.TempDir(), "state"))
		if err != nil {
			b.Fatal(err)
		}
		d, err := runs.Open(b.Context(), s, open.Order{Use: open.Run}, 0, nil)
		if err != nil {
			b.Fatal(err)
		}
		defer d.Close()
		gate, err := d.Guard([]string{"bench"}, config.Rules{}, []tool.Tool{nothing})
		if err != nil {
			b.Fatal(err)
		}
		run(b, gate)
	})
}
