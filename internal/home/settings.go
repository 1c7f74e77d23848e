package home

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/gitconfig"
	"github.com/assent-dev/assent/sandbox"
	"github.com/assent-dev/assent/sandbox/launch"
)

// settings writes the user's settings anew, with the lines that hold no secret. Every line that
// is written has been checked by itself, so a misreading of the rest can only lose lines.
func (u User) settings(t *config.HomeTools) {
	add := func(name, text string) {
		if text != "" {
			t.Files = append(t.Files, sandbox.HomeFile{Path: filepath.Join(u.Home, name), Text: text, Source: source})
		}
	}
	for _, file := range []string{".gitconfig", ".config/git/config"} {
		u.git(t, filepath.Join(u.Home, file), 0)
	}
	t.Files = slices.DeleteFunc(t.Files, func(f sandbox.HomeFile) bool { return f.Text == "" && f.Target == "" })
	add(".npmrc", lines(u.read(".npmrc"), npmLine))
	for _, file := range []string{".config/pip/pip.conf", ".pip/pip.conf"} {
		add(file, lines(u.read(file), new(pipReader).line))
	}
	for _, file := range []string{".cargo/config.toml", ".cargo/config"} {
		add(file, lines(u.read(file), new(cargoReader).line))
	}
	add(".m2/settings.xml", maven(u.read(".m2/settings.xml")))
	add(".config/go/env", lines(u.read(".config/go/env"), goLine))
}

// maxSettings is the size of the largest file of settings that is read.
const maxSettings = 1 << 20

// read returns the text of a file of the home; nothing if there is none that can be read.
func (u User) read(name string) string { return readSmall(filepath.Join(u.Home, name)) }

func readSmall(file string) string { return string(launch.ReadSmall(file, maxSettings)) }

// lines keeps what a function makes of each line; an empty one is left out.
func lines(text string, keep func(line string) string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if kept := keep(strings.TrimRight(line, "\r\n")); kept != "" {
			b.WriteString(kept + "\n")
		}
	}
	return b.String()
}

