package terminal

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/assent-dev/assent/approval"
)

// A draft is what a person edits: a file that only they can read, and the editor.
type draft struct {
	request *approval.Request
	path    string
	before  []byte
	command *exec.Cmd
}

// newDraft writes the argument that may be edited as text, or all arguments as JSON, to a
// temporary file.
func (w *work) newDraft(r *approval.Request) (*draft, error) {
	content, suffix, err := draftContent(r)
	if err != nil {
		return nil, err
	}
	editor := cmp.Or(strings.TrimSpace(w.cfg.Getenv("VISUAL")), strings.TrimSpace(w.cfg.Getenv("EDITOR")), "vi")
	f, err := os.CreateTemp("", "assent-*"+suffix) // made with mode 0600
	if err != nil {
		return nil, fmt.Errorf("creating a file to edit: %w", err)
	}
	_, err = f.Write(content)
	if err := errors.Join(err, f.Close()); err != nil {
		os.Remove(f.Name())
		return nil, fmt.Errorf("creating a file to edit: %w", err)
	}
	d := &draft{request: r, path: f.Name(), before: content}
	d.command = w.program(editor, d.path)
	d.command.Stdin, d.command.Stdout, d.command.Stderr = w.cfg.In, w.cfg.Out, w.cfg.Out
	return d, nil
}

// draftContent returns what is edited, and the suffix that tells an editor what it is.
func draftContent(r *approval.Request) (content []byte, suffix string, err error) {
	if value, ok := editedText(r); ok {
		return []byte(value), plainSuffix(r.Edit.Suffix), nil
	}
	var b bytes.Buffer
	if err := json.Indent(&b, r.Call.Arguments, "", "  "); err != nil {
		return nil, "", fmt.Errorf("the arguments cannot be edited: %w", err)
	}
	b.WriteByte('\n')
	return b.Bytes(), ".json", nil
}

// editedText returns the one argument that is edited as text, if there is one.
func editedText(r *approval.Request) (value string, ok bool) {
	var args map[string]json.RawMessage
	if r.Edit.Argument == "" || json.Unmarshal(r.Call.Arguments, &args) != nil {
		return "", false
	}
	err := json.Unmarshal(args[r.Edit.Argument], &value)
	return value, err == nil
}

// plainSuffix returns the suffix if it is nothing but one: it becomes part of a path.
func plainSuffix(s string) string {
	if len(s) > 16 || strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") != "" {
		return ""
	}
	return s
}

// readDraft reads the file back, after the editor ended with err, and removes it.
func (w *work) readDraft(d *draft, err error) editedEvent {
	defer os.Remove(d.path)
	e := editedEvent{id: d.request.ID, at: w.cfg.Clock()}
	if err != nil {
		e.err = fmt.Errorf("the editor failed, so nothing was changed: %w", err)
		return e
	}
	after, err := os.ReadFile(d.path)
	if err != nil {
		e.err = fmt.Errorf("reading the edited file: %w", err)
		return e
	}
	if !bytes.Equal(after, d.before) {
		e.arguments, e.err = changedArguments(d.request, after)
	}
	return e
}

// changedArguments returns the arguments with what was edited in them.
func changedArguments(r *approval.Request, after []byte) (json.RawMessage, error) {
	if _, ok := editedText(r); !ok {
		if !json.Valid(after) {
			return nil, errors.New("the edited text is not JSON, so nothing was changed")
		}
		return after, nil
	}
	var args map[string]json.RawMessage
	if err := json.Unmarshal(r.Call.Arguments, &args); err != nil {
		return nil, err
	}
	value, err := json.Marshal(string(after))
	if err != nil {
		return nil, err
	}
	args[r.Edit.Argument] = value
	return json.Marshal(args)
}
