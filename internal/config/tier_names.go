package config

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool/roots"
)

// sameFolders puts the roots together that are one folder, as indices in the order given:
// by their paths without links, and by what the system says where they exist.
func sameFolders(list []roots.Root, resolve func(string) (string, error)) ([][]int, error) {
	var out [][]int
	paths, infos := make([]string, len(list)), make([]os.FileInfo, len(list))
	for i, r := range list {
		var err error
		if paths[i], err = resolve(r.Host); err != nil {
			return nil, fmt.Errorf("%s: %w", r.Source, err)
		}
		infos[i], _ = os.Stat(paths[i]) // it may not exist yet
		same := func(group []int) bool {
			first := group[0]
			return paths[first] == paths[i] || infos[i] != nil && infos[first] != nil && os.SameFile(infos[first], infos[i])
		}
		if at := slices.IndexFunc(out, same); at >= 0 {
			out[at] = append(out[at], i)
		} else {
			out = append(out, []int{i})
		}
	}
	return out, nil
}

// around returns the roots of a list that hold a path and lie deepest: one, or several names
// of one folder; none if no root holds it.
func (c *combination) around(path string, list []roots.Root) ([]int, error) {
	var out []int
	longest := 0
	for i := range list {
		inside, err := c.within(path, list[i].Host)
		if err != nil {
			return nil, err
		}
		real, err := c.resolve(list[i].Host)
		switch {
		case err != nil:
			return nil, err
		case !inside || len(real) < longest:
			continue
		case len(real) > longest:
			out, longest = nil, len(real)
		}
		out = append(out, i)
	}
	return out, nil
}

// fillDefaults lets the files speak about the roots that are only there where nobody said
// anything: such a root means what the root says that is the same folder or lies around it,
// and its own words are for what that one leaves out.
func (c *combination) fillDefaults() error {
	said := slices.DeleteFunc(slices.Clone(c.policy.Roots), c.isDefault)
	for i, have := range c.policy.Roots {
		if !c.isDefault(have) {
			continue
		}
		around, err := c.around(have.Host, said)
		if err != nil {
			return err
		}
		for n, j := range around {
			r := inheriting(overlaid(have, said[j]), &have)
			if same, err := c.same(have.Host, r.Host); err != nil {
				return err
			} else if same {
				at := slices.IndexFunc(c.policy.Roots, func(o roots.Root) bool { return o.Name == r.Name })
				c.policy.Roots[at] = r
			}
			if n > 0 {
				r = stricter(c.policy.Roots[i], r)
			}
			r.Name, r.Host = have.Name, have.Host
			c.policy.Roots[i] = r
		}
	}
	return nil
}

// Strictest returns the roots with what holds in each: of several that are one folder the
// strictest word. Resolve is that of [Setting].
func (p *Policy) Strictest(resolve func(string) (string, error)) ([]roots.Root, error) {
	folders, err := sameFolders(p.Roots, resolve)
	if err != nil {
		return nil, err
	}
	out := slices.Clone(p.Roots)
	for _, names := range folders {
		for _, i := range names {
			for _, j := range names {
				if i != j {
					out[i] = stricter(out[i], p.Roots[j])
				}
			}
		}
	}
	return out, nil
}

// stricter returns what two roots that are one folder say together, in the place of the
// first.
func stricter(a, b roots.Root) roots.Root {
	out := restricted(a, func(access roots.Access) (policy.Verdict, bool) { return spoken(b, access), true }, &b)
	out.Once = nil
	for _, access := range accesses {
		if spoken(out, access) == policy.VerdictAsk && once(a, access) && once(b, access) {
			out.Once = append(out.Once, access)
		}
	}
	if modeOf(b) != roots.ModeReadWrite {
		out.Mode = roots.ModeReadOnly
	}
	if b.MaxFileBytes > 0 && (out.MaxFileBytes == 0 || b.MaxFileBytes < out.MaxFileBytes) {
		out.MaxFileBytes = b.MaxFileBytes
	}
	out.Suffixes = commonSuffixes(a.Suffixes, b.Suffixes)
	return out
}

// once reports whether a root leaves a yes for the session: it asks once, or not at all.
func once(r roots.Root, a roots.Access) bool {
	return slices.Contains(r.Once, a) || spoken(r, a) == policy.VerdictFree
}

// commonSuffixes are those of the files that both lists take; no list takes all.
func commonSuffixes(a, b []string) []string {
	if len(a) == 0 || len(b) == 0 {
		return slices.Concat(a, b)
	}
	var out []string
	for _, x := range a {
		for _, y := range b {
			long, short := x, y
			if len(y) > len(x) {
				long, short = y, x
			}
			if strings.HasSuffix(strings.ToLower(long), strings.ToLower(short)) && !slices.Contains(out, long) {
				out = append(out, long)
			}
		}
	}
	if len(out) == 0 {
		return []string{"/"} // an empty list would take all, and no name ends so
	}
	return out
}

// spoken is what a root means for an access, said or not; modeOf what it can be used for.
func spoken(r roots.Root, a roots.Access) policy.Verdict {
	if v, said := r.Approval[a]; said {
		return v
	}
	return defaultWord(a)
}

func modeOf(r roots.Root) roots.Mode {
	if r.Mode == roots.ModeReadWrite {
		return roots.ModeReadWrite
	}
	return roots.ModeReadOnly
}

// noteNames notes which roots are one folder and say different things about it.
func (c *combination) noteNames(list []roots.Root) error {
	if len(list) < 2 {
		return nil
	}
	groups, err := sameFolders(list, c.resolve)
	if err != nil {
		return err
	}
	for _, group := range groups {
		first := list[group[0]]
		for _, i := range group[1:] {
			if held := differing(first, list[i]); len(held) > 0 {
				c.policy.Notes = append(slices.Clone(c.policy.Notes), ProblemAt(list[i].Source,
					"root %q is the same folder as root %q (%s); where they differ the stricter holds: %s",
					list[i].Name, first.Name, first.Source, strings.Join(held, ", ")))
			}
		}
	}
	return nil
}

// differing is what holds where two roots that are one folder say different things.
func differing(a, b roots.Root) []string {
	var out []string
	both := stricter(a, b)
	if modeOf(a) != modeOf(b) {
		out = append(out, "mode: "+string(modeOf(both)))
	}
	for _, access := range accesses {
		if word := wordOf(both, access); wordOf(a, access) != wordOf(b, access) {
			out = append(out, string(access)+": "+word)
		}
	}
	if !slices.Equal(a.Suffixes, b.Suffixes) {
		suffixes := "suffixes: none are accepted"
		if both.Suffixes[0] != "/" {
			suffixes = "suffixes: " + strings.Join(both.Suffixes, " ")
		}
		out = append(out, suffixes)
	}
	if a.MaxFileBytes != b.MaxFileBytes {
		out = append(out, "max_file_bytes: "+strconv.FormatInt(both.MaxFileBytes, 10))
	}
	return out
}

// wordOf is how config writes what a root means for an access.
func wordOf(r roots.Root, a roots.Access) string {
	switch v := spoken(r, a); {
	case v == policy.VerdictFree:
		return "allow"
	case v == policy.VerdictAsk && slices.Contains(r.Once, a):
		return "once_per_session"
	case v == policy.VerdictAsk:
		return "ask"
	}
	return "deny"
}
