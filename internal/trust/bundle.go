package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool/command"
)

// A Part is a file of a bundle as it was.
type Part struct {
	Path   string `json:"path"`
	Digest string `json:"digest"`
	// Text is what stood in it, for the diff of a change; empty if it is long or no text.
	Text string `json:"text,omitempty"`
}

// A Bundle is a file that wants to be trusted, with all that it would load or start.
type Bundle struct {
	Path  string // of the file, as it was named
	Parts []Part // the file first; their paths are without symbolic links
}

// maxText is how much of a part is kept for a diff; maxPart the largest part.
const (
	maxText = 64 << 10
	maxPart = 256 << 20
)

// Of returns the bundle of a file, as it is now. The part of the file itself are the bytes
// that were read, whatever stands there by now.
//
// The custom tools of the file are bound to the bundle: whoever trusts it trusts these
// programs, and calls of other ones are blocked.
func Of(f *config.File) (Bundle, error) {
	real, err := filepath.EvalSymlinks(f.Path)
	if err != nil {
		return Bundle{}, err
	}
	b := Bundle{Path: f.Path, Parts: []Part{partOf(real, f.Data)}}
	for _, path := range loads(f) {
		if slices.ContainsFunc(b.Parts, func(p Part) bool { return p.Path == path }) {
			continue
		}
		p, err := readPart(path)
		if err != nil {
			return Bundle{}, fmt.Errorf("%s cannot be trusted: %w", f.Path, err)
		}
		b.Parts = append(b.Parts, p)
	}
	return b, b.bind(f)
}

// bind lets the custom tools of a file run no other programs than those of the bundle.
func (b Bundle) bind(f *config.File) error {
	files := command.Files{}
	for _, p := range b.Parts {
		sum, err := hex.DecodeString(p.Digest)
		if err != nil || len(sum) != sha256.Size {
			return fmt.Errorf("%s: invalid digest %q", p.Path, p.Digest)
		}
		files[p.Path] = policy.Digest(sum)
	}
	f.Policy.Trusted = files
	return nil
}

// loads returns the files that the file would have started or read, sorted.
func loads(f *config.File) []string {
	var out []string
	for _, t := range f.Policy.CustomTools {
		if len(t.Command) > 0 {
			out = append(out, namedBy(t.Command, f.Folder)...)
			continue
		}
		found, err := command.Find(filepath.Join(f.Folder, "tools"), t.Name)
		if err != nil {
			continue // nothing that could be started
		}
		out = append(out, namedBy([]string{found.Program, found.Definition}, f.Folder)...)
	}
	for _, c := range f.Policy.Connectors {
		out = append(out, namedBy(c.Command, f.Folder)...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// namedBy returns the files that the words of a command line name. A program that is looked
// for in PATH is the system's business.
func namedBy(words []string, folder string) []string {
	var out []string
	for i, word := range words {
		if i == 0 && !strings.ContainsRune(word, filepath.Separator) {
			continue
		}
		// If there is no file now and one later, the bundle is another.
		if real, ok := command.Named(word, folder); ok {
			out = append(out, real)
		}
	}
	return out
}

func partOf(path string, data []byte) Part {
	sum := sha256.Sum256(data)
	p := Part{Path: path, Digest: hex.EncodeToString(sum[:])}
	if len(data) <= maxText && utf8.Valid(data) {
		p.Text = string(data)
	}
	return p
}

func readPart(path string) (Part, error) {
	f, err := os.Open(path)
	if err != nil {
		return Part{}, err
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, maxText+1))
	if err != nil {
		return Part{}, err
	}
	if len(head) <= maxText {
		return partOf(path, head), nil
	}
	h := sha256.New()
	h.Write(head)
	n, err := io.Copy(h, io.LimitReader(f, maxPart))
	if err == nil && n == maxPart {
		err = errors.New(path + " is too large")
	}
	return Part{Path: path, Digest: hex.EncodeToString(h.Sum(nil))}, err
}
