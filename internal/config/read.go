package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// A Kind is what a file is for.
type Kind string

// The kinds of files.
const (
	PolicyFile Kind = "policy"
	WorkerFile Kind = "worker"
	UserFile   Kind = "config"
	TeamFile   Kind = "team"
)

// Names of files and folders that are looked for.
const (
	AdminFile     = "/etc/assent/policy.yaml"
	ProjectFolder = ".assent"
	policyName    = "policy.yaml"
	UserName      = "config.yaml"
	workersFolder = "workers"
	maxFile       = 1 << 20 // a worker's instructions included
)

// A File is one that was read. Its policy was made of exactly these bytes.
type File struct {
	Path   string // absolute
	Folder string // what its paths and commands are relative to
	Kind   Kind
	Data   []byte
	Policy *Policy
	Worker *Worker     // of a worker file
	User   *User       // of a user's config
	Team   *TeamSource // of the source of a team's policy
}

// Read reads a file of the kind; an empty kind is found out. The error, if it is about
// what stands in the file, is of type [Problems].
func Read(path string, kind Kind) (*File, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	data, _, err := readRegular(path)
	if err != nil {
		return nil, err
	}
	return parseFile(path, kind, data)
}

func parseFile(path string, kind Kind, data []byte) (*File, error) {
	if kind == "" {
		kind = KindOf(path, data)
	}
	name, folder := naming(path)
	return parseNamed(path, name, folder, kind, data)
}

func parseNamed(path, name, folder string, kind Kind, data []byte) (f *File, err error) {
	f = &File{Path: path, Folder: folder, Kind: kind, Data: data}
	switch kind {
	case WorkerFile:
		if f.Worker, err = LoadWorker(name, data, folder); err == nil {
			f.Policy = f.Worker.Policy
		}
	case UserFile:
		if f.User, err = LoadUser(name, data); err == nil {
			f.Policy = f.User.Policy
		}
	case TeamFile:
		if f.Team, err = LoadTeam(name, data); err == nil {
			f.Policy = f.Team.Policy
		}
	case PolicyFile:
		f.Policy, err = Load(name, data, folder)
	default:
		err = fmt.Errorf("unknown kind of file %q; it is worker, policy, config or team", kind)
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

// naming returns how a file is called in reasons, and what its paths are relative to. The
// model is told reasons, and no path of this machine.
func naming(path string) (name, folder string) {
	name, folder = filepath.Base(path), filepath.Dir(path)
	switch {
	case path == AdminFile:
		name = path
	case filepath.Base(folder) == ProjectFolder:
		name, folder = filepath.Join(ProjectFolder, name), filepath.Dir(folder)
	}
	return name, folder
}

// KindOf finds out what a file is for: by its name, or because it has a key that only
// workers or a team's file have.
func KindOf(path string, data []byte) Kind {
	if filepath.Ext(path) == workerSuffix || filepath.Base(filepath.Dir(path)) == workersFolder {
		return WorkerFile
	}
	if dir, err := UserFolder(); err == nil && path == filepath.Join(dir, UserName) {
		return UserFile
	}
	for line := range bytes.Lines(data) {
		name, _, ok := bytes.Cut(line, []byte(":"))
		named := func(k key) bool { return k.name == string(name) }
		switch {
		case !ok:
		case slices.ContainsFunc(teamKeys, named):
			return TeamFile
		case slices.ContainsFunc(workerKeys, named) && userShape.find(string(name)) == nil:
			return WorkerFile
		}
	}
	return PolicyFile
}

// readRegular reads a file that is one, and is no larger than somebody would write.
func readRegular(path string) ([]byte, fs.FileInfo, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe must not hold us
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("%s is not a regular file", path)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = fmt.Errorf("%s is larger than %d bytes, the limit", path, maxFile)
	}
	return data, info, err
}

// ReadAdmin reads the administrator's policy; nil if there is none. A file, or a folder of
// it, that somebody else could have written is an error. Reasons call it by its whole path.
func ReadAdmin(path string) (*File, error) {
	data, info, err := readRegular(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if errors.Is(err, fs.ErrPermission) {
		return nil, fmt.Errorf("%w; every user must be able to read it: as root, run chmod 755 %s, and chmod 644 %s if it exists",
			err, filepath.Dir(path), path)
	}
	if err != nil {
		return nil, err
	}
	folder, err := os.Stat(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	for _, i := range []fs.FileInfo{info, folder} {
		if !admins(path, owner(i)) || i.Mode().Perm()&0o022 != 0 {
			return nil, fmt.Errorf("%s is not used: %s must belong to root and be writable by nobody else (chown root, "+
				"chmod go-w)", path, i.Name())
		}
	}
	return parseNamed(path, path, filepath.Dir(path), PolicyFile, data)
}

// admins reports whether the owner of the administrator's file is one: root. Only a test names
// another file than [AdminFile], and is its own administrator.
func admins(path string, owner int) bool {
	return owner == 0 || path != AdminFile && owner == os.Getuid()
}

// ReadUser reads config.yaml in the user's config folder; an empty one if there is none.
// One that others could have written is an error.
func ReadUser(folder string) (*File, error) {
	path := filepath.Join(folder, UserName)
	data, info, err := readRegular(path)
	if errors.Is(err, fs.ErrNotExist) {
		return parseFile(path, UserFile, nil)
	}
	if err != nil {
		return nil, err
	}
	if uid := owner(info); uid != 0 && uid != os.Getuid() || info.Mode().Perm()&0o002 != 0 {
		return nil, fmt.Errorf("%s is not used: it must belong to you and be writable by nobody else (chmod go-w)", path)
	}
	return parseFile(path, UserFile, data)
}

// owner returns who a file belongs to, -1 if that cannot be told.
func owner(info fs.FileInfo) int {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(s.Uid)
	}
	return -1
}
