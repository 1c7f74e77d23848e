package auditview

import (
	"testing"
	"time"
)

func TestTimes(t *testing.T) {
	now := time.Date(2026, time.January, 2, 15, 4, 5, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"90m": now.Add(-90 * time.Minute), "2d": now.AddDate(0, 0, -2), "1w": now.AddDate(0, 0, -7), " 0s ": now,
		"2025-12-31": time.Date(2025, 12, 31, 0, 0, 0, 0, time.UTC), "2025-12-31 18:30": time.Date(2025, 12, 31, 18, 30, 0, 0, time.UTC),
		"2025-12-31T18:00:00+01:00": time.Date(2025, 12, 31, 17, 0, 0, 0, time.UTC),
	} {
		if got, err := parseSince(text, now); err != nil || !got.Equal(want) {
			t.Errorf("since %s: %v, %v, want %v", text, got, err, want)
		}
	}
	if got, err := ParseUntil("30d", now); err != nil || !got.Equal(now.AddDate(0, 0, 30)) {
		t.Errorf("until 30d: %v, %v", got, err)
	}
	for _, bad := range []string{"", "yesterday", "-1h", "1.5d", "99999d", "d", "2026-13-01"} {
		if got, err := parseSince(bad, now); err == nil {
			t.Errorf("%q is %v", bad, got)
		}
	}
	for _, over := range []string{"2025-12-31", "0s"} {
		if got, err := ParseUntil(over, now); err == nil {
			t.Errorf("%q is %v, and over", over, got)
		}
	}
}
