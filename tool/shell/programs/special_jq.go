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
	case strings.Contains(w.Text, "import") || strings.Contains(w.Text, "include") || strings.Contains(w.Text, "modulemeta"):
		r.doubt("the filter loads a module")
	}
}