// expression compiles a regular expression when it is needed: most processes never do.
func expression(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// maxValue is the length of the longest value that is shown.
const maxValue = 300

// plain is a value that names neither a program nor a file and is too short for a key: words,
// numbers, lists of them.
var plain = expression(`^[A-Za-z0-9@*!^~ ._,:|+-]+$`)

var (
	tokens = expression(`[A-Za-z0-9_]{16,}|[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-`)
	digits = expression(`[0-9].*[0-9]`)
)

// opaque reports whether a part of the text could be a token: long, of letters and digits.
func opaque(text string) bool {
	secret := func(t string) bool { return len(t) >= 32 || digits().MatchString(t) }
	return slices.ContainsFunc(tokens().FindAllString(text, -1), secret)
}

// word returns the value if it is a plain one.
func word(value string) (string, bool) {
	return value, len(value) <= maxValue && plain().MatchString(value) && !opaque(value)
}

// address returns the value if it is an address without a user, a password, a query or
// anything that looks like a token in its path.
func address(value string) (string, bool) {
	bare := strings.TrimPrefix(value, "sparse+")
	at, err := url.Parse(bare)
	if err != nil || at.Scheme != "https" && at.Scheme != "http" || at.Host == "" || at.User != nil {
		return "", false
	}
	if at.RawQuery != "" || at.ForceQuery || at.Fragment != "" {
		return "", false
	}
	clean := !strings.ContainsAny(value, "@\"'\\<> \t$%") && !opaque(at.Host+" "+at.Path)
	return value, clean
}

// A check says whether a value may be shown.
type check = func(string) (string, bool)

// keys are names of settings, and what their values must be.
type keys map[string]check

// with adds names whose values must all be the same.
func (k keys) with(allowed check, names string) keys {
	for name := range strings.FieldsSeq(names) {
		k[name] = allowed
	}
	return k
}

// gitKeys are settings of git that name no program and no file.
var gitKeys = strings.Fields(`user.name user.email author.name author.email committer.name committer.email
	user.useconfigonly init.defaultbranch core.autocrlf core.eol core.safecrlf core.filemode core.ignorecase
	core.symlinks core.precomposeunicode core.quotepath core.whitespace core.abbrev core.commentchar core.longpaths
	pull.rebase pull.ff push.default push.autosetupremote push.followtags merge.ff merge.conflictstyle merge.stat
	merge.log diff.algorithm diff.renames diff.colormoved diff.mnemonicprefix diff.noprefix diff.context
	diff.interhunkcontext diff.submodule rebase.autosquash rebase.autostash rebase.updaterefs rebase.stat fetch.prune
	fetch.prunetags fetch.writecommitgraph branch.autosetuprebase branch.autosetupmerge branch.sort tag.sort
	versionsort.suffix column.ui color.ui log.date log.decorate log.abbrevcommit log.follow log.showsignature
	status.short status.branch status.showuntrackedfiles status.submodulesummary commit.verbose commit.cleanup
	rerere.enabled rerere.autoupdate help.autocorrect stash.showpatch stash.showstat index.version feature.manyfiles
	grep.linenumber grep.patterntype blame.date format.pretty safe.directory`)

// maxIncludes is how deep files of settings may include each other.
const maxIncludes = 10

// git writes a file of git's settings anew, and those that it includes, each where it is.
func (u User) git(t *config.HomeTools, file string, depth int) {
	known := func(f sandbox.HomeFile) bool { return f.Path == file }
	settings, ok := gitconfig.Parse([]byte(readSmall(file)))
	if !ok || depth > maxIncludes || !sandbox.Below(u.Home, file) || slices.ContainsFunc(t.Files, known) {
		return
	}
	at := len(t.Files) // its place is taken first: a file may include itself
	t.Files = append(t.Files, sandbox.HomeFile{Path: file, Source: source})
	var b strings.Builder
	for _, s := range settings {
		switch {
		case s.IsInclude():
			included := s.Value
			if rest, ok := strings.CutPrefix(included, "~/"); ok {
				included = filepath.Join(u.Home, rest)
			} else if !filepath.IsAbs(included) {
				included = filepath.Join(filepath.Dir(file), included)
			}
			u.git(t, filepath.Clean(included), depth+1)
		case !slices.Contains(gitKeys, s.Key) || opaque(s.Value) && !isName(s.Key):
			continue
		}
		section, rest, _ := strings.Cut(s.Key, ".")
		sub, key := "", rest
		if i := strings.LastIndexByte(rest, '.'); i >= 0 {
			sub, key = fmt.Sprintf(` "%s"`, gitQuote.Replace(rest[:i])), rest[i+1:]
		}
		if !strings.ContainsFunc(sub+s.Value, func(c rune) bool { return c < ' ' || c == 0x7f }) {
			fmt.Fprintf(&b, "[%s%s]\n\t%s = \"%s\"\n", section, sub, key, gitQuote.Replace(s.Value))
		}
	}
	t.Files[at].Text = b.String()
}

// isName reports whether a setting is somebody's name, or a folder's: those may be long.
func isName(key string) bool {
	return strings.HasSuffix(key, ".name") || strings.HasSuffix(key, ".email") || key == "safe.directory"
}

var gitQuote = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

// npmKeys are settings of npm, pnpm and yarn that hold no secret.
var npmKeys = keys{}.
	with(address, `registry proxy https-proxy http-proxy`).
	with(word, `noproxy no-proxy strict-ssl save-exact save-prefix save engine-strict fund audit audit-level
		package-lock legacy-peer-deps strict-peer-deps auto-install-peers strict-peer-dependencies node-linker
		shamefully-hoist hoist prefer-offline prefer-online ignore-scripts loglevel progress color unicode
		tag-version-prefix update-notifier optional omit include fetch-retries fetch-timeout fetch-retry-mintimeout
		fetch-retry-maxtimeout maxsockets min-release-age before install-strategy lockfile-version bin-links
		init-license init-version init-author-name`)

var npmScope = expression(`^@[a-z0-9~][a-z0-9._~-]{0,60}:registry$`)

func npmLine(line string) string {
	key, value, ok := strings.Cut(line, "=")
	key, value = strings.TrimSpace(key), strings.Trim(strings.TrimSpace(value), `"'`)
	allowed := npmKeys[key]
	if npmScope().MatchString(key) {
		allowed = address
	}
	if !ok || allowed == nil {
		return ""
	}
	if value, ok = allowed(value); !ok {
		return ""
	}
	return key + "=" + value
}

// NpmSettings reports whether a file is an npmrc that holds settings of npm and no secret: every
// line is one that a command may see.
func NpmSettings(file string) bool {
	if path.Base(file) != ".npmrc" {
		return false
	}
	data := launch.ReadSmall(file, maxNpmrc)
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); line != "" && npmLine(line) == "" { // a comment can hold an old token
			return false
		}
	}
	return len(data) > 0
}

