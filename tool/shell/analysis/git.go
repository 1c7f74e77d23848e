package analysis

import (
	"path"
	"slices"
	"strings"

	"github.com/assent-dev/assent/tool/shell/programs"
)

// gitSettings are the settings of one repository, kept for the whole reading.
type gitSettings struct {
	list []Setting
	ok   bool
}

// git finds the settings that make an invocation of git run programs. Those of the person
// and the system are their own word; what comes with a repository is somebody else's.
func (w *walker) git(c *command, r programs.Reading) {
	if path.Base(c.name()) != "git" || w.at.elsewhere {
		return
	}
	line := splitGit(c.words)
	if line.elsewhere {
		w.gitRuns(c, "--git-dir")
	}
	dirs := w.gitFolders(c, r)
	if len(dirs) == 0 {
		w.gitRuns(c, "the configuration of a repository that is not known")
		return
	}
	for _, dir := range dirs {
		settings := w.gitConfig(dir)
		if !settings.ok {
			w.gitRuns(c, "a configuration that cannot be read")
			continue
		}
		all := append(slices.Clip(settings.list), line.settings...)
		w.gitRepository(c, r, line, all, dir)
		w.gitReaches(c, dir)
	}
}

// gitReaches notes where git looks besides the repository's own folder.
func (w *walker) gitReaches(c *command, dir string) {
	folders, ok := w.world.GitReaches(dir)
	if !ok {
		w.gitRuns(c, "a repository that cannot be read")
	}
	for _, folder := range folders {
		w.effect(c, programs.Effect{Kind: programs.Read, What: programs.Literal(folder), Arg: -1})
	}
}

// gitFolders are the folders that git may work in.
func (w *walker) gitFolders(c *command, r programs.Reading) []string {
	if r.Dir.Text == "" && (r.Dir.Known || r.Dir == programs.Word{}) {
		return c.state.folders.list
	}
	if !r.Dir.Known {
		return nil
	}
	var dirs []string
	for _, dir := range c.state.folders.list {
		there, ok := w.absolute(r.Dir.Text, dir)
		if !ok {
			return nil
		}
		dirs = append(dirs, there)
	}
	return dirs
}

func (w *walker) gitConfig(dir string) gitSettings {
	known, ok := w.settings[dir]
	if !ok {
		known.list, known.ok = w.world.GitConfig(dir)
		if w.settings == nil {
			w.settings = make(map[string]gitSettings)
		}
		w.settings[dir] = known
	}
	return known
}

// gitRepository looks at one repository.
func (w *walker) gitRepository(c *command, r programs.Reading, line gitLine, settings []Setting, dir string) {
	if len(r.Sub) == 0 && line.sub != "" {
		if alias, ok := setting(settings, "alias."+strings.ToLower(line.sub)); ok {
			w.gitAlias(c, line, alias, dir)
			return
		}
	}
	use := gitUseOf(line)
	if r.Readonly { // what the table says to only read runs nothing that goes with a change
		use.hooks, use.edits, use.remote, use.checkout = false, false, false, false
	}
	plain := use.plain(line).with(settings)
	use = use.with(settings)
	for _, s := range settings {
		switch {
		case !s.Repository || s.Value == "":
		case use.runs(s, line):
			w.gitRuns(c, s.Key)
		case plain.runs(s, line):
			w.gitPlain(c, s.Key)
		}
	}
	switch {
	case !plain.nested || !w.world.GitNested(dir):
	case use.nested:
		w.gitRuns(c, "the settings of its submodules")
	default:
		w.gitPlain(c, "the settings of its submodules")
	}
	for _, hook := range w.gitHooks(settings, dir) {
		if use.hooks || use.index && hook == "post-index-change" {
			w.gitRuns(c, "hook "+hook)
		}
	}
}

