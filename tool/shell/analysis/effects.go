package analysis

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/assent-dev/assent/tool/shell/programs"
)

// effects turns what a program does into parts, and walks the commands that it starts.
func (w *walker) effects(c *command, r programs.Reading) {
	for _, e := range r.Effects {
		if !w.over {
			w.effect(c, e)
		}
	}
	for _, script := range r.Scripts {
		w.scriptFile(c, script)
		if script.Known && isDevice(script.Text) {
			w.unknown(c.part, nil, "runs a file that it is given")
		}
	}
	for _, run := range r.Runs {
		w.inner(c, run)
	}
	switch {
	case r.Stdin && c.stdin.text.Known:
		w.scriptText(c, c.stdin.text.Text, shellOf(r.Program), nil, w.handed(c.state))
	case r.Stdin:
		w.unknown(c.part, nil, "runs code from standard input")
	case r.Opaque != "":
		w.unknown(c.part, nil, r.Opaque)
	}
}

// effect adds the parts of one effect.
func (w *walker) effect(c *command, e programs.Effect) {
	cause := w.parts[c.part-1]
	p := Part{Cause: c.part, Line: cause.Line, Source: cause.Source, ByFlag: e.ByFlag}
	if e.Kind == programs.Connect {
		w.connect(c, p, e)
		return
	}
	if e.Unpiped && (c.stdin.fed || !c.stdin.given && w.at.piped) {
		return
	}
	p.Kind, p.Access, p.Names, p.Inside = Touches, e.Kind, e.Names, e.Tree && (e.Arg < 0 || e.Kind == programs.Write)
	p.leaves = leaves{e.Only, e.Visible && !w.configured(c)}
	if e.Into {
		w.into(p, e, c)
		return
	}
	for _, what := range w.workTree(c, cause.Reading, e) {
		w.touch(p, what, c.state, e.Tree)
	}
}

// into adds the parts for a file that goes to a path, or into a folder of that name.
func (w *walker) into(p Part, e programs.Effect, c *command) {
	if !e.What.Known || w.at.elsewhere || isDevice(e.What.Text) {
		w.touch(p, e.What, c.state, e.Tree)
		return
	}
	p.Operand = e.What
	w.changed = true
	dirs := c.state.folders.list
	if len(dirs) == 0 || w.facts.adrift {
		dirs = []string{""}
	}
	for _, dir := range dirs {
		w.intoFrom(p, e, dir, c.after)
	}
}

// intoFrom adds them for one working folder. If commands before may have made a folder
// there, or removed it, the file may go to either place.
func (w *walker) intoFrom(p Part, e programs.Effect, dir string, after bool) {
	name, ok := w.absolute(e.What.Text, dir)
	if !ok {
		p.Why = "the file is not known"
		w.add(p)
		return
	}
	_, kind := w.world.Look(name)
	if kind != Folder || after {
		p.Path = name
		w.bring(p, e, dir)
	}
	if kind == Folder || after {
		w.intoFolder(p, e, name, dir)
	}
}

// intoFolder adds the part for a file below a folder.
func (w *walker) intoFolder(p Part, e programs.Effect, folder, dir string) {
	base := path.Base(e.From.Text)
	if !e.From.Known || base == "." || base == ".." || base == "/" {
		p.Path, p.Many, p.More = escapePattern(folder)+"/*", true, true
		p.Why = "which files it creates there is unknown before it runs"
		w.add(p)
		return
	}
	p.Path = path.Join(folder, base)
	w.bring(p, e, dir)
}

// bring adds the part for what is copied, moved or linked to p.Path: a folder brings all
// that lies below it, and a link leads elsewhere.
func (w *walker) bring(p Part, e programs.Effect, dir string) {
	from, known := w.absolute(e.From.Text, dir)
	known = known && e.From.Known
	switch {
	case w.parts[p.Cause-1].Reading.Program == "ln":
		w.links = append(w.links, madeLink{path: p.Path, by: p.Cause})
	case known:
		w.bringLinks(p, e, from)
	}
	if !e.Tree {
		w.add(p)
		return
	}
	kind := Folder
	if known {
		_, kind = w.world.Look(from)
	}
	if kind == Folder {
		p.Many = true
		p.Matches, p.More = w.moved(from, p.Path)
	}
	if !known || kind != File && w.writesBelow(from) {
		p.Many, p.More = true, true
	}
	w.add(p)
}

// moved returns what lies below a folder, as it will lie below another.
func (w *walker) moved(from, to string) (found []string, more bool) {
	if from == "" {
		return nil, true
	}
	below, more := w.tree(from, true)
	found = make([]string, len(below))
	for i, name := range below {
		found[i] = to + strings.TrimPrefix(name, from)
	}
	return found, more
}

// writesBelow reports whether a part so far may write at or below a path.
func (w *walker) writesBelow(name string) bool { return w.wrote[""] || w.wrote[name] }

// noteWrite keeps in mind that a part writes a path, and so below every folder above it. An
// empty path may be any.
func (w *walker) noteWrite(name string) {
	if w.wrote == nil {
		w.wrote = make(map[string]bool)
	}
	for !w.wrote[name] {
		w.wrote[name] = true
		if name == "" {
			return
		}
		name = path.Dir(name)
	}
}

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
	case slices.Contains(flags, "-d") || slices.Contains(flags, "-a") || slices.Contains(flags, "-E") ||
		slices.Contains(flags, "-e"):
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
	odd := func(name string) bool { return strings.ContainsAny(name[len(folder):], oddBytes) }
	return !more && !slices.ContainsFunc(names, odd)
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
			return !slices.ContainsFunc(strings.Split(match[len(name):], "/"),
				func(part string) bool { return fitsName(target.Name, part) })
		})
	}
	w.add(p)
}

// fitsName reports whether a name fits the pattern that find was given.
func fitsName(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return ok || err != nil
}
