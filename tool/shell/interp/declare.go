package interp

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A declArg is an argument of declare and its kin.
type declArg struct {
	word  string // as given, if it is an option or a name
	name  string
	sub   string
	isSub bool
	value string
	has   bool // there is a value
	add   bool // +=
	array *syntax.ArrayExpr
	index syntax.ArithmExpr
}

// declClause runs declare, local, export, readonly and typeset.
func (s *shell) declClause(st *syntax.Stmt, cm *syntax.DeclClause) {
	s.at(cm.Pos())
	if len(cm.Args) > 0 {
		s.line = cm.Args[0].End().Line() + s.lineOff // as in commandLine
	}
	s.current = st
	s.substState = -1
	s.notProgram()
	marks := len(s.procSubs)
	defer s.closeProcSubs(marks)
	s.debug(nil)
	if cm.Variant.Value == "nameref" {
		s.unsupported("nameref", cm.Pos())
	}
	var list []declArg
	shown := []string{cm.Variant.Value}
	for _, as := range cm.Args {
		switch {
		case as.Name == nil:
			for _, f := range s.fields([]*syntax.Word{as.Value}) {
				list = append(list, declString(f))
				shown = append(shown, f)
			}
		case as.Naked && as.Index == nil:
			list = append(list, declArg{word: as.Name.Value, name: as.Name.Value})
			shown = append(shown, as.Name.Value)
		default:
			arg := declArg{name: as.Name.Value, add: as.Append, array: as.Array, index: as.Index, has: !as.Naked}
			text := as.Name.Value
			if as.Array != nil {
				text += "=(...)"
			} else if !as.Naked {
				arg.value = s.textAs(as.Value, wholeAssign)
				text += "=" + arg.value
			}
			list = append(list, arg)
			shown = append(shown, text)
		}
	}
	s.pos = cm.Pos()
	if s.opt.xtrace {
		s.traceArgs(shown)
		for _, arg := range list {
			if arg.has && arg.array == nil && (cm.Variant.Value == "export" || cm.Variant.Value == "readonly") {
				s.trace(arg.name + "=" + quoteAssigned(arg.value))
			}
		}
	}
	s.call(CallBuiltin, shown, nil)
	undo, ok := s.redirect(st.Redirs)
	defer undo()
	if !ok {
		s.leaf(1)
		return
	}
	old := s.builtin
	s.builtin = cm.Variant.Value
	status := s.declare(cm.Variant.Value, list)
	s.builtin = old
	s.lastArg = shown[len(shown)-1]
	s.leaf(status)
}

// declString reads an argument that is a string, such as one from an expansion.
func declString(arg string) declArg {
	d := declArg{word: arg, name: arg}
	name, value, ok := strings.Cut(arg, "=")
	if !ok {
		d.name, d.sub, d.isSub = cutSubscript(arg)
		return d
	}
	d.has, d.value = true, value
	name, d.add = strings.CutSuffix(name, "+")
	d.name, d.sub, d.isSub = cutSubscript(name)
	return d
}

func declareBuiltin(s *shell, args []string) int {
	var list []declArg
	for _, arg := range args[1:] {
		list = append(list, declString(arg))
	}
	return s.declare(args[0], list)
}

// declOpts are the options of declare.
type declOpts struct {
	on, off                              attrs
	print, funcs, names, global, inherit bool
	unexport                             bool
}

func (s *shell) declOptions(variant string, list []declArg) (o declOpts, rest []declArg, ok bool) {
	allowed := "aAfFgiIlnprtuxc"
	switch variant {
	case "export":
		allowed = "fnp"
	case "readonly":
		allowed = "aAfp"
	}
	for len(list) > 0 {
		word := list[0].word
		if len(word) < 2 || word[0] != '-' && (word[0] != '+' || variant == "export" || variant == "readonly") {
			break
		}
		list = list[1:]
		if word == "--" {
			break
		}
		for i := 1; i < len(word); i++ {
			if strings.IndexByte(allowed, word[i]) < 0 {
				s.complain(variant, "%c%c: invalid option", word[0], word[i])
				s.usage(variant)
				return o, nil, false
			}
			var attr attrs
			switch word[i] {
			case 'a':
				attr = attrArray
			case 'A':
				attr = attrAssoc
			case 'i':
				attr = attrInteger
			case 'l':
				attr = attrLower
			case 'u':
				attr = attrUpper
			case 'c':
				attr = attrCapital
			case 'r':
				attr = attrReadonly
			case 't':
				attr = attrTrace
			case 'x':
				attr = attrExport
			case 'n':
				if variant == "export" {
					o.unexport = true
				} else {
					attr = attrNameref
				}
			case 'p':
				o.print = true
			case 'f':
				o.funcs = true
			case 'F':
				o.funcs, o.names = true, true
			case 'g':
				o.global = true
			case 'I':
				o.inherit = true
			}
			if word[0] == '-' {
				o.on |= attr
			} else {
				o.off |= attr
			}
		}
	}
	switch variant {
	case "export":
		o.on |= attrExport
	case "readonly":
		o.on |= attrReadonly
	}
	return o, list, true
}