// gitRuns notes a setting on the part of a command.
func (w *walker) gitRuns(c *command, key string) {
	p := &w.parts[c.part-1]
	if slices.Contains(p.GitRuns, key) {
		return
	}
	p.GitRuns = append(p.GitRuns, key)
	if p.Why == "" {
		p.Why = "git would run what " + key + " says"
	}
}

// gitPlain notes what only a git runs that is not hardened. The hardened one is found by the
// PATH.
func (w *walker) gitPlain(c *command, key string) {
	if w.at.cleared {
		w.gitRuns(c, key)
		return
	}
	if p := &w.parts[c.part-1]; !slices.Contains(p.GitPlain, key) {
		p.GitPlain = append(p.GitPlain, key)
	}
}

// setting returns the last value of a key.
func setting(list []Setting, key string) (string, bool) {
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].Key == key {
			return list[i].Value, true
		}
	}
	return "", false
}

// gitAlias walks what an alias stands for.
func (w *walker) gitAlias(c *command, line gitLine, alias, dir string) {
	if script, ok := strings.CutPrefix(alias, "!"); ok {
		w.gitRuns(c, "alias."+line.sub)
		s := w.handed(c.state)
		s.folders = folders{}
		if root := w.gitRoot(dir); root != "" {
			s.folders = in(root)
		}
		w.scriptText(c, script, posix, nil, s)
		return
	}
	if strings.ContainsAny(alias, `'"\`) {
		w.unknown(c.part, nil, "runs the alias "+line.sub+", which is not plain")
		return
	}
	words := append(slices.Clip(c.words[:line.at]), literals(strings.Fields(alias))...)
	words = append(words, c.words[line.at+1:]...)
	w.started(c, &command{words: words, outside: true})
}

// workTree returns what an effect is on. What git does to its working tree it does
// from the top of it, wherever it is called.
func (w *walker) workTree(c *command, r programs.Reading, e programs.Effect) []programs.Word {
	if r.Program != "git" || e.Arg >= 0 || !e.Tree || e.What.Text != "." {
		return []programs.Word{e.What}
	}
	var tops []programs.Word
	for _, dir := range w.gitFolders(c, r) {
		top := e.What
		if root := w.gitRoot(dir); root != "" {
			top = programs.Literal(root)
		}
		if _, moved := setting(w.gitConfig(dir).list, "core.worktree"); moved {
			top = programs.Word{Text: e.What.Text} // the tree is elsewhere
		}
		tops = append(tops, top)
	}
	if len(tops) == 0 {
		return []programs.Word{{Text: e.What.Text}} // which tree is not known
	}
	return tops
}

// gitRoot returns the top of the repository that holds dir.
func (w *walker) gitRoot(dir string) string {
	for at := dir; ; at = path.Dir(at) {
		if _, kind := w.world.Look(path.Join(at, ".git")); kind == Folder || kind == File {
			return at
		}
		if _, kind := w.world.Look(path.Join(at, "HEAD")); kind == File {
			if _, kind := w.world.Look(path.Join(at, "objects")); kind == Folder {
				return at
			}
		}
		if at == "/" {
			return ""
		}
	}
}

// gitHooks names the hooks that are there.
func (w *walker) gitHooks(settings []Setting, dir string) []string {
	root := w.gitRoot(dir)
	if root == "" {
		return nil
	}
	folder, ok := w.world.GitHooks(dir)
	if !ok {
		return []string{"post-index-change"} // or any other
	}
	if set, ok := setting(settings, "core.hookspath"); ok && set != "" {
		if strings.HasPrefix(set, "~") {
			set = w.world.Home() + set[1:]
		}
		if !path.IsAbs(set) {
			set = path.Join(root, set)
		}
		folder = set
	}
	entries, more := w.world.List(folder, 64)
	var hooks []string
	for _, e := range entries {
		if !strings.HasSuffix(e.Name, ".sample") && e.Kind != Folder {
			hooks = append(hooks, e.Name)
		}
	}
	if more {
		hooks = append(hooks, "among many")
	}
	return hooks
}
