package crew

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/worker"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/roots"
)

// A shareKey is a file and who is to get it.
type shareKey struct{ path, worker string }

// expand puts a call of share_file in front of every worker_call for each of its files. A
// call that cannot work anyway asks for no file.
func (m *Member) expand(calls []worker.Call) []worker.Call {
	m.turn.reset()
	m.crew.Dependencies.forget(m.Chain)
	var out []worker.Call
	for _, c := range calls {
		if c.Tool == policy.ActWorkerCall && c.Connector == "" && c.ID != "" {
			out = append(out, m.parts(c)...)
		}
		out = append(out, c)
	}
	return out
}

func (m *Member) parts(c worker.Call) []worker.Call {
	var args callArgs
	if json.Unmarshal(c.Arguments, &args) != nil {
		return nil
	}
	if d, err := m.delegation(args, nil); err != nil || d.blocked != "" {
		return nil
	}
	var out []worker.Call
	for i, file := range args.Attachments {
		data, err := json.Marshal(shareArgs{Path: file, Worker: args.Worker})
		if err != nil {
			return nil
		}
		id := partID(c.ID, i+1)
		m.turn.expect(shareKey{file, args.Worker}, id)
		out = append(out, worker.Call{ID: id, Tool: policy.ActShareFile, Arguments: data})
	}
	return out
}

type shareArgs struct {
	Path   string `json:"path"`
	Worker string `json:"worker"`
}

// shareTool is the tool behind the sub-calls of worker_call. No model is shown it.
func (m *Member) shareTool() tool.Tool {
	return tool.FuncAction(policy.ActShareFile, "Shares a file with a worker; worker_call does so for its attachments.",
		m.prepareShare)
}

func (m *Member) prepareShare(_ context.Context, in shareArgs) (tool.Action, error) {
	key := shareKey{in.Path, in.Worker}
	if len(m.turn.ids(key)) == 0 {
		return tool.Action{}, fmt.Errorf("%s cannot be called by a model; "+
			"name the files as attachments of %s", policy.ActShareFile, policy.ActWorkerCall)
	}
	f, err := m.attachment(in.Path)
	if err != nil {
		return tool.Action{}, err
	}
	read := f.place.Act(roots.AccessRead)
	share := read
	share.Name, share.Target = policy.ActShareFile, read.Target.SharedWith(in.Worker)
	if read.Verdict != policy.VerdictBlock {
		read.Verdict, read.Why, read.Cause = policy.VerdictFree, "covered by sharing it", 1
	}
	do := func(context.Context) (any, error) {
		m.turn.give(key, policy.DigestOf(f.Data))
		return fmt.Sprintf("%s is shared with %s", f.Name, in.Worker), nil
	}
	return tool.Ask(do).On(share, read).Seeing(policy.DigestOf(f.Data)).
		Titled(fmt.Sprintf("Share %s (%s) with %s", f.label(), sizeWord(len(f.Data)), in.Worker)).
		Showing(func(context.Context) (present.View, error) { return f.view(), nil }), nil
}

// A file is an attachment where it lies.
type file struct {
	worker.Attachment
	place roots.Place
	asked string // the name as the worker wrote it
}

// label names the file for a person, with what it leads to if it is a link.
func (f file) label() string {
	if resolved := f.place.Resolved(); resolved != f.Name {
		return f.Name + " → " + resolved
	}
	return f.Name
}

// attachment finds a file that a worker names and reads it. What it leads to is what
// counts.
func (m *Member) attachment(name string) (file, error) {
	wrong := func(format string, args ...any) (file, error) {
		return file{}, fmt.Errorf("attachment %q: %s", name, fmt.Sprintf(format, args...))
	}
	if strings.HasPrefix(name, "/") || strings.HasPrefix(name, "~") || slices.Contains(strings.Split(name, "/"), "..") {
		return wrong("write it as ROOT/NAME, below one of your roots")
	}
	p, err := m.Box.Roots.Resolve(name)
	if err != nil {
		return wrong("%v", err)
	}
	if p.Info == nil || !p.Info.Mode().IsRegular() {
		return wrong("there is no such file")
	}
	limit := m.Worker.Attachments.MaxTotalBytes
	root, rel := p.Handle()
	f, err := root.Open(rel)
	if err != nil {
		return wrong("it cannot be read")
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	switch {
	case err != nil:
		return wrong("it cannot be read")
	case int64(len(data)) > limit:
		return wrong("it is larger than %d bytes, which is what may be handed over together", limit)
	}
	return file{worker.Attachment{Name: p.Name(), MediaType: mediaType(p.Name(), data), Data: data}, p, name}, nil
}

// mediaType says what a file is, by its content; text by its ending.
func mediaType(name string, data []byte) string {
	if kind, known := texts[strings.ToLower(path.Ext(name))]; known {
		return kind
	}
	return http.DetectContentType(data)
}

var texts = map[string]string{".md": "text/markdown", ".json": "application/json", ".csv": "text/csv",
	".yaml": "application/yaml"}

// view shows the file, as far as it is text.
func (f file) view() present.View {
	facts := present.Facts{present.NumberFact(present.FactSize, int64(len(f.Data))),
		present.TextFact("type", f.MediaType)}
	if utf8.Valid(f.Data) && !slices.Contains(f.Data, 0) {
		return present.View{Kind: present.KindFile, Content: string(f.Data), Facts: facts}
	}
	digest := policy.DigestOf(f.Data).String()
	return present.View{Kind: present.KindText, Content: "This is not text. Its digest is " + digest + ".", Facts: facts}
}

// sizeWord says how large something is, as people do.
func sizeWord(n int) string {
	switch {
	case n == 1:
		return "1 byte"
	case n < 1000:
		return fmt.Sprintf("%d bytes", n)
	case n < 1_000_000:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}

// Attach reads files of this machine that a person hands to a worker.
func Attach(w *config.Worker, files ...string) ([]worker.Attachment, error) {
	var out []worker.Attachment
	var sizes []int64
	for _, name := range files {
		info, err := os.Stat(name)
		if err != nil {
			return nil, err
		}
		if !info.Mode().IsRegular() || info.Size() > w.Attachments.MaxTotalBytes {
			return nil, fmt.Errorf("%s is not a file, or is larger than the %d bytes that %s accepts", name,
				w.Attachments.MaxTotalBytes, w.Name)
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		out = append(out, worker.Attachment{Name: filepath.Base(name), MediaType: mediaType(name, data), Data: data})
		sizes = append(sizes, int64(len(data)))
	}
	return out, w.Attachments.Check(files, sizes)
}
