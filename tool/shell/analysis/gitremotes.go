package analysis

import (
	"path"
	"slices"
	"strings"

	"github.com/assent-dev/assent/tool/shell/programs"
)

// gitHosts finds whom git talks to: the URL that it is given, or those of the remote that it is
// given or uses by itself, as url.X.insteadOf rewrites them. A repository in a folder is a file
// that it touches. All says that git talks to nobody else: see [walker.gitVouched].
func (w *walker) gitHosts(c *command, r programs.Reading, e programs.Effect) (found []address, all bool) {
	dirs := w.gitFolders(c, r)
	if len(dirs) != 1 || len(r.Sub) == 0 {
		return nil, false
	}
	known := w.gitConfig(dirs[0])
	if !known.ok {
		return nil, false
	}
	line := splitGit(c.words)
	g := gitRemotes{
		walker: w, settings: append(slices.Clip(known.list), line.settings...), line: line,
		dir: dirs[0], push: r.Sub[0] == "push",
		kept: !slices.ContainsFunc(w.parts[:c.part-1], mayChangeGit),
	}
	urls, all := g.urls(c, r, e)
	vouched := w.gitVouched(c, g, urls)
	all = all && vouched
	for _, u := range urls {
		a, folder, ok := gitAddress(u.text)
		a.tls = a.tls && vouched // a setting may turn checks off
		a.spelled = u.spelled
		switch {
		case !ok:
			all = false
		case folder != "":
			kind := programs.Read
			if g.push {
				kind = programs.Write
			}
			at := programs.Literal(join(w.gitRoot(g.dir), folder))
			w.effect(c, programs.Effect{Kind: kind, What: at, Arg: -1, Tree: true})
		case !slices.Contains(found, a):
			found = append(found, a)
		}
	}
	if e.What.Known && !all { // the host that is spelled is there anyway
		found = slices.DeleteFunc(found, func(a address) bool { return a.spelled })
	}
	return found, all
}

func join(dir, name string) string {
	if path.IsAbs(name) || dir == "" {
		return name
	}
	return path.Join(dir, name)
}

// gitAddress reads the URL of a repository: a host, or a folder. It is not ok if a program
// fetches it, or if it is not plain.
func gitAddress(url string) (a address, folder string, ok bool) {
	helper, _, isHelper := strings.Cut(url, "::")
	scheme, rest, isURL := strings.Cut(url, "://")
	colon, slash := strings.IndexByte(url, ':'), strings.IndexByte(url, '/')
	switch {
	case isHelper && !strings.ContainsAny(helper, "/:@"), url == "":
		return a, "", false
	case isURL:
		switch strings.ToLower(scheme) {
		case "file":
			return a, rest, strings.HasPrefix(rest, "/")
		case "git+ssh", "ssh+git":
			url = "ssh://" + rest
		case "http", "https", "ssh", "git", "ftp", "ftps":
		default:
			return a, "", false
		}
		a, ok = addressOf(url)
		return a, "", ok
	case colon > 0 && (slash < 0 || colon < slash):
		a, ok = addressOf("ssh://" + url[:colon])
		return a, "", ok
	}
	return a, url, true
}

// gitRemotes are the remotes of one repository, for one command.
type gitRemotes struct {
	*walker
	settings []Setting
	line     gitLine
	dir      string
	push     bool
	kept     bool // no command before changes the settings or the branch
}

// A gitURL is where a repository is.
type gitURL struct {
	text    string
	spelled bool // by the command
}

// urls finds the URLs that the command uses. All says that there are no others.
func (g gitRemotes) urls(c *command, r programs.Reading, e programs.Effect) (urls []gitURL, all bool) {
	var names []string
	switch r.Sub[0] {
	case "clone", "fetch", "pull", "push", "ls-remote":
		word := programs.Literal("")
		if e.Arg >= 0 {
			word = c.words[e.Arg+1]
		}
		switch {
		case !word.Known:
			return nil, false
		case e.What.Known: // a URL
			text := g.rewritten(word.Text, g.push)
			return []gitURL{{text, text == word.Text}}, !g.line.contains("--recurs") && !g.line.contains("--multiple")
		case word.Text != "":
			names, all = []string{word.Text}, true
		default:
			names, all = g.chosen(r.Sub[0])
		}
	case "remote":
		names, all = g.named()
	case "submodule":
		for _, s := range g.settings {
			if strings.HasPrefix(s.Key, "submodule.") && strings.HasSuffix(s.Key, ".url") {
				urls = append(urls, gitURL{text: g.rewritten(s.Value, false)})
			}
		}
		return urls, false // .gitmodules may name others
	default:
		return nil, false
	}
	for _, name := range names {
		of := g.of(name)
		all = all && len(of) > 0
		for _, text := range of {
			urls = append(urls, gitURL{text: text})
		}
	}
	return urls, all && len(urls) > 0 && !g.line.contains("--multiple")
}

