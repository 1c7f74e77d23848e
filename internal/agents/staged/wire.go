package staged

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
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

// maxComment is how much of a command is repeated in the text that stands for it.
const maxComment = 200

// Text is what an agent runs in place of a command: program is the command line of the one that
// answers hooks, state a state folder that is not assent's own. If the command may go to another
// folder, and the agent's shell remembers its own, that is made to follow. The command itself
// stands behind it as a comment.
func Text(program []string, state, token, command string, moves bool) string {
	call := func(word string) string {
		words := append(append([]string{}, program...), word)
		if state != "" {
			words = append(words, "--state", state)
		}
		words = append(words, token)
		for i, w := range words {
			words[i] = quoted(w)
		}
		return strings.Join(words, " ")
	}
	text := call("exec")
	if moves {
		text += `; set -- $?; cd -- "$(` + call("folder") + `)"; (exit $1)`
	}
	return text + " # " + comment(command)
}

func quoted(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("/._-+=:@", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// comment is a command in a line that no shell takes for anything else, and that an agent which
// looks for substitutions (Gemini CLI refuses them, even in comments) finds none in.
func comment(command string) string {
	line := present.SafeLine(command)
	if runes := []rune(line); len(runes) > maxComment {
		line = string(runes[:maxComment]) + "…"
	}
	return strings.NewReplacer("`", "'", "$(", "$ (", "<(", "< (", ">(", "> (", "${", "$ {").Replace(line)
}
