package programs

import "strings"

// readGzip says what gzip and its kin do with each operand: they put another
// file in its place, unless they print.
func readGzip(r *reader) {
	if r.operandsAreRead() {
		for _, at := range r.operands {
			r.file(Read, r.args[at], at, r.tree, false)
			r.plain(at)
		}
		return
	}
	unpacks := strings.Contains(r.name, "un") || r.used("-d") != nil // gunzip, unxz
	if unpacks && r.used("-N") != nil {
		r.doubt("the name of the file is in the archive")
	}
	for _, at := range r.operands {
		w := r.args[at]
		r.file(Read, w, at, r.tree, false)
		if r.used("-o") == nil {
			r.file(Write, r.packed(w, unpacks), at, r.tree, false)
		}
		if r.used("-k") == nil && (r.used("--rm") != nil || r.entry.name != "zstd") {
			r.file(Delete, w, at, r.tree, false)
		}
		r.plain(at)
	}
}

// operandsAreRead reports whether the files are only looked at.
func (r *reader) operandsAreRead() bool {
	return strings.HasSuffix(r.name, "cat") || r.used("-c") != nil || r.used("-l") != nil || r.used("-t") != nil
}

// packSuffix is what the family of a program puts behind a name.
func packSuffix(program string) string {
	switch program {
	case "bzip2":
		return ".bz2"
	case "xz":
		return ".xz"
	case "zstd":
		return ".zst"
	case "lz4":
		return ".lz4"
	}
	return ".gz"
}

// packed is the name of the file that is made.
func (r *reader) packed(w Word, unpacks bool) Word {
	suffix := packSuffix(r.entry.name)
	if u := r.used("-S"); u != nil {
		suffix = u.value.Text
	}
	switch {
	case r.tree:
		return w // somewhere below it
	case !w.Known:
		w.Text, w.Glob = w.Text+suffix, false
		return w
	case !unpacks:
		w.Text += suffix
	case strings.HasSuffix(w.Text, ".tgz") || strings.HasSuffix(w.Text, ".txz"):
		w.Text = w.Text[:len(w.Text)-2] + "ar"
	default:
		if dot := strings.LastIndexByte(w.Text, '.'); dot > strings.LastIndexByte(w.Text, '/')+1 {
			w.Text = w.Text[:dot]
		}
	}
	return w
}

// finishCpio notes what a list on standard input or an archive names.
func finishCpio(r *reader) {
	archive := r.used("-F")
	creates, copies, extracts := r.used("-o") != nil, r.used("-p") != nil, r.used("-i") != nil
	if creates || copies {
		r.file(Read, somewhere("a file that standard input names"), -1, false, false)
	}
	if extracts && r.used("-t") == nil && r.used("--to-stdout") == nil {
		r.file(Write, Literal("."), -1, true, false)
		r.open("it writes what the archive names")
		if r.used("--absolute-filenames") != nil {
			r.file(Write, somewhere("a file that the archive names"), -1, false, false)
		}
	}
	if archive == nil || !archive.given {
		return
	}
	if creates {
		r.file(Write, archive.value, archive.at, false, true)
		r.spell(archive.at)
	} else {
		r.file(Read, archive.value, archive.at, false, false)
	}
}

// readAr says what ar does: the letters of its first word say how, then come the archive and
// its members.
func readAr(r *reader) {
	for i, w := range r.args {
		if !w.Known || i == 0 && strings.HasPrefix(w.Text, "--") {
			r.doubt(w.Text + " of ar is not known")
			r.spell(i)
			return
		}
	}
	if len(r.args) == 0 {
		return
	}
	letters := strings.TrimPrefix(r.args[0].Text, "-")
	if strings.Trim(letters, "dmpqrstxabciNDfFlLoOPSTuUvV") != "" || len(r.args) < 2 {
		r.doubt("ar " + r.args[0].Text + " is not known")
		r.spell(0)
		return
	}
	rest := 1
	if strings.ContainsAny(letters, "abiN") {
		rest++ // a member, or a number
	}
	if rest >= len(r.args) {
		r.doubt("ar wants more operands")
		return
	}
	changes, adds := strings.ContainsAny(letters, "dmqr") || !strings.ContainsAny(letters, "ptx"),
		strings.ContainsAny(letters, "qr")
	kind := Read
	if changes {
		kind = Write
	}
	r.file(kind, r.args[rest], rest, false, false)
	for i := rest + 1; i < len(r.args); i++ {
		switch {
		case adds:
			r.file(Read, r.args[i], i, false, false)
		case strings.Contains(letters, "x"):
			r.file(Write, r.args[i], i, false, false)
		}
	}
	if strings.Contains(letters, "x") {
		r.file(Write, Literal("."), -1, true, false)
		r.open("it writes what the archive names")
	}
}

