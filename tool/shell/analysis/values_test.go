package analysis

import "testing"

// TestAssignmentsThatDidNotHappen: a value is not trusted if its assignment may not have
// happened, or another one may have.
func TestAssignmentsThatDidNotHappen(t *testing.T) {
	const code = `x='a[$(touch FLAG)]'; `
	runsTouch(t,
		// A loop's body that never ran, or was left early.
		code+`while false; do x=1; done; echo $((x))`, code+`until true; do x=1; done; echo $((x))`, code+`for i in; do x=1; done; echo $((x))`,
		code+`for i in 1; do break; x=1; done; echo $((x))`, code+`for i in 1; do continue; x=1; done; echo $((x))`, code+`for i in 1; do true && break; x=1; done; ((x))`,
		code+`f() { return; x=1; }; f; echo $((x))`, code+`for ((i = 0; i < 0; i++)); do x=1; done; echo $((x))`, code+`for x in; do :; done; echo $((x))`,
		code+`for i in $(true); do x=1; done; [[ $x -eq 1 ]]`, code+`for i in 1 2; do break; done; for x in 1; do break; done; x='a[$(touch FLAG)]'; echo $((x))`,
		`x=touch; while false; do x=echo; done; $x FLAG`, `x=touch; for i in 1; do break; x=echo; done; $x FLAG`, `x=FLAG; until true; do x=no; done; touch "$x"`,
		`x=touch; for x in; do :; done; $x FLAG`, `for x in echo touch; do :; done; $x FLAG`, `for x in touch echo; do break; done; $x FLAG`,
		// A compound command or function that a redirection skips.
		`x=touch; { x=echo; } < nope; $x FLAG`, `x=touch; f() { x=echo; } < nope; f; $x FLAG`, `x=touch; f() { x=echo; }; f < nope; $x FLAG`,
		`x=touch; if true; then x=echo; fi < nope; $x FLAG`, `x=touch; for i in 1; do x=echo; done < nope; $x FLAG`, `x=touch; declare x=echo < nope; $x FLAG`, `x=touch; export x=echo > nope/a; $x FLAG`,
		`{ x=echo; } < nope; ${x-touch} FLAG`, `declare x=echo < nope; ${x-touch} FLAG`,
		// What only looks like an assignment, or is one for something else.
		`x=touch; declare -p x=echo; $x FLAG`, `x=touch; typeset -p x=echo; $x FLAG`, `x=touch; local x=echo; $x FLAG`, `x=touch; x=echo true; $x FLAG`, `x=touch; f() { :; }; x=echo f; $x FLAG`,
		`x=touch; (x=echo); $x FLAG`, `x=touch; x=echo | true; $x FLAG`, `x=touch; x=echo & wait; $x FLAG`, `x=touch; : $(x=echo); $x FLAG`, `x=touch; true | x=echo; $x FLAG`, `x=touch; cat <(x=echo); $x FLAG`,
		`x=touch; f() { local x=echo; }; f; $x FLAG`, `f() { local x=echo; g; $x FLAG; }; g() { x=touch; }; f`, `f() { declare -g x=touch; }; x=echo; f; $x FLAG`, `f() { local x=a; declare -g x=touch; }; x=echo; f; $x FLAG`,
		`x=touch; false && x=echo; $x FLAG`, `x=touch; true || x=echo; $x FLAG`, `x=touch; if false; then x=echo; fi; $x FLAG`, `x=touch; case a in b) x=echo ;; esac; $x FLAG`, `x=touch; coproc { x=echo; }; wait; $x FLAG`,
		`readonly x=touch; { x=echo; } 2> /dev/null; $x FLAG`+"\n"+`$x FLAG`, `x=touch; readonly x; (x=echo); $x FLAG`, `x=touch; time x=echo; x=touch; $x FLAG`, `x=touch; bash -c 'x=echo'; $x FLAG`, `x=touch; eval 'false && x=echo'; $x FLAG`,
		// Words are expanded before the assignment.
		code+`let x=1 y=$((x))`, code+`declare x=1 y=$((x))`, code+`export x=1 y=$((x))`, `x=touch; declare x=echo y=$x; $y FLAG`, `x=touch; export x=echo y=$x; $y FLAG`, `x=touch; readonly x=echo "y=$x"; $y FLAG`,
		`x=touch; x=echo $x FLAG`, code+`x=1 : $((x))`, code+`x=1 : "${a[x]}"`,
		// Positional parameters.
		`set -- 'a[$(touch FLAG)]'; echo $(($@))`, `set -- 'a[$(touch FLAG)]'; echo $(($*))`, `set -- 'a[$(touch FLAG)]'; echo $(($1))`, `set -- touch; false && set -- echo; $1 FLAG`, `set -- touch echo; $1 FLAG`,
		`f() { echo $(($@)); }; f 'a[$(touch FLAG)]'`, `f() { set -- touch; $1 FLAG; }; f echo`, `f() { shift; $1 FLAG; }; f echo touch`, `f() { eval 'set -- touch'; $1 FLAG; }; f echo`, `bash -c 'echo $(($@))' x 'a[$(touch FLAG)]'`,
		`set -- echo touch; shift; $1 FLAG`, `set -- echo; for i in touch; do set -- $i; done; $1 FLAG`, `a=('b[$(touch FLAG)]'); echo $((a))`, `a=('b[$(touch FLAG)]'); echo $((${a[@]}))`,
		// Other assignments than the one that is seen.
		`x=echo; read x <<< touch; $x FLAG`, `x=echo; printf -v x touch; $x FLAG`, `x=echo; mapfile -t x <<< touch; $x FLAG`, `x=; : ${x:=touch}; $x FLAG`, `x=echo; unset x; : ${x=touch}; $x FLAG`, `x=echo; getopts t x -t; $x FLAG; touch FLAG`,
		`x=echo; for x in touch; do :; done; $x FLAG`, `x=echo; trap 'x=touch' DEBUG; $x FLAG`, `x=echo; f() { x=touch; }; trap f DEBUG; $x FLAG`, `x=echo; for i in 1 2; do $x FLAG; x=touch; done`, `x=echo; while $x FLAG; do x=touch; [ ! -e FLAG ] || break; done`,
		`x=echo; f() { $x FLAG; }; f; x=touch; f`, `x=echo; x=touch; $x FLAG`, `x=tou; x+=ch; $x FLAG`, `x=echo; declare -n y=x; y=touch; $x FLAG`, `x=1; x='a[$(touch FLAG)]'; echo $((x))`, `for i in 1 2; do echo $((x)); x='a[$(touch FLAG)]'; done`,
		`x=1; for i in 1 2; do ((x)); read x <<< 'a[$(touch FLAG)]'; done`, `x=echo; eval x=touch; $x FLAG`, `x=echo; . /dev/stdin <<< x=touch; $x FLAG`, `x=echo; IFS=: read -r y x <<< a:touch; $x FLAG`, `x=echo; exec 3>&1; { x=touch; } 3>&-; $x FLAG`,
		`while [ ! -e FLAG ]; do $x FLAG; for x in touch; do :; done; done 2> /dev/null`, `f() { for x in touch; do g; done; }; g() { $x FLAG; }; f`,
		// Functions that are not what they seem.
		`for i in 1 2; do f touch FLAG; f() { "$@"; }; f echo; done 2> /dev/null`, `f() { echo; }; if true; then f() { touch FLAG; }; fi; f`, `touch() { echo; }; unset -f touch; touch FLAG`, `false && touch() { echo; }; touch FLAG`,
		`f() { "$@"; }; f() { "$1" FLAG; }; f touch`, `{ touch() { echo; }; } < nope; touch FLAG`, `(touch() { echo; }); touch FLAG`, `eval 'f() { touch FLAG; }'; f`,
		// An expansion that fails ends its line, and the next one runs.
		"echo $((1/0)); x=echo\n${x:-touch} FLAG", "echo $((1/0)); x=echo\n$x touch FLAG", "readonly r=1; r=2; x=echo\n$x touch FLAG", "UID=1; x=echo\n$x touch FLAG", "y=ab; echo ${y:0:-5}; x=echo\n$x touch FLAG",
		"a[-5]=1; x=echo\n$x touch FLAG", "echo $((08)); x=echo\n$x touch FLAG", "i=08; echo $((i)); x=echo\n$x touch FLAG", "f() { echo $((1/0)); }; f; x=echo\n$x touch FLAG", "echo $((1 % 0)); touch() { echo; }\ntouch FLAG",
		"cd /; echo $((1/0)); x=/\ncd \"$OLDPWD$x\"; touch FLAG", "echo ${!1abc}; x=echo\n$x touch FLAG", "echo $((2 ** -1)); declare -A a\na['$(touch FLAG)']=1",
	)
	readable(t,
		`x=src; cat "$x/a.go"`, `x=1; y=$((x + 1)); echo $((y * 2))`, `i=0; while [ $i -lt 3 ]; do i=$((i + 1)); echo $((i)); done`, `for ((i = 0; i < 3; i++)); do n=$((n + i)); done; echo $n`, `for x in a b; do cat "src/$x.go"; done`,
		`f() { echo "$1"; "$@"; }; f ls -l`, `export A=b && echo $A`, `declare -A m; m["$k"]=1; echo "${m[$k]}"`, `for n in 1 2 3; do t=$((t + n)); done; echo $t`, "n=5\nm=$((n * 2))\nout=src/a.go\ncat $out", `let i=1 j=2; let i++`, `d=src; cd $d && ls`,
	)
}

