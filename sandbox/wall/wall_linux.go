package wall

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/unix"
)

// oldestABI is the first version of Landlock that sees every way of changing a file's
// content (Linux 6.2).
const oldestABI = 3

// Version returns the version of Landlock that the kernel has, and whether it will do.
func Version() (int, bool) {
	v, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0, false
	}
	return int(v), int(v) >= oldestABI
}

const (
	content = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE
	changes = content | unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_SYM |
		unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REFER
	allChanges = changes | unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK
)

// A Set is rules that the kernel knows. Paths were looked up once, when it was made.
type Set struct {
	ruleset
	writes bool
}

// Open makes the rules known to the kernel.
func Open(r Rules) (*Set, error) {
	var handled uint64
	if r.Writes {
		handled |= allChanges
	}
	if r.Programs != nil {
		handled |= unix.LANDLOCK_ACCESS_FS_EXECUTE
	}
	attr := unix.LandlockRulesetAttr{Access_fs: handled}
	// Only the first field: older kernels know no others.
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr.Access_fs), 0)
	if errno != 0 {
		return nil, fmt.Errorf("making the rules: %w", errno)
	}
	set := &Set{ruleset{fd: int(fd), handled: handled}, r.Writes}
	if set.fill(r); set.err != nil {
		unix.Close(set.fd)
		return nil, set.err
	}
	return set, nil
}

// Grant adds the right to write a file that is open. It holds for threads that are restricted
// from now on.
func (s *Set) Grant(f *os.File) error {
	if s.writes {
		s.addFile(int(f.Fd()), content)
	}
	return s.err
}

// Restrict holds the calling thread to the rules, and so all that it starts. The caller has
// locked it.
func (s *Set) Restrict() error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(s.fd), 0, 0); errno != 0 {
		return fmt.Errorf("restricting a thread: %w", errno)
	}
	return nil
}

// A ruleset is one that is being written. Its first error is kept.
type ruleset struct {
	fd      int
	handled uint64
	err     error
}

func (s *ruleset) fill(r Rules) {
	if r.Writes {
		s.add("/dev", content)
		s.add("/dev/shm", changes)
		s.add("/proc", content) // descriptors; what they lead to is judged by its own path
		for _, dir := range r.Private {
			s.add(dir, changes)
		}
		for _, file := range r.Changed {
			if !s.add(file, content) {
				s.folder(filepath.Dir(file))
			}
		}
		for _, dir := range r.Folders {
			s.folder(dir)
		}
	}
	for _, program := range r.Programs {
		s.add(program, unix.LANDLOCK_ACCESS_FS_EXECUTE)
	}
}

// folder lets files below a folder be made and removed; or below the nearest one above it
// that is there.
func (s *ruleset) folder(dir string) {
	for !s.add(dir, changes) && dir != "/" {
		dir = filepath.Dir(dir)
	}
}

// add adds a rule for a path, and reports whether there is anything.
func (s *ruleset) add(path string, access uint64) bool {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return false // what is not there needs no rule, and gets none
	}
	defer unix.Close(fd)
	s.addFile(fd, access)
	return true
}

// addFile adds a rule for what a descriptor stands for. A rule about a file can only be about
// its content.
func (s *ruleset) addFile(fd int, access uint64) {
	var st unix.Stat_t
	err := unix.Fstat(fd, &st)
	if err == nil && st.Mode&unix.S_IFMT != unix.S_IFDIR {
		access &= content | unix.LANDLOCK_ACCESS_FS_EXECUTE
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: access & s.handled, Parent_fd: int32(fd)}
	if err == nil && rule.Allowed_access != 0 {
		_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(s.fd), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
		if errno != 0 && errno != unix.EBADFD { // a pipe or file in memory, which needs no rule
			err = errno
		}
	}
	if err != nil {
		s.err = cmp.Or(s.err, errors.Join(fmt.Errorf("a rule about descriptor %d", fd), err))
	}
}