func (s *shell) declare(variant string, list []declArg) int {
	if variant == "local" && !s.inFunction() {
		s.complain("local", "can only be used in a function")
		return 1
	}
	o, args, ok := s.declOptions(variant, list)
	if !ok {
		return 2
	}
	if variant == "local" && len(args) == 1 && args[0].word == "-" {
		opts := s.opt
		s.callScope().opts = &opts
		return 0
	}
	if o.funcs {
		return s.declareFuncs(variant, o, args)
	}
	if len(args) == 0 {
		return s.listDeclared(variant, o)
	}
	if o.print && variant != "export" && variant != "readonly" {
		return s.printDeclared(variant, args)
	}
	if o.unexport {
		o.on &^= attrExport
		o.off |= attrExport
	}
	status := 0
	for _, arg := range args {
		if !s.declareOne(variant, o, arg) {
			status = 1
		}
	}
	return status
}

// declareOne gives one variable its attributes and value.
func (s *shell) declareOne(variant string, o declOpts, arg declArg) bool {
	name := arg.name
	if !syntax.ValidName(name) {
		shown := arg.word
		if shown == "" {
			shown = name
		}
		s.complain(variant, "`%s': not a valid identifier", shown)
		return false
	}
	var sc *scope
	local := (variant == "local" || variant == "declare" || variant == "typeset") && s.inFunction() && !o.global
	if local {
		sc = s.callScope()
	}
	if sc == nil && o.global {
		sc = s.scopes[0]
	}
	refers := o.on&attrNameref != 0
	if sc == nil && !refers {
		name, _ = s.resolve(name)
	}
	if sc == nil {
		if o.off&attrNameref == 0 && !refers {
			sc = s.home(name)
		} else {
			_, sc = s.find(name)
			if sc == nil {
				sc = s.scopes[0]
			}
		}
	}
	v := sc.vars[name]
	if v == nil {
		outer, _ := s.find(name)
		v = s.newVar(sc, name)
		if local && outer != nil {
			v.attrs |= outer.attrs & attrExport
			if outer.attrs&attrReadonly != 0 && slices.Contains(s.scopes[:1], s.scopeOf(name, outer)) {
				delete(sc.vars, name)
				s.complain(variant, "%s: readonly variable", name)
				return false
			}
			if o.inherit {
				seq := v.seq
				*v = *outer
				v.seq = seq
				v.arr, v.m = v.arr.shareable(), v.m.shareable()
			}
		}
	}
	if v.attrs&attrReadonly != 0 && (arg.has || o.off&attrReadonly != 0 || o.on&(attrArray|attrAssoc)&^v.attrs != 0) {
		if variant == "export" || variant == "readonly" {
			s.readonly(name)
		} else {
			s.complain(variant, "%s: readonly variable", name)
		}
		return false
	}
	switch {
	case o.on&attrAssoc != 0 && v.attrs&attrArray != 0:
		s.complain(variant, "%s: cannot convert indexed to associative array", name)
		return false
	case o.on&attrArray != 0 && v.attrs&attrAssoc != 0:
		s.complain(variant, "%s: cannot convert associative to indexed array", name)
		return false
	case o.off&(attrArray|attrAssoc)&v.attrs != 0:
		s.complain(variant, "%s: cannot destroy array variables in this way", name)
		return false
	}
	// A value is assigned with the new attributes, but before readonly holds.
	late := o.on & (attrReadonly | attrNameref)
	if refers && arg.has && !arg.add && !validRef(arg.value) {
		s.complain(variant, "`%s': invalid variable name for name reference", arg.value)
		return false
	}
	s.convertKind(v, o.on)
	if o.on&(attrLower|attrUpper|attrCapital) != 0 {
		v.attrs &^= attrLower | attrUpper | attrCapital
	}
	v.attrs = v.attrs&^o.off | o.on&^late
	good := true
	switch {
	case arg.array != nil:
		good = s.assignArray(name, arg.array, arg.add, o.on&(attrArray|attrAssoc), sc)
	case arg.has && refers:
		v.str, v.set = arg.value, true
	case arg.has:
		sub, isSub := arg.sub, arg.isSub
		if arg.index != nil {
			sub, isSub = s.subscript(name, arg.index), true
		} else if isSub {
			sub = s.runtimeSubscript(name, sub)
		}
		if strings.HasPrefix(arg.value, "(") && strings.HasSuffix(arg.value, ")") &&
			v.attrs&(attrArray|attrAssoc) != 0 && !isSub && arg.word != "" {
			s.unsupported("an array assignment in quotes", s.pos)
		}
		s.assignIn(v, name, sub, isSub, arg.value, arg.add)
	case arg.isSub && o.on&attrAssoc == 0:
		s.convertKind(v, attrArray)
		v.attrs |= attrArray
	}
	v.attrs |= late
	return good
}

