package interp

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
	"unsafe"

	"mvdan.cc/sh/v3/syntax"
)

// attrs are what declare gives a variable besides its value.
type attrs uint16

const (
	attrExport attrs = 1 << iota
	attrReadonly
	attrInteger
	attrLower
	attrUpper
	attrCapital
	attrNameref
	attrArray
	attrAssoc
	attrTrace
)

// A variable of a shell. An array that another shell also sees is marked as shared and
// copied before it is changed.
type variable struct {
	attrs
	set bool // has a value; a declared variable may have none
	str string
	arr *array
	m   *assoc
	seq int              // when it was made: bash lists an environment by hash and age
	buf *strings.Builder // what str was built in, if it was appended to
}

// What an element costs besides its text.
const elemCost, assocCost = 24, 64

// array is an indexed array. idx is nil if element i has index i.
type array struct {
	vals   []string
	idx    []int
	shared bool
}

// assoc is an associative array, whose keys are listed in bash's own order.
type assoc struct {
	vals   map[string]assocVal
	next   int
	shared bool
}

type assocVal struct {
	s   string
	seq int
}

func (a *array) own() *array {
	if a == nil {
		return &array{}
	}
	if a.shared {
		return &array{vals: slices.Clone(a.vals), idx: slices.Clone(a.idx)}
	}
	return a
}

// shareable marks an array that a second shell is about to see. What is marked already may
// be in use elsewhere and is not written to.
func (a *array) shareable() *array {
	if a != nil && !a.shared {
		a.shared = true
	}
	return a
}

func (m *assoc) shareable() *assoc {
	if m != nil && !m.shared {
		m.shared = true
	}
	return m
}

func (a *array) len() int {
	if a == nil {
		return 0
	}
	return len(a.vals)
}

func (a *array) get(i int) (string, bool) {
	if a == nil {
		return "", false
	}
	if i < 0 {
		i += a.max() + 1
	}
	if a.idx == nil {
		if i >= 0 && i < len(a.vals) {
			return a.vals[i], true
		}
		return "", false
	}
	if at, ok := slices.BinarySearch(a.idx, i); ok {
		return a.vals[at], true
	}
	return "", false
}

// max returns the highest index, or -1.
func (a *array) max() int {
	switch {
	case a == nil || len(a.vals) == 0:
		return -1
	case a.idx == nil:
		return len(a.vals) - 1
	}
	return a.idx[len(a.idx)-1]
}

func (a *array) sparse() {
	if a.idx == nil {
		a.idx = make([]int, len(a.vals), len(a.vals)+1)
		for i := range a.idx {
			a.idx[i] = i
		}
	}
}

func (a *array) put(i int, v string) {
	if a.idx == nil {
		switch {
		case i < len(a.vals):
			a.vals[i] = v
			return
		case i == len(a.vals):
			a.vals = append(a.vals, v)
			return
		}
		a.sparse()
	}
	at, ok := slices.BinarySearch(a.idx, i)
	if ok {
		a.vals[at] = v
		return
	}
	a.vals = slices.Insert(a.vals, at, v)
	a.idx = slices.Insert(a.idx, at, i)
}

func (a *array) remove(i int) {
	if a.idx == nil && i == len(a.vals)-1 {
		a.vals = a.vals[:i]
		return
	}
	a.sparse()
	if at, ok := slices.BinarySearch(a.idx, i); ok {
		a.vals = slices.Delete(a.vals, at, at+1)
		a.idx = slices.Delete(a.idx, at, at+1)
	}
}

func (a *array) keys() []string {
	keys := make([]string, a.len())
	for i := range keys {
		if a.idx == nil {
			keys[i] = strconv.Itoa(i)
		} else {
			keys[i] = strconv.Itoa(a.idx[i])
		}
	}
	return keys
}

func (m *assoc) own() *assoc {
	if m == nil {
		return &assoc{vals: map[string]assocVal{}}
	}
	if m.shared {
		return &assoc{vals: maps.Clone(m.vals), next: m.next}
	}
	return m
}

func (m *assoc) put(k, v string) {
	old, ok := m.vals[k]
	if !ok {
		m.next++
		old.seq = m.next
	}
	m.vals[k] = assocVal{v, old.seq}
}

