package programs

import "strings"

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
