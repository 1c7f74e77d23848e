package programs

import "strings"

// finishGrep knows that --include leaves files out. With --exclude the last that matches
// counts: then nothing is said.
func finishGrep(r *reader) {
	if r.used("--exclude") != nil || r.used("--exclude-from") != nil {
		return
	}
	var only []string
	for i := range r.uses {
		u := &r.uses[i]
		if u.flag.names[0] != "--include" {
			continue
		}
		// Some match the whole path, some the name alone: for an ending it is the same.
		ending, ok := strings.CutPrefix(u.value.Text, "*")
		if !u.value.Known || !ok || ending == "" || strings.ContainsAny(ending, `*?[\/`) {
			return
		}
		only = append(only, u.value.Text)
	}
	for i := range r.out.Effects {
		r.out.Effects[i].Only = only
	}
}

// finishRg knows that rg leaves hidden files out, unless it is told which to take.
func finishRg(r *reader) {
	for _, name := range []string{"--hidden", "--glob", "--ignore-file"} {
		if r.used(name) != nil {
			return
		}
	}
	for i := range r.out.Effects {
		r.out.Effects[i].Visible = r.out.Effects[i].Tree
	}
}
