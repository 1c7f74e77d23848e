package analysis

import (
	"path"
	"slices"
	"strings"

	"github.com/assent-dev/assent/tool/shell/programs"
)

// An address is a host that a program will talk to, as far as that is known before it runs.
type address struct {
	host, port string
	tls        bool // https for certain
	spelled    bool // by a word of the command, and not by settings
}

// addressOf reads a URL.
func addressOf(url string) (address, bool) {
	host, port, ok := programs.Address(url)
	scheme, _, isURL := strings.Cut(url, "://")
	return address{host: host, port: port, tls: strings.EqualFold(scheme, "https")}, ok && isURL && port != ""
}

// connect adds the parts of a connection. A host that is not spelled is looked for where the
// program itself would look: settings of git, of a package manager, or its usual host. These
// are guesses, so that a part with an unknown host stays beside them, unless the whole of
// what the command connects to was found.
func (w *walker) connect(c *command, p Part, e programs.Effect) {
	p.Kind, p.Port, p.TLS, p.Operand, p.Missing, p.Word = Connects, e.Port, e.TLS, e.What, e.Missing, e.Arg+1
	if e.What.Known {
		p.Host = e.What.Text
	} else {
		p.Why = "the host is not known"
	}
	found, all := w.foundHosts(c, e)
	for _, a := range found {
		q := p
		q.Host, q.Port, q.TLS, q.Settled, q.Why = a.host, a.port, a.tls, !a.spelled, ""
		q.Operand = programs.Literal(a.host)
		w.add(q)
	}
	if !all {
		if p.Host == "" && len(found) > 0 {
			p.Word = 0 // the word names what was found; others are besides
		}
		w.add(p)
	}
}

// foundHosts finds the hosts of a connection. All says that there are no others.
func (w *walker) foundHosts(c *command, e programs.Effect) (found []address, all bool) {
	if w.at.elsewhere || e.ByFlag {
		return nil, false
	}
	r := w.parts[c.part-1].Reading
	switch {
	case r.Program == "git":
		return w.gitHosts(c, r, e)
	case e.What.Known || e.Arg >= 0:
		return nil, false
	}
	for _, url := range w.usualURLs(c, r.Program) {
		if a, ok := addressOf(url); ok && !slices.Contains(found, a) {
			found = append(found, a)
		}
	}
	return found, false
}

// environment returns the value that a variable has for a command; empty if it has none or that
// is not known.
func (w *walker) environment(c *command, name string) string {
	for _, a := range slices.Backward(w.parts[c.part-1].Env) {
		if a.Name == name && a.Value.Known {
			return a.Value.Text
		}
	}
	if v, ok := w.lookup(name, c.state); ok {
		if v.exported && v.value.Known {
			return v.value.Text
		}
		return ""
	}
	value, _ := w.world.Variable(name)
	return value
}

// text returns what a file of settings says; empty if it cannot be read.
func (w *walker) text(name string) string {
	reader, can := w.world.(Reader)
	if !can {
		return ""
	}
	if _, kind := w.world.Look(name); kind != File {
		return ""
	}
	text, _ := reader.Text(name)
	return text
}

// usualURLs are the addresses that a package manager, or a client of a service, is set up to talk
// to. They are what it begins with: packages may come from elsewhere, and so may what their
// scripts fetch.
func (w *walker) usualURLs(c *command, program string) []string {
	switch program {
	case "npm", "pnpm", "bun":
		return w.npmURLs(c, "https://registry.npmjs.org/")
	case "yarn":
		return w.yarnURLs(c)
	case "go":
		return w.goURLs(c)
	case "pip", "pipx":
		return w.pipURLs(c)
	case "uv", "uvx":
		return w.uvURLs(c)
	case "cargo":
		return w.cargoURLs(c)
	case "gh":
		return w.ghURLs(c)
	}
	return nil
}

// folderOf is the folder that a command works in; empty if it is not known.
func (w *walker) folderOf(c *command) string {
	dirs := w.gitFolders(c, w.parts[c.part-1].Reading) // which minds -C and the like
	if len(dirs) != 1 {
		return ""
	}
	return dirs[0]
}

// above returns the folder that holds one of the names, at or above a folder; else the folder.
func (w *walker) above(dir string, names ...string) string {
	for at := dir; at != "" && at != "/"; at = path.Dir(at) {
		for _, name := range names {
			if _, kind := w.world.Look(path.Join(at, name)); kind != Nothing {
				return at
			}
		}
	}
	return dir
}

