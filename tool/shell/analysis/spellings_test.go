package analysis

import (
	"path"
	"strings"
	"testing"
)

// spellings are ways to run `rm -rf build`. None may be overlooked.
var spellings = []string{
	`rm -rf build`, `'rm' -rf build`, `"rm" -rf build`, `r'm' -rf build`, `r""m -rf build`, `\rm -rf build`, `r\m -rf build`,
	`$'rm' -rf build`, `$'\x72m' -rf build`, `$'\162\155' -rf build`, `$'\u0072m' -rf build`, `$"rm" -rf build`,
	"r\\\nm -rf build", "rm \\\n  -rf build", `/bin/rm -rf build`, `/usr/bin/../bin/rm -rf build`, `./../bin/rm -rf build`,
	`{rm,-rf,build}`, `r{m,} -rf build`, `rm${IFS}-rf${IFS}build`, `X=rm; $X -rf build`, `X='rm -rf build'; $X`,
	`X=r Y=m; $X$Y -rf build`, `${X:-rm} -rf build`, `${X:=rm} -rf build`, `X=rmx; ${X%x} -rf build`, `X=RM; ${X,,} -rf build`,
	`"$X" -rf build`, `$(echo rm) -rf build`, "`echo rm` -rf build", `$(printf rm) -rf build`, `/bin/r? -rf build`, `/bin/r[m] -rf build`, `/b*/rm -rf build`,
	`a=(rm -rf build); "${a[@]}"`, `a=(rm -rf build); ${a[*]}`, `set -- rm -rf build; "$@"`, `set -- rm; $1 -rf build`,
	`git status & rm -rf build`, `git status; rm -rf build`, `git status && rm -rf build`, `git status || rm -rf build`, `git status | rm -rf build`,
	`git status |& rm -rf build`, "git status\nrm -rf build", `(rm -rf build)`, `{ rm -rf build; }`, `! rm -rf build`, `time rm -rf build`, `coproc rm -rf build`,
	`if true; then rm -rf build; fi`, `if rm -rf build; then :; fi`, `while rm -rf build; do :; done`, `until false; do rm -rf build; done`,
	`for x in 1; do rm -rf build; done`, `for x in rm; do $x -rf build; done`, `for ((;;)); do rm -rf build; done`, `select x in 1; do rm -rf build; done`,
	`case x in x) rm -rf build ;; esac`, `case $(rm -rf build) in x) ;; esac`, `f() { rm -rf build; }; f`, `f() { "$@"; }; f rm -rf build`, `ls() { rm -rf build; }; ls`,
	`echo "$(rm -rf build)"`, "echo `rm -rf build`", `echo ${x:-$(rm -rf build)}`, `echo ${x/$(rm -rf build)/}`, `echo ${a[$(rm -rf build)]}`, `cat <(rm -rf build)`, `ls > >(rm -rf build)`,
	`x=$(rm -rf build)`, `x[$(rm -rf build)]=1`, `x=([$(rm -rf build)]=1)`, `export x=$(rm -rf build)`, `echo $(($(rm -rf build)))`, `((x = $(rm -rf build)))`, `let x=$(rm -rf build)`,
	`[[ $(rm -rf build) ]]`, `[[ -v 'a[$(rm -rf build)]' ]]`, `[ "$(rm -rf build)" ]`, `x='a[$(rm -rf build)]'; ((x))`, `x='a[$(rm -rf build)]'; [[ x -eq 1 ]]`, `x='$(rm -rf build)'; echo ${x@P}`,
	"cat <<EOF\n$(rm -rf build)\nEOF", `cat <<< "$(rm -rf build)"`, `echo > "$(rm -rf build)"`, "bash <<'EOF'\nrm -rf build\nEOF", `bash <<< 'rm -rf build'`, `echo 'rm -rf build' | bash`, `. /dev/stdin <<< 'rm -rf build'`,
	`eval 'rm -rf build'`, `eval rm -rf build`, `eval "r""m -rf build"`, `command rm -rf build`, `command -p rm -rf build`, `exec rm -rf build`, `builtin eval 'rm -rf build'`,
	`trap 'rm -rf build' EXIT`, `trap "rm -rf build" DEBUG; true`, `alias x='rm -rf build'; x`, `mapfile -C 'rm -rf build' a`, `printf -v 'a[$(rm -rf build)]' x`, `read 'a[$(rm -rf build)]'`,
	`PS4='$(rm -rf build)'; set -x; true`, `PROMPT_COMMAND='rm -rf build'`, `hash -p /bin/rm ls; ls -rf build`, `command_not_found_handle() { rm -rf build; }; nosuch`,
	`FOO=1 rm -rf build`, `env rm -rf build`, `env -i FOO=1 rm -rf build`, `env -S 'rm -rf build'`, `nice rm -rf build`, `nohup rm -rf build`, `timeout 5 rm -rf build`, `stdbuf -oL rm -rf build`,
	`setsid rm -rf build`, `sudo rm -rf build`, `busybox rm -rf build`, `xargs rm -rf < list`, `find . -exec rm -rf {} +`, `find . -exec sh -c 'rm -rf build' \;`,
	`bash -c 'rm -rf build'`, `sh -c 'rm -rf build'`, `bash -c '$0 -rf build' rm`, `bash -c '"$@"' x rm -rf build`, `bash -c "eval 'rm -rf build'"`, `dash -c 'rm -rf build'`,
	"echo \"$\\\n(rm -rf build)\"", "cat <<EOF\n$\\\n(rm -rf build)\nEOF", "x=(a b)#; rm -rf build\nrm -rf build", `case x in @($(rm -rf build)|b)) ;; esac`,
}

