package soundness

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool/shell/analysis"
	"github.com/assent-dev/assent/tool/shell/programs"
)

// An event is what happened when a command ran.
type event struct {
	starts        []start
	touches       []*touch
	lost          bool     // there were more touches
	before, after snapshot // only if something changed
	refused       string   // what bash said if it does not take the text
}

// changed reports whether there is more or less, or something else, than before.
func (e event) changed() bool {
	return e.lost || slices.ContainsFunc(e.touches, func(t *touch) bool { return t.Wrote || t.Gone })
}

// judged is what a command was said to do: the parts that were read, and the acts that
// were made of them and judged.
type judged struct {
	parts []analysis.Part
	acts  []policy.Act
	// folders are those of the acts without links, as they were before: a command may move
	// what a link leads to.
	folders map[string]string
}

// judge notes what a command was said to do, before it runs.
func judge(parts []analysis.Part, acts []policy.Act) judged {
	j := judged{parts, acts, map[string]string{}}
	for _, a := range acts {
		if a.Dir != "" {
			j.folders[a.Dir] = realPath(path.Join("/w", a.Dir))
		}
		if path.IsAbs(a.Dir) {
			j.folders[a.Dir] = realPath(a.Dir)
		}
	}
	return j
}

// differences says what happened and was not judged.
func (j judged) differences(e event) (wrong []string) {
	if e.refused != "" {
		wrong = append(wrong, "bash does not take it: "+e.refused)
	}
	for _, s := range e.starts {
		if !j.foresaw(s) {
			wrong = append(wrong, "it started "+s.String())
		}
	}
	for _, t := range e.touches {
		if t.Opened && !e.passing(t.Path) && !j.names(t.Path, programs.Read, programs.Write, programs.Delete) {
			wrong = append(wrong, "it opened "+t.Path)
		}
		if t.Opened && e.there(t.Path) && !t.Wrote && j.leftAlone(t.Path) {
			wrong = append(wrong, "it opened "+t.Path+", which was said to be left alone")
		}
		if t.Wrote && !e.passing(t.Path) && !j.writes(t.Path) && !t.Gone {
			wrong = append(wrong, "it wrote "+t.Path)
		}
	}
	return append(wrong, j.changes(e)...)
}

// passing reports whether a file was neither there before nor afterwards: programs keep
// what they work on beside the file that it becomes, and bash a long here-document.
func (e event) passing(name string) bool {
	if path.Dir(name) == "/tmp" {
		return true
	}
	return e.after != nil && e.before[name] == "" && e.after[name] == ""
}

// there reports whether a file was there before.
func (e event) there(name string) bool {
	if e.before != nil {
		return e.before[name] != ""
	}
	return !e.passing(name)
}

// leftAlone reports whether the file lies below a folder whose files were looked at, is not
// among those, and is not touched in another way: a folder stands for what is there, and not
// for more.
func (j judged) leftAlone(name string) bool {
	if slices.ContainsFunc(j.acts, func(a policy.Act) bool { return slices.Contains(spellings(a), name) }) {
		return false
	}
	below := false
	for i := range j.parts {
		p := &j.parts[i]
		switch {
		case p.Kind != analysis.Touches || p.Names:
		case p.Path == "" || p.More || slices.ContainsFunc(p.Matches, func(m string) bool { return m == name || realPath(m) == name }):
			return false
		case strings.HasPrefix(name, realPath(p.Path)+"/") && !p.Many:
			return false
		case strings.HasPrefix(name, realPath(p.Path)+"/"):
			below = true
		}
	}
	return below
}

// hidden reports whether a path cannot be seen any more, because a folder above it may not
// be entered.
func (e event) hidden(name string) bool {
	for at := path.Dir(name); at != "/"; at = path.Dir(at) {
		if is, there := e.after[at]; there {
			return !strings.HasPrefix(is, "drwx")
		}
	}
	return false
}

// changes compares what lies in the places before and after.
func (j judged) changes(e event) (wrong []string) {
	for name, was := range e.before {
		is, there := e.after[name]
		switch {
		case !there && !e.hidden(name) && !j.names(name, programs.Delete, programs.Write):
			wrong = append(wrong, "it removed "+name)
		case there && is != was && !j.writes(name):
			wrong = append(wrong, "it changed "+name)
		}
	}
	for name := range e.after {
		if _, there := e.before[name]; !there && !j.writes(name) {
			wrong = append(wrong, "it made "+name)
		}
	}
	return wrong
}

// writes reports whether a path is written, or made as a folder above one that is.
func (j judged) writes(name string) bool {
	if j.names(name, programs.Write) {
		return true
	}
	for _, act := range j.acts {
		for _, spelling := range spellings(act) {
			if act.Name == policy.ActWriteFile && strings.HasPrefix(spelling, name+"/") {
				return true
			}
		}
	}
	return false
}

// actNames are how acts are named for what is done to a file.
var actNames = map[programs.Kind]string{
	programs.Read: policy.ActReadFile, programs.Write: policy.ActWriteFile, programs.Delete: policy.ActDeleteFile,
}

// names reports whether a part does one of these things to a path, and has an act for it.
func (j judged) names(name string, kinds ...programs.Kind) bool {
	for i := range j.parts {
		p := &j.parts[i]
		for _, kind := range kinds {
			if p.Kind != analysis.Touches || p.Access != kind || p.Path == "" || p.Names {
				continue
			}
			for _, act := range j.acts {
				if act.Name == actNames[kind] && slices.Contains(spellings(act), path.Clean(p.Path)) && covers(p, act, name) {
					return true
				}
			}
		}
	}
	return false
}

// spellings are the absolute names of an act's file.
func spellings(act policy.Act) (names []string) {
	for _, list := range [][]string{act.Target.Written, act.Target.Resolved} {
		for _, name := range list {
			if strings.HasPrefix(name, "/") {
				names = append(names, name)
			}
		}
	}
	return names
}

// covers reports whether the part, judged by the act, is about the path.
func covers(p *analysis.Part, act policy.Act, name string) bool {
	for _, spelling := range spellings(act) {
		if spelling == name {
			return true
		}
		if !p.Many {
			continue
		}
		if strings.HasPrefix(name, spelling+"/") {
			return true
		}
		if ok, _ := path.Match(spelling, name); ok {
			return true
		}
	}
	for _, m := range p.Matches {
		if m == name || realPath(m) == name {
			return true
		}
	}
	return false
}

// report shows a difference to a person.
func (a answer) report(text string) string {
	return fmt.Sprintf("%q\nruns as    %q\nallowed by %s\n  %s\njudged:\n  %s",
		text, a.Command, a.Policy, strings.Join(a.Wrong, "\n  "), strings.Join(a.Acts, "\n  "))
}