// configHome is the folder of the person's settings.
func (w *walker) configHome(c *command) string {
	if dir := w.environment(c, "XDG_CONFIG_HOME"); dir != "" {
		return dir
	}
	return path.Join(w.world.Home(), ".config")
}

// value returns what is given to a flag of a command, as --name value or --name=value.
func (c *command) value(names ...string) (value string, given bool) {
	for i, word := range c.words {
		for _, name := range names {
			if rest, ok := strings.CutPrefix(word.Text, name+"="); ok {
				return rest, true
			}
			if word.Text == name && i+1 < len(c.words) {
				return c.words[i+1].Text, true
			}
		}
	}
	return "", false
}

// npmURLs are the registries of the files that npm reads: of the project, the person and the
// machine. One that is for a scope is used for packages of that scope, so each is named.
func (w *walker) npmURLs(c *command, usual string) (urls []string) {
	registry := ""
	for _, name := range []string{"npm_config_registry", "NPM_CONFIG_REGISTRY"} {
		if registry == "" {
			registry = w.environment(c, name)
		}
	}
	for _, file := range w.npmFiles(c) {
		for line := range strings.Lines(w.text(file)) {
			key, value, ok := strings.Cut(strings.TrimSpace(line), "=")
			key, value = strings.TrimSpace(key), w.expandNpm(c, strings.Trim(strings.TrimSpace(value), `"'`))
			switch {
			case !ok:
			case key == "registry" && registry == "":
				registry = value
			case strings.HasPrefix(key, "@") && strings.HasSuffix(key, ":registry"):
				urls = append(urls, value)
			}
		}
	}
	if _, given := c.value("--registry"); given {
		return urls // it is an effect of its own
	}
	if registry == "" {
		registry = usual
	}
	return append([]string{registry}, urls...)
}

// npmFiles are the files of npm's settings, those that win first.
func (w *walker) npmFiles(c *command) (files []string) {
	if dir := w.folderOf(c); dir != "" {
		files = append(files, path.Join(w.above(dir, "package.json", "node_modules"), ".npmrc"))
	}
	own := path.Join(w.world.Home(), ".npmrc")
	for _, name := range []string{"NPM_CONFIG_USERCONFIG", "npm_config_userconfig"} {
		if set := w.environment(c, name); set != "" {
			own = set
		}
	}
	files = append(files, own)
	if node := w.world.Program("node"); node != "" {
		files = append(files, path.Join(path.Dir(path.Dir(node)), "etc/npmrc"))
	}
	return files
}

// expandNpm replaces ${NAME}, once.
func (w *walker) expandNpm(c *command, value string) string {
	out := ""
	for {
		before, rest, ok := strings.Cut(value, "${")
		name, after, closed := strings.Cut(rest, "}")
		if !ok || !closed {
			return out + value
		}
		out, value = out+before+w.environment(c, strings.TrimSuffix(name, "?")), after
	}
}

// yarnURLs are the registry of yarn's own settings, or else npm's.
func (w *walker) yarnURLs(c *command) []string {
	if url := w.environment(c, "YARN_NPM_REGISTRY_SERVER"); url != "" {
		return []string{url}
	}
	top := w.above(w.folderOf(c), ".yarnrc.yml", ".yarnrc", "yarn.lock", "package.json")
	for line := range strings.Lines(w.text(path.Join(top, ".yarnrc.yml"))) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), "npmRegistryServer:"); ok {
			return []string{strings.Trim(strings.TrimSpace(value), `"'`)}
		}
	}
	for line := range strings.Lines(w.text(path.Join(top, ".yarnrc"))) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), "registry "); ok {
			return []string{strings.Trim(strings.TrimSpace(value), `"'`)}
		}
	}
	return w.npmURLs(c, "https://registry.yarnpkg.com/")
}

// goURLs are the proxies for modules, by the environment or the file of go's settings. Behind
// "direct" stands the host of each module, which is not known.
func (w *walker) goURLs(c *command) (urls []string) {
	proxies := w.environment(c, "GOPROXY")
	if file := w.environment(c, "GOENV"); proxies == "" && file != "off" {
		if file == "" {
			file = path.Join(w.configHome(c), "go/env")
		}
		for line := range strings.Lines(w.text(file)) {
			if value, ok := strings.CutPrefix(strings.TrimSpace(line), "GOPROXY="); ok {
				proxies = value
			}
		}
	}
	if proxies == "" {
		proxies = "https://proxy.golang.org,direct"
	}
	return strings.FieldsFunc(proxies, func(r rune) bool { return r == ',' || r == '|' })
}

