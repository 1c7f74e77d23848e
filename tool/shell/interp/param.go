package interp

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// A ref is what a parameter expansion names, and its value.
type ref struct {
	name   string
	sub    string // the subscript, evaluated
	hasSub bool
	all    byte // '@' or '*' for all elements
	v      *variable
	str    string
	list   []string
	set    bool
}

// isList reports whether an expansion stands for a list of fields.
func isList(pe *syntax.ParamExp) bool {
	if pe.Names != 0 {
		return true
	}
	if pe.Param == nil {
		return false
	}
	return pe.Param.Value == "@" || pe.Param.Value == "*" || allOf(pe.Index) != 0
}

// allOf returns the '@' or '*' of ${x[@]}, or 0.
func allOf(index syntax.ArithmExpr) byte {
	if w, ok := index.(*syntax.Word); ok && len(w.Parts) == 1 {
		if lit, ok := w.Parts[0].(*syntax.Lit); ok && (lit.Value == "@" || lit.Value == "*") {
			return lit.Value[0]
		}
	}
	return 0
}

// param expands ${...} and $x.
func (x *expander) param(pe *syntax.ParamExp, q quoting) {
	s := x.s
	if pe.Flags != nil || pe.Width || pe.IsSet || pe.NestedParam != nil || len(pe.Modifiers) > 0 || pe.Param == nil ||
		pe.Split != syntax.OptUnset || pe.GlobSubst != syntax.OptUnset || pe.RcExpand != syntax.OptUnset {
		s.unsupported("a parameter expansion of another shell", pe.Pos())
	}
	if pe.Excl && pe.Names != 0 {
		var names []string
		for _, name := range s.names() {
			if v := s.lookup(name); strings.HasPrefix(name, pe.Param.Value) && v != nil && v.set {
				names = append(names, name)
			}
		}
		x.list(names, pe.Names == syntax.NamesPrefix, q)
		return
	}
	if pe.Excl && allOf(pe.Index) != 0 && pe.Exp == nil && pe.Repl == nil && pe.Slice == nil {
		x.list(s.keys(pe.Param.Value), allOf(pe.Index) == '*', q)
		return
	}
	r := s.refer(pe)
	if pe.Excl {
		if !s.indirect(pe, &r) {
			x.add(r.str, q.kind())
			return
		}
	}
	if s.opt.nounset && !r.set && r.all == 0 && !guards(pe) {
		if pe.Short && !syntax.ValidName(r.name) {
			r.name = "$" + r.name
		}
		s.unbound(r)
	}
	if pe.Length {
		n := len(r.list)
		if r.all != 0 && s.opt.nounset && (r.v == nil || r.v.attrs == 0 && !r.v.set) {
			s.unbound(r)
		}
		if r.all == 0 {
			n = s.length(r.str)
		}
		x.add(strconv.Itoa(n), q.kind())
		return
	}
	switch {
	case pe.Slice != nil:
		s.slice(pe.Slice, &r)
	case pe.Repl != nil:
		s.replace(pe.Repl, &r, q)
	case pe.Exp != nil:
		if x.operator(pe, &r, q) {
			return
		}
	}
	if r.all != 0 {
		x.list(r.list, r.all == '*', q)
		return
	}
	s.r.bound(s, len(r.str))
	x.add(r.str, q.kind())
}

// list adds the fields of "$@" or the one of "$*".
func (x *expander) list(list []string, star bool, q quoting) {
	if star && (q.quotes() || x.single) {
		sep := x.s.ifs()
		_, n := utf8.DecodeRuneInString(sep)
		x.add(x.s.joined(list, sep[:n]), q.kind())
		return
	}
	if x.single {
		x.add(x.s.joined(list, " "), q.kind())
		return
	}
	total := 0
	for i, str := range list {
		if i > 0 {
			x.add("", segBreak)
		}
		total += len(str) + 16
		x.s.r.bound(x.s, total)
		x.add(str, q.kind())
	}
}

func (s *shell) joined(list []string, sep string) string {
	n := 0
	for _, str := range list {
		n += len(str) + len(sep)
	}
	s.r.bound(s, n)
	return strings.Join(list, sep)
}

