package analysis

import (
	"slices"
	"testing"
)

// runsTouch checks texts whose `touch FLAG` the real bash runs: the parts must say so, or
// that something is not known.
func runsTouch(t *testing.T, texts ...string) {
	t.Helper()
	for _, text := range texts {
		dir := t.TempDir()
		shellIn(t, dir, text)
		if !touched(dir) {
			t.Errorf("%q does not run touch in bash: it tests nothing", text)
		}
		script, err := Read(text, "/w", project())
		if err == nil && !mayTouch(script.Parts) {
			t.Errorf("%q runs touch, but the parts are\n%s", text, described(script.Parts))
		}
	}
}

// readable checks texts of which everything can be told.
func readable(t *testing.T, texts ...string) {
	t.Helper()
	for _, text := range texts {
		script, err := Read(text, "/w", project())
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if slices.ContainsFunc(script.Parts, func(p Part) bool { return p.Opaque }) {
			t.Errorf("%q is not readable:\n%s", text, described(script.Parts))
		}
	}
}

// TestSingleQuotesThatAreNone: inside double quotes and here-documents a single quote in
// ${x:-…} quotes nothing.
func TestSingleQuotesThatAreNone(t *testing.T) {
	runsTouch(t,
		`echo "${x:-'$(touch FLAG)'}"`, `echo "${HOME+'$(touch FLAG)'}"`, "echo \"${x:='`touch FLAG`'}\"",
		`echo "${x:-$'$(touch FLAG)'}"`, `echo "${x:-'${y:-$(touch FLAG)}'}"`, `echo "${y:-${x:-'$(touch FLAG)'}}"`,
		`y=a; echo ${y#"${x:-'$(touch FLAG)'}"}`, `echo "${@:-'$(touch FLAG)'}"`, `echo "${a[0]:-'$(touch FLAG)'}"`,
		"cat <<EOF\n${x:-'$(touch FLAG)'}\nEOF", "cat <<EOF\n\"${x:-$'$(touch FLAG)'}\"\nEOF",
		`echo $(("${x:-'$(touch FLAG)'}"))`, `echo $((1 + '$(touch FLAG)'))`, `[[ "${x:-'$(touch FLAG)'}" ]]`,
		`echo "${x:-'}$(touch FLAG)'}"`, "set -o posix\necho \"${x:-'}\"; touch FLAG; echo \"'}\"",
		`sh -c 'echo "${x:-'\''}"; touch FLAG; echo "'\''}"'`,
	)
	readable(t,
		`x=a; echo "${x#'$(touch FLAG)'}"`, `x=a; echo "${x%%'$('}" "${x/'$('/b}"`, `echo ${x:-'$(touch FLAG)'}`,
		`echo "${x:-'plain'}"`, `echo "${x:-'$y'}"`, "cat <<'EOF'\n${x:-'$(touch FLAG)'}\nEOF", `echo '"${x:-$(touch FLAG)}"'`,
	)
}

// TestQuotedSubscripts: a quoted subscript is expanded again, unless the array is associative.
func TestQuotedSubscripts(t *testing.T) {
	runsTouch(t,
		`a['$(touch FLAG)']=1`, `a=(['$(touch FLAG)']=1)`, `declare -a a=(['$(touch FLAG)']=1)`, `a+=(['$(touch FLAG)']=1)`,
		`a['b[$(touch FLAG)]']=1`, `a=(1 2); echo "${a['$(touch FLAG)']}"`, `b='c[$(touch FLAG)]'; a["b"]=1`,
		`declare -A a; unset a; a['$(touch FLAG)']=1`, `f() { local a; a['$(touch FLAG)']=1; }; declare -A a; f`,
		`declare -A a; for i in 1 2; do a['$(touch FLAG)']=1; unset a; done`, `declare -A a; bash -c "a['\$(touch FLAG)']=1"`,
		`a=(1); declare -A a; a['$(touch FLAG)']=1`, `local -A a; a['$(touch FLAG)']=1`, `false && declare -A a; a['$(touch FLAG)']=1`,
		`x='b[$(touch FLAG)]'; a=(['x']=1)`, `x='b[$(touch FLAG)]'; a=(['x y']=1)`, `x='b[$(touch FLAG)]'; declare -a a=(["x"]=1)`, `x=touch; y=echo; a=(['y=x']=1); x=touch; $x FLAG`,
		`for i in 1; do break; declare -A a; done; a['$(touch FLAG)']=1`, `read -a a <<< x; declare -A a; a['$(touch FLAG)']=1`,
	)
	readable(t,
		`declare -A a; a['$(touch FLAG)']=1; a["$k"]=2; echo "${a['$x']}" "${a["$k"]}"`, `declare -A a=(['$x']=1 ["$k"]=2)`,
		`declare -A a; a=(['$x']=1); a+=([y]=1)`, `a=([0]=x [1]=y)`,
	)
}