// keys lists the keys in the order in which bash walks its hash table.
func (m *assoc) keys() []string {
	if m == nil {
		return nil
	}
	keys := slices.Collect(maps.Keys(m.vals))
	buckets := uint32(1024)
	for uint32(len(keys)) > buckets*2 {
		buckets *= 4
	}
	slices.SortFunc(keys, func(a, b string) int {
		return cmp.Or(
			cmp.Compare(bashHash(a)&(buckets-1), bashHash(b)&(buckets-1)),
			cmp.Compare(m.vals[b].seq, m.vals[a].seq))
	})
	return keys
}

func (m *assoc) values() []string {
	keys := m.keys()
	for i, k := range keys {
		keys[i] = m.vals[k].s
	}
	return keys
}

// bashHash is the hash function of bash's tables, with its sign extension.
func bashHash(s string) uint32 {
	h := uint32(2166136261)
	for i := range len(s) {
		h *= 16777619
		h ^= uint32(int32(int8(s[i])))
	}
	return h
}

// list returns the elements as "${x[@]}" does.
func (v *variable) list() []string {
	switch {
	case v == nil || !v.set:
		return nil
	case v.attrs&attrAssoc != 0:
		return v.m.values()
	case v.attrs&attrArray != 0:
		if v.arr == nil {
			return nil
		}
		return v.arr.vals
	}
	return []string{v.str}
}

// scalar returns the value as $x does.
func (v *variable) scalar() (string, bool) {
	switch {
	case v == nil || !v.set:
		return "", false
	case v.attrs&attrAssoc != 0:
		if v.m == nil {
			return "", false
		}
		e, ok := v.m.vals["0"]
		return e.s, ok
	case v.attrs&attrArray != 0:
		return v.arr.get(0)
	}
	return v.str, true
}

func (v *variable) size() int {
	n := len(v.str)
	if v.arr != nil {
		n += elemCost * len(v.arr.vals)
		for _, e := range v.arr.vals {
			n += len(e)
		}
	}
	if v.m != nil {
		for k, e := range v.m.vals {
			n += assocCost + len(k) + len(e.s)
		}
	}
	return n
}

// A scope has the variables of the whole shell, of one function call, or those that
// stand before a command.
type scope struct {
	vars map[string]*variable
	// call is set for the scope of a function, where local puts its variables.
	call bool
	// temp is set for A=b before a command.
	temp bool
	opts *options // saved by `local -`
}

func newScope() *scope { return &scope{vars: map[string]*variable{}} }

// copyScopes copies the variables for a subshell.
func copyScopes(scopes []*scope) []*scope {
	out := make([]*scope, len(scopes))
	for i, sc := range scopes {
		c := &scope{vars: make(map[string]*variable, len(sc.vars)), call: sc.call, temp: sc.temp}
		for name, v := range sc.vars {
			v.arr.shareable()
			v.m.shareable()
			w := *v
			w.buf = nil // the copy would write over what the original appends
			c.vars[name] = &w
		}
		out[i] = c
	}
	return out
}

// find returns a variable by name, without following references, and its scope.
func (s *shell) find(name string) (*variable, *scope) {
	for _, sc := range slices.Backward(s.scopes) {
		if v := sc.vars[name]; v != nil {
			return v, sc
		}
	}
	return nil, nil
}

// resolve follows references to the name of the variable that is meant, and a
// subscript if the reference names an element.
func (s *shell) resolve(name string) (target, sub string) {
	for range 100 {
		v, _ := s.find(name)
		if v == nil || v.attrs&attrNameref == 0 || !v.set || v.str == "" {
			return name, ""
		}
		if base, sub, ok := cutSubscript(v.str); ok {
			return base, sub
		}
		if v.str == name {
			return name, ""
		}
		name = v.str
	}
	s.warn("warning: %s: circular name reference", name)
	return "", ""
}

// lookup returns the variable that a name means, or nil. Special parameters and
// variables that bash computes are included.
func (s *shell) lookup(name string) *variable {
	name, sub := s.resolve(name)
	v := s.special(name)
	if v == nil {
		v, _ = s.find(name)
	}
	if v == nil || sub == "" {
		return v
	}
	str, ok := s.element(v, name, sub)
	return &variable{set: ok, str: str}
}

// get returns the value of a scalar variable, or an empty string.
func (s *shell) get(name string) string {
	str, _ := s.lookup(name).scalar()
	return str
}

// home returns the scope in which an assignment to the name takes place.
func (s *shell) home(name string) *scope {
	if _, sc := s.find(name); sc != nil {
		return sc
	}
	return s.scopes[0]
}

// set assigns a string to a variable, as name=value does.
func (s *shell) set(name, value string) {
	s.assign(name, "", false, value, false)
}

