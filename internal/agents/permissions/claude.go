package permissions

import (
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/assent-dev/assent/internal/agents/settings"
)

// A claudeEntry is one of permissions.deny or permissions.ask that is about the shell, or about
// files that a command may touch.
type claudeEntry struct {
	verdict Verdict
	said    string // "permissions.deny has "Bash(rm:*)" in FILE"
	tool    string // Bash, Read or Edit
	matches func(text string) bool
	prefix  []string // the words that a command has if it matches
	files   pathPattern
}

// claude reads what Claude Code 2.1 has in its files and flags.
func (r reader) claude() (judges, error) {
	var entries []claudeEntry
	add := func(file string, top map[string]any) error {
		if box, _ := top["sandbox"].(map[string]any); box["enabled"] == true {
			return fmt.Errorf("%s: sandbox.enabled is true: Claude Code's own sandbox applies more of its lists, "+
				"and a command that assent runs would not be in it", file)
		}
		for verdict, name := range []string{Deny: "deny", Ask: "ask"} {
			listed, err := permissionList(top, file, name)
			if err != nil {
				return err
			}
			for _, text := range listed {
				e, about, err := r.claudeEntry(text, file)
				if err != nil {
					return fmt.Errorf("%s: permissions.%s: %w", file, name, err)
				}
				if about {
					e.verdict, e.said = Verdict(verdict), fmt.Sprintf("permissions.%s has %q in %s", name, text, file)
					entries = append(entries, e)
				}
			}
		}
		return nil
	}
	for _, f := range r.claudeFiles() {
		top, err := r.object(f.Path)
		if err == nil {
			err = add(f.Path, top)
		}
		if err != nil {
			return judges{}, err
		}
	}
	for _, p := range r.chain {
		if isClaude(p.Args) {
			if err := r.claudeFlags(p.Args, add); err != nil {
				return judges{}, fmt.Errorf("in the flags of Claude Code: %w", err)
			}
		}
	}
	return judges{
		command: func(c *commands, at folders) (Verdict, string) { return judgeClaude(entries, c, at) },
		hides: func(path string) bool {
			return slices.ContainsFunc(entries, func(e claudeEntry) bool {
				return e.tool == "Read" && e.verdict == Deny && e.files.matches(path)
			})
		},
	}, nil
}

// claudeFiles are all that Claude Code reads settings from. What its maker's server said for an organization
// is kept in a file too.
func (r reader) claudeFiles() []settings.File {
	said := filepath.Join(r.target.UserFolder(r.Surroundings), "remote-settings.json")
	return append(r.target.Files(r.Surroundings), settings.File{Scope: settings.Managed, Path: said})
}

// permissionList is the list permissions.NAME of a file; nil if it has none.
func permissionList(top map[string]any, file, name string) ([]string, error) {
	if top["permissions"] == nil {
		return nil, nil
	}
	return texts(top, file, "permissions", name)
}

// isClaude reports whether a command line is that of Claude Code, alone or as a script.
func isClaude(args []string) bool {
	for _, arg := range args[:min(3, len(args))] {
		if strings.HasPrefix(path.Base(arg), "claude") || strings.Contains(arg, "claude-code") {
			return true
		}
	}
	return false
}

// claudeFlags reads the flags that add to the lists.
func (r reader) claudeFlags(args []string, add func(string, map[string]any) error) error {
	for i := 1; i < len(args); i++ {
		name, value, given := strings.Cut(args[i], "=")
		next := func() string {
			if !given && i+1 < len(args) {
				i++
				return args[i]
			}
			return value
		}
		switch name {
		case "--settings", "--managed-settings":
			text := next()
			file := "the flag " + name
			top, err := map[string]any(nil), error(nil)
			if strings.HasPrefix(strings.TrimSpace(text), "{") {
				top, err = settings.Decode([]byte(text))
			} else {
				if file = text; !filepath.IsAbs(file) {
					file = filepath.Join(r.Folder, file)
				}
				top, err = r.object(file)
			}
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			if err := add(file, top); err != nil {
				return err
			}
		case "--disallowedTools", "--disallowed-tools":
			var names []any
			for values := []string{next()}; ; {
				for _, v := range values {
					for _, entry := range listed(v) {
						names = append(names, entry)
					}
				}
				if given || i+1 >= len(args) || strings.HasPrefix(args[i+1], "-") {
					break
				}
				i++
				values = []string{args[i]}
			}
			if err := add("the flag "+name, map[string]any{"permissions": map[string]any{"deny": names}}); err != nil {
				return err
			}
		}
	}
	return nil
}

