package soundness

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// What the kernel is asked to tell.
const (
	changes = unix.IN_CREATE | unix.IN_MODIFY | unix.IN_ATTRIB | unix.IN_MOVED_TO | unix.IN_CLOSE_WRITE
	removes = unix.IN_DELETE | unix.IN_MOVED_FROM
	opens   = unix.IN_OPEN
)

// A watch hears what happens to the files of the places, and those right in /w and /tmp.
type watch struct {
	fd      int
	folders map[int32]string
}

func newWatch() (*watch, error) {
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		return nil, err
	}
	w := &watch{fd: fd, folders: map[int32]string{}}
	return w, errors.Join(w.add("/w"), w.add("/tmp"), w.addPlaces())
}

// addPlaces watches all folders of the places. Those that are watched already stay so,
// under the names that they have now.
func (w *watch) addPlaces() error {
	var all error
	for _, place := range places {
		all = errors.Join(all, filepath.WalkDir(place, func(at string, d fs.DirEntry, err error) error {
			if err != nil || !d.IsDir() {
				return err
			}
			return w.add(at)
		}))
	}
	return all
}

func (w *watch) add(folder string) error {
	wd, err := unix.InotifyAddWatch(w.fd, folder, changes|removes|opens)
	w.folders[int32(wd)] = folder
	return err
}

// A touch is what happened to one path.
type touch struct {
	Path   string
	Opened bool // as a file, not as a folder
	Wrote  bool
	Gone   bool
}

// take returns what happened since it was last asked, in order, one entry a path. Lost
// says that more happened than the kernel keeps.
func (w *watch) take() (list []*touch, lost bool, err error) {
	seen := map[string]*touch{}
	buf := make([]byte, 64<<10)
	for {
		n, err := unix.Read(w.fd, buf)
		if errors.Is(err, unix.EAGAIN) {
			return list, lost, nil
		}
		if err != nil {
			return nil, false, err
		}
		for at := 0; at < n; {
			path, mask, size := w.event(buf[at:])
			at += size
			if mask&unix.IN_Q_OVERFLOW != 0 {
				lost = true
				continue
			}
			t := seen[path]
			if t == nil {
				t = &touch{Path: path}
				seen[path] = t
				list = append(list, t)
			}
			t.hear(mask)
		}
	}
}

// event reads the first event of what the kernel wrote.
func (w *watch) event(buf []byte) (path string, mask uint32, size int) {
	e := (*unix.InotifyEvent)(unsafe.Pointer(&buf[0]))
	size = unix.SizeofInotifyEvent + int(e.Len)
	name := strings.TrimRight(string(buf[unix.SizeofInotifyEvent:size]), "\x00")
	return filepath.Join(w.folders[e.Wd], name), e.Mask, size
}

func (t *touch) hear(mask uint32) {
	t.Opened = t.Opened || mask&opens != 0 && mask&unix.IN_ISDIR == 0
	t.Wrote = t.Wrote || mask&changes != 0
	t.Gone = t.Gone || mask&removes != 0
}
