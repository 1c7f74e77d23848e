package interp

import (
	"os"
	"strconv"
	"strings"
	"syscall"

	"mvdan.cc/sh/v3/syntax"
)

// redirect applies redirections in their order. undo restores the descriptors, and must
// be called also after a failure.
func (s *shell) redirect(rds []*syntax.Redirect) (undo func(), ok bool) {
	undo, _, ok = s.redirectKeep(rds)
	return undo, ok
}

// redirectKeep also returns what to call instead of undo if the redirections stay.
func (s *shell) redirectKeep(rds []*syntax.Redirect) (undo, keep func(), ok bool) {
	if len(rds) == 0 {
		return func() {}, func() {}, true
	}
	type saved struct {
		n int
		d *desc
	}
	var old []saved
	undo = func() {
		for i := len(old) - 1; i >= 0; i-- {
			s.fds.close(old[i].n)
			if old[i].d != nil {
				s.fds.put(old[i].n, old[i].d)
			}
		}
		old = nil
	}
	keep = func() {
		for _, o := range old {
			if o.d != nil {
				o.d.release()
			}
		}
		old = nil
	}
	defer func() {
		if p := recover(); p != nil {
			undo()
			panic(p)
		}
	}()
	put := func(n int, d *desc) {
		before := s.fds[n]
		if before != nil {
			before.hold()
		}
		old = append(old, saved{n, before})
		if d == nil {
			s.fds.close(n)
		} else {
			s.fds.put(n, d)
		}
	}
	defer func(pos syntax.Pos) { s.pos = pos }(s.pos)
	for _, rd := range rds {
		s.check()
		s.pos = rd.Pos()
		if !s.redirectOne(rd, put) {
			return undo, keep, false
		}
	}
	return undo, keep, true
}

func (s *shell) redirectOne(rd *syntax.Redirect, put func(int, *desc)) bool {
	n, variable := 1, ""
	switch rd.Op {
	case syntax.RdrIn, syntax.RdrInOut, syntax.DplIn, syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
		n = 0
	}
	if rd.N != nil {
		if name, ok := strings.CutPrefix(rd.N.Value, "{"); ok {
			variable = strings.TrimSuffix(name, "}")
		} else if num, ok := fdNumber(rd.N.Value); ok {
			n = num
		} else {
			s.warn("%s: %s", rd.N.Value, errText(syscall.EBADF))
			return false
		}
	}
	// give puts the descriptor where it belongs; {name}> takes a free number, which stays.
	give := func(d *desc) bool {
		if variable == "" {
			put(n, d)
			return true
		}
		at := s.fds.free(10, 1)
		s.fds.put(at, d)
		name, sub, hasSub := cutSubscript(variable)
		if !s.assign(name, sub, hasSub, itoa(at), false) {
			s.fds.close(at)
			return false
		}
		return true
	}
	switch rd.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		return s.giveText(s.hereDoc(rd), give)
	case syntax.WordHdoc:
		return s.giveText(s.text(rd.Word)+"\n", give)
	case syntax.DplIn, syntax.DplOut:
		return s.duplicate(rd, n, variable, put, give)
	}
	flag := 0
	switch rd.Op {
	case syntax.RdrIn:
		flag = os.O_RDONLY
	case syntax.RdrInOut:
		flag = os.O_RDWR | os.O_CREATE
	case syntax.RdrOut, syntax.RdrClob, syntax.RdrAll:
		flag = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	case syntax.AppOut, syntax.AppAll:
		flag = os.O_WRONLY | os.O_CREATE | os.O_APPEND
	default:
		s.unsupported("the redirection "+rd.Op.String(), rd.Pos())
	}
	path, ok := s.target(rd.Word)
	if !ok {
		return false
	}
	d := s.openRedirect(path, flag, rd.Op == syntax.RdrOut || rd.Op == syntax.RdrAll)
	if d == nil {
		return false
	}
	if rd.Op == syntax.RdrAll || rd.Op == syntax.AppAll {
		put(1, d)
		put(2, d.hold())
		return true
	}
	return give(d)
}

// openRedirect opens the file of a redirection, or says why not.
func (s *shell) openRedirect(path string, flag int, clobbers bool) *desc {
	if clobbers && s.opt.noclobber {
		info, err := s.stat(path, false)
		switch {
		case err == nil && info.Mode().IsRegular():
			s.warn("%s: cannot overwrite existing file", path)
			return nil
		case err != nil:
			flag = flag&^os.O_TRUNC | os.O_EXCL
		}
	}
	d, err := s.open(path, flag, "redirect")
	if err != nil {
		if strings.HasPrefix(path, "/dev/tcp/") || strings.HasPrefix(path, "/dev/udp/") {
			s.errText(s.name0 + ": connect: " + errText(err) + "\n")
		}
		s.warn("%s: %s", path, errText(err))
		return nil
	}
	return d
}

