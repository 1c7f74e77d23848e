package config

import (
	"strings"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/tool/roots"
)

// narrowRoots makes the roots that are there as strict as an untrusted file wants them,
// and adds none.
func (c *combination) narrowRoots(more []roots.Root) error {
	for i := range more {
		r := &more[i]
		reached := false
		for j := range c.policy.Roots {
			met, err := c.narrowRoot(&c.policy.Roots[j], r)
			if err != nil {
				return err
			}
			reached = reached || met
		}
		if !reached {
			c.ignore(r.Source, "root %s: %s", r.Name, r.Host)
		}
	}
	return nil
}

// narrowRoot applies what an untrusted file says about a place to a root at it, below it
// or around it. Around it a denial holds for the place alone; an ask, which no rule can
// say, for the whole root.
func (c *combination) narrowRoot(have, by *roots.Root) (met bool, err error) {
	covered, err := c.within(have.Host, by.Host)
	if err != nil {
		return false, err
	}
	if covered {
		*have = restricted(*have, func(a roots.Access) (approval.Verdict, bool) { return wanted(by, a) }, by)
		return true, nil
	}
	around, err := c.within(by.Host, have.Host)
	if err != nil || !around {
		return false, err
	}
	*have = restricted(*have, func(a roots.Access) (approval.Verdict, bool) {
		v, said := wanted(by, a)
		return v, said && v == approval.Ask
	}, by)
	return true, c.denyPlace(by)
}

// wanted is what an untrusted file says about an access; a root that is read-only in so
// many words denies changes.
func wanted(r *roots.Root, a roots.Access) (approval.Verdict, bool) {
	if r.Mode == roots.ReadOnly && a != roots.Read {
		return approval.Block, true
	}
	v, said := r.Approval[a]
	return v, said && v != approval.Free
}

// denyPlace adds rules that deny what an untrusted file denies at a place.
func (c *combination) denyPlace(r *roots.Root) error {
	names := map[roots.Access]string{roots.Read: approval.ReadFile, roots.Write: approval.WriteFile, roots.Delete: approval.DeleteFile}
	for _, a := range accesses {
		if v, said := wanted(r, a); !said || v != approval.Block {
			continue
		}
		for _, below := range []string{"", "/**"} {
			rule, err := approval.ParseRule("deny " + names[a] + "(" + literal(r.Host) + below + ")")
			if err != nil {
				return err
			}
			rule.Source, rule.Because = r.Source, r.Reason
			rule.ID = rule.Source + " " + string(a) + below
			c.rules = append(c.rules, rule)
		}
	}
	return nil
}

// literal escapes what a path pattern would take for a glob.
func literal(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `{`, `\{`).Replace(path)
}
