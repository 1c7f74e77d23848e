package analysis

import (
	"path"
	"regexp"
	"slices"
	"strings"

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
	for _, script := range w.scripts {
		switch {
		case w.written(script):
			w.unknown(script.by, nil, "runs code that the command itself writes")
		case w.mayBeWritten(script):
			w.unknown(script.by, nil, "runs code that a program of the same command may have written")
		}
	}
	for i := range w.parts {
		if p := &w.parts[i]; p.Kind == Runs && !p.Builtin && p.Reading.Known && !p.Reading.Complete && w.writesRecipe(i+1) {
			w.unknown(i+1, nil, "runs what a file says that the command itself writes")
		}
	}
}

// written reports whether a part writes the file, or a file that is not known.
func (w *walker) written(script ranScript) bool {
	real, _ := w.world.Look(script.path)
	return slices.ContainsFunc(w.parts, func(p Part) bool {
		if p.Kind != Touches || p.Access != programs.Write {
			return false
		}
		if p.Path == "" {
			return p.Cause != script.by // its own output cannot be what it reads
		}
		at, _ := w.world.Look(p.Path)
		return at == real || slices.Contains(p.Matches, script.path) || p.Many && strings.HasPrefix(script.path, p.Path+"/")
	})
}

// systemFile is what programs of a project do not write.
var systemFile = regexp.MustCompile(`^/(usr|bin|sbin|lib|lib64|opt|nix|System|Library)/`)

// mayBeWritten reports whether a program that does more than can be told runs before the
// script, and the script is no program of the system or one that the PATH leads to anyway.
func (w *walker) mayBeWritten(script ranScript) bool {
	if systemFile.MatchString(script.path) || w.onPath(script.path, path.Base(script.path)) {
		return false
	}
	for i := range w.parts {
		p := &w.parts[i]
		if p.Kind != Runs || p.Builtin || p.Elsewhere || p.Reading.Known && p.Reading.Complete {
			continue
		}
		if w.runsBefore(i, script.by-1) && !w.causes(i+1, script.by) {
			return true
		}
	}
	return false
}

// runsBefore reports whether the part with index i may run before the one with index j.
func (w *walker) runsBefore(i, j int) bool {
	return i < j || slices.ContainsFunc(w.rounds, func(s span) bool {
		return s.first <= i && i < s.end && s.first <= j && j < s.end && i != j
	})
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
	"Taskfile.yml": true, "Taskfile.yaml": true, "Rakefile": true, "Gemfile": true, "CMakeLists.txt": true, "build.ninja": true,
	"meson.build": true, "SConstruct": true, "build.xml": true, "pom.xml": true, "build.gradle": true, "build.gradle.kts": true,
	"settings.gradle": true, "settings.gradle.kts": true, "build.sbt": true, "package.json": true, ".npmrc": true, ".yarnrc": true,
	".yarnrc.yml": true, ".pnpmfile.cjs": true, "bunfig.toml": true, "deno.json": true, "deno.jsonc": true, "composer.json": true,
	"Cargo.toml": true, "build.rs": true, "setup.py": true, "setup.cfg": true, "pyproject.toml": true, "tox.ini": true,
	"noxfile.py": true, "conftest.py": true, "sitecustomize.py": true, "Dockerfile": true, "Containerfile": true,
	"compose.yml": true, "compose.yaml": true, "docker-compose.yml": true, "docker-compose.yaml": true,
	".pre-commit-config.yaml": true, "Procfile": true, "BUILD": true, "BUILD.bazel": true, "WORKSPACE": true, "MODULE.bazel": true,
}

// writesRecipe reports whether another part than that of the number writes such a file.
func (w *walker) writesRecipe(number int) bool {
	return slices.ContainsFunc(w.parts, func(p Part) bool {
		return p.Kind == Touches && p.Access == programs.Write && !p.Many && recipes[path.Base(p.Path)] && p.Cause != number
	})
}