// of returns the URLs of a remote. A fetch uses the first one, a push all of them.
func (g gitRemotes) of(name string) (urls []string) {
	plain, push := g.values("remote."+name+".url"), g.values("remote."+name+".pushurl")
	switch {
	case g.push && len(push) > 0:
		for _, url := range push {
			urls = append(urls, g.rewritten(url, false))
		}
		return urls
	case !g.push && len(plain) > 1 && !g.conditional():
		plain = plain[:1]
	}
	for _, url := range plain {
		urls = append(urls, g.rewritten(url, g.push))
	}
	return urls
}

// values are those of a setting; an empty one drops those before it.
func (g gitRemotes) values(key string) (out []string) {
	for _, s := range g.settings {
		switch {
		case s.Key != key:
		case s.Value == "":
			out = nil
		default:
			out = append(out, s.Value)
		}
	}
	return out
}

// conditional reports whether some settings may not hold: those of a file that is included under
// a condition are among them whatever that says.
func (g gitRemotes) conditional() bool {
	return slices.ContainsFunc(g.settings, func(s Setting) bool { return strings.HasPrefix(s.Key, "includeif.") })
}

// rewritten is a URL as url.X.insteadOf has it, and for a push first url.X.pushInsteadOf. The
// longest beginning wins.
func (g gitRemotes) rewritten(url string, push bool) string {
	if push {
		if to, ok := g.instead(url, ".pushinsteadof"); ok {
			return to
		}
	}
	if to, ok := g.instead(url, ".insteadof"); ok {
		return to
	}
	return url
}

func (g gitRemotes) instead(url, suffix string) (to string, ok bool) {
	longest := -1
	for _, s := range g.settings {
		base, isURL := strings.CutPrefix(s.Key, "url.")
		base, isInstead := strings.CutSuffix(base, suffix)
		if rest, begins := strings.CutPrefix(url, s.Value); isURL && isInstead && begins && s.Value != "" &&
			len(s.Value) > longest {
			longest, to, ok = len(s.Value), base+rest, true
		}
	}
	return to, ok
}

