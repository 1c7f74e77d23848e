package analysis

import (
	"path"
	"slices"
	"strings"

	"github.com/assent-dev/assent/tool/shell/programs"
	"mvdan.cc/sh/v3/syntax"
)

// A listing is paths that find prints, from a folder that it was started in. Whoever is
// handed them (xargs) opens nothing but what lies there.
type listing struct {
	programs.Listing
	from string
}

// printed says what a simple command writes to the pipe behind it; nil if that may be anything.
func (w *walker) printed(c *command, redirs []*syntax.Redirect) *listing {
	r := &w.parts[c.part-1].Reading
	if mayFail(redirs) || c.state.folders.only() == "" {
		return nil // its errors may be among what it prints
	}
	switch {
	case r.Lists.Below.Known:
		return &listing{r.Lists, c.state.folders.only()}
	case w.at.listed != nil && c.direct && c.name() == r.Program && passes(r):
		return w.at.listed
	}
	return nil
}

// passing are the flags with which programs pass on some of the lines that they read, whole.
var passing = map[string][]string{
	"grep": {"-v", "-E", "-F", "-P", "-i", "-w", "-x", "-e"},
	"sort": {"-u", "-r", "-n", "-f", "-V"},
	"head": {"-n", "-NUMBER"},
	"tail": {"-n", "-NUMBER"},
}

func passes(r *programs.Reading) bool {
	flags, ok := passing[r.Program]
	if !ok || !r.Readonly || len(r.Effects) > 0 {
		return false
	}
	for _, f := range r.Flags {
		if !strings.HasPrefix(f, "--") && !slices.Contains(flags, f) && strings.Trim(f, "-0123456789") != "" {
			return false
		}
	}
	return true
}

// pipedInto is what the right side of a pipe reads: known if both sides are simple commands.
func (w *walker) pipedInto(cmd *syntax.BinaryCmd) *listing {
	_, simple := cmd.Y.Cmd.(*syntax.CallExpr)
	left := cmd.X
	if inner, ok := left.Cmd.(*syntax.BinaryCmd); ok && inner.Op == syntax.Pipe && len(left.Redirs) == 0 {
		left = inner.Y
	}
	_, from := left.Cmd.(*syntax.CallExpr)
	if !simple || !from || cmd.Op != syntax.Pipe || left.Negated || left.Background {
		return nil
	}
	return w.output
}

// fromListing fills in what xargs hands over, if that is a listing.
func (w *walker) fromListing(c *command, run *programs.Run) {
	list := w.at.listed
	flags := w.parts[c.part-1].Reading.Flags
	zero := slices.Contains(flags, "-0")
	switch {
	case list == nil || !c.direct || c.stdin.given || w.parts[c.part-1].Reading.Program != "xargs":
		return
	case list.from != c.state.folders.only() || w.facts.adrift || zero != list.Zero:
		return
	case slices.Contains(flags, "-d") || slices.Contains(flags, "-a") || slices.Contains(flags, "-E") || slices.Contains(flags, "-e"):
		return
	case !zero && (c.after || !w.plainNames(list)):
		return // xargs cuts names at white space and quotes
	}
	run.Words = slices.Clone(run.Words)
	for i := range run.Words {
		if word := &run.Words[i]; word.Input {
			word.Begin, word.Below, word.Name = list.Below.Text, list.Below.Text, list.Name
		}
	}
}

// plainNames reports whether no name below the folder has a character that xargs or a shell
// gives a meaning.
func (w *walker) plainNames(list *listing) bool {
	folder, ok := w.absolute(list.Below.Text, list.from)
	if !ok || strings.ContainsAny(list.Below.Text, oddBytes) {
		return false
	}
	names, more := w.tree(folder, false)
	return !more && !slices.ContainsFunc(names, func(name string) bool { return strings.ContainsAny(name[len(folder):], oddBytes) })
}

const oddBytes = " \t\n\v\f\r\"'\\"

// touchBelow adds the part for a path that find found: one of those that lie there now.
func (w *walker) touchBelow(p Part, target programs.Word, dir string) {
	name, ok := w.absolute(target.Below, dir)
	if !ok {
		p.Why = "the file is not known"
		w.add(p)
		return
	}
	p.Path, p.tree = name, true
	if _, kind := w.world.Look(name); kind != Folder {
		w.add(p)
		return
	}
	p.Many, p.Inside = true, true
	p.Matches, p.More = w.tree(name, p.Access == programs.Read)
	if target.Name != "" && !fitsName(target.Name, path.Base(name)) {
		p.Matches = slices.DeleteFunc(p.Matches, func(match string) bool {
			return !slices.ContainsFunc(strings.Split(match[len(name):], "/"), func(part string) bool { return fitsName(target.Name, part) })
		})
	}
	w.add(p)
}

// fitsName reports whether a name fits the pattern that find was given.
func fitsName(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return ok || err != nil
}
