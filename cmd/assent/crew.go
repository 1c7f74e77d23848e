package main

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/crew"
	"github.com/assent-dev/assent/internal/model/providers"
	"github.com/assent-dev/assent/internal/trust"
	"github.com/assent-dev/assent/internal/worker"
)

// crew gathers the workers of a run.
func (f *runFlags) crew(w *prepared, d *desk, stop context.CancelCauseFunc) *crew.Crew {
	all := &crew.Crew{
		Folders: []string{filepath.Join(w.cwd, "workers"), filepath.Join(w.places.Config, "workers"), w.places.Config},
		Box:     w.boxOptions(), Denied: d.denied, Gate: d.gate, Ties: &d.ties, Stop: stop,
		Limits: f.limits(), StopOnDeny: f.stopsOnDeny(w),
	}
	known := trust.Folder(filepath.Join(w.state, "trust"))
	all.Configure = func(ctx context.Context, file *config.File) (*config.Configuration, error) {
		state, err := standingOf(ctx, known, file)
		if err != nil {
			return nil, err
		}
		return w.configure(file, state == trust.Trusted || all.Agreed(file))
	}
	all.Model = func(ctx context.Context, of *config.Worker) (worker.Talker, error) {
		t, err := f.openModel(ctx, w, of)
		return thinking{t, d.status}, err
	}
	return all
}

// openModel opens the model of a worker: its own, that of the flag, or that of the user. For
// the worker that the person named the flag comes first.
func (f *runFlags) openModel(ctx context.Context, w *prepared, of *config.Worker) (worker.Talker, error) {
	type choice struct{ name, folder string }
	own, flag, user := choice{of.Model, of.Folder}, choice{f.model, w.cwd}, choice{w.cfg.User.Model, w.places.Config}
	choices := []choice{own, flag, user}
	if of == w.cfg.Worker {
		choices = []choice{flag, own, user}
	}
	for _, choice := range choices {
		if choice.name == "" {
			continue
		}
		provider, _, _ := strings.Cut(choice.name, ":")
		p := w.cfg.User.Providers[provider]
		return providers.Open(ctx, choice.name, providers.Options{
			BaseURL: p.BaseURL, KeyVariable: p.KeyVariable, MaxTokens: p.MaxTokens, Folder: choice.folder,
		})
	}
	return nil, errors.New("it names no model; write model: into its file, give --model, or set model: in your config.yaml")
}
