package analysis

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/assent-dev/assent/tool/shell/programs"
)

// A ranScript is a file that is run as code, by the part of that number.
type ranScript struct {
	path string
	by   int
}

// A span is a run of parts: the indices from first up to end.
type span struct{ first, end int }

// settleScripts adds unknown parts for code that the text itself writes, or may write,
// before it runs it.
func (w *walker) settleScripts() {
	wrote := w.writes()
	for _, script := range w.scripts {
		switch {
		case wrote.covers(script, w.world):
			w.unknown(script.by, nil, "runs code that the command itself writes")
		case w.mayBeWritten(script, wrote.open):
			w.unknown(script.by, nil, "runs code that a program of the same command may have written")
		}
	}
	for _, i := range wrote.open {
		if w.parts[i].Reading.Known && wrote.recipeOfAnother(i+1) {
			w.unknown(i+1, nil, "runs a file that the command itself writes")
		}
	}
}

// writes are what the parts write, in the order of the text.
type writes struct {
	files   map[string]bool // by their real path, or as they match a pattern
	trees   []string        // of which everything may be written
	unknown []int           // the causes of writes to files that are not known
	recipes []int           // the causes of writes to recipes
	open    []int           // the indices of programs that do more than can be told
}

func (w *walker) writes() (all writes) {
	all.files = make(map[string]bool)
	for i := range w.parts {
		p := &w.parts[i]
		switch {
		case p.Kind == Runs && !p.Builtin && !p.Elsewhere && !(p.Reading.Known && p.Reading.Complete):
			all.open = append(all.open, i)
		case p.Kind != Touches || p.Access != programs.Write:
		case p.Path == "":
			all.unknown = append(all.unknown, p.Cause)
		case p.Many:
			all.tree(p, w.world)
		default:
			real, _ := w.world.Look(p.Path)
			all.files[real] = true
			if recipes[path.Base(p.Path)] {
				all.recipes = append(all.recipes, p.Cause)
			}
		}
	}
	return all
}

// covers reports whether the script is written, or may be: a file that is not known, unless
// that is the script's own output.
func (a *writes) covers(script ranScript, world World) bool {
	real, _ := world.Look(script.path)
	return a.files[real] || a.files[script.path] || otherThan(a.unknown, script.by) ||
		slices.ContainsFunc(a.trees, func(top string) bool { return strings.HasPrefix(script.path, top+"/") })
}

// tree adds a write to many files.
func (a *writes) tree(p *Part, world World) {
	for _, name := range p.Matches {
		a.files[name] = true
	}
	if !slices.Contains(a.trees, p.Path) {
		a.trees = append(a.trees, p.Path)
		real, _ := world.Look(p.Path)
		a.files[real] = true
	}
}

// recipeOfAnother reports whether another part than that of the number writes a recipe.
func (a *writes) recipeOfAnother(number int) bool { return otherThan(a.recipes, number) }

func otherThan(numbers []int, number int) bool {
	return slices.ContainsFunc(numbers, func(n int) bool { return n != number })
}

// systemFile is what programs of a project do not write.
var systemFile = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^/(usr|bin|sbin|lib|lib64|opt|nix|System|Library)/`)
})

// mayBeWritten reports whether a program that does more than can be told runs before the
// script, and the script is no program of the system or one that the PATH leads to anyway.
func (w *walker) mayBeWritten(script ranScript, open []int) bool {
	if len(open) == 0 || systemFile().MatchString(script.path) || w.onPath(script.path, path.Base(script.path)) {
		return false
	}
	end := script.by - 1
	for _, loop := range w.rounds { // what stands behind it in a loop may run before it
		if loop.first < script.by && script.by <= loop.end {
			end = max(end, loop.end)
		}
	}
	for _, i := range open {
		if i >= end {
			return false
		}
		if !w.causes(i+1, script.by) {
			return true
		}
	}
	return false
}

// causes reports whether the part of number a is b, or leads to it.
func (w *walker) causes(a, b int) bool {
	for ; b > 0; b = w.parts[b-1].Cause {
		if a == b {
			return true
		}
	}
	return false
}

// recipes are files that say what programs for building and testing run.
var recipes = map[string]bool{
	"GNUmakefile": true, "makefile": true, "Makefile": true, "justfile": true, "Justfile": true, ".justfile": true,
	"Taskfile.yml": true, "Taskfile.yaml": true, "Rakefile": true, "Gemfile": true, "CMakeLists.txt": true,
	"build.ninja": true,
	"meson.build": true, "SConstruct": true, "build.xml": true, "pom.xml": true, "build.gradle": true,
	"build.gradle.kts": true,
	"settings.gradle":  true, "settings.gradle.kts": true, "build.sbt": true, "package.json": true, ".npmrc": true,
	".yarnrc":     true,
	".yarnrc.yml": true, ".pnpmfile.cjs": true, "bunfig.toml": true, "deno.json": true, "deno.jsonc": true,
	"composer.json": true,
	"Cargo.toml":    true, "build.rs": true, "setup.py": true, "setup.cfg": true, "pyproject.toml": true, "tox.ini": true,
	"noxfile.py": true, "conftest.py": true, "sitecustomize.py": true, "Dockerfile": true, "Containerfile": true,
	"compose.yml": true, "compose.yaml": true, "docker-compose.yml": true, "docker-compose.yaml": true,
	".pre-commit-config.yaml": true, "Procfile": true, "BUILD": true, "BUILD.bazel": true, "WORKSPACE": true,
	"MODULE.bazel": true,
}