// guards reports whether the expansion says itself what an unset variable means.
func guards(pe *syntax.ParamExp) bool {
	if pe.Exp == nil {
		return false
	}
	switch pe.Exp.Op {
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull, syntax.DefaultUnset, syntax.DefaultUnsetOrNull,
		syntax.ErrorUnset, syntax.ErrorUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
		return true
	}
	return false
}

func (s *shell) unbound(r ref) {
	name := r.name
	if r.hasSub {
		name += "[" + r.sub + "]"
	}
	s.abort("%s: unbound variable", name)
}

// refer finds what an expansion names.
func (s *shell) refer(pe *syntax.ParamExp) ref {
	r := ref{name: pe.Param.Value}
	if pe.Index != nil {
		if r.all = allOf(pe.Index); r.all == 0 {
			r.hasSub = true
			r.sub = s.subscript(r.name, pe.Index)
		}
	}
	s.value(&r)
	return r
}

// value looks up what a ref names.
func (s *shell) value(r *ref) {
	if r.name == "@" || r.name == "*" {
		r.all = r.name[0]
	}
	r.v = s.lookup(r.name)
	switch {
	case r.all != 0:
		r.list = r.v.list()
		r.set = len(r.list) > 0
	case r.hasSub:
		r.str, r.set = s.element(r.v, r.name, r.sub)
	default:
		r.str, r.set = r.v.scalar()
	}
}

// subscript evaluates what stands between the brackets: a key of an associative array
// as text, anything else as the text of an arithmetic expression.
func (s *shell) subscript(name string, index syntax.ArithmExpr) string {
	if v := s.lookup(name); v != nil && v.attrs&attrAssoc != 0 {
		if w, ok := index.(*syntax.Word); ok {
			return s.text(w)
		}
		return s.arithSource(index).text()
	}
	return strconv.FormatInt(s.arith(index), 10)
}

// parseRef reads name, name[sub], @ or a number, as an indirect expansion does.
func (s *shell) parseRef(text string) (ref, bool) {
	r := ref{name: text}
	if name, sub, ok := cutSubscript(text); ok {
		r.name = name
		switch sub {
		case "@", "*":
			r.all = sub[0]
		default:
			r.hasSub = true
			r.sub = s.runtimeSubscript(name, sub)
		}
		return r, true
	}
	isNumber := text != "" && strings.Trim(text, "0123456789") == ""
	return r, syntax.ValidName(text) || isNumber || len(text) == 1 && strings.Contains("@*#?-$!_", text)
}

// runtimeSubscript evaluates a subscript that came from a value.
func (s *shell) runtimeSubscript(name, sub string) string {
	text := s.expandValue(sub)
	if v := s.lookup(name); v != nil && v.attrs&attrAssoc != 0 {
		return text
	}
	return strconv.FormatInt(s.arithText(text), 10)
}

// expandValue expands the $ of text that came from a value, as bash does with
// subscripts. What it runs is not in the judged tree.
func (s *shell) expandValue(text string) string {
	if !strings.ContainsAny(text, "$`\"'\\") {
		return text
	}
	defer s.from(&Source{Origin: Value, Text: text})()
	var word *syntax.Word
	for w, err := range newParser().WordsSeq(strings.NewReader(text)) {
		if err != nil || word != nil {
			word = nil
			break
		}
		word = w
	}
	if word != nil {
		return s.text(word)
	}
	word, err := newParser().Document(strings.NewReader(text))
	if err != nil {
		s.fail("%s: bad substitution", text)
	}
	return s.document(word)
}

// indirect follows ${!x}. It reports false if the result is the text in r.
func (s *shell) indirect(pe *syntax.ParamExp, r *ref) bool {
	if v, _ := s.find(pe.Param.Value); v != nil && v.attrs&attrNameref != 0 && pe.Index == nil {
		r.str = v.str
		return false
	}
	if r.all != 0 {
		// ${!@} names what all parameters together name.
		if len(r.list) == 0 {
			r.all = 0
			return false
		}
		r.str, r.all, r.set = strings.Join(r.list, " "), 0, true
	}
	if !r.set {
		if guards(pe) {
			r.str, r.all = "", 0
			return true
		}
		if s.opt.nounset {
			s.unbound(*r)
		}
		s.fail("%s: invalid indirect expansion", r.name)
	}
	target, ok := s.parseRef(r.str)
	if !ok {
		if r.str == "" && guards(pe) {
			r.set = false
			return true
		}
		s.fail("%s: invalid variable name", r.str)
	}
	s.value(&target)
	*r = target
	return true
}

