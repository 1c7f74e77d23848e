package link

import "time"

// A Status is what the bridge says of itself and of the server, for people.
type Status struct {
	// At is when it said so, Process who.
	At      time.Time `json:"at"`
	Process int       `json:"process"`
	// Away is since when the server cannot be reached, and Why; zero if it can.
	Away time.Time `json:"away,omitzero"`
	Why  string    `json:"why,omitempty"`
	// Waiting is how many questions the server has of this machine. Refused says why it does not take others.
	Waiting int               `json:"waiting"`
	Refused map[string]string `json:"refused,omitempty"`
	// Serial is that of the server's newest bundle, and Bundle why it is not used here, if it is not.
	Serial int64  `json:"serial,omitempty"`
	Bundle string `json:"bundle,omitempty"`
	// Log is why the server does not take records, if it does not.
	Log string `json:"log,omitempty"`
}

// ReadStatus returns what a bridge said last; a zero one if none has.
func ReadStatus(state string) (s Status) {
	load(state, statusName, &s)
	return s
}

// Save keeps it for others.
func (s Status) Save(state string) error { return save(state, statusName, s, false) }
