package programs

import "strings"

// readTar gives the operands of tar the role that its mode gives them: files to
// add, members to extract, or other archives.
func readTar(r *reader) {
	adds := r.used("-c") != nil || r.used("-r") != nil || r.used("-u") != nil
	extracts, joins := r.used("-x") != nil, r.used("-A") != nil
	lists := r.used("-t") != nil || r.used("--test-label") != nil
	compares, deletes := r.used("-d") != nil, r.used("--delete") != nil
	if !(adds || extracts || joins || lists || compares || deletes) && !r.quits {
		r.doubt("tar is not told what to do")
	}
	r.tarArchive(adds || joins || deletes)
	for _, at := range r.operands {
		dir := r.tarFolder(at)
		switch {
		case adds:
			r.tarAdds(at, dir)
		case joins:
			r.file(Read, r.args[at], at, false, false)
		case compares:
			r.file(Read, tarPath(dir, r.args[at]), at, true, false)
		}
		r.plain(at)
	}
	if extracts && r.used("-O") == nil && r.used("--to-command") == nil {
		dir := r.tarFolder(len(r.args))
		if u := r.used("--one-top-level"); u != nil && u.given {
			dir = tarPath(dir, u.value)
		}
		r.file(Write, dir, -1, true, false)
	}
}

// tarAdds notes a file that is put into an archive.
func (r *reader) tarAdds(at int, dir Word) {
	w := tarPath(dir, r.args[at])
	tree := r.used("--no-recursion") == nil
	r.file(Read, w, at, tree, false)
	if r.used("--remove-files") != nil {
		r.file(Delete, w, at, tree, true)
	}
}

// tarArchive notes the archive itself. One on another machine is fetched with a
// remote shell.
func (r *reader) tarArchive(writes bool) {
	for i := range r.uses {
		u := &r.uses[i]
		if u.flag != r.entry.short.get('f') || !u.given || u.value.Known && u.value.Text == "-" {
			continue
		}
		host, _, colon := strings.Cut(u.value.Text, ":")
		switch {
		case colon && !strings.Contains(host, "/") && r.used("--force-local") == nil:
			r.connects(Literal(host), u.at, true)
			r.open("tar uses a remote shell")
		case writes:
			r.file(Write, u.value, u.at, false, false)
		default:
			r.file(Read, u.value, u.at, false, false)
		}
	}
}

// tarFolder is the folder that -C has chosen before the argument.
func (r *reader) tarFolder(before int) Word {
	dir := Literal(".")
	for i := range r.uses {
		u := &r.uses[i]
		if u.flag != r.entry.short.get('C') || !u.given || u.at >= before {
			continue
		}
		dir = tarPath(dir, u.value)
	}
	return dir
}

// tarPath is a path in the folder that -C has chosen.
func tarPath(dir, file Word) Word {
	if dir == Literal(".") {
		return file
	}
	return joinPath(dir, file)
}
