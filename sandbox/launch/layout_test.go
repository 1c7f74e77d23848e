package launch_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/assent-dev/assent/sandbox"
	"github.com/assent-dev/assent/sandbox/launch"
)

func layers(s launch.Layout) string {
	var lines []string
	for _, l := range s.Layers() {
		lines = append(lines, fmt.Sprintf("%s %s %s", l.Mode, l.Path, l.Kind))
	}
	return strings.Join(lines, "\n")
}

func folder(path string, mode sandbox.Mode) launch.Place {
	return launch.Place{Path: path, Mode: mode, Kind: launch.KindFolder}
}

func TestLayers(t *testing.T) {
	for _, tt := range []struct {
		name   string
		layout launch.Layout
		want   []string
	}{
		{"folders above a protected one are layers: they cannot be renamed",
			launch.Layout{
				Roots:     []launch.Place{folder("/p", sandbox.ModeReadWrite)},
				Protected: []launch.Place{folder("/p/sub/repo/.git", 0), {Path: "/p/.git", Kind: launch.KindAbsent}},
			},
			[]string{"rw /p folder", "ro /p/.git absent", "rw /p/sub folder", "rw /p/sub/repo folder", "ro /p/sub/repo/.git folder"}},
		{"so are those above a read-only root in a writable one",
			launch.Layout{Roots: []launch.Place{folder("/p/a/docs", sandbox.ModeReadOnly), folder("/p", sandbox.ModeReadWrite)}},
			[]string{"rw /p folder", "rw /p/a folder", "ro /p/a/docs folder"}},
		{"in a read-only root nothing can be renamed, and protected is what it is",
			launch.Layout{
				Roots:     []launch.Place{folder("/p", sandbox.ModeReadOnly), folder("/p/a/rw", sandbox.ModeReadWrite)},
				Protected: []launch.Place{folder("/p/.git", 0)},
			},
			[]string{"ro /p folder", "rw /p/a/rw folder"}},
		{"what is protected or masked outside of every root is not there",
			launch.Layout{
				Roots:     []launch.Place{folder("/p", sandbox.ModeReadWrite)},
				Protected: []launch.Place{folder("/home/.config", 0)}, Masked: []launch.Place{folder("/etc", 0)},
			},
			[]string{"rw /p folder"}},
		{"a writable root in a protected or masked folder is not",
			launch.Layout{
				Roots:     []launch.Place{folder("/p", sandbox.ModeReadWrite), folder("/p/state/x", sandbox.ModeReadWrite), folder("/p/m/x", sandbox.ModeReadWrite)},
				Protected: []launch.Place{folder("/p/state", 0)}, Masked: []launch.Place{folder("/p/m", 0)},
			},
			[]string{"rw /p folder", "none /p/m folder", "ro /p/state folder", "ro /p/state/x folder"}},
		{"in a masked root there is nothing to protect",
			launch.Layout{
				Roots:     []launch.Place{folder("/p", sandbox.ModeReadWrite)},
				Protected: []launch.Place{folder("/p/.git", 0), {Path: "/p/.assent", Kind: launch.KindAbsent}}, Masked: []launch.Place{folder("/p", 0)},
			},
			[]string{"none /p folder"}},
		{"masked wins over protected, in read-only roots too",
			launch.Layout{
				Roots:     []launch.Place{folder("/p", sandbox.ModeReadOnly)},
				Protected: []launch.Place{folder("/p/x", 0)}, Masked: []launch.Place{folder("/p/x", 0)},
			},
			[]string{"ro /p folder", "none /p/x folder"}},
		{".git where git may write: open, with its programs protected",
			launch.Layout{
				Roots:     []launch.Place{folder("/p", sandbox.ModeReadWrite)},
				Open:      []launch.Place{folder("/p/.git", 0)},
				Protected: []launch.Place{folder("/p/.git/hooks", 0), {Path: "/p/.git/config", Kind: launch.KindFile}},
			},
			[]string{"rw /p folder", "rw /p/.git folder", "ro /p/.git/config file", "ro /p/.git/hooks folder"}},
	} {
		if diff := cmp.Diff(strings.Join(tt.want, "\n"), layers(tt.layout)); diff != "" {
			t.Errorf("%s:\n%s", tt.name, diff)
		}
	}
}