func (s *shell) keys(name string) []string {
	v := s.lookup(name)
	switch {
	case v == nil || !v.set:
		return nil
	case v.attrs&attrAssoc != 0:
		return v.m.keys()
	case v.attrs&attrArray != 0:
		return v.arr.keys()
	}
	return []string{"0"}
}

func (s *shell) length(str string) int {
	if !s.utf8() || ascii(str) {
		return len(str)
	}
	return utf8.RuneCountInString(str)
}

func (s *shell) slice(sl *syntax.Slice, r *ref) {
	at := int(s.arith(sl.Offset))
	n, hasLen := 0, sl.Length != nil
	if hasLen {
		n = int(s.arith(sl.Length))
	}
	if r.all == 0 {
		size := s.length(r.str)
		if at < 0 {
			at += size
		}
		if at < 0 || at > size {
			r.str = ""
			return
		}
		end := size
		if hasLen {
			if n < 0 {
				if end += n; end < at {
					s.fail("%d: substring expression < 0", n)
				}
			} else {
				end = at + min(end-at, n) // n may be the largest number
			}
		}
		if size == len(r.str) {
			r.str = r.str[at:end]
			return
		}
		from := offset(r.str, at)
		r.str = r.str[from : from+offset(r.str[from:], end-at)]
		return
	}
	list := r.list
	if len(list) == 0 && r.name != "@" && r.name != "*" {
		return
	}
	if hasLen && n < 0 {
		s.fail("%d: substring expression < 0", n)
	}
	switch {
	case r.name == "@" || r.name == "*":
		list = append([]string{s.name0}, list...)
		if at < 0 {
			at += len(list)
		}
	case r.v != nil && r.v.attrs&attrArray != 0 && r.v.arr != nil:
		if at < 0 {
			at += r.v.arr.max() + 1
		}
		if r.v.arr.idx != nil && at >= 0 {
			at, _ = slices.BinarySearch(r.v.arr.idx, at)
		}
	default:
		if at < 0 {
			at += len(list)
		}
	}
	if at < 0 || at > len(list) {
		r.list = nil
		return
	}
	list = list[at:]
	if hasLen {
		list = list[:min(n, len(list))]
	}
	r.list = list
}