// TestArraysAsText: declare takes the text of an array's value for code.
func TestArraysAsText(t *testing.T) {
	runsTouch(t,
		`declare -a x='($(touch FLAG))'`, `declare -A x='([$(touch FLAG)]=1)'`, `typeset -a x='($(touch FLAG))'`, `readonly -a x='($(touch FLAG))'`,
		`declare -a 'x=($(touch FLAG))'`, `y='($(touch FLAG))'; declare -a x="$y"`, `y='$(touch FLAG)'; declare -a x="($y)"`, `declare -a x+='($(touch FLAG))'`,
		`declare -a x[0]='($(touch FLAG))'`, `x=(1); declare x='($(touch FLAG))'`, `declare -a x; declare x='($(touch FLAG))'`, `read -a x <<< a; declare x='($(touch FLAG))'`,
		`x[0]=1; declare x='($(touch FLAG))'`, `coproc x { :; }; declare x='($(touch FLAG))'`, `declare DIRSTACK='($(touch FLAG))'`,
		`f() { local -a x; local x='($(touch FLAG))'; }; f`, `for i in 1 2; do declare x='($(touch FLAG))'; x=(1); done`,
		`mapfile -t x <<< a; y='($(touch FLAG))'; typeset x="$y"`,
	)
	readable(t, `declare -a x=(a b)`, `declare x='(plain)'`, `local x="$y"`, `declare -a x`, `declare x="$(ls)"`, `x=(1 2); x='(a)'`)
}

// TestIntegers: what is assigned to an integer variable is evaluated, and with it commands in
// a subscript, however it is assigned.
func TestIntegers(t *testing.T) {
	runsTouch(t,
		`declare -i x; x='a[$(touch FLAG)0]'`, `typeset -i x; x+='a[$(touch FLAG)0]'`, `declare -i x; read x <<< 'a[$(touch FLAG)0]'`,
		`declare -i x; printf -v x %s 'a[$(touch FLAG)0]'`, `declare -i x; for x in 'a[$(touch FLAG)0]'; do :; done`,
		`declare -i x; mapfile -t x <<< 'a[$(touch FLAG)0]'`, `f() { local -i x; x='a[$(touch FLAG)0]'; }; f`, `declare -i x y; y='a[$(touch FLAG)0]'`,
		`declare -i x; y='a[$(touch FLAG)0]'; echo ${x:=$y}`, `declare -ia x; x=('a[$(touch FLAG)0]')`, `declare -i x; x[1]='a[$(touch FLAG)0]'`,
		`RANDOM='a[$(touch FLAG)0]'`, `RANDOM+='a[$(touch FLAG)0]'`, `OPTIND='a[$(touch FLAG)0]'`, `HISTCMD+='a[$(touch FLAG)0]'`, `SRANDOM+='a[$(touch FLAG)0]'`,
		`BASHPID+='a[$(touch FLAG)0]'`, `read RANDOM <<< 'a[$(touch FLAG)0]'`, `declare RANDOM='a[$(touch FLAG)0]'`, `mapfile OPTIND <<< 'a[$(touch FLAG)0]'`,
		`for i in 1 2; do x='a[$(touch FLAG)0]'; declare -i x; done`, `f() { x='a[$(touch FLAG)0]'; }; g() { local -i x; f; }; g`,
		`for i in 1 2; do x='a[$(touch FLAG)0]'; eval declare -i x; done`, `declare -n r; for r in RANDOM; do r='a[$(touch FLAG)]'; done`,
		`command declare -i x; x='a[$(touch FLAG)0]'`,
	)
	readable(t, `declare -i x; x=5; x+=1; x=$?; x=; unset x`, `declare -i x=3; for x in 1 2; do echo $x; done`, `local -i n=$#`, `OPTIND=1; RANDOM=42`, `x='a[0]'`)
}