// remotes are the names of those that are configured.
func (g gitRemotes) remotes() (names []string) {
	for _, s := range g.settings {
		name, isRemote := strings.CutPrefix(s.Key, "remote.")
		name, isURL := strings.CutSuffix(name, ".url")
		if isRemote && isURL && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// chosen are the remotes that git uses if none is given: that of the branch, else the only one,
// else origin. Where the branch is not known, each that a branch has may be meant.
func (g gitRemotes) chosen(sub string) (names []string, sure bool) {
	if _, all := setting(g.settings, "fetch.all"); sub != "push" && (all || g.line.has("--all")) {
		return g.remotes(), true
	}
	branch := g.branch()
	keys := []string{".remote"}
	if g.push {
		keys = []string{".pushremote", "", ".remote"} // "" stands for remote.pushdefault
	}
	for _, key := range keys {
		var found []string
		for _, s := range g.settings {
			name, isBranch := strings.CutPrefix(s.Key, "branch.")
			name, fits := strings.CutSuffix(name, key)
			switch {
			case key == "" && s.Key == "remote.pushdefault", key != "" && isBranch && fits &&
				(branch == "" || name == branch):
				found = append(found, s.Value)
			}
		}
		if branch == "" {
			names = append(names, found...)
		} else if len(found) > 0 {
			return found[len(found)-1:], true
		}
	}
	if configured := g.remotes(); len(configured) == 1 {
		names = append(names, configured[0])
	} else {
		names = append(names, "origin")
	}
	slices.Sort(names)
	return slices.Compact(names), true
}

// branch is the one that is checked out; empty if it is not known.
func (g gitRemotes) branch() string {
	root := g.gitRoot(g.dir)
	if root == "" || !g.kept {
		return ""
	}
	head := strings.TrimSpace(g.text(path.Join(root, ".git/HEAD")))
	branch, _ := strings.CutPrefix(head, "ref: refs/heads/")
	if branch == head {
		return ""
	}
	return branch
}

// named are the remotes that git remote is given, or all.
func (g gitRemotes) named() (names []string, sure bool) {
	all := g.remotes()
	for _, arg := range g.line.args[min(1, len(g.line.args)):] {
		switch {
		case !arg.Known:
			return all, false
		case strings.HasPrefix(arg.Text, "-"):
		case slices.Contains(all, arg.Text):
			names = append(names, arg.Text)
		default:
			return all, false
		}
	}
	if len(names) == 0 {
		names = all
	}
	return names, true
}

// gitVouched reports whether nothing makes git talk to others than its settings name: no program
// that it runs, no proxy, no helper that may ask somewhere for a password, no submodule, and no
// command before it that may have changed the settings.
func (w *walker) gitVouched(c *command, g gitRemotes, urls []gitURL) bool {
	if !g.kept || len(g.line.settings) > 0 || len(w.parts[c.part-1].GitRuns) > 0 ||
		len(w.parts[c.part-1].GitPlain) > 0 || g.line.elsewhere || w.world.GitNested(g.dir) ||
		w.again > 0 || w.unordered > 0 || w.facts.wild || c.state.lost || w.at.cleared {
		return false
	}
	for _, s := range g.settings {
		if redirectsGit(s, g, urls) {
			return false
		}
	}
	for _, name := range []string{"http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY",
		"GIT_SSH", "GIT_SSH_COMMAND", "GIT_PROXY_COMMAND", "GIT_SSL_NO_VERIFY"} {
		if value, set := w.world.Variable(name); set && value != "" {
			return false
		}
	}
	return !slices.ContainsFunc(w.parts, func(p Part) bool { return p.Kind == Assigns && steersGit(p.Variable) })
}

// redirectsGit reports whether a setting may make git talk to another host than a URL names, or
// not check whom it talks to.
func redirectsGit(s Setting, g gitRemotes, urls []gitURL) bool {
	section, rest, _ := strings.Cut(s.Key, ".")
	name := rest[strings.LastIndexByte(rest, '.')+1:]
	switch section {
	case "http":
		return s.Repository || name == "proxy" || name == "sslverify" || name == "followredirects" ||
			name == "curloptresolve"
	case "core":
		return name == "sshcommand" || name == "gitproxy"
	case "remote":
		return name == "proxy" || name == "vcs" || name == "promisor"
	case "fetch":
		return name == "bundleuri"
	case "filter": // of the person, such as git-lfs: it may fetch what is checked out
		return g.line.sub == "pull" && (name == "process" || name == "smudge")
	case "url", "includeif":
		return section == "url" && g.conditional()
	case "credential":
		only, isOnly := addressOf(strings.TrimSuffix(rest, ".helper")) // a helper for one host
		meant := func(u gitURL) bool { a, _, ok := gitAddress(u.text); return !ok || a.host == only.host }
		if name != "helper" || s.Value == "" || isOnly && !slices.ContainsFunc(urls, meant) {
			return false
		}
		return !knownHelper(s.Value)
	}
	return false
}

// knownHelper reports whether a helper for passwords is known to talk to nobody but the host itself.
func knownHelper(value string) bool {
	words := strings.Fields(value)
	if program, isCommand := strings.CutPrefix(words[0], "!"); isCommand {
		return (program == "gh" || path.IsAbs(program) && path.Base(program) == "gh") &&
			slices.Equal(words[1:], []string{"auth", "git-credential"})
	}
	return slices.Contains([]string{"store", "cache", "osxkeychain", "libsecret", "wincred", "manager", "manager-core"}, words[0])
}

// steersGit reports whether a variable may change whom git talks to.
func steersGit(name string) bool {
	return strings.HasPrefix(name, "GIT_") || strings.HasPrefix(name, "SSH_") || strings.HasPrefix(name, "XDG_") ||
		strings.HasPrefix(name, "LD_") ||
		strings.Contains(strings.ToLower(name), "proxy") || name == "HOME" || name == "PATH"
}

// mayChangeGit reports whether a part may change the settings of git or of a repository.
func mayChangeGit(p Part) bool {
	switch {
	case p.Kind == Unknown || p.Opaque:
		return true
	case p.Kind == Touches && p.Access != programs.Read:
		return p.Path == "" || p.Many || p.tree || strings.Contains(p.Path+"/", "/.git/") ||
			strings.Contains(p.Path, "git/config") || path.Base(p.Path) == ".gitconfig"
	case p.Kind != Runs || p.Builtin || p.Alias:
		return false
	case p.Reading.Program == "git" && len(p.Reading.Sub) > 0:
		harmless := strings.Fields("add commit tag fetch push rm mv stash")
		return len(p.GitRuns) > 0 || !p.Reading.Readonly && !slices.Contains(harmless, p.Reading.Sub[0])
	}
	return !p.Reading.Known || !p.Reading.Complete
}
