package staged

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/assent-dev/assent/policy"
)

// Version changes with the messages. A keeper of another version is not spoken to.
const Version = 2

// A Message is one of those that are sent; exactly one field is set, besides Version in the first.
type Message struct {
	Version int       `json:"version,omitempty"`
	Ask     *Question `json:"ask,omitempty"`
	Verdict *Verdict  `json:"verdict,omitempty"`
	Run     string    `json:"run,omitempty"`    // a token; the descriptors of the output come with it
	Signal  int       `json:"signal,omitempty"` // for the command that runs
	Ended   *Ended    `json:"ended,omitempty"`
	Folder  string    `json:"folder,omitempty"` // a token; the answer is a path
	Leave   bool      `json:"leave,omitempty"`  // the agent's session has ended
	Error   string    `json:"error,omitempty"`
}

// A Question asks the keeper about a command.
type Question struct {
	Call policy.Call `json:"call"` // with its command, and the folder as an absolute path
	// Folder is where the call came from, for the record.
	Folder string `json:"folder"`
	// Person, if not empty, is why only a person may allow it.
	Person string `json:"person,omitempty"`
	// Prompt says that the question can be left to the agent's own prompt, if no inbox is open;
	// PromptPerson that this holds for one that only a person may answer, and no mode of the agent.
	Prompt       bool `json:"prompt,omitempty"`
	PromptPerson bool `json:"prompt_person,omitempty"`
	// Inbox says that an open inbox may be asked, and Wait for how long.
	Inbox bool          `json:"inbox,omitempty"`
	Wait  time.Duration `json:"wait,omitempty"`
	// Defer says that a call may wait for its answer beyond the end of the agent's run; Saved is
	// one that did.
	Defer bool            `json:"defer,omitempty"`
	Saved json.RawMessage `json:"saved,omitempty"`
}

// A Verdict is what the keeper says about a command.
type Verdict struct {
	// Token stands for the call, if it may run.
	Token string `json:"token,omitempty"`
	// Prompt says that the agent's own prompt is to ask first.
	Prompt bool `json:"prompt,omitempty"`
	// Saved is a call that was put aside.
	Saved  json.RawMessage `json:"saved,omitempty"`
	Reason string          `json:"reason"`
	// Moves says that the command may go to another folder.
	Moves bool `json:"moves,omitempty"`
}

// Ended is how a command ended.
type Ended struct {
	Status int `json:"status"`
	// Note is for who reads the output; may have several lines.
	Note string `json:"note,omitempty"`
}

// maxMessage is the longest message that is read.
const maxMessage = 64 << 20

// encode returns the message as it is sent.
func encode(m Message) ([]byte, error) {
	data, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	if len(data) > maxMessage {
		return nil, fmt.Errorf("a message of %d bytes is too long", len(data))
	}
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(data))), data...), nil
}

// Write sends a message.
func Write(w io.Writer, m Message) error {
	data, err := encode(m)
	if err != nil {
		return err
	}
	_, err = w.Write(data)
	return err
}

// Read receives a message. It returns [io.EOF] only between messages.
func Read(r io.Reader) (m Message, err error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return m, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > maxMessage {
		return m, fmt.Errorf("a message of %d bytes is too long", n)
	}
	data := make([]byte, n)
	if _, err := io.ReadFull(r, data); err != nil {
		return m, errors.Join(io.ErrUnexpectedEOF, err)
	}
	return m, json.Unmarshal(data, &m)
}
