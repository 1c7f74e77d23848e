package files

import (
	"fmt"
	"path"
	"strings"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/tool/roots"
)

// hexHead is how much of a binary file is shown.
const hexHead = 256

// A shown change is how a change is put to a person: in a line, and in full.
type shown struct {
	summary string
	view    present.View
}

// showChange shows how a file becomes another.
func showChange(p roots.Place, was, next state) shown {
	switch {
	case was.unreadable() || next.unreadable():
		return shown{fmt.Sprintf("%s %s (%s, binary)", verb(was), label(p), bytesWord(len(next.data))) +
			was.meta.remark(), binaryView(was, next)}
	case !was.exists:
		return shown{fmt.Sprintf("Create %s (%s)", label(p), measure(next)), fileView(p, next)}
	case was.same(next):
		view := present.View{Kind: present.KindText, Content: "The file has this content already."}
		return shown{fmt.Sprintf("Edit %s (nothing changes)", label(p)), view}
	}
	view := present.DiffView(present.Side{Name: p.Name(), Text: string(was.data)},
		present.Side{Name: p.Name(), Text: string(next.data)})
	return shown{fmt.Sprintf("Edit %s (%s)", label(p), lineStats(view)) + was.meta.remark(), view}
}

func verb(was state) string {
	if was.exists {
		return "Replace"
	}
	return "Create"
}

// lineStats reads from a diff how many lines it adds and removes.
func lineStats(v present.View) present.LineStats {
	added, _ := v.Facts.Get(present.FactAdded)
	removed, _ := v.Facts.Get(present.FactRemoved)
	a, _ := added.Number()
	r, _ := removed.Number()
	return present.LineStats{Added: int(a), Removed: int(r)}
}

// showFile shows a file as it is, for a read or a delete.
func showFile(p roots.Place, s state) present.View {
	if s.unreadable() {
		return binaryView(state{}, s)
	}
	return fileView(p, s)
}

func fileView(p roots.Place, s state) present.View {
	return present.View{
		Kind: present.KindFile, Content: string(s.data), Language: language(p.Name()),
		Facts: present.Facts{
			present.NumberFact(present.FactSize, int64(len(s.data))),
			present.NumberFact(present.FactLines, int64(s.lines())),
		},
	}
}

// binaryView shows what can be shown of a file that is no text.
func binaryView(was, s state) present.View {
	facts := present.Facts{
		present.TextFact("type", contentType(s.data)),
		present.NumberFact(present.FactSize, int64(len(s.data))),
		present.TextFact("digest", policy.DigestOf(s.data).String()),
	}
	if was.exists {
		facts = append(facts,
			present.NumberFact(present.FactOldSize, int64(len(was.data))),
			present.TextFact("old_digest", policy.DigestOf(was.data).String()))
	}
	head := s.data[:min(len(s.data), hexHead)]
	if len(head) < len(s.data) {
		facts = append(facts, present.FlagFact(present.FactTruncated, true),
			present.NumberFact(present.FactFullSize, int64(len(s.data))))
	}
	return present.View{Kind: present.KindText, Content: present.HexDump(head), Facts: facts}
}

// label names a place for a person, with what it leads to if it is a link.
func label(p roots.Place) string {
	if resolved := p.Resolved(); resolved != p.Name() {
		return p.Name() + " → " + resolved
	}
	return p.Name()
}

// measure says how long a file is.
func measure(s state) string {
	return fmt.Sprintf("%s, %s", bytesWord(len(s.data)), plural(s.lines(), "line"))
}

func bytesWord(n int) string { return plural(n, "byte") }

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// languages are the names that highlighters know, by suffix.
var languages = map[string]string{
	"go": "go", "py": "python", "js": "javascript", "ts": "typescript", "tsx": "tsx", "jsx": "jsx",
	"md": "markdown", "json": "json", "yaml": "yaml", "yml": "yaml", "toml": "toml", "sh": "bash",
	"html": "html", "css": "css", "rs": "rust", "c": "c", "h": "c", "cc": "c++", "cpp": "c++", "hpp": "c++",
	"java": "java", "rb": "ruby", "sql": "sql", "xml": "xml", "php": "php", "kt": "kotlin", "swift": "swift",
	"tf": "terraform", "ini": "ini", "diff": "diff", "patch": "diff", "mk": "makefile", "lua": "lua",
	"proto": "protobuf",
}

func language(name string) string {
	switch strings.ToLower(path.Base(name)) {
	case "makefile":
		return "makefile"
	case "dockerfile":
		return "docker"
	}
	return languages[suffix(name)]
}

// suffix returns the ending of a name in lower case, without its dot.
func suffix(name string) string {
	return strings.ToLower(strings.TrimPrefix(path.Ext(name), "."))
}

// magics tell types of binary files by how they begin.
var magics = []struct{ head, name string }{
	{"\x89PNG\r\n", "image/png"}, {"\xff\xd8\xff", "image/jpeg"}, {"GIF8", "image/gif"},
	{"RIFF", "RIFF (image, sound or video)"},
	{"%PDF-", "application/pdf"}, {"PK\x03\x04", "zip archive or office document"}, {"\x1f\x8b", "gzip"},
	{"BZh", "bzip2"}, {"\xfd7zXZ", "xz"}, {"\x28\xb5\x2f\xfd", "zstd"}, {"\x7fELF", "ELF program"},
	{"\xcf\xfa\xed\xfe", "Mach-O program"}, {"MZ", "Windows program"}, {"SQLite format 3\x00", "SQLite database"},
	{"\x00asm", "WebAssembly"}, {"wOF2", "font"}, {"OggS", "Ogg sound"}, {"ID3", "MP3 sound"},
}

func contentType(data []byte) string {
	for _, m := range magics {
		if strings.HasPrefix(string(data[:min(len(data), 16)]), m.head) {
			return m.name
		}
	}
	return "binary data"
}
