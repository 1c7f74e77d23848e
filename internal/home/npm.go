package home

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/assent-dev/assent/sandbox"
	"github.com/assent-dev/assent/sandbox/launch"
)

// npm keeps an index, of which package's file came from which address, and contents by their
// digest. A copy of everything would take seconds, so a project's own cache gets what its
// package.json and package-lock.json lead to: entries of the index, written anew, and links to
// the contents, which npm checks whenever it reads them.

// An npmFill is under way.
type npmFill struct {
	root     *os.Root
	within   string // where in the root the cache is
	index    string // the user's
	contents string // likewise
	registry func(name string) string
	seen     map[string]bool // names of packages
}

// The most that is looked at, which is more than projects have.
const (
	maxPackages = 5000
	maxDocument = 64 << 20
)

// fillNpm fills a project's own cache, unless neither the project nor the user's cache has
// changed since.
func fillNpm(p sandbox.Profile, own string, projects []string) {
	contents := shown(p, npmContent)
	if len(contents) == 0 || len(projects) == 0 {
		return
	}
	root, within, beside, err := openOwn(p, own)
	if err != nil {
		return
	}
	defer root.Close()
	theirs := filepath.Dir(contents[0])
	// npm makes each file in tmp first, so that folder tells whether something was added. The
	// stamp lies where no command can write.
	now := modified(filepath.Join(theirs, "tmp"))
	for _, file := range projects {
		now += fmt.Sprintf("%q %s %s\n", file, modified(file), modified(lockOf(file)))
	}
	stamp := beside + ".filled"
	if readSmall(stamp) == now {
		return
	}
	f := &npmFill{
		root: root, within: within + "/_cacache", index: filepath.Join(theirs, path.Base(npmIndex)),
		contents: contents[0],
		registry: registries(p), seen: map[string]bool{},
	}
	for _, file := range projects {
		f.project(file)
	}
	_ = os.WriteFile(stamp, []byte(now), 0o600) // otherwise it is done again
}

func lockOf(file string) string { return filepath.Join(filepath.Dir(file), "package-lock.json") }

// modified is when a file or folder was changed; nothing if there is none.
func modified(file string) string {
	info, err := os.Lstat(file)
	if err != nil {
		return ""
	}
	return info.ModTime().String()
}

// registries tells which registry a package comes from, by the settings that commands see.
func registries(p sandbox.Profile) func(name string) string {
	of := map[string]string{"": "https://registry.npmjs.org/"}
	for _, file := range p.Files {
		if path.Base(file.Path) != ".npmrc" {
			continue
		}
		for line := range strings.Lines(file.Text) {
			key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
			if scope, ok := strings.CutSuffix(key, "registry"); ok {
				of[strings.TrimSuffix(scope, ":")] = strings.TrimSuffix(value, "/") + "/"
			}
		}
	}
	return func(name string) string {
		scope, _, scoped := strings.Cut(name, "/")
		if at := of[scope]; scoped && at != "" {
			return at
		}
		return of[""]
	}
}

// A manifest is what a package.json, and a version of a package in a registry, say about others.
type manifest struct {
	Dependencies         map[string]string `json:"dependencies"`
	DevDependencies      map[string]string `json:"devDependencies"`
	OptionalDependencies map[string]string `json:"optionalDependencies"`
	PeerDependencies     map[string]string `json:"peerDependencies"`
	Dist                 struct {
		Tarball string `json:"tarball"`
	} `json:"dist"`
}

func (m manifest) names(dev bool) []string {
	names := slices.Concat(slices.Collect(maps.Keys(m.Dependencies)), slices.Collect(maps.Keys(m.OptionalDependencies)),
		slices.Collect(maps.Keys(m.PeerDependencies)))
	if dev {
		names = append(names, slices.Collect(maps.Keys(m.DevDependencies))...)
	}
	return names
}

// project takes over what a project's files lead to: what the lock names, or else everything in
// the user's cache that the dependencies may mean.
func (f *npmFill) project(file string) {
	var lock struct {
		Packages map[string]struct {
			Resolved string `json:"resolved"`
		} `json:"packages"`
	}
	if json.Unmarshal(launch.ReadSmall(lockOf(file), maxDocument), &lock) == nil {
		for _, p := range lock.Packages {
			f.take(p.Resolved)
		}
	}
	var own manifest
	if json.Unmarshal(launch.ReadSmall(file, maxSettings), &own) != nil {
		return
	}
	queue := own.names(true)
	for len(queue) > 0 && len(f.seen) < maxPackages {
		name := queue[0]
		queue = queue[1:]
		if !f.seen[name] {
			f.seen[name] = true
			queue = append(queue, f.document(name, len(lock.Packages) > 0)...)
		}
	}
}