func validRef(target string) bool {
	name, _, _ := cutSubscript(target)
	return syntax.ValidName(name)
}

func (s *shell) scopeOf(name string, v *variable) *scope {
	for _, sc := range s.scopes {
		if sc.vars[name] == v {
			return sc
		}
	}
	return nil
}

// convertKind makes a scalar the first element of the array that it becomes.
func (s *shell) convertKind(v *variable, on attrs) {
	switch {
	case on&attrArray != 0 && v.attrs&(attrArray|attrAssoc) == 0:
		if v.set {
			v.arr = &array{vals: []string{v.str}}
			v.str = ""
		}
	case on&attrAssoc != 0 && v.attrs&(attrArray|attrAssoc) == 0:
		if v.set {
			v.m = v.m.own()
			v.m.put("0", v.str)
			v.str = ""
		}
	}
}

func (s *shell) declareFuncs(variant string, o declOpts, args []declArg) int {
	if len(args) == 0 {
		for _, name := range sortedFuncs(s.funcs) {
			f := s.funcs[name]
			if variant == "export" && !f.exported || variant == "readonly" && !f.readonly {
				continue
			}
			s.showFunc(f, o.names || variant == "export" && !o.funcs)
		}
		return 0
	}
	status := 0
	for _, arg := range args {
		f := s.funcs[arg.name]
		if f == nil {
			if variant == "export" || variant == "readonly" {
				s.complain(variant, "%s: not a function", arg.name)
			}
			status = 1
			continue
		}
		switch {
		case variant == "export" || o.on&attrExport != 0:
			s.ownFuncs()
			s.funcs[arg.name].exported = !o.unexport
		case variant == "readonly" || o.on&attrReadonly != 0:
			s.ownFuncs()
			s.funcs[arg.name].readonly = true
		case o.names:
			s.out(f.name + "\n")
		default:
			s.out(functionText(f) + "\n")
		}
	}
	return status
}