// target expands the word of a redirection, which must be one field.
func (s *shell) target(w *syntax.Word) (string, bool) {
	fields := s.fields([]*syntax.Word{w})
	if len(fields) != 1 {
		s.warn("%s: ambiguous redirect", s.nodeText(w))
		return "", false
	}
	return fields[0], true
}

// duplicate does n>&m, n<&m, n>&-, n>&m- and >&file.
func (s *shell) duplicate(rd *syntax.Redirect, n int, variable string, put func(int, *desc), give func(*desc) bool) bool {
	if dashWord(rd) {
		s.unsupported("a word after >&- without a space", rd.Pos())
	}
	word, ok := s.target(rd.Word)
	if !ok {
		return false
	}
	if word == "-" {
		if variable != "" {
			num, ok := fdNumber(s.get(variable))
			if !ok {
				s.warn("%s: %s", variable, errText(syscall.EBADF))
				return false
			}
			s.fds.close(num)
			return true
		}
		put(n, nil)
		return true
	}
	from, moves := strings.CutSuffix(word, "-")
	m, isNumber := fdNumber(from)
	if !isNumber {
		if rd.Op == syntax.DplOut && (rd.N == nil || rd.N.Value == "1") && variable == "" {
			d := s.openRedirect(word, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, true)
			if d == nil {
				return false
			}
			put(1, d)
			put(2, d.hold())
			return true
		}
		s.warn("%s: ambiguous redirect", s.nodeText(rd.Word))
		return false
	}
	d := s.fds[m]
	if d == nil && m == n && variable == "" {
		return true // 7>&7 of a closed descriptor is nothing
	}
	if d == nil {
		s.warn("%s: %s", s.nodeText(rd.Word), errText(syscall.EBADF))
		return false
	}
	if !give(d.hold()) {
		return false
	}
	if moves && m != n {
		put(m, nil)
	}
	return true
}

// dashWord reports whether the parser takes more than the "-" of >&- for its word. bash
// closes the descriptor, and what follows is another word.
func dashWord(rd *syntax.Redirect) bool {
	if rd.Op != syntax.DplIn && rd.Op != syntax.DplOut || rd.Word == nil || len(rd.Word.Parts) == 0 {
		return false
	}
	lit, ok := rd.Word.Parts[0].(*syntax.Lit)
	return ok && strings.HasPrefix(lit.Value, "-") && (len(lit.Value) > 1 || len(rd.Word.Parts) > 1)
}

// fdNumber reads the number of a descriptor.
func fdNumber(text string) (int, bool) {
	if text == "" || len(text) > 6 {
		return 0, false
	}
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return 0, false
		}
	}
	n, _ := strconv.Atoi(text)
	return n, n < 1<<16
}

// giveText makes text readable, in a file that lives in memory only. bash has a pipe for a
// short one; from a file a handler can tell what a program is about to read.
func (s *shell) giveText(text string, give func(*desc) bool) bool {
	f, err := memoryFile(text)
	if err != nil {
		s.warn("cannot create temp file for here-document: %s", errText(err))
		return false
	}
	return give(adopt(f))
}

// hereDoc expands the body of a here-document.
func (s *shell) hereDoc(rd *syntax.Redirect) string {
	if rd.Hdoc == nil {
		return ""
	}
	body := rd.Hdoc
	if rd.Op == syntax.DashHdoc {
		body = untabbed(body)
	}
	if !quotedDelimiter(rd.Word) {
		return s.document(body)
	}
	var sb strings.Builder
	for _, part := range body.Parts {
		lit, ok := part.(*syntax.Lit)
		if !ok {
			// The parser expands a body whose delimiter is quoted in part.
			s.unsupported("a here-document whose delimiter is quoted in part", rd.Pos())
		}
		sb.WriteString(lit.Value)
	}
	return sb.String()
}

// untabbed removes the tabs at the start of every line.
func untabbed(w *syntax.Word) *syntax.Word {
	out := &syntax.Word{}
	start := true
	for _, part := range w.Parts {
		lit, ok := part.(*syntax.Lit)
		if !ok {
			start = false
			out.Parts = append(out.Parts, part)
			continue
		}
		var sb strings.Builder
		for i := range len(lit.Value) {
			c := lit.Value[i]
			if start && c == '\t' {
				continue
			}
			start = c == '\n'
			sb.WriteByte(c)
		}
		c := *lit
		c.Value = sb.String()
		out.Parts = append(out.Parts, &c)
	}
	return out
}

// quotedDelimiter reports whether a here-document is taken as it stands.
func quotedDelimiter(w *syntax.Word) bool {
	for _, part := range w.Parts {
		switch part := part.(type) {
		case *syntax.SglQuoted, *syntax.DblQuoted:
			return true
		case *syntax.Lit:
			if strings.Contains(part.Value, `\`) {
				return true
			}
		}
	}
	return false
}
