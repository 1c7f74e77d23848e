package analysis

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// loaderName is what the system's loader of programs is called: ld.so, ld-linux-x86-64.so.2.
var loaderName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^ld[-.\w]*\.so(\.\d+)*$`) })

// otherName walks what a command is by another name, so that a deny of it is met: git-push
// is git push, and the loader starts the program that it is given.
func (w *walker) otherName(c *command) {
	name := path.Clean(c.name())
	base := path.Base(name)
	switch {
	case strings.HasPrefix(base, "git-") && len(base) > len("git-"):
		words := literals([]string{"git", strings.TrimPrefix(base, "git-")})
		w.started(c, &command{words: append(words, c.words[1:]...), outside: true})
	case strings.HasPrefix(base, "ld") && loaderName().MatchString(base):
		w.loaded(c)
	case strings.HasPrefix(name, "/proc/") && base == "exe":
		w.unknown(c.part, nil, "runs the program of another process, or the shell itself")
		words := append(literals([]string{"bash"}), c.words[1:]...)
		w.started(c, &command{words: words, outside: true})
	}
}

// loaderTakes are options of the loader with an argument.
var loaderTakes = []string{"--library-path", "--inhibit-rpath", "--audit", "--preload", "--argv0", "--glibc-hwcaps-prepend", "--glibc-hwcaps-mask"}

// loaded walks the command that the loader starts. Its options may load any code.
func (w *walker) loaded(c *command) {
	rest := 1
	for rest < len(c.words) && c.words[rest].MayBeFlag() {
		w.unknown(c.part, nil, "an option of the loader may run other code")
		if slices.Contains(loaderTakes, c.words[rest].Text) {
			rest++
		}
		rest++
	}
	if rest < len(c.words) {
		w.started(c, &command{words: slices.Clone(c.words[rest:]), outside: true})
	}
}
