package setup

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/realpath"
	"github.com/assent-dev/assent/sandbox"
	"github.com/assent-dev/assent/tool/roots"
)

// Own are assent's own files and folders, and those that its policy was read from, each with
// what it is. No tool may change them, in any mode.
func (s *Setup) Own() []sandbox.Entry {
	own := s.states()
	if s.Places.Config != "" {
		own = append(own, sandbox.Entry{Path: s.Places.Config, Source: "assent's config"})
	}
	if s.person != "" && !slices.Contains(s.Files, s.person) { // a link in that folder may lead out of it
		own = append(own, sandbox.Entry{Path: s.person, Source: "assent's config"})
	}
	for _, program := range s.Places.Programs {
		own = append(own, sandbox.Entry{Path: program, Source: "this program"})
	}
	for _, file := range s.Files {
		own = append(own, sandbox.Entry{Path: file, Source: "the policy"})
	}
	return append(own, s.settings...)
}

// states are assent's state folders.
func (s *Setup) states() []sandbox.Entry {
	out := []sandbox.Entry{{Path: s.Places.State, Source: "assent's state"}}
	if s.Places.OtherState != "" {
		out = append(out, sandbox.Entry{Path: s.Places.OtherState, Source: "assent's state"})
	}
	return out
}

// Protected are the paths of [Setup.Own].
func (s *Setup) Protected() []string {
	var out []string
	for _, e := range s.Own() {
		out = append(out, e.Path)
	}
	return out
}

// Project is the folder of another agent, for which something holds where no file speaks; empty
// for our own.
func (s *Setup) Project() string {
	if s.byDefault {
		return s.Dir
	}
	return ""
}

// Roots opens the folders that tools may reach. Close them when the last call has ended. For
// another agent a folder may be made later, if it is not the one that the agent works in.
func (s *Setup) Roots() (*roots.Set, error) {
	if s.byDefault {
		if _, err := os.Lstat(s.Dir); err != nil {
			return nil, fmt.Errorf("root %q: %w", ".", err)
		}
	}
	return roots.New(roots.Options{Secrets: s.Secrets, Protected: s.Protected(), Names: s.SettingNames,
		Missing: s.byDefault}, s.Policy.Roots...)
}

// Setting is what of this machine and user the profile of a policy depends on.
func (s *Setup) Setting(p *config.Policy) config.Setting {
	home, _ := os.UserHomeDir() // only for paths that name it
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = filepath.Join(s.Places.State, "cache")
	}
	return config.Setting{
		Own: s.Own(), Hidden: s.states(), Home: home, CacheFolder: filepath.Join(cache, "assent", "sandbox"),
		Env:    p.Shell.Env,
		Limits: sandbox.DefaultLimits(), Resolve: realpath.Resolve,
	}
}

// Stamp changes with the files that hold: those of the policy, the user's, the administrator's, and
// what is trusted.
func (s *Setup) Stamp() (out []string) {
	for _, name := range append(slices.Clone(s.Files), s.Places.Config, s.Places.Admin, s.Places.TrustFolder()) {
		out = append(out, name, FileStamp(name))
	}
	return out
}

// FileStamp changes with a file.
func FileStamp(name string) string {
	info, err := os.Stat(name)
	if err != nil {
		return "none"
	}
	return fmt.Sprint(info.Size(), info.ModTime().UnixNano(), info.Mode())
}
