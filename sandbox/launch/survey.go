package launch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/assent-dev/assent/sandbox"
)

// Survey looks at the host through a profile. The error says what about a root or a
// protected path keeps a command from being started.
func Survey(p sandbox.Profile) (Layout, error) {
	if err := p.Check(); err != nil {
		return Layout{}, err
	}
	s := &survey{profile: p}
	for _, step := range []func() error{s.roots, s.masked, s.sockets, s.protected, s.guarded} {
		if err := step(); err != nil {
			return Layout{}, err
		}
	}
	s.layout.System = system()
	return s.layout, nil
}

// A survey is one under way.
type survey struct {
	profile sandbox.Profile
	layout  Layout
	// folders counts what was searched for repositories.
	folders int
	// usual are what the settings of machine and user name; nil until they are needed.
	usual *gitNames
}

func (s *survey) roots() error {
	for _, r := range s.profile.Roots {
		kind, err := look(r.Path)
		if err == nil && kind == KindAbsent {
			err = errors.New("it does not exist; make it, or leave it out")
		}
		if err != nil {
			return fmt.Errorf("root %s (%s): %w", r.Path, r.Source, err)
		}
		mode := r.Mode
		if mode == sandbox.ModeReadWrite && inGuardedName(r.Path) {
			mode = sandbox.ModeReadOnly
		}
		s.layout.Roots = append(s.layout.Roots, Place{Path: r.Path, Mode: mode, Kind: kind, Source: r.Source})
	}
	return nil
}

func (s *survey) masked() error {
	for _, e := range s.profile.Masked {
		kind, err := look(e.Path)
		if err != nil {
			return fmt.Errorf("denied path %s (%s): %w", e.Path, e.Source, err)
		}
		if kind != KindAbsent {
			s.layout.Masked = append(s.layout.Masked, Place{Path: e.Path, Kind: kind, Source: e.Source})
		}
	}
	return nil
}

func (s *survey) sockets() error {
	for _, e := range s.profile.Sockets {
		info, err := os.Stat(e.Path)
		if err != nil {
			return fmt.Errorf("unix socket %s (%s): %w", e.Path, e.Source, err)
		}
		if info.Mode().Type() != fs.ModeSocket {
			return fmt.Errorf("unix socket %s (%s): it is not a socket", e.Path, e.Source)
		}
		s.layout.Sockets = append(s.layout.Sockets, Place{Path: e.Path, Kind: KindFile, Source: e.Source})
	}
	return nil
}

// protected are the profile's own: assent's files, wherever they are.
func (s *survey) protected() error {
	for _, e := range s.profile.Protected {
		if err := s.protect(e.Path, e.Source); err != nil {
			return err
		}
	}
	return nil
}

// protect adds a path that must not be written. Of one that does not exist, the first
// folder that is missing is protected: nothing can be made below it either.
func (s *survey) protect(file, source string) error {
	reached := func(r sandbox.Root) bool {
		return r.Mode == sandbox.ModeReadWrite && (sandbox.Below(r.Path, file) || sandbox.Below(file, r.Path))
	}
	if !slices.ContainsFunc(s.profile.Roots, reached) {
		return nil
	}
	place, err := firstMissing(file)
	if err != nil {
		return fmt.Errorf("protected path %s (%s): %w", file, source, err)
	}
	place.Source = source
	s.addProtected(place)
	return nil
}

func (s *survey) addProtected(p Place) {
	known := func(o Place) bool { return o.Path == p.Path }
	if !slices.ContainsFunc(s.layout.Protected, known) {
		s.layout.Protected = append(s.layout.Protected, p)
	}
}

// firstMissing returns what stands at a path, or the first part of it that is missing.
func firstMissing(file string) (Place, error) {
	at := "/"
	for part := range strings.SplitSeq(strings.Trim(file, "/"), "/") {
		at = filepath.Join(at, part)
		kind, err := look(at)
		if err != nil || kind != KindFolder || at == file {
			return Place{Path: at, Kind: kind}, err
		}
	}
	return Place{Path: file, Kind: KindFolder}, nil
}

// look says what stands at a path without following a symbolic link anywhere on the way.
func look(file string) (Kind, error) {
	info, err := os.Lstat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return KindAbsent, nil
	case err != nil:
		return "", err
	}
	if real, err := filepath.EvalSymlinks(file); err != nil {
		return "", err
	} else if real != file {
		return "", fmt.Errorf("it leads through a symbolic link, to %s; a link can be turned elsewhere, so name the place itself", real)
	}
	if info.IsDir() {
		return KindFolder, nil
	}
	return KindFile, nil
}