func ascii(str string) bool {
	for len(str) >= 8 {
		if (str[0]|str[1]|str[2]|str[3]|str[4]|str[5]|str[6]|str[7])&0x80 != 0 {
			return false
		}
		str = str[8:]
	}
	for i := range len(str) {
		if str[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// offset returns where the first n characters end.
func offset(str string, n int) int {
	at := 0
	for range n {
		_, size := utf8.DecodeRuneInString(str[at:])
		at += size
	}
	return at
}

// each changes the value, or every element.
func (r *ref) each(f func(string) string) {
	if r.all == 0 {
		if r.set {
			r.str = f(r.str)
		}
		return
	}
	list := make([]string, len(r.list))
	for i, str := range r.list {
		list[i] = f(str)
	}
	r.list = list
}

// replace does ${x/pattern/text}.
func (s *shell) replace(rp *syntax.Replace, r *ref, q quoting) {
	if rp.Orig == nil && rp.All && rp.With != nil {
		rp = slashPattern(s, rp)
	}
	pat := s.pattern(rp.Orig)
	anchor := byte(0)
	if !rp.All && pat != "" && (pat[0] == '#' || pat[0] == '%') {
		anchor, pat = pat[0], pat[1:]
	}
	if pat == "" && anchor == 0 {
		return
	}
	with := s.replacement(rp.With, q)
	m := s.compile(pat, s.opt.nocasematch)
	r.each(func(str string) string { return m.replace(s, str, anchor, rp.All, with) })
}

// slashPattern reads ${x////y} as bash does, where a pattern may begin with a slash.
func slashPattern(s *shell, rp *syntax.Replace) *syntax.Replace {
	text := rp.With.Lit()
	if text == "" {
		s.unsupported("a pattern that begins with a slash", rp.With.Pos())
	}
	word := func(text string) *syntax.Word {
		return &syntax.Word{Parts: []syntax.WordPart{&syntax.Lit{Value: text}}}
	}
	pat, with, _ := strings.Cut(text, "/")
	return &syntax.Replace{All: true, Orig: word("/" + pat), With: word(with)}
}

// replacement expands what a match is replaced with, to pieces of which an empty one
// stands for the match itself: an & that has no quotes of its own.
func (s *shell) replacement(w *syntax.Word, q quoting) []string {
	if w == nil {
		return nil
	}
	var pieces []string
	add := func(text string) {
		if text != "" {
			pieces = append(pieces, text)
		}
	}
	for i, part := range w.Parts {
		x := &expander{s: s, single: true}
		switch {
		case q.quotes():
			x.part(part, braced)
		case i == 0:
			x.word(&syntax.Word{Parts: w.Parts[:1]}, noAssign)
		default:
			x.part(part, bare)
		}
		_, protected := part.(*syntax.DblQuoted)
		for _, g := range x.segs {
			if protected || g.kind == segQuoted && !q.quotes() || !s.opt.patsubReplacement {
				add(g.s)
				continue
			}
			rest := g.s
			for rest != "" {
				at := strings.IndexAny(rest, `&\`)
				if at < 0 {
					add(rest)
					break
				}
				add(rest[:at])
				switch {
				case rest[at] == '&':
					pieces = append(pieces, "")
				case at+1 < len(rest) && (rest[at+1] == '&' || rest[at+1] == '\\'):
					at++
					add(rest[at : at+1])
				default:
					add(`\`)
				}
				rest = rest[at+1:]
			}
		}
	}
	return pieces
}

// operator does ${x:-word}, ${x#pattern}, ${x^}, ${x@Q} and their kin. It reports true
// if it has added the result itself.
func (x *expander) operator(pe *syntax.ParamExp, r *ref, q quoting) bool {
	s := x.s
	op, word := pe.Exp.Op, pe.Exp.Word
	null := !r.set || r.all == 0 && r.str == "" || r.all != 0 && len(r.list) == 1 && r.list[0] == ""
	switch op {
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull:
		if !r.set || op == syntax.DefaultUnsetOrNull && null {
			x.alternative(word, q)
			return true
		}
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
		if !r.set || op == syntax.AlternateUnsetOrNull && null {
			if q.quotes() && r.all == 0 {
				x.add("", segQuoted)
			}
			return true
		}
		x.alternative(word, q)
		return true
	case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		if !r.set || op == syntax.ErrorUnsetOrNull && null {
			msg := x.message(word)
			switch {
			case msg != "":
			case op == syntax.ErrorUnset:
				msg = "parameter not set"
			default:
				msg = "parameter null or not set"
			}
			s.abort("%s: %s", r.name, msg)
		}
	case syntax.AssignUnset, syntax.AssignUnsetOrNull:
		if !r.set || op == syntax.AssignUnsetOrNull && null {
			if r.all != 0 || !syntax.ValidName(r.name) {
				s.fail("$%s: cannot assign in this way", r.name)
			}
			y := &expander{s: s, single: true}
			y.alternative(word, q)
			val := y.join()
			if !s.assign(r.name, r.sub, r.hasSub, val, false) {
				s.dropLine()
			}
			r.str, r.set = s.value2(r), true
		}
	case syntax.RemSmallPrefix, syntax.RemLargePrefix, syntax.RemSmallSuffix, syntax.RemLargeSuffix:
		pat := s.pattern(word)
		m := s.compile(pat, false)
		r.each(func(str string) string {
			return m.trim(s, str, op == syntax.RemSmallSuffix || op == syntax.RemLargeSuffix,
				op == syntax.RemLargePrefix || op == syntax.RemLargeSuffix)
		})
	case syntax.UpperFirst, syntax.UpperAll, syntax.LowerFirst, syntax.LowerAll:
		pat := s.pattern(word)
		change := unicode.ToUpper
		if op == syntax.LowerFirst || op == syntax.LowerAll {
			change = unicode.ToLower
		}
		m := s.compile(pat, false)
		r.each(func(str string) string {
			var sb strings.Builder
			for i, ch := range str {
				if (i == 0 || op == syntax.UpperAll || op == syntax.LowerAll) && (pat == "" || m.match(s, string(ch))) {
					ch = change(ch)
				}
				sb.WriteRune(ch)
			}
			return sb.String()
		})
	case syntax.OtherParamOps:
		return x.transform(word.Lit(), r, q)
	default:
		s.unsupported("a parameter expansion of another shell", pe.Pos())
	}
	return false
}

func (s *shell) value2(r *ref) string {
	again := ref{name: r.name, sub: r.sub, hasSub: r.hasSub}
	s.value(&again)
	return again.str
}

// alternative expands the word of ${x:-word} in place.
func (x *expander) alternative(w *syntax.Word, q quoting) {
	if w == nil {
		if q.quotes() {
			x.add("", segQuoted)
		}
		return
	}
	if q.quotes() {
		x.add("", segQuoted)
		x.parts(w.Parts, braced)
		return
	}
	x.parts(w.Parts, inner)
}

func (x *expander) message(w *syntax.Word) string {
	if w == nil {
		return ""
	}
	y := &expander{s: x.s, single: true}
	y.parts(w.Parts, inner)
	return y.join()
}

// transform does ${x@op}.
func (x *expander) transform(op string, r *ref, q quoting) bool {
	s := x.s
	switch op {
	case "U":
		r.each(strings.ToUpper)
	case "L":
		r.each(strings.ToLower)
	case "u":
		r.each(func(str string) string {
			_, n := utf8.DecodeRuneInString(str)
			return strings.ToUpper(str[:n]) + str[n:]
		})
	case "Q":
		r.each(quoteSingle)
	case "E":
		r.each(ansiC)
	case "P":
		r.each(s.prompt)
	case "a":
		flags := ""
		if v, _ := s.find(r.name); v != nil {
			flags = v.flags()
		}
		r.each(func(string) string { return flags })
		if r.all == 0 {
			r.str = flags
		}
	case "A":
		x.add(s.recreate(r), q.kind())
		return true
	case "K", "k":
		isAssoc := r.v != nil && r.v.attrs&attrAssoc != 0
		if r.all == 0 || r.name == "@" || r.name == "*" || !isAssoc && (r.v == nil || r.v.attrs&attrArray == 0) {
			r.each(quoteSingle)
			return false
		}
		keys := s.keys(r.name)
		var list []string
		for i, key := range keys {
			if op == "k" {
				list = append(list, key, r.list[i])
			} else {
				if isAssoc {
					key = quoteKey(key)
				}
				list = append(list, key+" "+quoteDouble(r.list[i]))
			}
		}
		if op == "K" {
			text := strings.Join(list, " ")
			if isAssoc && text != "" {
				text += " " // as bash has it
			}
			x.add(text, q.kind())
			return true
		}
		r.list = list
	default:
		s.fail("${%s@%s}: bad substitution", r.name, op)
	}
	return false
}

// recreate does ${x@A}.
func (s *shell) recreate(r *ref) string {
	if r.name == "@" || r.name == "*" {
		var sb strings.Builder
		sb.WriteString("set --")
		for _, p := range s.params {
			sb.WriteString(" " + quoteSingle(p))
		}
		return sb.String()
	}
	v, _ := s.find(r.name)
	if v == nil || !v.set && v.attrs == 0 {
		return ""
	}
	if r.all != 0 {
		return s.declaration(r.name, v)
	}
	flags := v.flags()
	head := ""
	if flags != "" {
		head = "declare -" + flags + " "
	}
	if !r.set {
		return head + r.name
	}
	return head + r.name + "=" + quoteSingle(r.str)
}

// flags lists the attributes in bash's order.
func (v *variable) flags() string {
	var sb strings.Builder
	for _, a := range []struct {
		attr attrs
		flag byte
	}{
		{attrArray, 'a'}, {attrAssoc, 'A'}, {attrInteger, 'i'}, {attrNameref, 'n'}, {attrReadonly, 'r'},
		{attrTrace, 't'}, {attrExport, 'x'}, {attrCapital, 'c'}, {attrLower, 'l'}, {attrUpper, 'u'},
	} {
		if v.attrs&a.attr != 0 {
			sb.WriteByte(a.flag)
		}
	}
	return sb.String()
}
