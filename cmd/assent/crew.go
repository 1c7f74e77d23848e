package main

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/crew"
	"github.com/assent-dev/assent/internal/model/providers"
	"github.com/assent-dev/assent/internal/setup"
	"github.com/assent-dev/assent/internal/worker"
)

// crew gathers the workers of a run.
func (f *runFlags) crew(d *desk, stop context.CancelCauseFunc) *crew.Crew {
	all := &crew.Crew{
		Folders: workerFolders(d.Setup), Tools: d.Box, Gate: d.gate, Dependencies: &d.ties, Stop: stop,
		Limits: f.limits(), StopOnDeny: f.stopsOnDeny(d.Setup),
	}
	all.Configure = func(ctx context.Context, file *config.File) (*config.Configuration, error) {
		trusted, err := d.Trusts(ctx, file)
		if err != nil {
			return nil, err
		}
		return d.With(file, trusted || all.Agreed(file))
	}
	all.Model = func(ctx context.Context, of *config.Worker) (worker.Talker, error) {
		t, err := f.openModel(ctx, d.Setup, of)
		return thinking{t, d.status}, err
	}
	return all
}

// workerFolders are where the workers of a run are found by name.
func workerFolders(s *setup.Setup) []string {
	return []string{filepath.Join(s.Dir, "workers"), filepath.Join(s.Places.Config, "workers"), s.Places.Config}
}

// openModel opens the model of a worker: its own, that of the flag, or that of the user. For
// the worker that the person named the flag comes first.
func (f *runFlags) openModel(ctx context.Context, s *setup.Setup, of *config.Worker) (worker.Talker, error) {
	type choice struct{ name, folder string }
	own, flag, user := choice{of.Model, of.Folder}, choice{f.model, s.Dir}, choice{s.User.Model, s.Places.Config}
	choices := []choice{own, flag, user}
	if of == s.Worker {
		choices = []choice{flag, own, user}
	}
	for _, choice := range choices {
		if choice.name == "" {
			continue
		}
		provider, _, _ := strings.Cut(choice.name, ":")
		p := s.User.Providers[provider]
		return providers.Open(ctx, choice.name, providers.Options{
			BaseURL: p.BaseURL, KeyVariable: p.KeyVariable, MaxTokens: p.MaxTokens, Folder: choice.folder,
		})
	}
	return nil, errors.New("it names no model; write model: into its file, give --model, or set model: in your config.yaml")
}
