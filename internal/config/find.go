package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// UserFolder is where the user's own config is: assent's folder below the XDG config
// folder.
func UserFolder() (string, error) {
	if dir := os.Getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "assent"), nil
	}
	home, err := homeFolder()
	if err != nil {
		return "", fmt.Errorf("the config folder cannot be found: %w; set XDG_CONFIG_HOME", err)
	}
	return filepath.Join(home, ".config", "assent"), nil
}

// FindWorker returns the file of a worker that a person names: the path that was given,
// else that of the name in ./workers/, else in the user's config folder.
func FindWorker(name, cwd, configDir string) (string, error) {
	if suffix := filepath.Ext(name); strings.ContainsRune(name, filepath.Separator) || suffix == workerSuffix ||
		suffix == plainSuffix {
		if !filepath.IsAbs(name) {
			name = filepath.Join(cwd, name)
		}
		if _, err := os.Stat(name); err != nil {
			return "", fmt.Errorf("worker: %w", err)
		}
		return name, nil
	}
	return FindNamed(name, workerFolders(cwd, configDir)...)
}

// workerFolders are where workers are looked for by name.
func workerFolders(cwd, configDir string) []string {
	return []string{filepath.Join(cwd, workersFolder), filepath.Join(configDir, workersFolder), configDir}
}

// FindNamed returns the file of the worker of a name, which is never a path: models name
// workers too. The folders are tried in order.
func FindNamed(name string, folders ...string) (string, error) {
	if !ValidWorkerName(name) {
		return "", fmt.Errorf("invalid worker name %q: use letters, digits, - and _", name)
	}
	for _, folder := range folders {
		found, err := namedIn(folder, name)
		switch {
		case err != nil:
			return "", fmt.Errorf("worker %s: %w", name, err)
		case len(found) == 1:
			return found[0], nil
		case len(found) == 2:
			return "", fmt.Errorf("worker %s: there is %s and %s; keep one, or name the file", name, found[0], found[1])
		}
	}
	return "", fmt.Errorf("there is no worker %q in %s%s", name, strings.Join(folders, ", "),
		DidYouMean(name, ListWorkers(folders...)))
}

// namedIn returns the files in a folder that define a worker of the name.
func namedIn(folder, name string) (found []string, err error) {
	for _, suffix := range []string{workerSuffix, plainSuffix} {
		path := filepath.Join(folder, name+suffix)
		info, err := os.Stat(path)
		switch {
		case err == nil && info.Mode().IsRegular():
			found = append(found, path)
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
	}
	return found, nil
}

// ListWorkers returns the names of the workers in the folders, sorted. What cannot be
// read has none.
func ListWorkers(folders ...string) []string {
	var out []string
	for _, folder := range folders {
		entries, err := os.ReadDir(folder)
		if err != nil {
			continue
		}
		for _, e := range entries {
			name, suffix := strings.TrimSuffix(e.Name(), filepath.Ext(e.Name())), filepath.Ext(e.Name())
			plain := suffix == plainSuffix && filepath.Base(folder) == workersFolder
			if (suffix == workerSuffix || plain) && ValidWorkerName(name) && !e.IsDir() {
				out = append(out, name)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// FindProject returns the policy file of the project that a folder belongs to: in the
// folder or above it, up to the top of the repository. Empty if there is none. Where links
// lead to the folder, the project that it really lies in counts before the one of the links.
func FindProject(cwd string) (string, error) {
	if real, err := filepath.EvalSymlinks(cwd); err == nil && real != filepath.Clean(cwd) {
		if found, err := findProject(real); err != nil || found != "" {
			return found, err
		}
	}
	return findProject(cwd)
}

func findProject(cwd string) (string, error) {
	home, _ := os.UserHomeDir() // a folder of everything is no project
	for dir := filepath.Clean(cwd); ; dir = filepath.Dir(dir) {
		path := filepath.Join(dir, ProjectFolder, policyName)
		_, err := os.Stat(path)
		if err == nil {
			return path, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil || dir == filepath.Dir(dir) || dir == home {
			return "", nil
		}
	}
}

// RepositoryTop is the top of the git repository that a folder lies in, without links; empty if
// there is none. A repository that has the home folder in it is not one project.
func RepositoryTop(dir string) string {
	home, err := os.UserHomeDir()
	if real, e := filepath.EvalSymlinks(home); err == nil && e == nil {
		home = real
	}
	for ; dir != home && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
	}
	return ""
}

// WorkerProject is the folder that a worker's file is about: workers lie in a folder of their own.
func WorkerProject(folder string) string {
	if filepath.Base(folder) == workersFolder {
		return filepath.Dir(folder)
	}
	return folder
}

// StateFolder is where assent keeps its state: the folder that was named, or assent's own
// below the XDG state folder.
func StateFolder(named string) (string, error) {
	if named != "" {
		return filepath.Abs(named)
	}
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "assent"), nil
	}
	home, err := homeFolder()
	if err != nil {
		return "", fmt.Errorf("the state folder cannot be found: %w; set XDG_STATE_HOME", err)
	}
	return filepath.Join(home, ".local", "state", "assent"), nil
}

// homeFolder is the user's own, and never one below the folder that somebody works in.
// ShortPath writes a path below the home folder with ~, for people.
func ShortPath(path string) string {
	home, err := homeFolder()
	if err != nil {
		return path
	}
	if rel, err := filepath.Rel(home, path); err == nil && filepath.IsLocal(rel) {
		return filepath.Join("~", rel)
	}
	return path
}

func homeFolder() (string, error) {
	home, err := os.UserHomeDir()
	if err == nil && !filepath.IsAbs(home) {
		err = fmt.Errorf("$HOME is %q, which is not an absolute path", home)
	}
	return home, err
}
