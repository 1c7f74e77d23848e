package foreign

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/tool/files"
	"github.com/assent-dev/assent/tool/roots"
)

// A judge judges what other agents do with files.
type judge struct{ opts Options }

// maxFile is the largest file that is looked at for a diff.
const maxFile = 16 << 20

// A file is what lies at a place: nothing, or its bytes.
type file struct {
	place  roots.Place
	exists bool
	data   []byte
}

// at finds the place of a path of the host.
func (f judge) at(path string) (roots.Place, error) {
	p, _, err := f.opts.Roots.ResolveHost(path)
	return p, err
}

// look returns the file at a path. It is opened where links lead, and only if it is a
// file: a pipe would hold us.
func (f judge) look(path string) (file, error) {
	p, err := f.at(path)
	if err != nil {
		return file{}, err
	}
	found := file{place: p}
	if p.Info == nil {
		return found, nil
	}
	if !p.Info.Mode().IsRegular() {
		return found, fmt.Errorf("%s is not a file", p.Name())
	}
	h, err := os.OpenFile(p.Key(), os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return found, nil
	}
	if err != nil {
		return found, fmt.Errorf("%s: %w", p.Name(), roots.Plain(err))
	}
	defer h.Close()
	info, err := h.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return found, fmt.Errorf("%s is not a file", p.Name())
	}
	found.exists = true
	found.data, err = io.ReadAll(io.LimitReader(h, maxFile+1))
	if err == nil && len(found.data) > maxFile {
		err = fmt.Errorf("%s is larger than %d bytes", p.Name(), maxFile)
	}
	return found, err
}

// changing tells which files would change.
func (f judge) changing(list ...files.Foreseen) {
	if f.opts.Changing != nil {
		f.opts.Changing(list)
	}
}

// becomes is a file that becomes another; an error is why it is not known what it becomes.
func becomes(p roots.Place, next []byte, err error) files.Foreseen {
	return files.Foreseen{Place: p, Next: next, Known: err == nil}
}

// goes is a file that is removed.
func goes(p roots.Place) files.Foreseen { return files.Foreseen{Place: p, Gone: true} }

// stateOf binds an answer to files as they were shown.
func stateOf(found ...file) policy.Digest {
	h := sha256.New()
	for _, f := range found {
		fmt.Fprintf(h, "%t %d\n", f.exists, len(f.data))
		h.Write(f.data)
	}
	return policy.Digest(h.Sum(nil))
}

// denied reports whether something else than the roots denies to read a place.
func (f judge) denied(ctx context.Context, p roots.Place) bool {
	return f.opts.Denied != nil && f.opts.Denied(ctx, p.Act(roots.AccessRead))
}

// change says in a line, and in full, how a file becomes another.
func change(was file, next []byte) (summary string, view present.View) {
	name := label(was.place)
	switch {
	case !isText(was.data) || !isText(next):
		return fmt.Sprintf("Replace %s (%d bytes, binary)", name, len(next)), binary(next)
	case !was.exists:
		return fmt.Sprintf("Create %s (%d bytes)", name, len(next)),
			content(file{place: was.place, exists: true, data: next})
	case bytes.Equal(was.data, next):
		return fmt.Sprintf("Edit %s (nothing changes)", name),
			present.View{Kind: present.KindText, Content: "The file has this content already."}
	}
	side := was.place.Name()
	view = present.DiffView(present.Side{Name: side, Text: string(was.data)},
		present.Side{Name: side, Text: string(next)})
	return "Edit " + name, view
}

// content shows a file as it is.
func content(f file) present.View {
	switch {
	case !f.exists:
		return present.View{Kind: present.KindText, Content: "There is no such file."}
	case !isText(f.data):
		return binary(f.data)
	}
	return present.View{Kind: present.KindFile, Content: string(f.data),
		Language: strings.TrimPrefix(suffixOf(f.place.Name()), ".")}
}

// hexHead is how much of a binary file is shown.
const hexHead = 256

func binary(data []byte) present.View {
	return present.View{Kind: present.KindText, Content: present.HexDump(data[:min(len(data), hexHead)]),
		Facts: present.Facts{
			present.NumberFact(present.FactSize, int64(len(data))),
			present.TextFact("digest", policy.DigestOf(data).String()),
		}}
}

// problem tells the person why there is nothing better to show.
func problem(err error) present.View {
	return present.View{Kind: present.KindText, Content: fmt.Sprintf("What this would change cannot be shown: "+
		"%v.\nIf you agree, the agent tries it all the same.", err)}
}

func naming(p roots.Place) present.View {
	return present.View{Kind: present.KindText, Content: label(p)}
}

// label names a place for a person, with what it leads to if it is a link.
func label(p roots.Place) string {
	if resolved := p.Resolved(); resolved != p.Name() {
		return p.Name() + " → " + resolved
	}
	return p.Name()
}

func isText(data []byte) bool { return utf8.Valid(data) && bytes.IndexByte(data, 0) < 0 }

func suffixOf(name string) string { return strings.ToLower(path.Ext(name)) }