// TestFoldedCase: a variable that changes the case of what it is given does not hold it.
func TestFoldedCase(t *testing.T) {
	runsTouch(t,
		`declare -l x=TOUCH; $x FLAG`, `declare -l x; x=TOUCH; $x FLAG`, `typeset -l x; read x <<< TOUCH; $x FLAG`, `declare -l x; for x in TOUCH; do $x FLAG; done`,
		`for i in 1 2; do x=TOUCH; $x FLAG; declare -l x; done 2> /dev/null`, `f() { x=TOUCH; $x FLAG; }; g() { local -l x; f; }; g`, `for i in 1 2; do x=TOUCH; $x FLAG; eval 'declare -l x'; done 2> /dev/null`,
	)
}

// TestEveryAssignment: however a variable is assigned that programs or the shell obey, a part
// says so.
func TestEveryAssignment(t *testing.T) {
	for _, text := range []string{
		`PATH=.; ls`, `PATH+=:.; ls`, `for PATH in .; do ls; done`, `for PATH in $x; do ls; done`, `select PATH in .; do ls; done`,
		`printf '%ln' PATH; ls`, `printf '%hn%jn' x PATH; ls`, `printf -v PATH .; ls`, `printf "x$f" PATH; ls`, `exec {PATH}> /dev/null; ls`, `{ ls; } {PATH}> /dev/null`,
		`coproc PATH { true; }; ls`, `read PATH <<< .; ls`, `read -a PATH <<< .; ls`, `mapfile PATH <<< .; ls`, `getopts a PATH; ls`, `((PATH = 1)); ls`, `((PATH[0] = 1)); ls`, `let PATH++; ls`, `: $((PATH++)); ls`,
		`: ${PATH:=.}; ls`, `declare PATH=.; ls`, `export PATH=.; ls`, `readonly PATH=.; ls`, `typeset PATH=.; ls`, `f() { local PATH=.; ls; }; f`, `unset PATH; ls`,
		`for ((PATH = 0; PATH < 1; PATH++)); do ls; done`, `wait -p PATH; ls`, `PATH=(.); ls`, `PATH[0]=.; ls`, `PATH=. ls`, `env PATH=. ls`, `eval PATH=.; ls`, `command export PATH=.; ls`,
		`set -x; for PS4 in '$(touch F)'; do :; done`,
	} {
		script, err := Read(text, "/w", project())
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if !slices.ContainsFunc(script.Parts, func(p Part) bool { return p.Kind == Assigns && (p.Variable == "PATH" || p.Variable == "PS4") }) {
			t.Errorf("%s: no part says that a variable is set:\n%s", text, described(script.Parts))
		}
	}
}

