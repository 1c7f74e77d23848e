package rulebook

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/assent-dev/assent/policy"
)

// A level is how far prompts may differ that one suggestion answers.
type level int

const (
	exactly  level = iota // not at all
	byFolder              // in the rest of a command, the file in a folder, the page below an address
	byRoot                // in the folder as well
)

// key is what prompts have in common that belong together at a level.
func (l level) key(acts []policy.Act) (string, bool) {
	parts := make([]string, len(acts))
	for i, a := range acts {
		k, ok := l.actKey(a)
		if !ok {
			return "", false
		}
		parts[i] = k
	}
	return strings.Join(parts, "\x00"), true
}

func (l level) actKey(a policy.Act) (string, bool) {
	if l == exactly || a.ByName {
		return exact(a), true
	}
	head := a.Connector + "\x01" + a.Name + "\x01" + string(a.Target.Kind) + "\x01" + a.Target.To + "\x01"
	t := a.Target
	switch {
	case t.Kind == policy.KindWords && a.Prefix > 0:
		words, _ := plainWords(a)
		return head + strings.Join(words[:min(a.Prefix, len(words))], "\x02"), true
	case t.Kind == policy.KindPath && len(t.Written) > 0:
		if l == byRoot {
			root, _, _ := strings.Cut(t.Written[0], "/")
			return head + root, root != ""
		}
		return head + path.Dir(t.Written[0]), true
	case t.Kind == policy.KindURL:
		u := t.URL
		return head + strings.Join([]string{u.Method, u.Scheme, u.Host, u.Port}, "\x02"), true
	case t.Kind == policy.KindArguments && a.Connector != "":
		return head, true
	}
	return exact(a), true
}

// exact is the rule for exactly this act.
func exact(a policy.Act) string {
	return policy.Grant{Effect: policy.EffectAllow, Act: a, Reach: policy.ReachExact}.String()
}

// rule returns the smallest rule that covers acts which have a key in common.
func (l level) rule(acts []policy.Act) (string, bool) {
	first := acts[0]
	same := true
	for _, a := range acts[1:] {
		same = same && exact(a) == exact(first)
	}
	if same {
		return exact(first), true
	}
	switch first.Target.Kind {
	case policy.KindWords:
		return commandRule(acts)
	case policy.KindPath:
		return pathRule(acts)
	case policy.KindURL:
		return addressRule(acts)
	case policy.KindArguments:
		return policy.Grant{Effect: policy.EffectAllow, Act: first, Reach: policy.ReachTool}.String(), first.Connector != ""
	}
	return "", false
}

// commandRule allows the words that the commands begin with.
func commandRule(acts []policy.Act) (string, bool) {
	common, least := -1, 0
	first, _ := plainWords(acts[0])
	for _, a := range acts {
		words, _ := plainWords(a)
		n := 0
		for n < min(len(first), len(words)) && first[n] == words[n] {
			n++
		}
		if common < 0 || n < common {
			common = n
		}
		least = max(least, a.Prefix)
	}
	if common < least || least == 0 {
		return "", false
	}
	a := acts[0]
	a.Prefix = common
	return policy.Grant{Effect: policy.EffectAllow, Act: a, Reach: policy.ReachPrefix}.String(), true
}

// pathRule allows the files of a folder, with the suffix that all have.
func pathRule(acts []policy.Act) (string, bool) {
	first := acts[0].Target.Written[0]
	folder, suffix, deep := path.Dir(first), path.Ext(first), false
	for _, a := range acts[1:] {
		file := a.Target.Written[0]
		for folder != "." && folder != "/" && !strings.HasPrefix(file, folder+"/") {
			folder, deep = path.Dir(folder), true
		}
		deep = deep || path.Dir(file) != folder
		if path.Ext(file) != suffix {
			suffix = ""
		}
	}
	if folder == "/" || folder == "." && (deep || suffix == "") {
		return "", false // that would be nearly everything
	}
	pattern := "*" + escape(suffix)
	switch {
	case deep && suffix == "":
		pattern = "**"
	case deep:
		pattern = "**/" + pattern
	}
	if folder != "." {
		pattern = escape(folder) + "/" + pattern
	}
	if to := acts[0].Target.To; to != "" {
		pattern += ", " + escape(to)
	}
	return "allow " + acts[0].Name + "(" + pattern + ")", true
}

// addressRule allows what lies below the folder that the addresses share.
func addressRule(acts []policy.Act) (string, bool) {
	u := acts[0].Target.URL
	if u.Scheme == "" {
		return "", false
	}
	folder := path.Dir(u.Path)
	for _, a := range acts[1:] {
		for folder != "/" && folder != "." && !strings.HasPrefix(a.Target.URL.Path, folder+"/") {
			folder = path.Dir(folder)
		}
	}
	u.Path, u.Query = escape(strings.TrimSuffix(folder, "/"))+"/**", ""
	return "allow " + acts[0].Name + "(" + u.String() + ")", true
}

// globSigns mean something in a pattern.
var globSigns = regexp.MustCompile(`[\\*?\[\]{}]`)

// escape makes text plain in a pattern.
func escape(text string) string { return globSigns.ReplaceAllString(text, `\$0`) }

// worthy reports whether a rule for the act may be suggested at all. What nobody can read,
// what only a person answers, secrets, and whatever runs what it is given are left to people.
func worthy(a policy.Act) bool {
	if a.PersonOnly || a.Secret || a.Opaque || a.Away || a.Target.Unknown {
		return false
	}
	if a.Target.Kind != policy.KindWords {
		return true
	}
	words, ok := plainWords(a)
	return ok && a.Known && a.Prefix > 0 && !RunsAnything(words...)
}

// plainWords returns the words of a command, if all are known.
func plainWords(a policy.Act) ([]string, bool) {
	out := make([]string, len(a.Target.Words))
	for i, w := range a.Target.Words {
		if w.Unknown {
			return nil, false
		}
		out[i] = w.Text
	}
	return out, len(out) > 0
}

// causedBy reports whether the act follows from another open one.
func causedBy(acts []policy.Act, i int, open []int) bool {
	for c := acts[i].Cause - 1; c >= 0 && c < i; i, c = c, acts[c].Cause-1 {
		if slices.Contains(open, c) {
			return true
		}
	}
	return false
}

// changesFiles reports whether the act is a command that writes or deletes what it is given:
// with other operands it would change other files.
func changesFiles(acts []policy.Act, i int) bool {
	return acts[i].Target.Kind == policy.KindWords && slices.ContainsFunc(acts, func(a policy.Act) bool {
		return a.Cause == i+1 && (a.Name == policy.ActWriteFile || a.Name == policy.ActDeleteFile)
	})
}
