package model_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/assent-dev/assent/internal/model"
	"github.com/assent-dev/assent/internal/worker"
)

func TestPausesGrowUpToTheLongest(t *testing.T) {
	var waits []time.Duration
	r := model.Retry{Attempts: 6, First: time.Second, Longest: 5 * time.Second, Wait: func(_ context.Context, d time.Duration) error {
		waits = append(waits, d)
		return nil
	}}
	_, err := r.Turn(t.Context(), nil, func(context.Context) (worker.Turn, error) {
		return worker.Turn{}, &model.Fault{Kind: model.FaultServer, Text: "no"}
	})
	if err == nil || len(waits) != 5 {
		t.Fatalf("waits %v, error %v", waits, err)
	}
	for i, most := range []time.Duration{1, 2, 4, 5, 5} {
		if most *= time.Second; waits[i] > most || waits[i] < most/2 {
			t.Errorf("wait %d is %v, want at most %v and at least half of it", i+1, waits[i], most)
		}
	}
}

func TestOnlyWhatPassesIsTriedAgain(t *testing.T) {
	for kind, tries := range map[model.FaultKind]int{
		model.FaultLimit: 2, model.FaultServer: 2, model.FaultBroken: 2,
		model.FaultKey: 1, model.FaultModel: 1, model.FaultRequest: 1, model.FaultQuota: 1,
		model.FaultUnreachable: 1, model.FaultCut: 1, model.FaultRefused: 1, "": 1,
	} {
		tried := 0
		r := model.Retry{Attempts: 2, Wait: func(context.Context, time.Duration) error { return nil }}
		_, err := r.Turn(t.Context(), nil, func(context.Context) (worker.Turn, error) {
			tried++
			return worker.Turn{Calls: []worker.Call{{ID: "1"}}}, &model.Fault{Kind: kind}
		})
		if tried != tries || err == nil {
			t.Errorf("%q was tried %d times, want %d; error %v", kind, tried, tries, err)
		}
	}
}

func TestACancelEndsTheWaiting(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	_, err := model.Retry{First: time.Hour, Longest: time.Hour}.Turn(ctx, nil, func(context.Context) (worker.Turn, error) {
		defer time.AfterFunc(0, func() { cancel(enough) })
		return worker.Turn{}, &model.Fault{Kind: model.FaultServer}
	})
	if err != enough {
		t.Errorf("error %v", err)
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		name, value string
		want        time.Duration
	}{
		{"Retry-After", "7", 7 * time.Second},
		{"Retry-After", "0.5", 500 * time.Millisecond},
		{"Retry-After-Ms", "250", 250 * time.Millisecond},
		{"Retry-After", "Fri, 01 May 2026 12:01:00 GMT", time.Minute},
		{"Retry-After", "Fri, 01 May 2026 11:00:00 GMT", 0},
		{"Retry-After", "-3", 0},
		{"Retry-After", "NaN", 0},
		{"Retry-After", "1e300", 365 * 24 * time.Hour},
		{"Retry-After", "soon", 0},
		{"Other", "7", 0},
	} {
		h := http.Header{}
		h.Set(tt.name, tt.value)
		if got := model.RetryAfter(h, now); got != tt.want {
			t.Errorf("%s: %s is %v, want %v", tt.name, tt.value, got, tt.want)
		}
	}
}
