package auditview

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// layouts are how a time may be written, the most exact first. Without a zone it is local.
var layouts = []string{time.RFC3339Nano, "2006-01-02T15:04:05", time.DateTime, "2006-01-02 15:04", time.DateOnly}

// ParseSince reads a point in the past: how long ago (90m, 2d, 1w), or a time.
func ParseSince(text string, now time.Time) (time.Time, error) { return parseTime(text, now, -1) }

// ParseUntil reads a point in the future: in how long (12h, 30d), or a time.
func ParseUntil(text string, now time.Time) (time.Time, error) {
	t, err := parseTime(text, now, 1)
	if err == nil && !t.After(now) {
		err = fmt.Errorf("%q is over", text)
	}
	return t, err
}

func parseTime(text string, now time.Time, direction int) (time.Time, error) {
	text = strings.TrimSpace(text)
	if d, ok := parseDuration(text); ok {
		return now.Add(time.Duration(direction) * d), nil
	}
	for _, layout := range layouts {
		if t, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is neither a duration, such as 90m, 12h or 30d, nor a time, such as 2026-12-31 or 2026-12-31T18:00:00Z", text)
}

// parseDuration reads what Go reads, and whole days and weeks.
func parseDuration(text string) (time.Duration, bool) {
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return d, true
	}
	for suffix, unit := range map[string]time.Duration{"d": 24 * time.Hour, "w": 7 * 24 * time.Hour} {
		number, ok := strings.CutSuffix(text, suffix)
		if n, err := strconv.ParseUint(number, 10, 16); ok && err == nil && n < 36500 {
			return time.Duration(n) * unit, true
		}
	}
	return 0, false
}