// listed are the entries of a text, with commas or spaces between them outside parentheses.
func listed(text string) (out []string) {
	depth, from := 0, 0
	for i := 0; i <= len(text); i++ {
		if i == len(text) || depth == 0 && (text[i] == ',' || text[i] == ' ') {
			if part := strings.TrimSpace(text[from:i]); part != "" {
				out = append(out, part)
			}
			from = i + 1
			continue
		}
		switch text[i] {
		case '(':
			depth++
		case ')':
			depth = max(0, depth-1)
		}
	}
	return out
}

var (
	toolEntry = pattern(`(?s)^([A-Z*][A-Za-z0-9_*]*|mcp__[^()]*)(?:\((.*)\))?$`)
	// parameter is the form of an entry that is about an argument of the tool other than the command.
	parameter = pattern(`^(command|description|timeout|run_in_background|dangerouslyDisableSandbox)\s*:`)
)

// claudeEntry reads an entry. About says that it is about commands, or about files.
func (r reader) claudeEntry(entry, file string) (e claudeEntry, about bool, err error) {
	unknown := func(why string) (claudeEntry, bool, error) {
		return e, false, fmt.Errorf("invalid entry %q: %s; correct it, or take it out", entry, why)
	}
	m := toolEntry().FindStringSubmatch(entry)
	if m == nil {
		return unknown("it must be a tool, or TOOL(TEXT)")
	}
	tool, text, bare := m[1], m[2], !strings.Contains(entry, "(")
	switch {
	case tool == "Bash" || strings.Contains(tool, "*") && wild(tool)("Bash"):
		e.tool = "Bash"
		switch {
		case bare, text == "*":
			e.matches = func(string) bool { return true }
		case strings.TrimSpace(text) == "" || text == ":*":
			return unknown("it names no command")
		case parameter().MatchString(text) && !strings.HasSuffix(text, ":*"):
			return unknown("assent does not know entries about this argument of the tool")
		default:
			e.matches = claudePattern(text)
			before, _, _ := strings.Cut(strings.TrimSuffix(text, ":*"), "*")
			e.prefix = strings.Fields(before)
		}
		return e, true, nil
	case tool == "Monitor" && !bare && text != "*":
		return unknown("assent does not know how it is compared with the command, which would be replaced")
	case slices.Contains([]string{"Read", "Grep", "Glob"}, tool):
		e.tool = "Read"
	case slices.Contains([]string{"Edit", "Write", "MultiEdit", "NotebookEdit"}, tool):
		e.tool = "Edit"
	default:
		return e, false, nil
	}
	if bare || text == "*" { // it takes the tool itself away, and nothing from commands
		return e, false, nil
	}
	e.files, err = newPathPattern(text, r.Home, r.Folder, r.dir, filepath.Dir(filepath.Dir(file)))
	if err != nil {
		return unknown(err.Error())
	}
	return e, true, nil
}