// readZip corrects what the language says about zip: the archive gets a suffix,
// and the words behind -x and -i are patterns.
func readZip(r *reader) {
	for _, name := range []string{"-x", "-i"} {
		if u := r.used(name); u != nil {
			kept := r.operands[:0]
			for k, at := range r.operands {
				if k == 0 || at < u.at {
					kept = append(kept, at)
				}
			}
			r.operands = kept
		}
	}
	if r.used("-@") != nil {
		r.open("the files are listed on standard input")
		r.spell(r.used("-@").at)
	}
}

// finishZip names the archive as it is written, and the files that are moved.
func finishZip(r *reader) {
	for i := range r.out.Effects {
		e := &r.out.Effects[i]
		e.Tree = e.Tree && e.Kind != Write // the archive is a file
		if e.Kind == Write && e.Arg >= 0 && e.What.Known && e.What.Text != "-" &&
			!strings.Contains(e.What.Text[strings.LastIndexByte(e.What.Text, '/')+1:], ".") {
			e.What.Text += ".zip"
		}
		if e.Kind == Read && r.used("-m") != nil {
			r.file(Delete, e.What, e.Arg, e.Tree, true)
		}
	}
}

// readUnzip notes the folder that unzip unpacks to.
func readUnzip(r *reader) {
	if r.used("-l") != nil || r.quits || len(r.operands) == 0 {
		return
	}
	dir := Literal(".")
	if u := r.used("-d"); u != nil && u.given {
		dir = u.value
	}
	r.file(Write, dir, -1, true, false)
}

// readSevenZip reads 7z, whose first word is a letter and whose switches have
// their values attached.
func readSevenZip(r *reader) {
	if len(r.args) == 0 {
		return
	}
	dir := Literal(".")
	var names []int
	for at := 1; at < len(r.args); at++ {
		w := r.args[at]
		t := w.Text
		switch {
		case w.MayBeFlag() && !w.Known, strings.HasPrefix(t, "@"), strings.HasPrefix(t, "-i@"),
			strings.HasPrefix(t, "-x@"):
			r.doubt(t + " is not understood")
			r.spell(at)
		case strings.HasPrefix(t, "-o"):
			dir = Literal(t[2:])
		case strings.HasPrefix(t, "-sdel"), strings.HasPrefix(t, "-w"):
			r.strange(at, t)
		case strings.HasPrefix(t, "-"):
		default:
			names = append(names, at)
		}
	}
	r.sevenZip(names, dir)
}

// sevenZip says what the letter does with the archive and the files.
func (r *reader) sevenZip(names []int, dir Word) {
	kind := Read
	switch letter := r.args[0].Text; letter {
	case "a", "u", "d", "rn":
		kind = Write
	case "l", "t", "x", "e":
	case "i", "h", "b":
		return
	default:
		r.doubt("7z " + letter + " is not known")
	}
	for k, at := range names {
		switch {
		case k == 0:
			r.file(kind, r.args[at], at, false, false)
		case r.args[0].Text == "a" || r.args[0].Text == "u":
			r.file(Read, r.args[at], at, true, false)
		}
		r.plain(at)
	}
	if r.args[0].Text == "x" || r.args[0].Text == "e" {
		r.file(Write, dir, -1, true, false)
	}
}

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