func sortedFuncs(funcs map[string]*function) []string {
	var names []string
	for name := range funcs {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (s *shell) showFunc(f *function, nameOnly bool) {
	flags := "f"
	if f.readonly {
		flags += "r"
	}
	if f.exported {
		flags += "x"
	}
	if nameOnly {
		s.outf("declare -%s %s\n", flags, f.name)
		return
	}
	s.out(functionText(f) + "\n")
	if len(flags) > 1 {
		s.outf("declare -%s %s\n", flags, f.name)
	}
}

// declaration prints a variable as declare -p does.
func (s *shell) declaration(name string, v *variable) string {
	flags := v.flags()
	if flags == "" {
		flags = "-"
	}
	head := "declare -" + flags + " " + name
	if !v.set {
		return head
	}
	return head + "=" + v.literal()
}

// literal prints a value as it could be assigned.
func (v *variable) literal() string {
	switch {
	case v.attrs&attrAssoc != 0:
		var sb strings.Builder
		sb.WriteByte('(')
		for _, k := range v.m.keys() {
			sb.WriteString("[" + quoteKey(k) + "]=" + quoteDouble(v.m.vals[k].s) + " ")
		}
		return sb.String() + ")"
	case v.attrs&attrArray != 0:
		var parts []string
		for i, k := range v.arr.keys() {
			parts = append(parts, "["+k+"]="+quoteDouble(v.arr.vals[i]))
		}
		return "(" + strings.Join(parts, " ") + ")"
	}
	return quoteDouble(v.str)
}

func (s *shell) printDeclared(variant string, args []declArg) int {
	status := 0
	for _, arg := range args {
		v, _ := s.find(arg.word)
		if v == nil || !v.set && v.attrs == 0 && s.callScope() == nil {
			if v = s.special(arg.word); v == nil || !v.set || !syntax.ValidName(arg.word) {
				s.complain(variant, "%s: not found", arg.word)
				status = 1
				continue
			}
		}
		s.out(s.declaration(arg.word, v) + "\n")
	}
	return status
}

func (s *shell) listDeclared(variant string, o declOpts) int {
	switch {
	case variant == "local" && !o.print:
		for _, name := range sortedVars(s.callScope()) {
			if v := s.callScope().vars[name]; v.set {
				s.out(name + "=" + v.plain() + "\n")
			}
		}
		return 0
	case variant == "declare" && o.on == 0 && !o.print || variant == "typeset" && o.on == 0 && !o.print:
		s.showVariables()
		return 0
	}
	for _, name := range s.names() {
		v, _ := s.find(name)
		if v == nil {
			if v = s.special(name); v == nil || o.on != 0 {
				continue
			}
		}
		if o.on&^v.attrs != 0 {
			continue
		}
		s.out(s.declaration(name, v) + "\n")
	}
	return 0
}

func sortedVars(sc *scope) []string {
	var names []string
	for name := range sc.vars {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// plain prints a value as a bare set does.
func (v *variable) plain() string {
	if v.attrs&(attrArray|attrAssoc) != 0 {
		return v.literal()
	}
	return quoteSet(v.str)
}

// showVariables is a bare set.
func (s *shell) showVariables() {
	for _, name := range s.names() {
		v, _ := s.find(name)
		if v == nil {
			switch name {
			case "BASHOPTS", "SHELLOPTS":
				v = s.special(name)
			default:
				continue
			}
		}
		if v.set {
			s.out(name + "=" + v.plain() + "\n")
		}
	}
	for _, name := range sortedFuncs(s.funcs) {
		s.out(functionText(s.funcs[name]) + "\n")
	}
}

func unsetBuiltin(s *shell, args []string) int {
	vars, funcs, refs := false, false, false
	names, ok := s.flags(args, "vfn", func(flag byte, _ string) {
		switch flag {
		case 'v':
			vars = true
		case 'f':
			funcs = true
		case 'n':
			refs = true
		}
	})
	if !ok {
		return 2
	}
	status := 0
	for _, name := range names {
		if funcs {
			s.unsetFunc(name)
			continue
		}
		base, sub, isSub := cutSubscript(name)
		if !syntax.ValidName(base) {
			if vars || isSub || !funcName(name) {
				s.complain("unset", "`%s': not a valid identifier", name)
				status = 1
				continue
			}
		}
		if isSub {
			if !s.unsetElement(base, sub) {
				status = 1
			}
			continue
		}
		target := name
		if !refs {
			var refSub string
			if target, refSub = s.resolve(name); refSub != "" {
				s.unsetElement(target, refSub)
				continue
			}
		}
		if v, _ := s.find(target); v == nil && s.special(target) == nil {
			if !vars {
				s.unsetFunc(name)
			}
			continue
		}
		if s.special(target) != nil {
			s.changed(target, nil)
		}
		if !s.unset(target) {
			status = 1
		}
	}
	return status
}

func funcName(name string) bool { return name != "" && !strings.ContainsAny(name, "$=[]()") }

func (s *shell) unsetFunc(name string) {
	if s.funcs[name] != nil {
		s.ownFuncs()
		delete(s.funcs, name)
	}
}

func (s *shell) unsetElement(name, sub string) bool {
	name, _ = s.resolve(name)
	v, _ := s.find(name)
	switch {
	case sub == "":
		return true
	case v == nil || !v.set:
		return true
	case v.attrs&attrReadonly != 0:
		s.complain("unset", "%s: cannot unset: readonly variable", name)
		return false
	case (sub == "@" || sub == "*") && v.attrs&attrAssoc == 0:
		return s.unset(name)
	case v.attrs&attrAssoc != 0:
		v.m = v.m.own()
		key := s.runtimeSubscript(name, sub)
		delete(v.m.vals, key)
	case v.attrs&attrArray != 0:
		i := int(s.arithText(s.expandValue(sub)))
		if i < 0 {
			if i += v.arr.max() + 1; i < 0 {
				s.complain("unset", "[%s]: bad array subscript", sub)
				return false
			}
		}
		if _, ok := v.arr.get(i); ok {
			v.arr = v.arr.own()
			v.arr.remove(i)
		}
	default:
		if s.arithText(s.expandValue(sub)) != 0 {
			s.complain("unset", "%s: not an array variable", name)
			return false
		}
		return s.unset(name)
	}
	return true
}