// TestKnownInTheStraightLine: the everyday values stay known.
func TestKnownInTheStraightLine(t *testing.T) {
	for text, want := range map[string]string{
		`x=cat; $x a`: "cat a", `x=a; cat $x; (cat $x) | cat "$x"`: "cat a|cat a|cat a", `D=src; cd $D && ls $D`: "cd src|ls src", `export X=a; cat $X`: "export X=a|cat a", `X=a; export X; bash -c 'cat $X'`: "export X|bash -c cat $X|cat a",
		`x=a y=$x; cat $y`: "cat a", `for f in a b; do cat $f; done`: "cat a|cat b", `for f in a b; do for g in c d; do cat $f$g; done; done`: "cat ac|cat ad|cat bc|cat bd", `x=a; if true; then cat $x; fi`: "true|cat a", `x=a; f() { cat $x "$1"; }; f b`: "f b|cat a b",
		`a=(x y); cat "${a[@]}"`: "cat x y", "x=a\ny=$((1 + 2))\nz=b\ncat $x $z": "cat a b", `bash -c 'x=a; cat $x'`: "bash -c x=a; cat $x|cat a", `for i in 1 2; do bash -c 'x=a; cat $x'; done`: "bash -c x=a; cat $x|cat a|bash -c x=a; cat $x|cat a",
		`readonly V=1; cat $V`: "readonly V=1|cat 1", `declare x=a; cat $x`: "declare x=a|cat a", `{ x=a; cat $x; }; cat $x`: "cat a|cat a", `for f in a b; do cat $f; continue; done`: "cat a|continue|cat b|continue", `x=a && cat $x`: "cat a",
	} {
		script, err := Read(text, "/w", project())
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if got := joined(ran(script)); got != want {
			t.Errorf("%q\nruns %s\nwant %s", text, got, want)
		}
	}
}