// maxNpmrc is the size of the largest npmrc that is looked at.
const maxNpmrc = 64 << 10

// pipKeys are settings of pip that hold no secret.
var pipKeys = keys{}.
	with(address, `index-url proxy`).
	with(addresses, `extra-index-url`).
	with(word, `trusted-host timeout default-timeout retries disable-pip-version-check require-virtualenv
		break-system-packages prefer-binary only-binary no-binary progress-bar pre user use-pep517 no-color no-input
		uploaded-prior-to`)

var section = expression(`^\[[a-z]{1,20}\]$`)

// A pipReader reads a pip.conf line by line.
type pipReader struct {
	listed bool // the lines that follow may belong to a key that was kept
}

func (r *pipReader) line(line string) string {
	trimmed := strings.TrimSpace(line)
	switch {
	case section().MatchString(trimmed):
		r.listed = false
		return trimmed
	case trimmed != strings.TrimRight(line, " \t"): // one more address of a list
		if value, ok := address(trimmed); ok && r.listed {
			return "    " + value
		}
		return ""
	}
	key, value, ok := strings.Cut(trimmed, "=")
	key, value = strings.TrimSpace(key), strings.TrimSpace(value)
	allowed := pipKeys[strings.ReplaceAll(key, "_", "-")]
	if ok = ok && allowed != nil; ok && value != "" {
		value, ok = allowed(value)
	}
	if r.listed = ok; !ok {
		return ""
	}
	return strings.TrimRight(key+" = "+value, " ")
}

// addresses keeps those of a list that may be shown.
func addresses(value string) (string, bool) {
	var out []string
	for field := range strings.FieldsSeq(value) {
		if a, ok := address(field); ok {
			out = append(out, a)
		}
	}
	return strings.Join(out, " "), len(out) > 0
}

// cargoKeys are settings of cargo that hold no secret and name no program. A * is any name.
var cargoKeys = keys{}.
	with(address, `registries.*.index source.*.registry http.proxy`).
	with(word, `registries.*.protocol registry.default source.*.replace-with net.retry net.offline http.timeout
		http.multiplexing http.check-revoke build.jobs build.target build.incremental term.quiet term.verbose
		term.color`)

// A cargoReader reads a config.toml line by line: headers, and keys with one value on their line.
type cargoReader struct {
	table string // the one that the line belongs to; "-" if it is left out
}

var (
	cargoHeader = expression(`^\[((?:registries|source|registry|net|http|build|term)(?:\.[A-Za-z0-9_-]{1,60})?)\]$`)
	cargoKey    = expression(`^([A-Za-z0-9_.-]{1,80})\s*=\s*(?:"([^"\\]*)"|(true|false|[0-9]{1,9}))$`)
)