func TestSpellings(t *testing.T) {
	if len(spellings) < 80 {
		t.Fatalf("only %d spellings", len(spellings))
	}
	for _, text := range spellings {
		script, err := Read(text, "/w", project())
		if err != nil {
			continue // refused
		}
		if !meetsRm(script.Parts) {
			t.Errorf("%q is overlooked:\n%s", text, described(script.Parts))
		}
	}
}

// meetsRm reports whether a deny of rm would be met, or might be.
func meetsRm(parts []Part) bool {
	for _, p := range parts {
		if p.Opaque || p.Kind == Runs && (!p.Words[0].Known || path.Base(p.Words[0].Text) == "rm") {
			return true
		}
	}
	return false
}

// TestBehindMany: no number of harmless commands hides one that is not.
func TestBehindMany(t *testing.T) {
	for _, text := range []string{
		strings.Repeat("true; ", 10000) + "rm -rf build",
		strings.Repeat("true && ", 5000) + "rm -rf build",
		strings.Repeat("true | ", 5000) + "rm -rf build",
		strings.Repeat("f() { true; }; f; ", 3000) + "rm -rf build",
		"for a in {1..200}; do for b in {1..200}; do for c in {1..200}; do true; done; done; done; rm -rf build",
		"for a in {1..200}; do for b in {1..200}; do true; done; done; rm -rf build",
		strings.Repeat("( ", 90) + "rm -rf build" + strings.Repeat(")", 90),
	} {
		script, err := Read(text, "/w", project())
		if err != nil {
			t.Errorf("%.40s: %v", text, err)
			continue
		}
		if !meetsRm(script.Parts) {
			t.Errorf("%.40s…: rm is not found behind %d parts", text, len(script.Parts))
		}
	}
}

// TestTogether: readings share nothing but parsers, and those not at the same time.
func TestTogether(t *testing.T) {
	world := project()
	want := make([]string, len(spellings))
	for i, text := range spellings {
		want[i] = reading(text)
	}
	for range 8 {
		t.Run("reader", func(t *testing.T) {
			t.Parallel()
			for i, text := range spellings {
				script, err := Read(text, "/w", world)
				if err == nil && described(script.Parts)+"\n" != want[i] {
					t.Errorf("%q reads differently", text)
				}
			}
		})
	}
}
