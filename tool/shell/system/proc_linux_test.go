package system_test

import (
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/assent-dev/assent/tool/shell/analysis"
	"github.com/assent-dev/assent/tool/shell/system"
)

func TestProcIsTheCommandsOwn(t *testing.T) {
	dir := tree(t, ".env", "sub/x", "link -> /proc/self/cwd/.env")
	w := system.New(dir, nil)
	for _, tt := range []struct {
		path, real string
		kind       analysis.FileKind
	}{
		{"/proc/self/cwd/.env", dir + "/.env", analysis.File},
		{"/proc/thread-self/cwd/sub/../.env", dir + "/.env", analysis.File},
		{"/proc/self/cwd", dir, analysis.Folder},
		{"/proc/self/root" + dir + "/.env", dir + "/.env", analysis.File},
		{"/proc/self/cwd/../new", dir[:len(dir)-len("/001")] + "/new", analysis.Nothing},
		{dir + "/link", dir + "/.env", analysis.File},
		{"/proc/self", "/proc/self", analysis.Folder},
		{"/proc/self/environ", "/proc/self/environ", analysis.File},
		{"/proc/self/exe", "/proc/self/exe", analysis.Device},
		{"/proc/self/fd/0", "/proc/self/fd/0", analysis.Device},
		{"/proc/self/fd/77", "/proc/self/fd/77", analysis.Device},
		{"/proc/self/task/1/cwd/.env", "/proc/self/task/1/cwd/.env", analysis.Device},
		{"/dev/stdin", "/proc/self/fd/0", analysis.Device},
		{"/dev/fd/3", "/proc/self/fd/3", analysis.Device},
		{"/proc/mounts", "/proc/self/mounts", analysis.File},
		{"/proc/version", "/proc/version", analysis.File},
		// Nobody has this number; the command may.
		{"/proc/99999999/cwd/.env", "/proc/99999999/cwd/.env", analysis.Device},
		{"/proc/99999999/cwd/..", "/proc/99999999/cwd/..", analysis.Device},
	} {
		look(t, w, tt.path, tt.real, tt.kind)
	}
	if real, kind := w.In(dir + "/sub").Look("/proc/self/cwd/x"); real != dir+"/sub/x" || kind != analysis.File {
		t.Errorf("after a change of folder: %s, kind %d", real, kind)
	}
}

func TestProcOfAnother(t *testing.T) {
	dir := tree(t, ".env", "gone")
	cat := exec.Command("cat")
	cat.Dir = dir
	stdin, err := cat.StdinPipe()
	must(t, err)
	gone, err := os.Open(dir + "/gone")
	must(t, err)
	defer gone.Close()
	cat.Stdout = gone
	must(t, cat.Start())
	t.Cleanup(func() { stdin.Close(); _ = cat.Wait() })
	must(t, os.Remove(dir+"/gone"))

	w, proc := system.New("/", nil), fmt.Sprintf("/proc/%d", cat.Process.Pid)
	look(t, w, proc+"/cwd/.env", dir+"/.env", analysis.File)
	look(t, w, proc+"/root/etc", "/etc", analysis.Folder)
	look(t, w, proc+"/fd/0", proc+"/fd/0", analysis.Device) // a pipe
	look(t, w, proc+"/fd/1", proc+"/fd/1", analysis.Device) // a deleted file
	look(t, w, proc+"/status", proc+"/status", analysis.File)
}
