package files

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"time"
	"unicode/utf8"

	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/roots"
)

//go:embed read.md
var readWords string

// defaultChars is how much is read of a file unless the model says otherwise.
const defaultChars = 200_000

type readArgs struct {
	Path     string `json:"path" jsonschema:"the file, as ROOT/NAME"`
	Offset   int    `json:"offset,omitempty" jsonschema:"how many characters to leave out at the start"`
	MaxChars int    `json:"max_chars,omitempty" jsonschema:"how many characters to return at most; default 200000"`
}

// A readResult is a part of a file. A character is one code point.
type readResult struct {
	Content    string `json:"content"`
	Truncated  bool   `json:"truncated"`
	TotalChars int    `json:"total_chars"`
	Offset     int    `json:"offset"`
	CharsRead  int    `json:"chars_read"`
}

func (t *toolset) read(ctx context.Context, in readArgs) (tool.Action, error) {
	if in.Offset < 0 || in.MaxChars < 0 {
		return tool.Action{}, errors.New("offset and max_chars must not be negative")
	}
	if in.MaxChars == 0 {
		in.MaxChars = defaultChars
	}
	p, err := t.roots.Resolve(in.Path)
	if err != nil {
		return tool.Action{}, err
	}
	need := needs{{place: p, access: roots.AccessRead}}
	if need.blocked() {
		return need.refused()
	}
	s, err := t.existing(ctx, p)
	if err != nil {
		return doomed(p, err)
	}
	do := func(context.Context) (any, error) {
		if s.binary() {
			return nil, fmt.Errorf("%s: it is not text in UTF-8 but %s of %s", p.Name(), contentType(s.data), bytesWord(len(s.data)))
		}
		return part(string(s.data), in.Offset, in.MaxChars), nil
	}
	return need.on(tool.Free(do)).Seeing(s.digest()).
		Titled("Read from " + label(p)).
		Showing(func(context.Context) (present.View, error) { return showFile(p, s), nil }), nil
}

// part cuts from a text what was asked for.
func part(text string, offset, limit int) readResult {
	total := utf8.RuneCountInString(text)
	from := skip(text, offset)
	to := from + skip(text[from:], limit)
	read := utf8.RuneCountInString(text[from:to])
	return readResult{
		Content: text[from:to], Truncated: to < len(text),
		TotalChars: total, Offset: offset, CharsRead: read,
	}
}

// skip returns how many bytes the first n characters take.
func skip(text string, n int) int {
	for i := range text {
		if n == 0 {
			return i
		}
		n--
	}
	return len(text)
}

//go:embed info.md
var infoWords string

type infoArgs struct {
	Path string `json:"path" jsonschema:"the file or folder, as ROOT/NAME"`
}

type infoResult struct {
	Path     string    `json:"path"`
	LeadsTo  string    `json:"leads_to,omitempty"` // what a link resolves to
	Kind     string    `json:"kind"`               // file, folder or special
	Size     int64     `json:"size"`
	Modified time.Time `json:"modified,omitzero"`
}

func (t *toolset) info(ctx context.Context, in infoArgs) (tool.Action, error) {
	p, err := t.roots.Resolve(in.Path)
	if err != nil {
		return tool.Action{}, err
	}
	e, overlaid, err := overlayOf(ctx).at(p)
	need := needs{{place: p, access: roots.AccessRead, folder: e.folder ||
		!overlaid && p.Info != nil && p.Info.IsDir()}}
	if need.blocked() {
		return need.refused()
	}
	var result infoResult
	switch {
	case err != nil:
		return doomed(p, err)
	case overlaid && e.exists():
		result = e.info()
	case overlaid, p.Info == nil:
		return doomed(p, errMissing)
	default:
		result = diskInfo(p.Info)
	}
	result.Path = p.Name()
	if resolved := p.Resolved(); resolved != p.Name() {
		result.LeadsTo = resolved
	}
	do := func(context.Context) (any, error) { return result, nil }
	const told = "The agent is told what kind of file this is, its size and when it was changed."
	view := present.View{Kind: present.KindText, Content: told}
	return need.on(tool.Free(do)).Titled("Look at " + label(p)).ShowingView(view), nil
}

// info tells about what an earlier call of the turn would leave.
func (e overlaid) info() infoResult {
	if e.folder {
		return infoResult{Kind: "folder"}
	}
	return infoResult{Kind: "file", Size: int64(len(e.state.data))}
}

func diskInfo(info fs.FileInfo) infoResult {
	r := infoResult{Kind: kind(info), Modified: info.ModTime().UTC()}
	if info.Mode().IsRegular() {
		r.Size = info.Size()
	}
	return r
}

// kind says in a word what lies at a place.
func kind(info fs.FileInfo) string {
	switch {
	case info.IsDir():
		return "folder"
	case info.Mode().IsRegular():
		return "file"
	}
	return "special"
}