func joined(commands []string) (text string) {
	for i, c := range commands {
		if i > 0 {
			text += "|"
		}
		text += c
	}
	return text
}

// TestFoldersThatWereNotEntered: the same holds for the folder.
func TestFoldersThatWereNotEntered(t *testing.T) {
	for _, text := range []string{
		`{ cd src; } < nope; rm x`, `cd src < nope; rm x`, `ulimit -n 0; cd src > /dev/null; rm x`, `f() { cd src; } < nope; f; rm x`, `f() { cd src; }; f < nope; rm x`, `for i in 1; do break; cd src; done; rm x`, `while false; do cd src; done; rm x`, `for i in 1 2; do test -e a && continue; cd src; done; rm x`,
		`f() { return; cd src; }; f; rm x`, `while true; do rm x; cd src; done`, "echo $((1/0)); cd src\nrm x", `eval 'echo $((1/0)); cd src'; rm x`, `if true; then cd src; fi < nope; rm x`, `trap 'cd src' DEBUG; rm x`, `for i in 1 2; do rm x; trap 'cd src' DEBUG; done`,
		`while read -r d; do cd "$d"; rm x; cd ..; done`, `if true; then cd() { :; }; fi; cd src; rm x`, `until cd src; do rm x; done; while cd build; do rm x; done`,
	} {
		script, err := Read(text, "/w", project())
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		for _, p := range script.Parts {
			if p.Kind == Runs && p.Words[0].Text == "rm" && p.Dir == "/w/src" {
				t.Errorf("%q: rm is said to run in src:\n%s", text, described(script.Parts))
			}
		}
	}
	for text, dir := range map[string]string{
		`cd src && rm x`: "/w/src", `cd src; rm x`: "/w/src", `pushd src > /dev/null; rm x; popd > /dev/null`: "/w/src", `(cd build && ls); cd src; rm x`: "/w/src", `for d in a b; do (cd $d && make); done; rm x`: "/w",
		`while read -r l; do (cd "$l"; make); done < f; rm x`: "/w", `cd src && { rm x; }`: "/w/src", `if cd src; then rm x; fi`: "/w/src", `cd src 2> /dev/null && rm x`: "/w/src",
	} {
		script, err := Read(text, "/w", project())
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		for _, p := range script.Parts {
			if p.Kind == Runs && p.Words[0].Text == "rm" && p.Dir != dir {
				t.Errorf("%q: rm runs in %q, want %q", text, p.Dir, dir)
			}
		}
	}
}
