package refusal

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/assent-dev/assent/sandbox"
)

// Tripped says what the kernel seems to have refused to a command behind its wall that the
// policy would let it do: then the command does something that it was not judged to do. The
// kernel tells nobody what it refused, so this is read from what the command printed, and a
// command that prints nothing about it is not noticed.
func Tripped(policy sandbox.Profile, behind sandbox.Profile, f Facts) []string {
	var out []string
	add := func(what string) {
		if !slices.Contains(out, what) && len(out) < maxRefusals {
			out = append(out, what)
		}
	}
	for line := range strings.Lines(f.Output) {
		line = strings.TrimSpace(line)
		denied := strings.Contains(line, "ermission denied")
		if !denied && !strings.Contains(line, "ead-only file system") {
			continue
		}
		if name := startOf(line); denied && f.Exit == 126 && name != "" && behind.Wall.Programs != nil {
			add("starting " + name)
			continue
		}
		for _, file := range named(line, f.Dir) {
			if policy.At(file) == sandbox.ModeReadWrite && (policy.GitWrite || !guarded(file)) && !f.writes(file) {
				add("changing " + file)
			}
		}
	}
	return out
}

// writes reports whether the command was known to write a file.
func (f Facts) writes(file string) bool {
	return slices.Contains(f.Named, Named{Path: file, Write: true})
}

// startOf returns the program that a shell could not start, from its message.
func startOf(line string) string {
	rest, ok := strings.CutSuffix(line, ": Permission denied")
	if !ok {
		return ""
	}
	if i := strings.LastIndex(rest, ": "); i >= 0 {
		rest = rest[i+2:]
	}
	if strings.ContainsAny(rest, " '\"") {
		return ""
	}
	return rest
}

// quoted finds what programs put into quotes, and what stands before their last words.
var quoted = regexp.MustCompile("['\"`‘“]([^'\"`’”]+)['\"`’”]|([^ :]+): (?:[Pp]ermission denied|[Rr]ead-only file system)")

// named returns the paths that a message is about.
func named(line, dir string) []string {
	var out []string
	for _, m := range quoted.FindAllStringSubmatch(line, maxMentioned) {
		file := m[1] + m[2]
		if !path.IsAbs(file) {
			file = path.Join(dir, file)
		}
		out = append(out, path.Clean(file))
	}
	return out
}
