package programs

import "strings"

// sqlCommands looks for commands of a database's shell that do more than ask the
// database: they write files or run programs.
func sqlCommands(r *reader) {
	texts := r.sqlTexts()
	for _, t := range texts {
		w := t.value
		if !w.Known || sqlEscapes(r.out.Program, strings.ToLower(w.Text)) {
			r.alarm(t.at, "may write files or run programs")
			r.sqlShell(w)
		}
	}
	if len(texts) == 0 && !r.quits {
		r.opaque("takes its commands from standard input")
	}
	r.open("does as its commands say")
}

// sqlShell notes the shell commands among them.
func (r *reader) sqlShell(w Word) {
	for line := range strings.Lines(w.Text) {
		line = strings.TrimSpace(line)
		for _, escape := range []string{".shell ", ".system ", `\!`, "system "} {
			if command, ok := strings.CutPrefix(line, escape); ok {
				r.runs(Run{IsScript: true, Script: Word{Text: strings.TrimSpace(command), Known: w.Known}})
			}
		}
	}
}

// sqlTexts returns the arguments that hold commands.
func (r *reader) sqlTexts() []use {
	var texts []use
	for i := range r.uses {
		u := r.uses[i]
		switch u.flag.names[0] {
		case "-c", "-cmd", "-e", "--init-command":
			if u.given {
				texts = append(texts, u)
			}
		}
	}
	if r.out.Program == "sqlite3" && len(r.operands) > 1 {
		for _, at := range r.operands[1:] {
			texts = append(texts, use{at: at, value: r.args[at]})
		}
	}
	return texts
}

// sqlEscapes reports whether text in lower case leaves the database.
func sqlEscapes(program, text string) bool {
	words := []string{"into outfile", "into dumpfile", "load_file", "load data", "to program", "from program",
		"pg_read_file", "lo_export"}
	switch program {
	case "sqlite3":
		words = []string{"load_extension", "writefile", "readfile", "edit(", "attach", "into", "fsdir"}
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); strings.HasPrefix(line, ".") && !harmlessDotCommand(line) {
				return true
			}
		}
	case "psql":
		if strings.Contains(text, `\`) && !harmlessBackslash(text) {
			return true
		}
	default:
		words = append(words, `\!`, "system", "source", "tee", "pager", `\.`, `\t`, `\p`)
	}
	for _, w := range words {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}

// harmlessDotCommand reports whether a command of sqlite3 only shows something.
func harmlessDotCommand(line string) bool {
	name, _, _ := strings.Cut(line, " ")
	switch name {
	case ".tables", ".schema", ".headers", ".header", ".mode", ".dump", ".indexes", ".indices", ".databases", ".width",
		".timeout", ".quit", ".exit", ".stats", ".timer", ".echo", ".nullvalue", ".separator", ".fullschema", ".show",
		".help", ".version", ".bail", ".changes", ".explain", ".eqp", ".print", ".dbinfo":
		return !strings.Contains(line, "|")
	}
	return false
}

// harmlessBackslash reports whether a command of psql only shows something: \d
// and its kind, \l, \conninfo.
func harmlessBackslash(text string) bool {
	text = strings.TrimSpace(text)
	if strings.Count(text, `\`) != 1 || text[0] != '\\' || strings.Contains(text, "|") {
		return false
	}
	name, _, _ := strings.Cut(text[1:], " ")
	name = strings.TrimSuffix(name, "+")
	switch name {
	case "l", "conninfo", "z", "timing", "encoding", "x":
		return true
	}
	return strings.HasPrefix(name, "d")
}

// shiftJq gives the operands behind --args their role: they are values.
func shiftJq(r *reader) {
	u := r.used("--args")
	if u == nil {
		return
	}
	kept := r.operands[:0]
	for k, at := range r.operands {
		if k == 0 || at < u.at {
			kept = append(kept, at)
			continue
		}
		r.plain(at)
	}
	r.operands = kept
}

// readJq looks for what lets a filter read more than its operands: modules.
func readJq(r *reader) {
	if len(r.operands) == 0 || r.used("-f") != nil {
		return
	}
	at := r.operands[0]
	w := r.args[at]
	switch {
	case !w.Known:
		r.spell(at)
		r.doubt("the filter " + w.Text + " is only known when it runs")
	case hasName(w.Text, "import") || hasName(w.Text, "include") || hasName(w.Text, "modulemeta"):
		r.doubt("the filter loads a module")
	case strings.Contains(w.Text, "$ENV") || hasName(strings.ReplaceAll(w.Text, "env:", ""), "env"):
		r.shows("")
	}
}

// hasName reports whether a filter has the name, and not as a field or as a part
// of a longer one.
func hasName(filter, name string) bool {
	for at := 0; ; {
		next := strings.Index(filter[at:], name)
		if next < 0 {
			return false
		}
		from, to := at+next, at+next+len(name)
		before := from > 0 && (isName(filter[from-1]) || filter[from-1] == '.')
		if !before && !(to < len(filter) && isName(filter[to])) {
			return true
		}
		at = to
	}
}

func isName(c byte) bool {
	return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9'
}
