package interp_test

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/assent-dev/assent/tool/shell/interp"
)

// TestPlaces checks that every act says which text it comes from, and where in it.
func TestPlaces(t *testing.T) {
	text := `touch one
eval "touch two"
. ./part.sh
f() { touch four; }
trap 'touch five' EXIT
x='a[$(touch six)]'; : $((x))
eval f
echo > out
cat plain.txt <<< x
y=$(touch seven)
./noshebang
`
	s := newSession(t)
	std := s.h
	var got []string
	place := func(what string, act interp.Act) {
		s.mu.Lock()
		defer s.mu.Unlock()
		got = append(got, fmt.Sprintf("%s %s %s %d:%d", what, act.Source.Origin, filepath.Base(act.Source.Name), act.Pos.Line(), act.Pos.Col()))
	}
	s.h.Exec = func(ctx context.Context, req *interp.ExecRequest) (func() (interp.Process, error), error) {
		place(strings.Join(req.Args, " "), req.Act)
		return std.Exec(ctx, req)
	}
	s.h.Open = func(ctx context.Context, req *interp.OpenRequest) (func() (*os.File, error), error) {
		place("open "+req.Reason+" "+req.Path, req.Act)
		return std.Open(ctx, req)
	}
	for name, text := range map[string]string{"part.sh": "\ntouch three\n", "noshebang": "# a script\n  touch eight\n"} {
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.run(text); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"touch one judged . 1:1",
		"touch two eval . 1:1",
		"open source ./part.sh judged . 3:1",
		"touch three source part.sh 2:1",
		"touch six value . 1:3",
		"touch four judged . 4:7",
		"open redirect out judged . 8:6",
		"cat plain.txt judged . 9:1",
		"touch seven judged . 10:5",
		"./noshebang judged . 11:1",
		"open script ./noshebang judged . 11:1",
		"touch eight script noshebang 2:3",
		"touch five trap EXIT 1:1",
	}
	if !slices.Equal(got, want) {
		t.Errorf("acts:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestCall sees builtins and functions as well, with what stands before them.
func TestCall(t *testing.T) {
	s := newSession(t)
	var got []string
	s.h.Call = func(_ context.Context, req *interp.CallRequest) error {
		got = append(got, fmt.Sprintf("%d%v%v", req.Kind, req.Args, req.Added))
		if req.Args[0] == "umask" {
			return errNo
		}
		return nil
	}
	_, err := s.run(`f() { true; }; A=1 B=2 f x; echo "a b"; export C=3; command printf ''; eval true; umask 0; touch after`)
	if !errors.Is(err, errNo) {
		t.Error(err)
	}
	want := []string{
		"2[f x][A=1 B=2]", "1[true][]", "1[echo a b][]", "1[export C=3][]", "1[command printf ][]", "1[printf ][]", "1[eval true][]",
		"1[true][]", "1[umask 0][]",
	}
	if !slices.Equal(got, want) {
		t.Errorf("calls: %q\nwant: %q", got, want)
	}
}

// TestExecRequest checks what a program would get.
func TestExecRequest(t *testing.T) {
	s := newSession(t)
	var got interp.ExecRequest
	s.h.Exec = func(_ context.Context, req *interp.ExecRequest) (func() (interp.Process, error), error) {
		got = *req
		return nil, errNo
	}
	s.run(`X=1; export Y=2; cd bin; umask 027; exec 5<../plain.txt 3>&-; Z=3 cat 'a b' <(:) 2>/dev/null`)
	switch {
	case !slices.Equal(got.Args, []string{"cat", "a b", "/dev/fd/63"}), got.Path != "/usr/bin/cat", got.Dir != filepath.Join(s.dir, "bin"):
		t.Errorf("args %q path %q dir %q", got.Args, got.Path, got.Dir)
	case !slices.Contains(got.Env, "Y=2") || !slices.Contains(got.Env, "Z=3") || slices.Contains(got.Env, "X=1"):
		t.Errorf("env %q", got.Env)
	case !slices.Equal(got.Added, []string{"Z=3"}), got.Umask != 0o27, got.Background:
		t.Errorf("added %q umask %o background %v", got.Added, got.Umask, got.Background)
	}
	var open []int
	for n, f := range got.Files {
		if f != nil {
			open = append(open, n)
		}
	}
	if !slices.Equal(open, []int{1, 2, 5, 63}) {
		t.Errorf("open descriptors: %v", open)
	}
}

// TestInline runs a text in a fresh shell, where a handler says so.
func TestInline(t *testing.T) {
	s := newSession(t)
	std := s.h
	s.h.Exec = func(ctx context.Context, req *interp.ExecRequest) (func() (interp.Process, error), error) {
		if req.Args[0] == "bash" && len(req.Args) > 2 && req.Args[1] == "-c" {
			text := req.Args[2]
			return nil, &interp.Inline{
				File: parse(t, text), Source: &interp.Source{Origin: interp.Judged, Name: "inner", Text: text},
				Name: "bash", Params: req.Args[4:], Opts: []string{"-e"},
			}
		}
		return std.Exec(ctx, req)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	s.out = w
	status, err := s.run(`x=1; export y=2; f() { :; }; export -f f; g() { :; }; bash -c 'echo "[$x]$y$1$0"; type -t f; ! type -t g; cd bin; exit 7' bash P; echo $? ${PWD##*/}; bash -c 'false; touch after' x; echo $?; bash -c 'forbidden; touch after' x; touch after`)
	w.Close()
	out := make([]byte, 1000)
	n, _ := r.Read(out)
	if want := "[]2Pbash\nfunction\n"; !strings.HasPrefix(string(out[:n]), want) {
		t.Errorf("output %q, want it to begin with %q", out[:n], want)
	}
	if !strings.HasSuffix(string(out[:n]), "7 "+filepath.Base(s.dir)+"\n1\n") {
		t.Errorf("output %q", out[:n])
	}
	if !errors.Is(err, errNo) || status == 0 || slices.Contains(s.files(), "after") {
		t.Errorf("status %d, %v, files %q", status, err, s.files())
	}
}

// TestZeroHandlers: without handlers everything is refused.
func TestZeroHandlers(t *testing.T) {
	for _, text := range []string{"/bin/true", "true > x", "true < plain.txt", "echo *", "cd bin", "[ -e x ]", "[ -r x ]", "ls", ". ./lib.sh", "x=$(<plain.txt)", "echo ~root"} {
		s := newSession(t)
		s.h = interp.Handlers{}
		_, err := s.run(text)
		var refused *interp.Refused
		if !errors.As(err, &refused) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestHandlerErrors: an error of the operating system is the command's, any other ends the run.
func TestHandlerErrors(t *testing.T) {
	for _, tt := range []struct {
		err    error
		status int
		stops  bool
	}{
		{syscall.EACCES, 126, false}, {&os.PathError{Op: "exec", Path: "x", Err: syscall.ENOENT}, 127, false},
		{syscall.E2BIG, 126, false}, {errors.New("the judge is gone"), 1, true}, {&interp.Refused{Err: syscall.EACCES}, 1, true},
	} {
		s := newSession(t)
		s.h.Exec = func(context.Context, *interp.ExecRequest) (func() (interp.Process, error), error) { return nil, tt.err }
		status, err := s.run(`/bin/true`)
		if status != tt.status || (err != nil) != tt.stops {
			t.Errorf("%v: status %d, %v", tt.err, status, err)
		}
	}
}

// TestUnsupported names constructs beforehand, and stops at them when they come up later.
func TestUnsupported(t *testing.T) {
	for text, want := range map[string]string{
		"coproc cat":          "coproc",
		"bind -p":             "bind",
		"trap 'x' CHLD":       "a trap for CHLD",
		"x=$(enable)":         "enable",
		"f() echo a":          "a function of another shell",
		"true && else echo a": "a reserved word as a command",
		"select x in a b; do fg; done; trap x DEBUG; suspend": "",
		"if true; then fc -l; fi":                             "fc",
		"set -m":                                              "set -m",
		"set -eum":                                            "set -m",
		"set -o monitor":                                      "set -o monitor",
		"set -o posix":                                        "set -o posix",
		"builtin bind -x":                                     "bind",
		`command "bind"`:                                      "bind",
		"shopt -s extdebug":                                   "shopt -s extdebug",
		"[[ x == @($(y)|z) ]]":                                "an expansion in an extended pattern",
		"enable -n echo":                                      "enable",
		"cat <<'A'B\n$x\nAB":                                  "a here-document whose delimiter is quoted in part",
		"echo bind; set +m; trap - DEBUG; fcx":                "",
		"for i in 1; do :; done; sleep 1 & wait; kill %1; jobs; disown": "",
	} {
		if got := interp.Unsupported(parse(t, text)); got != want {
			t.Errorf("Unsupported(%q) = %q, want %q", text, got, want)
		}
	}
	for _, text := range []string{
		`x=bind; $x -p; touch after`, `eval 'coproc cat'; touch after`, `x=-m; set $x; touch after`, `(x=fc; $x) || touch after; touch after`,
		`x=$(y=fc; $y); touch after`, `x=CHLD; trap : $x; touch after`, `{ x=help; $x; } & wait; touch after`, `set -o physical; set -o ${z:-monitor}; touch after`,
		`help cd; touch after`, `cd --help; touch after`, `shopt -s expand_aliases; alias x=ls; x; touch after`, `[[ aa =~ (a)\1 ]]; touch after`,
		`eval 'declare -A m; m[x.y]=1'; touch after`, `eval 'echo "${m[a b]}"' || touch after; touch after`,
		`kill -9 -1; touch after`, `eval 'f() touch after'; f; touch after`, `eval 'true && in x'; touch after`, `f() { ${1} -x; }; f enable; touch after`,
	} {
		s := newSession(t)
		_, err := s.run(text)
		var u *interp.UnsupportedError
		if !errors.As(err, &u) || slices.Contains(s.files(), "after") {
			t.Errorf("%s: %v, files %q", text, err, s.files())
		}
	}
}

// TestLimits: what grows without end is stopped, before it takes the machine.
func TestLimits(t *testing.T) {
	for _, text := range []string{
		`x=aaaaaaaaaa; while :; do x=$x$x; done`,
		`x=a; for i in 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9; do x=$x$x$x; done`,
		`set -- a b; while :; do set -- "$@" "$@"; done`,
		`a=(a b); while :; do a=("${a[@]}" "${a[@]}"); done`,
		`a=(a b); while :; do a+=("${a[@]}"); done`,
		`x=$(cat /dev/zero | tr '\0' x)`, `read -d '' x < <(yes)`, `mapfile x < <(yes)`, `x=$(</dev/zero)`,
		`echo {1..100000000}`, `f() { f; }; f`, `printf '%*s' 2000000000 x`, `printf '%s' {1..9999999}{1..99}`,
		`f() { f; }; f`, `f() { x=$(f); }; f`, `f() { (f); }; f`, `f() { eval f; }; f`, `x='eval "$x"'; eval "$x"`,
		`x=$(printf '(%.0s' {1..100000}); eval "$x"`, `x=$(printf '$(%.0s' {1..30000}); eval "echo $x"`,
		`x=$(printf '{ %.0s' {1..100000}); eval "$x"`,
		`x=x; for ((;;)); do x=${x//x/xx}; done`, `x=x; for ((;;)); do x="${x@Q}$x"; done`,
		`for ((i=0;;i++)); do printf -v "v$i" '%*s' 1000000 x; done`, `declare -A m; for ((i=0;;i++)); do m[$i]=$(printf '%*s' 1000000 x); done`,
		`. ./self.sh`,
	} {
		t.Run(text, func(t *testing.T) {
			s := newSession(t)
			if err := os.WriteFile(filepath.Join(s.dir, "self.sh"), []byte(". ./self.sh\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			s.limits = interp.Limits{Value: 1 << 20, Total: 4 << 20, Depth: 200}
			if strings.HasPrefix(text, "x=aaa") {
				s.limits = interp.Limits{} // the real ones
			}
			file := s.start(text + "\ntouch after")
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			_, err := s.r.Run(ctx, file)
			s.r.Terminate(time.Second)
			var limit *interp.LimitError
			if !errors.As(err, &limit) || slices.Contains(s.files(), "after") {
				t.Errorf("%v, files %q", err, s.files())
			}
		})
	}
}

// TestSignal gives the main shell a signal from outside.
func TestSignal(t *testing.T) {
	for _, tt := range []struct {
		text   string
		status int
		after  bool
	}{
		{`ready; while :; do :; done`, 143, false},
		{`trap 'touch after; exit 5' TERM; ready; while :; do :; done`, 5, true},
		{`trap 'touch after' EXIT; ready; sleep 1000`, 143, true},
		{`trap 'x=1' TERM; ready; while [ -z "$x" ]; do :; done; touch after`, 0, true},
		{`ready; read x; touch after`, 143, false},
		{`(ready; while :; do :; done); touch after`, 143, false},
		{`trap 'touch after; exit 3' TERM; sleep 1000 & ready; wait`, 3, true},
		{`trap '' TERM; ready; touch after`, 0, true},
	} {
		s := newSession(t)
		in, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		s.in = in
		s.h.Call = func(_ context.Context, req *interp.CallRequest) error {
			if req.Args[0] == "ready" {
				s.r.Signal(syscall.SIGTERM)
			}
			return nil
		}
		status, err := s.run("ready() { :; }; " + tt.text)
		if err != nil || status != tt.status || slices.Contains(s.files(), "after") != tt.after {
			t.Errorf("%s: status %d, %v, files %q", tt.text, status, err, s.files())
		}
		s.r.Terminate(0)
		w.Close()
		in.Close()
	}
}

// TestBackgroundOutlives: Run does not wait for the background, Wait does.
func TestBackgroundOutlives(t *testing.T) {
	s := newSession(t)
	if err := syscall.Mkfifo(filepath.Join(s.dir, "go"), 0o600); err != nil {
		t.Fatal(err)
	}
	status, err := s.run(`(read x < go; touch late) & sh -c 'echo x > up; exec sleep 1000' &
		: $!; disown; until [ -s up ]; do :; done; exit 4`)
	if status != 4 || err != nil {
		t.Errorf("status %d, %v", status, err)
	}
	if n := s.r.Background(); n != 2 {
		t.Errorf("%d background commands run, want 2", n)
	}
	if slices.Contains(s.files(), "late") {
		t.Error("Run waited")
	}
	f, err := os.OpenFile(filepath.Join(s.dir, "go"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	children := s.children(1)
	if len(children) != 1 || children[0].Args[0] != "sh" {
		t.Errorf("children: %v", children)
	}
	fmt.Fprintln(f, "x")
	for _, ch := range children {
		syscall.Kill(ch.Pid, syscall.SIGKILL)
	}
	s.r.Wait()
	f.Close()
	if !slices.Contains(s.files(), "late") || s.r.Background() != 0 {
		t.Errorf("files %q, %d in the background", s.files(), s.r.Background())
	}
}

// TestOnlyHandlersReachOut reads the source: what opens files, looks at them or starts
// programs is called in the default handlers and in the places that are listed here, where
// nothing of the command's decides what is opened.
func TestOnlyHandlersReachOut(t *testing.T) {
	reach := map[string][]string{
		"os":       {"Open", "OpenFile", "Create", "CreateTemp", "ReadFile", "WriteFile", "ReadDir", "Stat", "Lstat", "Readlink", "Remove", "RemoveAll", "Mkdir", "MkdirAll", "Rename", "Chdir", "StartProcess", "Chmod", "Symlink", "Link", "DirFS", "OpenRoot"},
		"syscall":  {"Open", "ForkExec", "StartProcess", "Exec", "Stat", "Lstat", "Mkdir", "Unlink", "Rename", "Chdir", "Kill"},
		"unix":     {"Open", "Openat", "Openat2", "Exec", "Stat", "Lstat", "Faccessat", "Access", "Mkfifo", "MemfdCreate"},
		"exec":     {"Command", "CommandContext", "LookPath"},
		"net":      {"Dial", "Listen"},
		"filepath": {"EvalSymlinks", "Glob", "Walk", "WalkDir"},
	}
	allowed := map[string]string{
		"DefaultHandlers": "the handlers", "openPath": "the handlers", "inProc": "the handlers", "startProcess": "the handlers", "startLimited": "the handlers", "kept": "the handlers",
		"Signal":   "a program that the handlers started",
		"openNull": "/dev/null", "openFolder": "the current folder, without reading it", "memoryFile": "a file in memory",
		"realPath": "reads a link that the Stat handler was asked about", "kill": "the kill builtin, which the Call handler sees",
	}
	fset := token.NewFileSet()
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") || strings.HasSuffix(name, "_darwin.go") {
			continue
		}
		file, err := parser.ParseFile(fset, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			ast.Inspect(fn, func(n ast.Node) bool {
				sel, ok := n.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				pkg, ok := sel.X.(*ast.Ident)
				if ok && slices.Contains(reach[pkg.Name], sel.Sel.Name) {
					used[fn.Name.Name] = true
					if allowed[fn.Name.Name] == "" {
						t.Errorf("%s: %s.%s is called in %s, past the handlers", fset.Position(n.Pos()), pkg.Name, sel.Sel.Name, fn.Name.Name)
					}
				}
				return true
			})
		}
	}
	for name := range allowed {
		if !used[name] {
			t.Errorf("%s reaches out no longer; remove it from this list", name)
		}
	}
}
