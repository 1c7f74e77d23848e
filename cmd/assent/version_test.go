package main

import (
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
)

func TestDescribeBuild(t *testing.T) {
	stamped := func(v string, settings ...debug.BuildSetting) *debug.BuildInfo {
		return &debug.BuildInfo{Main: debug.Module{Version: v}, Settings: settings}
	}
	revision := debug.BuildSetting{Key: "vcs.revision", Value: "0123abcd"}
	changed := debug.BuildSetting{Key: "vcs.modified", Value: "true"}
	for _, tt := range []struct {
		name   string
		linked string
		info   *debug.BuildInfo
		want   string // GO stands for this toolchain and system
	}{
		{"no build information", "", nil, "assent devel (GO, commit unknown)"},
		{"built in a plain folder", "", stamped("(devel)"), "assent devel (GO, commit unknown)"},
		{"installed as a module", "", stamped("v1.2.3"), "assent v1.2.3 (GO, commit unknown)"},
		{"the linker wins", "v2.0.0", stamped("v1.2.3", revision), "assent v2.0.0 (GO, commit 0123abcd)"},
		{"a changed tree", "", stamped("", revision, changed), "assent devel (GO, commit 0123abcd with changes)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			here := runtime.Version() + ", " + runtime.GOOS + "/" + runtime.GOARCH
			want := strings.Replace(tt.want, "GO", here, 1)
			if got := describeBuild(tt.linked, tt.info).String(); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}