// TestWrittenAndRun: code that the text itself writes is not known when it is judged.
func TestWrittenAndRun(t *testing.T) {
	runsTouch(t,
		`echo 'touch FLAG' > x.sh; bash x.sh`, "cat > x.sh <<E\ntouch FLAG\nE\nsh x.sh", `tee x.sh <<< 'touch FLAG' > /dev/null; . ./x.sh`,
		`echo 'touch FLAG' > y; chmod +x y && ./y`, `echo 'touch FLAG' > y; cp y x.sh; sh x.sh`, `echo 'touch FLAG' > y; mv y x.sh; source ./x.sh`,
		`f=x.sh; g=$(echo $f); echo 'touch FLAG' > "$g"; bash x.sh`, `python3 -c 'open("x.sh", "w").write("touch FLAG")'; bash x.sh`,
		`i=; while [ -z "$i" ]; do [ ! -f x.sh ] || { sh x.sh; i=1; }; touch x.sh; python3 -c 'open("x.sh", "w").write("touch FLAG")'; done`,
	)
	for _, text := range []string{
		`printf 'x:\n\trm -rf build\n' > Makefile; make x`, `echo '{}' > package.json && npm test`, `tee Makefile < src/a.go; make`,
		`cp src/a.go Makefile; make`, `sed -i s/a/b/ Makefile && make test`, `make gen && ./x.sh`, `nosuch; bash x.sh`,
	} {
		if script, err := Read(text, "/w", project("/w/Makefile")); err != nil || !slices.ContainsFunc(script.Parts, func(p Part) bool { return p.Opaque }) {
			t.Errorf("%s: nothing says that what runs is not known: %v", text, err)
		}
	}
	readable(t, `./x.sh > log; echo done > out`, `./x.sh && make test`, `echo hi > notes; make test`, `bash x.sh; nosuch`, `ls | sort; ./x.sh`, `echo a > b; bash x.sh > "$out"`)
}

// TestFlagsThatRunAWord: a shell has -c by other names, and other programs have flags whose argument they run.
func TestFlagsThatRunAWord(t *testing.T) {
	runsTouch(t,
		`bash +c 'touch FLAG'`, `bash -e +c 'touch FLAG'`, `bash -norc -c 'touch FLAG'`,
		`bash -kec 'touch FLAG'`, `bash +s <<< 'touch FLAG'`,
		`x=; bash -c$x 'touch FLAG'`, `x=c; bash -$x 'touch FLAG'`, `x=-c; bash $x 'touch FLAG'`, `x=+c; bash -e "$x" 'touch FLAG'`,
		`echo > a; tar -cf b.tar a --checkpoint=1 --checkpoint-action=exec='touch FLAG' a`,
	)
	readable(t, `bash -ec 'touch FLAG'`, `bash -x +e x.sh`, `bash -eo pipefail -c 'touch FLAG'`, `sh x.sh +c`)
}

// TestVariablesThatNameACommand: what EDITOR holds is started, with a file behind it.
func TestVariablesThatNameACommand(t *testing.T) {
	runsTouch(t, `git init -q .; GIT_EDITOR='touch FLAG;:' git config --edit`,
		`git init -q .; export GIT_EDITOR='touch FLAG'; git config --edit`,
		`git init -q .; TERM=xterm VISUAL='touch FLAG;' git config -e`,
		`git init -q .; GIT_SSH_COMMAND='touch FLAG;' git fetch a@localhost:b`,
		`git init -q .; env GIT_EDITOR='touch FLAG' git config -e`)
	readable(t, `GIT_EDITOR=true git status`, `PAGER='less -R' git log`, `EDITOR= git status`,
		`MY_COMMAND='a | b'; echo "$MY_COMMAND"`)
}

// TestLinksToPrograms: a link has the rules of the program that it leads to, also where another program starts it.
func TestLinksToPrograms(t *testing.T) {
	world := project("/usr/bin/kubectl", "/bin/bash", "/w/k -> /usr/bin/kubectl", "/w/s -> /bin/bash")
	for _, text := range []string{"./k delete x", "env ./k delete x", "/w/k delete x", "cd /w; nice ./k delete x",
		"./s -c 'kubectl delete x'"} {
		script, err := Read(text, "/w", world)
		if err != nil || !slices.ContainsFunc(script.Parts, func(p Part) bool {
			return p.Kind == Runs && len(p.Words) == 3 && p.Words[0].Text == "kubectl" && p.Words[1].Text == "delete"
		}) {
			t.Errorf("%s: %v\n%s", text, err, described(script.Parts))
		}
	}
}
