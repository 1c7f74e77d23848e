package inside

import (
	"cmp"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/assent-dev/assent/tool/shell/interp"
)

// takeInput takes the connection from standard input, where programs would find it, and
// makes this process one that they cannot look into.
func takeInput() (*os.File, error) {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return nil, err
	}
	fd, err := unix.FcntlInt(0, unix.F_DUPFD_CLOEXEC, high)
	if err != nil {
		return nil, err
	}
	null, err := unix.Open(os.DevNull, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	if err := unix.Dup3(null, 0, 0); err != nil {
		return nil, err
	}
	if err := unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC); err != nil &&
		!errors.Is(err, unix.ENOSYS) && !errors.Is(err, unix.EINVAL) {
		return nil, err
	}
	if err := unix.SetNonblock(fd, true); err != nil { // so that it is waited for without a thread
		return nil, err
	}
	return os.NewFile(uintptr(fd), "gate"), unix.Close(null)
}

// ownMask gives this thread a file creation mask that it shares with no other.
func ownMask() error { return unix.Unshare(unix.CLONE_FS) }

// high is where descriptors of this program begin, so that they are in nobody's way. It is
// below 64: for a larger table of descriptors the kernel makes a process with several threads
// wait, 10 ms or more.
const high = 32

// maxLinks is how many links a new file's name may go through, as in the kernel.
const maxLinks = 40

// pin opens what a path leads to, without reading it, and returns its name without links.
func pin(path string) (*os.File, string, error) {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, "", err
	}
	up, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, high)
	unix.Close(fd)
	if err != nil {
		return nil, "", err
	}
	real, err := os.Readlink(descriptor(up))
	if err != nil {
		unix.Close(up)
		return nil, "", err
	}
	return os.NewFile(uintptr(up), path), real, nil
}

func descriptor(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }

// pinned is a path that leads to the file itself, whatever its name means by now.
func pinned(f *os.File, _ string) string { return descriptor(int(f.Fd())) }

// reach is a path that leads to what an act names, also if its folder was renamed.
func reach(act interp.Act, path string) string {
	if filepath.IsAbs(path) || act.DirFile == nil {
		return absolute(act, path)
	}
	return descriptor(int(act.DirFile.Fd())) + "/" + path
}

// steady returns a path by which the judged program is started, and a descriptor to be held
// until then. Where nothing that runs here can change what is in the folders it is empty: the
// path will do as it is. Elsewhere a link on the way may by now lead to another program: so it begins
// with a descriptor of the program's own folder. A script keeps its name, since its
// interpreter opens it once more.
func steady(program *os.File, path, real string) (string, *os.File) {
	switch {
	case isScript(program), fixed(filepath.Dir(real)) && fixed(filepath.Dir(path)):
		return "", nil
	case fixed(filepath.Dir(real)):
		return real, nil
	}
	folder, name, err := pin(filepath.Dir(real))
	if err != nil || name != filepath.Dir(real) {
		return descriptor(int(program.Fd())), nil // it was moved: only this leads there
	}
	return pinned(folder, "") + "/" + filepath.Base(real), folder
}

// fixed reports whether this process, and so what it starts, cannot write to a folder.
func fixed(folder string) bool { return unix.Access(folder, unix.W_OK) != nil }

func isScript(program *os.File) bool {
	f, err := os.Open(pinned(program, ""))
	if err != nil {
		return false
	}
	defer f.Close()
	var head [2]byte
	_, err = io.ReadFull(f, head[:])
	return err != nil || string(head[:]) != "\x7fE"
}

// isDocument reports whether a file lives in memory only, as here-documents do, and was not
// read from yet.
func isDocument(f *os.File) bool {
	name, err := os.Readlink(descriptor(int(f.Fd())))
	if err != nil || !strings.HasPrefix(name, "/memfd:here-document") {
		return false
	}
	at, err := unix.Seek(int(f.Fd()), 0, io.SeekCurrent)
	return err == nil && at == 0
}

