package analysis

import "slices"

// maxFolders is how many possible working folders are followed; beyond, the folder is
// unknown.
const maxFolders = 4

// folders are those that a command may run in. None means that it is not known.
type folders struct {
	list []string
	// trail is the way there; nil if it is not known.
	trail *trail
	// within is a folder in or below which the one lies that is not known; empty if that is
	// not known either.
	within string
}

// A trail is where `cd -` and popd lead back to.
type trail struct {
	before  *folders // nil for nowhere
	stacked *stack
}

// A stack are the folders that pushd left, the last one first.
type stack struct {
	folders folders
	under   *stack
}

// in is a folder without a way there.
func in(dir string) folders { return folders{list: []string{dir}} }

// only returns the folder if there is exactly one.
func (f folders) only() string {
	if len(f.list) == 1 {
		return f.list[0]
	}
	return ""
}

// runsIn returns the folder if there is exactly one, or one that it lies in: where a program
// runs says which root it runs in.
func (f folders) runsIn() string {
	if !f.known() {
		return f.within
	}
	return f.only()
}

func (f folders) known() bool { return len(f.list) > 0 }

// or returns the folders of both.
func (f folders) or(g folders) folders {
	if !f.known() || !g.known() {
		if f.within == g.within {
			return folders{within: f.within}
		}
		return folders{}
	}
	if len(f.list) == len(g.list) && &f.list[0] == &g.list[0] && f.trail == g.trail {
		return f
	}
	both, way := f.list, f.trail
	if f.trail != g.trail {
		way = nil
	}
	for _, dir := range g.list {
		if !slices.Contains(both, dir) {
			both = append(slices.Clip(both), dir)
		}
	}
	if len(both) > maxFolders {
		return folders{}
	}
	return folders{list: both, trail: way}
}

// An outcome is where a command leaves the shell: in which folder if it succeeds, and in
// which if it fails. Sure says that it cannot fail.
type outcome struct {
	ok, fail folders
	sure     bool
}

// stays is the outcome of what does not change the folder.
func stays(f folders) outcome { return outcome{ok: f, fail: f} }

// either are the folders that are possible after it.
func (o outcome) either() folders {
	if o.sure {
		return o.ok
	}
	return o.ok.or(o.fail)
}

// negated is the outcome of `! command`.
func (o outcome) negated() outcome {
	if o.sure {
		return stays(o.ok)
	}
	return outcome{ok: o.fail, fail: o.ok}
}

// and is the outcome of `a && b`, or is that of `a || b`.
func (o outcome) and(b outcome) outcome {
	if o.sure {
		return b
	}
	return outcome{ok: b.ok, fail: o.fail.or(b.fail)}
}

func (o outcome) or(b outcome) outcome {
	if o.sure {
		return o
	}
	return outcome{ok: o.ok.or(b.ok), fail: b.fail}
}

// merge is the outcome of one or the other.
func (o outcome) merge(b outcome) outcome {
	return outcome{ok: o.ok.or(b.ok), fail: o.fail.or(b.fail), sure: o.sure && b.sure}
}
