package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// ranAtTop runs a program in the top folder of the source and returns what it printed.
func ranAtTop(t *testing.T, env []string, argv ...string) string {
	t.Helper()
	p := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
	p.Dir, p.Env = "../..", append(os.Environ(), env...)
	out, err := p.CombinedOutput()
	if err != nil {
		t.Fatalf("%q: %v\n%s", argv, err, out)
	}
	return string(out)
}

// `make install` puts programs that work, pages that man shows and completions that bash loads below
// a folder that needs no root.
func TestMakeInstall(t *testing.T) {
	top := t.TempDir()
	home := "HOME=" + filepath.Join(top, "home")
	for _, name := range []string{"GOPATH", "GOCACHE", "GOMODCACHE"} { // from before the home is another
		t.Setenv(name, strings.TrimSpace(ranAtTop(t, nil, "go", "env", name)))
	}
	out := ranAtTop(t, []string{home}, "make", "install", "BIN="+filepath.Join(top, "bin"), "DESTDIR="+top, "PREFIX=/usr",
		"VERSION=v9.8.7")
	if !strings.Contains(out, "Installed assent in "+top+"/usr/bin") {
		t.Errorf("it says: %s", out)
	}
	program := filepath.Join(top, "usr/bin/assent")
	if out := ranAtTop(t, []string{home}, program, "--version"); !strings.HasPrefix(out, "assent version v9.8.7 (") {
		t.Errorf("--version: %s", out)
	}
	if out := ranAtTop(t, []string{home}, program, "doctor"); strings.Contains(out, "beside assent") {
		t.Errorf("the doctor misses a program:\n%s", out)
	}
	if size := fileSize(t, program); size > 72<<20 {
		t.Errorf("the program has %d MB; is it stripped?", size>>20)
	}
	pages, err := filepath.Glob(filepath.Join(top, "usr/share/man/man1/*.1"))
	if err != nil || len(pages) < 50 {
		t.Fatalf("there are %d manual pages: %v", len(pages), err)
	}
	// groff is what man is made of; it warns about what it does not understand.
	check := append([]string{"groff", "-man", "-Tutf8", "-ww", "-z"}, pages...)
	if out := ranAtTop(t, []string{"LC_ALL=C.UTF-8"}, check...); out != "" {
		t.Errorf("groff warns: %s", out)
	}
	shown := ranAtTop(t, []string{"MANWIDTH=80", "MAN_KEEP_FORMATTING="}, "man", "-l",
		filepath.Join(top, "usr/share/man/man1/assent-rules-add.1"))
	if !strings.Contains(shown, "assent rules add RULE") || !strings.Contains(shown, "EXAMPLES") {
		t.Errorf("man shows:\n%s", shown)
	}
	completes := ranAtTop(t, []string{home, "PATH=" + filepath.Dir(program) + ":" + os.Getenv("PATH")}, "bash", "-c",
		`_get_comp_words_by_ref() { words=(assent appr) cword=1 cur=appr prev=assent; } # of the package bash-completion
		. "$0" && COMP_LINE="assent appr" COMP_TYPE=9 __start_assent && printf '%s\n' "${COMPREPLY[@]}"`,
		filepath.Join(top, "usr/share/bash-completion/completions/assent"))
	if !strings.Contains(completes, "approve") || !strings.Contains(completes, "approvals") || strings.Contains(completes, "run") {
		t.Errorf("bash completes to:\n%s", completes)
	}
}

// `make release` writes an archive with everything in it, and the same bytes the next time. One platform
// stands for all.
func TestMakeRelease(t *testing.T) {
	platform := runtime.GOOS + "/" + runtime.GOARCH
	var sums [2]string
	for i := range sums {
		out := t.TempDir()
		ranAtTop(t, []string{"OUT=" + out, "PLATFORMS=" + platform, "SOURCE_DATE_EPOCH=1700000000"}, "make", "release",
			"VERSION=v9.8.7")
		sum, err := os.ReadFile(filepath.Join(out, "SHA256SUMS"))
		if err != nil {
			t.Fatal(err)
		}
		sums[i] = string(sum)
		name := "assent_v9.8.7_" + strings.ReplaceAll(platform, "/", "_")
		list := ranAtTop(t, nil, "tar", "-tzf", filepath.Join(out, name+".tar.gz"))
		for _, want := range []string{"bin/assent", "bin/assent-shell", "bin/assent-hook", "share/man/man1/assent.1",
			"share/bash-completion/completions/assent", "LICENSE", "LICENSES-third-party", "README.md"} {
			if !strings.Contains(list, name+"/"+want+"\n") {
				t.Errorf("the archive does not have %s:\n%s", want, list)
			}
		}
	}
	if sums[0] != sums[1] || strings.Count(sums[0], "\n") != 1 {
		t.Errorf("two releases differ:\n%s%s", sums[0], sums[1])
	}
}

func fileSize(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}
