package programs

import (
	"path"
	"strings"
)

// gitRemote says whom fetch, pull, push and ls-remote talk to. The name of a
// remote stands for whatever host the configuration has.
func gitRemote(r *reader) {
	for _, at := range r.operands {
		r.plain(at)
	}
	if len(r.operands) == 0 {
		r.connects(somewhere("*"), -1, false)
		return
	}
	at := r.operands[0]
	kind := Read
	if r.out.Sub[0] == "push" {
		kind = Write
	}
	r.gitRepository(r.args[at], at, kind)
}

// gitRepository says what using a repository means: a host, a folder, or a
// program that fetches it.
func (r *reader) gitRepository(w Word, at int, kind Kind) {
	text := w.Text
	if !w.Known {
		text = w.Begin
	}
	helper, address, isHelper := strings.Cut(text, "::")
	colon, slash := strings.IndexByte(text, ':'), strings.IndexByte(text, '/')
	switch {
	case isHelper && !strings.ContainsAny(helper, "/:@"):
		r.alarm(at, "is fetched by a program")
		if helper == "ext" {
			r.runs(Run{IsScript: true, Script: Word{Text: address, Known: w.Known}})
		}
		r.connects(somewhere(text), at, false)
	case strings.HasPrefix(text, "file://"):
		r.file(kind, cutPrefix(w, "file://"), at, true, false)
	case strings.Contains(text, "://"):
		r.connects(w, at, false)
	case strings.HasPrefix(text, "/"), strings.HasPrefix(text, "./"), strings.HasPrefix(text, "../"), text == ".", text == "..":
		r.file(kind, w, at, true, false)
	case colon > 0 && (slash < 0 || colon < slash):
		r.connects(Literal("ssh://"+text[:colon]), at, false)
	default:
		r.connects(somewhere(w.Text), at, false)
	}
}

// cutPrefix returns the word without what it is known to begin with.
func cutPrefix(w Word, prefix string) Word {
	if w.Known {
		return Literal(strings.TrimPrefix(w.Text, prefix))
	}
	return cutBegin(w, len(prefix))
}

// gitClone says where a clone comes from, and which folder it makes.
func gitClone(r *reader) {
	if len(r.operands) == 0 {
		if !r.quits {
			r.doubt("git clone wants a repository")
		}
		return
	}
	from := r.operands[0]
	r.plain(from)
	r.gitRepository(r.args[from], from, Read)
	switch len(r.operands) {
	case 1:
		r.file(Write, gitCloneFolder(r.args[from]), -1, true, false)
	case 2:
		r.plain(r.operands[1])
		r.file(Write, r.args[r.operands[1]], r.operands[1], true, false)
	default:
		r.tooMany(r.operands[2])
	}
}

// gitCloneFolder is the folder that git names after the repository.
func gitCloneFolder(w Word) Word {
	if !w.Known {
		return somewhere("*")
	}
	text := strings.TrimSuffix(strings.TrimRight(w.Text, "/"), "/.git")
	name := strings.TrimSuffix(path.Base(text), ".git")
	if at := strings.LastIndexByte(name, ':'); at >= 0 {
		name = name[at+1:]
	}
	return Literal(name)
}