// onlyRead reports whether a file of the disk was opened only to be read.
func onlyRead(f *os.File) bool {
	if f == nil {
		return false
	}
	flag, err := unix.FcntlInt(f.Fd(), unix.F_GETFL, 0)
	var st unix.Stat_t
	if err != nil || unix.Fstat(int(f.Fd()), &st) != nil {
		return true
	}
	name, err := os.Readlink(descriptor(int(f.Fd())))
	return flag&unix.O_ACCMODE == unix.O_RDONLY && st.Mode&unix.S_IFMT == unix.S_IFREG &&
		(err != nil || !strings.HasPrefix(name, "/memfd:"))
}

// gains says what opening /dev/fd/N once more adds to what the descriptor was opened for: a
// file that was only to be read can be written then. It returns the file's name.
func gains(req *interp.OpenRequest) (name string, reads, writes bool) {
	name, err := os.Readlink(descriptor(int(req.File.Fd())))
	if err == nil && strings.HasPrefix(name, "/memfd:") {
		return "", false, false // a text of the command itself
	}
	has, getErr := unix.FcntlInt(req.File.Fd(), unix.F_GETFL, 0)
	if err != nil || getErr != nil {
		return req.Path, true, true
	}
	wants, has := req.Flag&unix.O_ACCMODE, has&unix.O_ACCMODE
	reads = wants != unix.O_WRONLY && has == unix.O_WRONLY
	writes = (wants != unix.O_RDONLY || req.Flag&unix.O_TRUNC != 0) && has == unix.O_RDONLY
	return name, reads, writes
}

// A target is a file about to be opened: one that exists, or a name in a folder.
type target struct {
	file *os.File // the file, or the folder of a new one
	name string   // of a new file; empty if it exists
	real string
}

func (t target) close() { t.file.Close() }

// find finds the file that a request names, without reading or changing anything. A link
// that leads nowhere yet is followed to the name of the file that would be made.
func find(req *interp.OpenRequest) (target, error) {
	at := *req
	for range maxLinks {
		file, real, err := held(&at, at.Path, 0)
		switch {
		case err == nil && req.Flag&unix.O_EXCL != 0 && req.Flag&unix.O_CREAT != 0:
			file.Close()
			return target{}, unix.EEXIST
		case err == nil:
			return target{file: file, real: real}, nil
		case !errors.Is(err, unix.ENOENT) || req.Flag&unix.O_CREAT == 0:
			return target{}, err
		}
		dir, name := filepath.Split(at.Path)
		if name == "" || name == "." || name == ".." {
			return target{}, err
		}
		folder, real, err := held(&at, cmp.Or(dir, "."), unix.O_DIRECTORY)
		if err != nil {
			return target{}, err
		}
		link, err := os.Readlink(pinned(folder, "") + "/" + name)
		if err != nil {
			return target{file: folder, name: name, real: filepath.Join(real, name)}, nil
		}
		defer folder.Close()
		at.Path, at.Dir, at.DirFile = link, real, folder
	}
	return target{}, unix.ELOOP
}

// held opens what a path leads to without reading it, and returns its name without links.
func held(req *interp.OpenRequest, path string, flag int) (*os.File, string, error) {
	look := *req
	look.Path, look.Flag, look.Umask = path, unix.O_PATH|flag, -1
	f, err := interp.OpenFile(&look)
	if err != nil {
		return nil, "", err
	}
	real, err := os.Readlink(pinned(f, ""))
	if err != nil {
		f.Close()
		return nil, "", err
	}
	return f, real, nil
}

// request is the request for the file that was found.
func (t target) request(req *interp.OpenRequest) *interp.OpenRequest {
	out := *req
	if t.name == "" {
		out.File = t.file
		out.Flag = out.Flag&^(unix.O_CREAT|unix.O_EXCL) | unix.O_NONBLOCK
		return &out
	}
	out.Dir, out.DirFile, out.Path = filepath.Dir(t.real), t.file, t.name
	out.Flag |= unix.O_NOFOLLOW
	return &out
}
