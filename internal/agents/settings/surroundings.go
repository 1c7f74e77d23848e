package settings

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
)

// Surroundings are where an agent is started: what its settings depend on. All that is read
// for [Target.Inspect] is read through them, so that files of the administrator can be tried.
type Surroundings struct {
	// Home is the user's home folder, Folder the one that the agent is started in.
	Home, Folder string
	// OS is the operating system, as runtime.GOOS has it.
	OS string
	// Env looks a variable up.
	Env func(name string) (value string, set bool)
	// Read reads a file, through links; the error matches fs.ErrNotExist if there is none.
	Read func(path string) ([]byte, error)
	// List names the files of a folder, in order; none if there is no folder.
	List func(folder string) []string
	// Exists reports whether there is a file or folder.
	Exists func(path string) bool
	// Real is a path without links, or the path itself if there is nothing there.
	Real func(path string) string
	// Rooted reports whether only root can change a file, or a folder above it.
	Rooted func(path string) bool
}

// Here are the surroundings of an agent that is started in a folder by the user of this process.
func Here(folder string) (Surroundings, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return Surroundings{}, err
	}
	folder, err = filepath.Abs(folder)
	if err != nil {
		return Surroundings{}, err
	}
	return On(home, folder, os.LookupEnv), nil
}

// On are the surroundings of an agent on this machine that is started in a folder, with a home
// folder and variables of its own.
func On(home, folder string, env func(name string) (value string, set bool)) Surroundings {
	return Surroundings{
		Home: home, Folder: folder, OS: runtime.GOOS, Env: env, Read: readFile,
		List: func(folder string) (names []string) {
			entries, _ := os.ReadDir(folder) // a folder that cannot be listed cannot be read by the agent either
			for _, e := range entries {
				names = append(names, e.Name())
			}
			return names
		},
		Exists: func(path string) bool { _, err := os.Lstat(path); return err == nil },
		Real: func(path string) string {
			if real, err := filepath.EvalSymlinks(path); err == nil {
				return real
			}
			return path
		},
		Rooted: rooted,
	}
}

func rooted(path string) bool {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return false
	}
	for at := real; ; at = filepath.Dir(at) {
		info, err := os.Lstat(at)
		if err != nil || info.Mode().Perm()&0o022 != 0 {
			return false
		}
		if stat, ok := info.Sys().(*syscall.Stat_t); !ok || stat.Uid != 0 {
			return false
		}
		if at == filepath.Dir(at) {
			return true
		}
	}
}

// value is what a variable says, "" if it is not set.
func (s Surroundings) value(name string) string {
	v, _ := s.Env(name)
	return v
}

// Projects are the folders whose settings may hold for an agent that is started in the
// folder: from there up to the one of the repository. The agents differ in which of them they
// read, by what they were started in; a file that turns hooks off is one to know about anyway.
func (s Surroundings) Projects() []string {
	var out []string
	for at := s.Folder; ; at = filepath.Dir(at) {
		out = append(out, at)
		if s.Exists(filepath.Join(at, ".git")) {
			return out
		}
		if at == s.Home || at == filepath.Dir(at) {
			return out[:1]
		}
	}
}

// moved are the variables that name another place for the user's settings, by agent.
var moved = map[string]string{"claude-code": "CLAUDE_CONFIG_DIR", "codex": "CODEX_HOME", "gemini": "GEMINI_CLI_HOME"}

// UserPath is where the user's settings of the agent are: below the home folder, or where the
// agent's variable says.
func (t Target) UserPath(s Surroundings) string { return filepath.Join(t.UserFolder(s), t.File) }

// UserFolder is the folder of the user's settings.
func (t Target) UserFolder(s Surroundings) string {
	to := s.value(moved[t.Agent.Name])
	switch {
	case to == "":
		return filepath.Join(s.Home, t.Folder)
	case !filepath.IsAbs(to):
		to = filepath.Join(s.Folder, to)
	}
	switch t.Agent.Name {
	case "gemini":
		return filepath.Join(to, t.Folder)
	case "codex":
		return s.Real(to) // as Codex writes it where it notes what is trusted
	}
	return to
}

// A Scope says whose a file is.
type Scope int

// The scopes, in the order in which findings are told.
const (
	Managed Scope = iota // the administrator's
	User
	Project
)

// A Finding is a reason why the agent may not call the hook that its settings name.
type Finding struct {
	// Agent is the name of the agent.
	Agent string
	Scope Scope
	// Path is the file that it is about, "" for a variable; Line is 0 if it is about no line.
	Path string
	Line int
	// What is wrong, and what to Do about it.
	What, Do string
	// Off says that the file turns hooks off; else the agent may not take the file.
	Off bool

	stays bool // the administrator's settings cannot turn it on again
}

func (f Finding) String() string {
	where := f.Path
	if f.Line > 0 {
		where = fmt.Sprintf("%s:%d", f.Path, f.Line)
	}
	if where != "" {
		where += ": "
	}
	return where + f.What + "; " + f.Do
}

// Inspect reads what the agent would read when it is started in these surroundings, and
// returns the reasons why it may not call the hook that stands in the file at path. What the
// agent is told by its flags, or by its maker over the network, is not seen.
func (t Target) Inspect(s Surroundings, path string) []Finding {
	in := &inspection{Target: t, Surroundings: s, hook: path}
	if name := moved[t.Agent.Name]; name != "" {
		v, set := s.Env(name)
		if set && v == "" && t.Agent.Name == "claude-code" || v != "" && !filepath.IsAbs(v) {
			const what = "the variable %s is %q, which is another folder wherever %s is started"
			in.note(User, "", fmt.Sprintf(what, name, v, t.Agent.Title), "unset it or give it an absolute path")
		}
	}
	map[string]func(){"claude-code": in.claude, "codex": in.codex, "gemini": in.gemini, "cursor": in.cursor}[t.Agent.Name]()
	if in.on {
		in.all = slices.DeleteFunc(in.all, func(f Finding) bool { return f.Off && !f.stays && f.Scope != Managed })
	}
	slices.SortStableFunc(in.all, func(a, b Finding) int { return int(a.Scope - b.Scope) })
	return in.all
}

// RepositoryOff returns the findings about files of the repository that turn hooks off, of
// all agents whose settings name our hook. It reads a few small files.
func RepositoryOff(s Surroundings) (out []Finding) {
	for _, t := range all() {
		for _, path := range append([]string{t.UserPath(s)}, paths(t, s.Projects())...) {
			text, err := s.Read(path)
			if err != nil {
				continue
			}
			if commands, err := t.Commands(text); err != nil || len(commands) == 0 {
				continue
			}
			for _, f := range t.Inspect(s, path) {
				if f.Off && f.Scope == Project && !slices.Contains(out, f) {
					out = append(out, f)
				}
			}
		}
	}
	return out
}

// paths are the settings of an agent in these projects.
func paths(t Target, projects []string) (out []string) {
	for _, p := range projects {
		out = append(out, t.Path(p))
	}
	return out
}
