package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/google/jsonschema-go/jsonschema"
)

// A Worker is an agent's definition: a policy, and what the agent is.
type Worker struct {
	*Policy
	// Name is how others call it.
	Name        string
	Description string
	// Instructions are what the model is told.
	Instructions string
	// Model is such as anthropic:NAME; empty leaves it to the user's config.
	Model string
	// MaxSteps limits the turns of a run; 0 leaves it to the program.
	MaxSteps int
	// AllowWorkers are the names of the workers that it may call, "*" for all.
	AllowWorkers []string
	Attachments  AttachmentPolicy
	// InputSchema and OutputSchema are JSON schemas; empty takes anything.
	InputSchema, OutputSchema json.RawMessage
	// Manual are the tools that the model never sees.
	Manual []string
	// Locked says that no worker may replace the file.
	Locked bool
	// Folder is where the file lies: tools/ is beside it.
	Folder string
}

// The suffixes of files that define workers.
const (
	workerSuffix = ".worker"
	plainSuffix  = ".yaml"
)

// LoadWorker reads the definition of a worker: front matter and a body if the file is
// called NAME.worker, else plain YAML. Relative paths are relative to folder. The error, if
// any, is of type [Problems] and has them all.
func LoadWorker(file string, data []byte, folder string) (*Worker, error) {
	r := &report{file: file, folder: folder}
	front, body, err := splitWorker(file, data)
	if err != nil {
		return nil, err
	}
	root, err := r.parse(front)
	if err != nil {
		return nil, err
	}
	o := r.object(root, "the file", workerShape)
	w := r.worker(o, body)
	w.Policy, w.Folder = r.policy(o), folder
	if err := r.err(); err != nil {
		return nil, err
	}
	return w, nil
}

func (r *report) worker(o *object, body string) *Worker {
	base := filepath.Base(r.file)
	w := &Worker{Name: strings.TrimSuffix(base, filepath.Ext(base)), Attachments: DefaultAttachments}
	for key, into := range map[string]*string{"name": &w.Name, "description": &w.Description, "model": &w.Model} {
		if n, ok := o.take(key); ok {
			*into = r.text(n, key)
		}
	}
	if !ValidWorkerName(w.Name) {
		at, ok := o.take("name")
		if !ok {
			at = o.node
		}
		r.problem(at, "invalid worker name %q: write name: with letters, digits, - and _", w.Name)
	}
	w.Instructions = r.instructions(o, body)
	if n, ok := o.take("max_steps"); ok {
		if w.MaxSteps = int(min(r.count(n, "max_steps"), 1<<30)); w.MaxSteps == 0 {
			r.problem(n, "max_steps must be at least 1")
		}
	}
	if n, ok := o.take("allow_workers"); ok {
		w.AllowWorkers = r.allowWorkers(n)
	}
	if n, ok := o.take("attachment_policy"); ok {
		w.Attachments = r.attachments(n)
	}
	w.InputSchema, w.OutputSchema = o.jsonSchema("input_schema"), o.jsonSchema("output_schema")
	w.Manual = valueAt(o, "manual", r.texts, "manual")
	w.Locked = valueAt(o, "locked", r.bool, "locked")
	return w
}

// instructions are the body of the file, or the key.
func (r *report) instructions(o *object, body string) string {
	n, ok := o.take("instructions")
	if !ok {
		return body
	}
	if body != "" {
		r.problem(n, "instructions are given here and below the front matter; keep one")
	}
	return r.text(n, "instructions")
}

// allowWorkers reads a list of names, or "*".
func (r *report) allowWorkers(n ast.Node) []string {
	names := []string{}
	if _, alone := n.(*ast.StringNode); alone {
		names = append(names, r.text(n, "allow_workers"))
	} else {
		names = append(names, r.texts(n, "allow_workers")...)
	}
	for _, name := range names {
		if name != "*" && !ValidWorkerName(name) {
			r.problem(n, "allow_workers: invalid worker name %q: use letters, digits, - and _", name)
		}
	}
	return names
}

// MayCall reports whether the worker may call the one of that name.
func (w *Worker) MayCall(name string) bool {
	return slices.Contains(w.AllowWorkers, "*") || slices.Contains(w.AllowWorkers, name)
}

// ValidWorkerName reports whether a worker can have the name: it is one plain word, and
// never a path.
func ValidWorkerName(name string) bool {
	return name != "" && len(name) <= 100 && !strings.ContainsFunc(name, notInName) && !strings.HasPrefix(name, "-")
}

