package main

import (
	"cmp"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is set by the linker for a release: -ldflags "-X main.version=v1.2.3".
var version string

// build says which assent this is and where it came from.
type build struct {
	Version  string `json:"version"`
	Go       string `json:"go"`
	OS       string `json:"os"`
	Arch     string `json:"arch"`
	Commit   string `json:"commit,omitempty"`   // empty if not built from a repository
	Modified bool   `json:"modified,omitempty"` // the tree differed from the commit
}

func versionCmd() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "version",
		Short: "Print the version and how it was built",
		Example: "  assent version\n" +
			"  assent version --json",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return printVersion(c.OutOrStdout(), thisBuild(), asJSON)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return c
}

// thisBuild describes the running program.
func thisBuild() build {
	info, _ := debug.ReadBuildInfo() // nil without module support: all of it has a fallback
	return describeBuild(version, info)
}

// describeBuild prefers the linker's version, then the module's, then "devel".
// info may be nil.
func describeBuild(linked string, info *debug.BuildInfo) build {
	b := build{Version: "devel", Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	if info != nil {
		if v := info.Main.Version; v != "" && v != "(devel)" {
			b.Version = v
		}
		b.Commit = setting(info, "vcs.revision")
		b.Modified = setting(info, "vcs.modified") == "true"
	}
	if linked != "" {
		b.Version = linked
	}
	return b
}

func setting(info *debug.BuildInfo, key string) string {
	for _, s := range info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}

func printVersion(w io.Writer, b build, asJSON bool) error {
	if asJSON {
		return writeJSON(w, b)
	}
	_, err := fmt.Fprintln(w, b)
	return err
}

// String is the line that `assent version` prints.
func (b build) String() string { return "assent " + b.detail() }

// detail is what `assent --version` prints after "assent version".
func (b build) detail() string {
	commit := cmp.Or(b.Commit, "unknown")
	if b.Modified {
		commit += " with changes"
	}
	return fmt.Sprintf("%s (%s, %s/%s, commit %s)", b.Version, b.Go, b.OS, b.Arch, commit)
}