// assign assigns to a variable, or to an element of it.
func (s *shell) assign(name, sub string, hasSub bool, value string, add bool) bool {
	target, refSub := s.resolve(name)
	if refSub != "" && !hasSub {
		sub, hasSub = refSub, true
	}
	if !s.assignable(target) {
		return true // bash ignores it
	}
	sc := s.home(target)
	v := s.writable(sc, target)
	if v == nil {
		return false
	}
	s.assignIn(v, target, sub, hasSub, value, add)
	return true
}

// writable is a variable of a scope, which is made if there is none; nil, and a complaint, if it
// is readonly.
func (s *shell) writable(sc *scope, name string) *variable {
	v := sc.vars[name]
	if v == nil {
		return s.newVar(sc, name)
	}
	if v.attrs&attrReadonly != 0 {
		s.readonly(name)
		return nil
	}
	return v
}

func (s *shell) newVar(sc *scope, name string) *variable {
	s.varSeq++
	v := &variable{seq: s.varSeq}
	if s.opt.allexport {
		v.attrs |= attrExport
	}
	sc.vars[name] = v
	return v
}

// assignIn assigns to a variable that may be changed.
func (s *shell) assignIn(v *variable, name, sub string, hasSub bool, value string, add bool) {
	grown := 0 // without a walk over all elements
	switch {
	case v.attrs&attrAssoc != 0:
		if !hasSub {
			sub = "0"
		}
		if sub == "" {
			s.fail("%s[%s]: bad array subscript", name, sub)
		}
		old := ""
		if v.m != nil {
			old = v.m.vals[sub].s
		}
		value = s.convert(v, old, value, add)
		v.m = v.m.own()
		before := len(v.m.vals)
		v.m.put(sub, value)
		grown = len(value) - len(old) + (len(v.m.vals)-before)*(assocCost+len(sub))
	case hasSub || v.attrs&attrArray != 0:
		i := 0
		if hasSub {
			i = s.index(v, name, sub)
		}
		if v.attrs&attrArray == 0 {
			v.attrs |= attrArray
			v.arr = &array{}
			if v.set {
				v.arr.put(0, v.str)
			}
			v.str = ""
		}
		old, _ := v.arr.get(i)
		value = s.convert(v, old, value, add)
		v.arr = v.arr.own()
		before := v.arr.len()
		v.arr.put(i, value)
		grown = len(value) - len(old) + (v.arr.len()-before)*elemCost
	default:
		before := len(v.str)
		if add && v.attrs&(attrInteger|attrLower|attrUpper|attrCapital) == 0 {
			v.append(s, value)
		} else {
			v.str = s.convert(v, v.str, value, add)
		}
		grown = len(v.str) - before
	}
	v.set = true
	if s.opt.allexport {
		v.attrs |= attrExport
	}
	s.changed(name, v)
	s.r.grow(s, grown)
}

// append adds to a value without copying what is there each time.
func (v *variable) append(s *shell, value string) {
	s.r.bound(s, len(v.str)+len(value))
	if len(v.str)+len(value) < 256 {
		v.str += value
		return
	}
	if b := v.buf; b == nil || unsafe.StringData(b.String()) != unsafe.StringData(v.str) || b.Len() != len(v.str) {
		// The value is not, or no longer, what was built here.
		v.buf = &strings.Builder{}
		v.buf.Grow(2 * (len(v.str) + len(value)))
		v.buf.WriteString(v.str)
	}
	v.buf.WriteString(value)
	v.str = v.buf.String()
}

// convert applies a variable's attributes to what it is given.
func (s *shell) convert(v *variable, old, value string, add bool) string {
	if v.attrs&attrInteger != 0 {
		n := s.arithText(value)
		if add {
			n += s.arithText(old)
		}
		return strconv.FormatInt(n, 10)
	}
	if add {
		value = old + value
	}
	s.r.bound(s, len(value))
	switch {
	case v.attrs&attrLower != 0:
		value = strings.ToLower(value)
	case v.attrs&attrUpper != 0:
		value = strings.ToUpper(value)
	case v.attrs&attrCapital != 0 && value != "":
		_, n := utf8.DecodeRuneInString(value)
		value = strings.ToUpper(value[:n]) + strings.ToLower(value[n:])
	}
	return value
}

