package sandbox

import (
	"maps"
	"slices"
)

// Intersect returns what both profiles allow: the profile of a child that must not reach
// more than its parent. For every path, At is the smaller of both.
func (p Profile) Intersect(o Profile) Profile {
	out := Profile{
		Protected: slices.Concat(p.Protected, o.Protected),
		Masked:    slices.Concat(p.Masked, o.Masked),
		GitWrite:  p.GitWrite && o.GitWrite,
		Network:   p.Network.intersect(o.Network),
		Sockets:   common(p.Sockets, o.Sockets),
		Env:       p.Env.intersect(o.Env),
		Limits:    p.Limits.Within(o.Limits),
	}
	for _, f := range p.Files {
		same := func(other HomeFile) bool {
			return other.Path == f.Path && other.Text == f.Text && other.Target == f.Target
		}
		if slices.ContainsFunc(o.Files, same) {
			out.Files = append(out.Files, f)
		}
	}
	out.GitSource = p.GitSource
	if p.GitWrite && !o.GitWrite {
		out.GitSource = o.GitSource
	}
	for _, r := range slices.Concat(p.Roots, o.Roots) {
		out.addRoot(r, min(p.root(r.Path).Mode, o.root(r.Path).Mode), p.root(r.Path).Guarded || o.root(r.Path).Guarded)
	}
	return out.Sorted()
}

// addRoot adds the root with the mode that both sides leave it; none leaves it out.
func (p *Profile) addRoot(r Root, mode Mode, guarded bool) {
	known := slices.ContainsFunc(p.Roots, func(k Root) bool { return k.Path == r.Path })
	if mode == ModeHidden || known {
		return
	}
	r.Mode, r.Guarded = mode, guarded
	p.Roots = append(p.Roots, r)
}

func (e Env) intersect(o Env) Env {
	out := Env{Set: maps.Clone(e.Set)}
	for _, name := range e.Pass {
		if slices.Contains(o.Pass, name) {
			out.Pass = append(out.Pass, name)
		}
	}
	maps.DeleteFunc(out.Set, func(name, value string) bool { return o.Set[name] != value })
	return out
}

// common returns the entries whose path is in both lists.
func common(a, b []Entry) []Entry {
	var out []Entry
	for _, e := range a {
		if slices.ContainsFunc(b, func(o Entry) bool { return o.Path == e.Path }) {
			out = append(out, e)
		}
	}
	return out
}
