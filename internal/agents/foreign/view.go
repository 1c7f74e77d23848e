package foreign

import (
	"bytes"
	"fmt"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/tool/roots"
)

// change says in a line, and in full, how a file becomes another.
func change(was file, next []byte) (summary string, view present.View) {
	name := label(was.place)
	switch {
	case !isText(was.data) || !isText(next):
		return fmt.Sprintf("Replace %s (%d bytes, binary)", name, len(next)), binary(next)
	case !was.exists:
		return fmt.Sprintf("Create %s (%d bytes)", name, len(next)), content(file{place: was.place, exists: true, data: next})
	case bytes.Equal(was.data, next):
		return fmt.Sprintf("Edit %s (nothing changes)", name), present.View{Kind: present.Text, Content: "The file has this content already."}
	}
	side := was.place.Name()
	view = present.DiffView(present.Side{Name: side, Text: string(was.data)}, present.Side{Name: side, Text: string(next)})
	return "Edit " + name, view
}

// content shows a file as it is.
func content(f file) present.View {
	switch {
	case !f.exists:
		return present.View{Kind: present.Text, Content: "There is no such file."}
	case !isText(f.data):
		return binary(f.data)
	}
	return present.View{Kind: present.File, Content: string(f.data), Language: strings.TrimPrefix(suffixOf(f.place.Name()), ".")}
}

// hexHead is how much of a binary file is shown.
const hexHead = 256

func binary(data []byte) present.View {
	return present.View{Kind: present.Text, Content: present.HexDump(data[:min(len(data), hexHead)]), Facts: present.Facts{
		present.NumberFact(present.FactSize, int64(len(data))),
		present.TextFact("digest", policy.DigestOf(data).String()),
	}}
}

// problem tells the person why there is nothing better to show.
func problem(err error) present.View {
	return present.View{Kind: present.Text, Content: fmt.Sprintf("What this would change cannot be shown: %v.\nIf you agree, the agent tries it all the same.", err)}
}

func naming(p roots.Place) present.View {
	return present.View{Kind: present.Text, Content: label(p)}
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
