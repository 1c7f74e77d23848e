package launch

import (
	"bytes"
	"strconv"
)

// A Stat is a part of what Linux says of a process in its stat file.
type Stat struct {
	Name                   string // what it calls itself: anything
	State                  byte
	Parent, Group, Session int
}

// Ended reports whether it does nothing any more but to be waited for.
func (s Stat) Ended() bool { return s.State == 'Z' || s.State == 'X' }

// ParseStat reads a stat file: PID (NAME) STATE PARENT GROUP SESSION …
func ParseStat(text []byte) (s Stat, ok bool) {
	begin, end := bytes.IndexByte(text, '('), bytes.LastIndexByte(text, ')') // a name may have both
	if begin < 0 || end < begin {
		return s, false
	}
	s.Name = string(text[begin+1 : end])
	fields := bytes.Fields(text[end+1:])
	if len(fields) < 4 || len(fields[0]) != 1 {
		return s, false
	}
	s.State = fields[0][0]
	for i, n := range []*int{&s.Parent, &s.Group, &s.Session} {
		var err error
		if *n, err = strconv.Atoi(string(fields[i+1])); err != nil {
			return s, false
		}
	}
	return s, true
}