// index computes an array index. A negative one counts from the end.
func (s *shell) index(v *variable, name, sub string) int {
	i := int(s.arithText(sub))
	if i < 0 {
		top := 0
		if v != nil && v.set {
			top = 1
			if v.attrs&attrArray != 0 {
				top = v.arr.max() + 1
			}
		}
		if i += top; i < 0 {
			s.fail("%s[%s]: bad array subscript", name, sub)
		}
	}
	return i
}

// element returns an element of a variable by its subscript.
func (s *shell) element(v *variable, name, sub string) (string, bool) {
	if v == nil || !v.set {
		if (v == nil || v.attrs&attrAssoc == 0) && strings.HasPrefix(sub, "-") {
			s.warn("%s: bad array subscript", name)
		}
		return "", false
	}
	switch {
	case v.attrs&attrAssoc != 0:
		if v.m == nil {
			return "", false
		}
		e, ok := v.m.vals[sub]
		return e.s, ok
	case v.attrs&attrArray != 0:
		i := int(s.arithText(sub))
		if i < 0 && i+v.arr.max()+1 < 0 {
			s.warn("%s: bad array subscript", name)
			return "", false
		}
		return v.arr.get(i)
	}
	i := s.arithText(sub)
	if i < 0 {
		s.warn("%s: bad array subscript", name)
	}
	if i != 0 {
		return "", false
	}
	return v.str, true
}

// setList makes a variable an indexed array of these values.
func (s *shell) setList(name string, list []string) bool {
	name, _ = s.resolve(name)
	v := s.writable(s.home(name), name)
	if v == nil {
		return false
	}
	before := v.size()
	v.attrs = v.attrs&^attrAssoc | attrArray
	v.arr, v.m, v.str, v.set = &array{vals: list}, nil, "", true
	s.r.grow(s, v.size()-before)
	return true
}

// unset removes a variable, and reports whether it may.
func (s *shell) unset(name string) bool {
	v, sc := s.find(name)
	if v == nil {
		return true
	}
	if v.attrs&attrReadonly != 0 {
		s.complain("unset", "%s: cannot unset: readonly variable", name)
		return false
	}
	s.r.grow(s, -v.size())
	if sc.call && sc == s.callScope() {
		// It stays local: the caller's variable of this name remains hidden.
		*v = variable{attrs: v.attrs & attrExport, seq: v.seq}
	} else {
		delete(sc.vars, name)
	}
	s.changed(name, nil)
	return true
}

// callScope returns the scope of the innermost function, or nil.
func (s *shell) callScope() *scope {
	for _, sc := range slices.Backward(s.scopes) {
		if sc.call {
			return sc
		}
	}
	return nil
}

// cutSubscript splits "name[sub]".
func cutSubscript(arg string) (name, sub string, ok bool) {
	i := strings.IndexByte(arg, '[')
	if i > 0 && strings.HasSuffix(arg, "]") && syntax.ValidName(arg[:i]) &&
		strings.Count(arg, "[") == strings.Count(arg, "]") {
		return arg[:i], arg[i+1 : len(arg)-1], true
	}
	return arg, "", false
}

// names lists the variables that can be seen, sorted.
func (s *shell) names() []string {
	seen := map[string]bool{}
	for _, sc := range s.scopes {
		for name := range sc.vars {
			seen[name] = true
		}
	}
	for _, name := range computedNames {
		seen[name] = true
	}
	return slices.Sorted(maps.Keys(seen))
}

// environ returns what a program gets to see, in bash's order.
func (s *shell) environ() []string {
	type exported struct {
		name, value string
		bucket      uint32
		seq         int
	}
	var list []exported
	seen := map[string]bool{}
	for _, sc := range slices.Backward(s.scopes) {
		for name, v := range sc.vars {
			if seen[name] {
				continue
			}
			seen[name] = true
			if v.attrs&attrExport == 0 || v.attrs&(attrArray|attrAssoc) != 0 || !v.set {
				continue
			}
			list = append(list, exported{name, v.str, bashHash(name) & 1023, v.seq})
		}
	}
	slices.SortFunc(list, func(a, b exported) int {
		return cmp.Or(cmp.Compare(a.bucket, b.bucket), cmp.Compare(b.seq, a.seq))
	})
	env := make([]string, 0, len(list)+len(s.foreign))
	for _, e := range list {
		env = append(env, e.name+"="+e.value)
	}
	for _, name := range slices.Sorted(maps.Keys(s.funcs)) {
		if f := s.funcs[name]; f.exported {
			env = append(env, "BASH_FUNC_"+name+"%%=() "+functionBody(f))
		}
	}
	return append(env, s.foreign...)
}