// claudePattern is what the text of an entry for commands matches: the words before :* as a
// prefix, any text for *, else the whole command.
func claudePattern(text string) func(string) bool {
	text = strings.TrimSpace(text)
	if prefix, ok := strings.CutSuffix(text, ":*"); ok {
		if !strings.Contains(prefix, "*") {
			prefix = normal(prefix)
			return func(s string) bool { s = normal(s); return s == prefix || strings.HasPrefix(s, prefix+" ") }
		}
		text = prefix + " *"
	}
	if !strings.Contains(text, "*") {
		text = normal(strings.ReplaceAll(text, `\`, ""))
		return func(s string) bool { return normal(strings.ReplaceAll(s, `\`, "")) == text }
	}
	return wild(normal(text))
}

// normal has one space between words.
func normal(s string) string { return strings.Join(strings.Fields(s), " ") }

// wild matches a text in which * stands for anything. A space and a star at the end stand for
// nothing, too.
func wild(pattern string) func(string) bool {
	tail := ""
	if rest, ok := strings.CutSuffix(pattern, " *"); ok {
		pattern, tail = rest, `(?: .*)?`
	}
	parts := strings.Split(pattern, "*")
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	re := regexp.MustCompile(`(?s)^` + strings.Join(parts, ".*") + tail + `$`)
	return func(s string) bool { return re.MatchString(normal(s)) }
}

func judgeClaude(entries []claudeEntry, c *commands, at folders) (Verdict, string) {
	f := finding{verdict: None}
	for _, e := range entries {
		if e.tool != "Bash" {
			e.judgeFiles(&f, c, at)
			continue
		}
		named := func(s command) bool { return slices.ContainsFunc(s.names(), e.matches) }
		if slices.ContainsFunc(c.texts, e.matches) || slices.ContainsFunc(c.simple, named) {
			f.add(e.verdict, "%s", e.said)
		}
		if slices.ContainsFunc(c.simple, func(s command) bool { return len(s.words) > 0 && s.perhaps(e.prefix) }) {
			f.add(Ask, "some of its words are unknown before it runs, and %s", e.said)
		}
	}
	if c.err != nil && len(entries) > 0 {
		f.add(Ask, "the command cannot be split into its parts (%v), and %s", c.err, entries[0].said)
	}
	return f.verdict, f.why
}

// Programs, by what Claude Code makes of an entry for a file that they name. Of the others, which
// it does not know, the person is asked.
var (
	readers = strings.Fields(`cat head tail sed grep egrep fgrep zgrep rg awk gawk mawk nawk base64 cut sort uniq tr nl
		od xxd hexdump file strings md5sum sha1sum sha256sum sha512sum cksum diff diff3 sdiff jq yq stat ls cp mv wc
		cmp comm paste join tac rev column fold fmt expand unexpand numfmt pr tsort look find cd`)
	writers = strings.Fields("cp mv rm rmdir mkdir touch tee")
	// naming take the name of a file as a text.
	naming = strings.Fields("echo printf test [ true false : export type which")
)

// judgeFiles adds what an entry for files means for a command.
func (e claudeEntry) judgeFiles(f *finding, c *commands, at folders) {
	dirs := c.folders(at)
	hit := func(words []word) bool {
		return slices.ContainsFunc(words, func(w word) bool {
			return slices.ContainsFunc(c.paths(w, dirs, at), e.files.matches)
		})
	}
	for _, s := range c.simple {
		program := s.program()
		redirected, known, harmless := s.reads, slices.Contains(readers, program) ||
			program == "git" && len(s.words) > 1 && s.words[1].text == "diff", slices.Contains(naming, program)
		if e.tool == "Edit" {
			changes := program == "sed" && slices.ContainsFunc(s.words, func(w word) bool {
				short := strings.HasPrefix(w.text, "-") && !strings.HasPrefix(w.text, "--")
				return strings.HasPrefix(w.text, "--in") || short && strings.Contains(w.text, "i")
			})
			redirected, known = s.writes, slices.Contains(writers, program) || changes
			harmless = harmless || !known && slices.Contains(readers, program)
		}
		if hit(redirected) {
			f.add(e.verdict, "%s", e.said)
		}
		if len(s.words) < 2 || harmless || !hit(s.words[1:]) {
			continue
		}
		if known {
			f.add(e.verdict, "%s", e.said)
		} else {
			f.add(max(Ask, e.verdict), "it names a file, and %s", e.said)
		}
	}
}