func (r *cargoReader) line(line string) string {
	line = strings.TrimSpace(line)
	if strings.HasPrefix(line, "[") {
		if m := cargoHeader().FindStringSubmatch(line); m != nil && !opaque(line) {
			r.table = m[1] + "."
			return line
		}
		r.table = "-"
		return ""
	}
	m := cargoKey().FindStringSubmatch(line)
	if m == nil || r.table == "-" {
		return ""
	}
	name := strings.ReplaceAll(r.table+m[1], ".", "/")
	for pattern, allowed := range cargoKeys {
		if matched, _ := path.Match(strings.ReplaceAll(pattern, ".", "/"), name); !matched {
			continue
		}
		if _, ok := allowed(m[2] + m[3]); ok {
			return line
		}
	}
	return ""
}

// goKeys are settings of go that hold no secret and name no program.
var goKeys = keys{}.
	with(goPatterns, `GOPRIVATE GONOPROXY GONOSUMDB GOSUMDB`).
	with(word, `GOTOOLCHAIN GO111MODULE GOAMD64 GOARM64 CGO_ENABLED GOEXPERIMENT GOTELEMETRY`)

var patterns = expression(`^[A-Za-z0-9*?._,/+-]+$`)

func goPatterns(value string) (string, bool) {
	return value, len(value) <= maxValue && patterns().MatchString(value) && !opaque(value)
}

func goLine(line string) string {
	key, value, ok := strings.Cut(line, "=")
	if allowed := goKeys[key]; ok && allowed != nil {
		if value, ok = allowed(value); ok {
			return key + "=" + value
		}
	}
	return ""
}

// mavenElements are the parts of a settings.xml that hold no secret, by the last two names of
// their path; servers and properties do.
var mavenElements = keys{}.
	with(nil, `settings settings/mirrors mirrors/mirror settings/proxies proxies/proxy settings/profiles
		profiles/profile profile/activation profile/repositories repositories/repository profile/pluginRepositories
		pluginRepositories/pluginRepository repository/releases repository/snapshots pluginRepository/releases
		pluginRepository/snapshots settings/activeProfiles settings/pluginGroups`).
	with(word, `mirror/id mirror/name mirror/mirrorOf mirror/layout mirror/blocked settings/offline
		settings/interactiveMode proxy/id proxy/active proxy/protocol proxy/host proxy/port proxy/nonProxyHosts
		profile/id activation/activeByDefault repository/id repository/name repository/layout pluginRepository/id
		pluginRepository/name pluginRepository/layout releases/enabled releases/updatePolicy releases/checksumPolicy
		snapshots/enabled snapshots/updatePolicy snapshots/checksumPolicy activeProfiles/activeProfile
		pluginGroups/pluginGroup`).
	with(address, `mirror/url repository/url pluginRepository/url`)

// maven writes a settings.xml anew. One that cannot be read to its end is left out.
func maven(text string) string {
	in := xml.NewDecoder(strings.NewReader(text))
	var b strings.Builder
	var names []string // of the elements around
	for {
		token, err := in.Token()
		if errors.Is(err, io.EOF) {
			return b.String()
		}
		if err != nil {
			return ""
		}
		switch token := token.(type) {
		case xml.StartElement:
			names = append(names, token.Name.Local)
			at := path.Join(names[max(0, len(names)-2):]...)
			allowed, known := mavenElements[at]
			switch {
			case !known:
				names = names[:len(names)-1]
				if in.Skip() != nil {
					return ""
				}
			case allowed == nil:
				fmt.Fprintf(&b, "<%s>\n", token.Name.Local)
			default:
				var value struct {
					Text string `xml:",chardata"`
				}
				if in.DecodeElement(&value, &token) != nil {
					return ""
				}
				names = names[:len(names)-1]
				if v, ok := allowed(strings.TrimSpace(value.Text)); ok {
					fmt.Fprintf(&b, "<%[1]s>%[2]s</%[1]s>\n", token.Name.Local, xmlEscape(v))
				}
			}
		case xml.EndElement:
			names = names[:len(names)-1]
			fmt.Fprintf(&b, "</%s>\n", token.Name.Local)
		}
	}
}

func xmlEscape(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a Builder does not fail
	return b.String()
}