// document takes over what the user's cache knows of a package, and returns what its versions
// depend on, unless a lock has said it already.
func (f *npmFill) document(name string, locked bool) []string {
	var document struct {
		Versions map[string]manifest `json:"versions"`
	}
	for _, content := range f.take(f.registry(name) + strings.Replace(name, "/", "%2f", 1)) {
		if locked || json.Unmarshal(launch.ReadSmall(filepath.Join(f.contents, content), maxDocument), &document) != nil {
			continue
		}
		var names []string
		for _, version := range document.Versions {
			if len(f.take(version.Dist.Tarball)) > 0 {
				names = append(names, version.names(false)...)
			}
		}
		return names
	}
	return nil
}

// take takes over what the user's cache has of an address, and returns where its contents are.
func (f *npmFill) take(address string) []string {
	sum := sha256.Sum256([]byte(npmKey + address))
	name := hex.EncodeToString(sum[:])
	bucket := filepath.Join(name[:2], name[2:4], name[4:])
	text, links := npmBucket(string(launch.ReadSmall(filepath.Join(f.index, bucket), maxDocument)))
	if text == "" {
		return nil
	}
	_ = create(f.root, filepath.Join(f.within, path.Base(npmIndex), bucket), text) // it may be there
	for _, link := range links {
		to := filepath.Join(f.within, path.Base(npmContent), link)
		if f.root.MkdirAll(filepath.Dir(to), 0o700) == nil {
			_ = f.root.Symlink(filepath.Join(f.contents, link), to) // likewise
		}
	}
	return links
}

// npmKey begins the keys of the index that are about addresses.
const npmKey = "make-fetch-happen:request-cache:"

// An npmEntry is a line of npm's index.
type npmEntry struct {
	Key       string         `json:"key"`
	Integrity string         `json:"integrity"`
	Time      int64          `json:"time"`
	Size      int64          `json:"size"`
	Metadata  map[string]any `json:"metadata"`
}

// npmHeaders are those of an answer that npm needs to use it again.
var npmHeaders = []string{"cache-control", "content-type", "date", "etag", "last-modified", "age", "expires",
	"content-encoding"}

// npmBucket writes a file of the index anew and returns where the contents are. Of a request
// nothing is kept but its address and what it accepts, and none of an address that could hold a
// secret.
func npmBucket(text string) (string, []string) {
	var out strings.Builder
	var links []string
	for line := range strings.SplitSeq(text, "\n") {
		_, body, ok := strings.Cut(line, "\t")
		var e npmEntry
		if !ok || json.Unmarshal([]byte(body), &e) != nil || e.Integrity == "" {
			continue
		}
		at, known := strings.CutPrefix(e.Key, npmKey)
		link, content := contentOf(e.Integrity)
		if !known || !content || !packageAddress(at) {
			continue
		}
		e.Metadata = cleanMetadata(at, e.Metadata)
		var data bytes.Buffer
		enc := json.NewEncoder(&data)
		enc.SetEscapeHTML(false)
		if enc.Encode(e) != nil {
			continue
		}
		clean := strings.TrimSuffix(data.String(), "\n")
		fmt.Fprintf(&out, "\n%x\t%s", sha1.Sum([]byte(clean)), clean)
		links = append(links, link)
	}
	return out.String(), links
}

// packageAddress reports whether the address of a package holds no secret. Names of packages
// may be long, and encoded.
func packageAddress(at string) bool {
	u, err := url.Parse(at)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.User == nil && u.RawQuery == "" &&
		u.Fragment == ""
}

// cleanMetadata keeps what npm compares before it uses an answer again.
func cleanMetadata(at string, from map[string]any) map[string]any {
	keep := func(part string, names ...string) map[string]any {
		had, _ := from[part].(map[string]any)
		out := map[string]any{}
		for _, name := range names {
			if v, ok := had[name].(string); ok {
				out[name] = v
			}
		}
		return out
	}
	out := map[string]any{"url": at, "options": map[string]any{"compress": true},
		"reqHeaders": keep("reqHeaders", "accept"), "resHeaders": keep("resHeaders", npmHeaders...)}
	if t, ok := from["time"].(float64); ok {
		out["time"] = t
	}
	return out
}

// contentOf is where npm keeps a content, below its folder.
func contentOf(integrity string) (string, bool) {
	first, _, _ := strings.Cut(integrity, " ")
	algorithm, digest, ok := strings.Cut(first, "-")
	sum, err := base64.StdEncoding.DecodeString(digest)
	if !ok || err != nil || algorithm != "sha512" && algorithm != "sha1" && algorithm != "sha256" || len(sum) < 16 {
		return "", false
	}
	name := hex.EncodeToString(sum)
	return filepath.Join(algorithm, name[:2], name[2:4], name[4:]), true
}
