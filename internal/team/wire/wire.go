package wire

import (
	"encoding/json"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
)

// LongestWait is how long the server holds a call that waits for news.
const LongestWait = 25 * time.Second

// A Join makes a machine a member.
type Join struct {
	// Token was made by an administrator, works once and not for long.
	Token string `json:"token"`
	// Public is the machine's Ed25519 key. Host and User say for people which machine it is.
	Public []byte `json:"public"`
	Host   string `json:"host"`
	User   string `json:"user"`
}

// Joined is what a machine is from then on.
type Joined struct {
	Tenant  string `json:"tenant"`
	Gate    string `json:"gate"`
	Sponsor string `json:"sponsor"`
	// Team is what people call the team.
	Team string `json:"team"`
}

// A Signed is a question as its gate signed it.
type Signed struct {
	// Request is the JSON of an [approval.Request] with its view and its routing, byte for byte.
	Request   json.RawMessage `json:"request"`
	Signature []byte          `json:"signature"`
}

// Taken says which questions the server has now, and why it does not take others.
type Taken struct {
	Requests []string          `json:"requests"`
	Refused  map[string]string `json:"refused,omitempty"`
}

// An Ended is a question that needs no answer from the team any more, or, with [policy.StatePending], one whose
// answer had no effect at the gate and that waits on.
type Ended struct {
	Request string       `json:"request"`
	State   policy.State `json:"state"`
	// Why says why an answer had no effect, and Heard up to which number the machine had heard of answers then. A call
	// that is sent again later says nothing about an answer that came since.
	Why   string `json:"why,omitempty"`
	Heard int64  `json:"heard,omitempty"`
	// By is who answered, if somebody did at the machine.
	By policy.Who `json:"by,omitzero"`
}

// News is what has happened since a cursor.
type News struct {
	// Cursor is to be given with the next call.
	Cursor int64 `json:"cursor"`
	// Serial is that of the newest bundle.
	Serial  int64    `json:"serial"`
	Answers []Answer `json:"answers,omitempty"`
}

// An Answer is what the votes on a request amount to, with the votes themselves: whoever reads it counts
// again.
type Answer struct {
	Request string          `json:"request"`
	State   policy.State    `json:"state"`
	Votes   []approval.Vote `json:"votes,omitempty"`
	// Decision is what the voters agreed to, without note, proof and votes. Note has all notes.
	Decision *approval.Decision `json:"decision,omitempty"`
	Note     string             `json:"note,omitempty"`
}

// Records are rows of a machine's log, in their order and without a gap.
type Records struct {
	Stream string   `json:"stream"`
	Rows   []Record `json:"rows"`
}

// A Record is one row of a log as the machine chained it: Hash is that of [audit.Chain] over Prev, Numbers,
// Texts and Body.
type Record struct {
	Seq     int64    `json:"seq"`
	Prev    []byte   `json:"prev"`
	Hash    []byte   `json:"hash"`
	Numbers []int64  `json:"numbers,omitempty"`
	Texts   []string `json:"texts,omitempty"`
	Body    []byte   `json:"body"`
}

// Kept says up to which record the server has the log; what comes before may go at the machine.
type Kept struct {
	Stream string `json:"stream"`
	Seq    int64  `json:"seq"`
	Hash   []byte `json:"hash"`
}

// A Problem is an error in words, as RFC 9457 has it.
type Problem struct {
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail,omitempty"`
}
