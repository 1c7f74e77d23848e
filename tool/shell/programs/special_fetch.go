package programs

import (
	"path"
	"strings"
)

// curlFlags notes the files that curl reads where a value begins with @.
func curlFlags(r *reader) {
	for i := range r.uses {
		u := &r.uses[i]
		if !u.given {
			continue
		}
		switch u.flag.names[0] {
		case "-d", "-H", "-w":
			r.atFile(u, u.value)
		case "-F":
			r.formFile(u)
		case "-b":
			if !u.value.Known || !strings.Contains(u.value.Text, "=") {
				r.file(Read, u.value, u.at, false, false)
			}
		case "--url":
			r.url(u.value, u.at)
		}
	}
}

// markTLS notes which connections are https for certain: not where the server may
// send curl to another place.
func (r *reader) markTLS() {
	for _, w := range r.args {
		if long := strings.HasPrefix(w.Text, "--"); !w.Known || strings.HasPrefix(w.Text, "--l") || !long && strings.HasPrefix(w.Text, "-") && strings.Contains(w.Text, "L") {
			return
		}
	}
	for i := range r.out.Effects {
		e := &r.out.Effects[i]
		e.TLS = e.Kind == Connect && e.Arg >= 0 && strings.HasPrefix(strings.ToLower(r.args[e.Arg].Text), "https://")
	}
}

// atFile notes @FILE, and for --data-urlencode NAME@FILE. A value that is not
// known may turn out to be one.
func (r *reader) atFile(u *use, value Word) {
	if !value.Known && value.Begin == "" {
		r.file(Read, value, u.at, false, false)
		return
	}
	text := value.Text
	if !value.Known {
		text = value.Begin
	}
	if strings.HasPrefix(text, "@") {
		r.file(Read, cutPrefix(value, "@"), u.at, false, false)
		return
	}
	name, _, named := strings.Cut(text, "@")
	if named && strings.HasPrefix(r.args[u.at].Text, "--data-u") && !strings.Contains(name, "=") {
		r.file(Read, cutPrefix(value, name+"@"), u.at, false, false)
	}
}

// formFile notes NAME=@FILE and NAME=<FILE, which a ; ends.
func (r *reader) formFile(u *use) {
	name, value, ok := strings.Cut(u.value.Text, "=")
	switch {
	case !u.value.Known:
		r.file(Read, Word{Text: u.value.Text}, u.at, false, false)
	case ok && value != "" && (value[0] == '@' || value[0] == '<'):
		for file := range strings.SplitSeq(value[1:], ",") {
			file, _, _ = strings.Cut(file, ";")
			r.file(Read, Literal(strings.Trim(file, `"`)), u.at, false, false)
		}
	case ok && strings.HasPrefix(value, "(") || name == "":
		r.alarm(u.at, "is a form that is not understood")
	}
}

// curlOperands notes whom the URLs name, and what -O writes.
func curlOperands(r *reader) {
	for _, at := range r.operands {
		r.plain(at)
		r.url(r.args[at], at)
	}
	r.markTLS()
	if len(r.operands) == 0 && !r.quits && !r.usesAny("--url", "-K", "-V", "-h") {
		r.doubt("curl wants a URL")
	}
	if u := r.used("-O"); u != nil {
		for _, at := range r.operands {
			r.writeNamed(r.args[at], r.used("--output-dir"), u.at, true)
		}
	}
}

// url notes a host, or for file: a file.
func (r *reader) url(w Word, at int) {
	text := w.Text
	if !w.Known {
		text = w.Begin
	}
	if len(text) >= 5 && strings.EqualFold(text[:5], "file:") {
		rest := strings.TrimLeft(text[5:], "/")
		r.file(Read, Word{Text: "/" + rest, Known: w.Known}, at, true, false)
		return
	}
	r.connects(w, at, false)
}

// writeNamed notes the file that is named like the last part of a URL.
func (r *reader) writeNamed(url Word, folder *use, at int, byFlag bool) {
	file := somewhere("*")
	if name := urlName(url.Text); url.Known && name != "" {
		file = Literal(name)
	}
	if folder != nil && folder.given {
		file = joinPath(folder.value, file)
	}
	r.file(Write, file, at, false, byFlag)
}

// urlName is the last part of a URL's path; empty if it cannot be told.
func urlName(url string) string {
	_, rest, isURL := strings.Cut(url, "://")
	if !isURL {
		rest = url
	}
	rest, _, _ = strings.Cut(rest, "#")
	rest, _, _ = strings.Cut(rest, "?")
	if !strings.Contains(rest, "/") || strings.HasSuffix(rest, "/") || strings.ContainsAny(rest, "{[%") {
		return ""
	}
	return path.Base(rest)
}

// wgetFiles notes the files that wget names itself.
func wgetFiles(r *reader) {
	if len(r.operands) == 0 && !r.quits && !r.usesAny("-i") {
		r.doubt("wget wants a URL")
	}
	if r.quits || r.usesAny("-O", "--spider") {
		return
	}
	folder := r.used("-P")
	if r.usesAny("-r", "-i") {
		if folder == nil {
			r.file(Write, Literal("."), -1, true, false)
		}
		return
	}
	for _, at := range r.operands {
		url := r.args[at]
		if strings.Contains(url.Text, "?") || !strings.Contains(strings.TrimPrefix(url.Text, "://"), "/") {
			url = somewhere(url.Text) // the name has more than the path
		}
		r.writeNamed(url, folder, at, false)
	}
}

// ghFields notes the files that `gh api -F NAME=@FILE` reads.
func ghFields(r *reader) {
	for i := range r.uses {
		u := &r.uses[i]
		if u.flag.names[0] != "-F" || !u.given {
			continue
		}
		if _, value, ok := strings.Cut(u.value.Text, "="); ok && strings.HasPrefix(value, "@") {
			r.file(Read, Word{Text: value[1:], Known: u.value.Known}, u.at, false, false)
		}
	}
}

// urlFiles makes a host of every file that is a URL.
func urlFiles(r *reader) {
	for i, e := range r.out.Effects {
		if e.Kind != Read || !strings.Contains(e.What.Text, "://") {
			continue
		}
		n := len(r.out.Effects)
		r.connects(e.What, e.Arg, e.ByFlag)
		r.out.Effects[i] = r.out.Effects[n]
		r.out.Effects = r.out.Effects[:n]
	}
}
