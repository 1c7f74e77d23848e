package config

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool/roots"
)

var accesses = []roots.Access{roots.AccessRead, roots.AccessWrite, roots.AccessDelete}

// addRoots adds the roots of a trusted file. What a tier denies at or above a place is
// denied there, whichever tier names the place.
func (c *combination) addRoots(more []roots.Root) error {
	earlier := slices.Clone(c.policy.Roots)
	for i := range earlier {
		taken := slices.ContainsFunc(more, func(r roots.Root) bool { return r.Name == earlier[i].Name })
		if taken || c.isDefault(earlier[i]) { // it is replaced, or filled at the end
			continue
		}
		around, err := c.around(earlier[i].Host, more)
		if err != nil {
			return err
		}
		for _, j := range around {
			c.policy.Roots[i] = inheriting(c.policy.Roots[i], &more[j])
		}
	}
	for _, r := range more {
		for i := range earlier {
			inside, err := c.within(r.Host, earlier[i].Host)
			if err != nil {
				return err
			}
			if inside {
				r = inheriting(r, &earlier[i])
			}
		}
		if err := c.addRoot(r); err != nil {
			return err
		}
	}
	return c.keepDenies(slices.DeleteFunc(earlier, c.isDefault))
}

// keepDenies lets the denies of earlier tiers hold in folders whose name a later one has taken
// over: they named files by it.
func (c *combination) keepDenies(earlier []roots.Root) error {
	for _, rule := range slices.Clone(c.rules) {
		if rule.Effect != policy.EffectDeny {
			continue
		}
		if err := c.placeRule(rule, earlier); err != nil {
			return err
		}
	}
	return nil
}

// addRoot adds a root, in place of one of an earlier tier that has its name.
func (c *combination) addRoot(r roots.Root) error {
	i := slices.IndexFunc(c.policy.Roots, func(h roots.Root) bool { return h.Name == r.Name })
	if i < 0 {
		c.policy.Roots = append(c.policy.Roots, r)
		return nil
	}
	have := c.policy.Roots[i]
	same, err := c.same(have.Host, r.Host)
	switch {
	case err != nil:
		return err
	case same:
		r = overlaid(have, r)
	case slices.ContainsFunc(accesses, func(a roots.Access) bool { return blocks(&have, a) }):
		return fmt.Errorf("%s: root %q is another folder than the one at %s, which denies something there; rename one of "+
			"them", r.Source, r.Name, have.Source)
	}
	c.policy.Roots[i] = r
	return nil
}

// overlaid returns what two tiers say about one place: the later where it speaks.
func overlaid(have, more roots.Root) roots.Root {
	out := more
	out.Approval = map[roots.Access]policy.Verdict{}
	out.Once = nil
	for _, a := range accesses {
		from := more
		if _, said := more.Approval[a]; !said {
			from = have
		}
		if v, said := from.Approval[a]; said {
			out.Approval[a] = v
		}
		if slices.Contains(from.Once, a) {
			out.Once = append(out.Once, a)
		}
	}
	if out.Mode == "" {
		out.Mode = have.Mode
	}
	if out.Suffixes == nil {
		out.Suffixes = have.Suffixes
	}
	if out.MaxFileBytes == 0 {
		out.MaxFileBytes = have.MaxFileBytes
	}
	return out
}

// inheriting returns the root with what the one around it denies.
func inheriting(r roots.Root, around *roots.Root) roots.Root {
	return restricted(r, func(a roots.Access) (policy.Verdict, bool) {
		return policy.VerdictBlock, blocks(around, a)
	}, around)
}

// restricted returns the root with stricter words, where by has some, and the reason of
// whoever denies.
func restricted(r roots.Root, word func(roots.Access) (policy.Verdict, bool), by *roots.Root) roots.Root {
	out := r
	out.Approval = map[roots.Access]policy.Verdict{}
	out.Once = nil
	for _, a := range accesses {
		have, said := r.Approval[a]
		if !said {
			have = defaultWord(a)
		}
		v, speaks := word(a)
		switch {
		case speaks && v < have:
			out.Approval[a] = v
			if v == policy.VerdictBlock {
				out.Reason = deniedBy(by)
			}
		case said:
			out.Approval[a] = have
		}
		if slices.Contains(r.Once, a) && !(speaks && v <= policy.VerdictAsk) {
			out.Once = append(out.Once, a)
		}
	}
	return out
}

func deniedBy(r *roots.Root) string {
	if r.Reason != "" {
		return r.Reason + " (" + r.Source + ")"
	}
	return "blocked by policy at " + r.Source
}

// defaultWord is what a root that says nothing means.
func defaultWord(a roots.Access) policy.Verdict {
	if a == roots.AccessRead {
		return policy.VerdictFree
	}
	return policy.VerdictAsk
}

func blocks(r *roots.Root, a roots.Access) bool {
	v, said := r.Approval[a]
	return said && v == policy.VerdictBlock
}

// same reports whether two paths are one place, within whether the first is at or below
// the second.
func (c *combination) same(a, b string) (bool, error) {
	a, b, err := c.resolved(a, b)
	return a == b, err
}

func (c *combination) within(inner, outer string) (bool, error) {
	inner, outer, err := c.resolved(inner, outer)
	return inner == outer || strings.HasPrefix(inner, strings.TrimSuffix(outer, "/")+string(filepath.Separator)), err
}

func (c *combination) resolved(a, b string) (string, string, error) {
	ra, err := c.resolve(a)
	if err != nil {
		return "", "", err
	}
	rb, err := c.resolve(b)
	return ra, rb, err
}