// pypi are the hosts of the usual index: the index, and the files that it leads to.
var pypi = []string{"https://pypi.org/simple", "https://files.pythonhosted.org/"}

// pipURLs are the indices of pip, by the environment or its files. The last file that speaks
// wins, and the environment wins over all.
func (w *walker) pipURLs(c *command) []string {
	index, extra := "", []string(nil)
	files := []string{"/etc/pip.conf", path.Join(w.world.Home(), ".pip/pip.conf"),
		path.Join(w.configHome(c), "pip/pip.conf")}
	if dir := w.environment(c, "VIRTUAL_ENV"); dir != "" {
		files = append(files, path.Join(dir, "pip.conf"))
	}
	if file := w.environment(c, "PIP_CONFIG_FILE"); file != "" {
		files = append(files, file)
	}
	for _, file := range files {
		key := ""
		for line := range strings.Lines(w.text(file)) {
			name, value, ok := strings.Cut(line, "=")
			switch indented := line != "" && (line[0] == ' ' || line[0] == '\t'); {
			case indented && key == "extra-index-url":
				extra = append(extra, strings.Fields(line)...)
				continue
			case !ok:
				key = ""
				continue
			}
			switch key = strings.ReplaceAll(strings.TrimSpace(name), "_", "-"); key {
			case "index-url":
				index = strings.TrimSpace(value)
			case "extra-index-url":
				extra = append(extra, strings.Fields(value)...)
			}
		}
	}
	if set := w.environment(c, "PIP_INDEX_URL"); set != "" {
		index = set
	}
	extra = append(extra, strings.Fields(w.environment(c, "PIP_EXTRA_INDEX_URL"))...)
	return indices(c, index, extra, "-i", "--index-url") // what these name is an effect of its own
}

// indices are those of a Python tool; the usual one unless another is set, by a flag even.
func indices(c *command, index string, extra []string, flags ...string) []string {
	if _, given := c.value(flags...); given {
		return extra
	}
	if index == "" {
		return append(extra, pypi...)
	}
	return append([]string{index}, extra...)
}

// uvURLs are the indices of uv, by the environment or its flags.
func (w *walker) uvURLs(c *command) []string {
	index := w.environment(c, "UV_DEFAULT_INDEX")
	if index == "" {
		index = w.environment(c, "UV_INDEX_URL")
	}
	var extra []string
	for _, name := range []string{"UV_INDEX", "UV_EXTRA_INDEX_URL"} {
		for _, url := range strings.Fields(w.environment(c, name)) {
			if at := strings.Index(url, "=http"); at >= 0 {
				url = url[at+1:] // it has a name
			}
			extra = append(extra, url)
		}
	}
	for _, flag := range []string{"--index", "--extra-index-url"} {
		if url, given := c.value(flag); given {
			extra = append(extra, url)
		}
	}
	if url, given := c.value("--default-index", "--index-url", "-i"); given {
		index = url
	}
	return indices(c, index, extra)
}

// cargoURLs are the hosts of the usual registry, unless a file of settings may name another.
func (w *walker) cargoURLs(c *command) []string {
	home := w.environment(c, "CARGO_HOME")
	if home == "" {
		home = path.Join(w.world.Home(), ".cargo")
	}
	folders := []string{home}
	for at := w.folderOf(c); at != "" && at != "/"; at = path.Dir(at) {
		folders = append(folders, path.Join(at, ".cargo"))
	}
	for _, folder := range folders {
		for _, name := range []string{"config.toml", "config"} {
			if text := w.text(path.Join(folder, name)); strings.Contains(text, "replace-with") ||
				strings.Contains(text, "[registr") {
				return nil
			}
		}
	}
	return []string{"https://index.crates.io/", "https://static.crates.io/"}
}

// ghURLs are the hosts of the service that gh talks to.
func (w *walker) ghURLs(c *command) []string {
	host, given := c.value("--hostname")
	if !given {
		host = w.environment(c, "GH_HOST")
	}
	if host == "" || host == "github.com" {
		host = "api.github.com"
	}
	return []string{"https://" + host + "/"}
}