// jsonSchema reads a schema that anything may be checked against.
func (o *object) jsonSchema(key string) json.RawMessage {
	n, ok := o.take(key)
	if !ok {
		return nil
	}
	data := o.json(n, key)
	var s jsonschema.Schema
	err := json.Unmarshal(data, &s)
	if err == nil {
		_, err = s.Resolve(nil)
	}
	if data != nil && err != nil {
		o.problem(n, "%s is not a JSON schema: %v", key, err)
	}
	return data
}

const fence = "---"

// splitWorker takes the file of a worker apart. NAME.worker has YAML between two lines of
// ---, and the instructions below; any other is all YAML. The YAML keeps its lines, so that
// problems are found where they are.
func splitWorker(file string, data []byte) (front []byte, body string, err error) {
	if filepath.Ext(file) != workerSuffix {
		return data, "", nil
	}
	wrong := func(line int, text string) error {
		return Problems{{File: file, Line: line, Column: 1, Text: text}}
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	first, rest, _ := bytes.Cut(data, []byte("\n"))
	if !isFence(first) {
		return nil, "", wrong(1, "a worker file begins with a line of ---, then YAML, then another ---, then the "+
			"instructions")
	}
	front = []byte("\n") // for the first line
	for len(rest) > 0 {
		line, more, _ := bytes.Cut(rest, []byte("\n"))
		if isFence(line) {
			return front, strings.TrimSpace(string(more)), nil
		}
		front = append(append(front, line...), '\n')
		rest = more
	}
	return nil, "", wrong(bytes.Count(front, []byte("\n")), "the front matter does not end; write a line of --- below it")
}

// JoinWorker puts together what splitWorker takes apart.
func JoinWorker(file string, front []byte, body string) []byte {
	if filepath.Ext(file) != workerSuffix {
		return front
	}
	return []byte(fence + "\n" + string(front) + fence + "\n" + body + "\n")
}

func isFence(line []byte) bool { return string(bytes.TrimRight(line, " \t\r")) == fence }

// An AttachmentPolicy says which files may be handed over with a message.
type AttachmentPolicy struct {
	MaxAttachments int
	MaxTotalBytes  int64
	// Allowed are the endings that are taken; none means any. Denied are not taken,
	// whatever Allowed says.
	Allowed, Denied []string
}

// DefaultAttachments is what a worker that says nothing takes.
var DefaultAttachments = AttachmentPolicy{MaxAttachments: 4, MaxTotalBytes: 10_000_000}

func (r *report) attachments(n ast.Node) AttachmentPolicy {
	o := r.object(n, "attachment_policy", attachmentShape)
	p := DefaultAttachments
	if n, ok := o.take("max_attachments"); ok {
		p.MaxAttachments = int(min(r.count(n, "max_attachments"), 1<<30))
	}
	if n, ok := o.take("max_total_bytes"); ok {
		p.MaxTotalBytes = r.count(n, "max_total_bytes")
	}
	if n, ok := o.take("allowed_suffixes"); ok {
		p.Allowed = r.suffixes(n, "attachment_policy")
	}
	if n, ok := o.take("denied_suffixes"); ok {
		p.Denied = r.suffixes(n, "attachment_policy")
	}
	return p
}

// Check reports why these files cannot be handed over together. Names and sizes are of the
// same length.
func (p AttachmentPolicy) Check(names []string, sizes []int64) error {
	if len(names) > p.MaxAttachments {
		return fmt.Errorf("%d attachments; at most %d are accepted", len(names), p.MaxAttachments)
	}
	total := int64(0)
	for i, name := range names {
		total += sizes[i]
		if hasSuffix(name, p.Denied) || len(p.Allowed) > 0 && !hasSuffix(name, p.Allowed) {
			return fmt.Errorf("attachment %s: files with this suffix are not accepted", name)
		}
	}
	if total > p.MaxTotalBytes {
		return fmt.Errorf("the attachments have %d bytes in total; at most %d are accepted", total, p.MaxTotalBytes)
	}
	return nil
}

func hasSuffix(name string, suffixes []string) bool {
	for _, s := range suffixes {
		if strings.HasSuffix(strings.ToLower(name), strings.ToLower(s)) {
			return true
		}
	}
	return false
}
