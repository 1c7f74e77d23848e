//go:build likebash

package interp_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/assent-dev/assent/internal/rounds"
	"github.com/assent-dev/assent/tool/shell/interp"
)

// words are what mutations insert.
var words = strings.Fields(`; & && || | |& ! ( ) { } (( )) [[ ]] $( $(( ${ ) } )) " ' \ $ * ? [ab]* ~ = += > >> < <> >& <& 2>&1 &> >| 2>/dev/null <<< <(echo x)
	if then elif else fi while until do done for in case esac ;; ;& function time echo printf read local declare export unset set shift
	return break continue exit eval exec trap test [ ] : true false cat marker cd pwd wait source . let type command builtin
	-e -n -u -x -o pipefail errexit EXIT ERR $x $y $1 $@ $* $# $? $! "$@" "$x" "${x}" ${x:-d} ${x:=d} ${x:+d} ${x#a} ${x%b} ${x/a/b} ${x^^} ${#x} ${a[0]} ${a[@]}
	${!x} ${x:1} ${x@Q} ${x:?} x= x=1 x=a x+=b a=(1 2) a[1]=z f()`)

// frames put a command into another construct; %s is the command.
var frames = []string{
	"(%s)", "{ %s\n}", "if %s\nthen echo yes; else echo no; fi", "f() { %s\n}; f a b", "%s | cat", "echo in | { %s\n}", "x=$(%s\n); echo \"[$x] $?\"",
	"set -e\n%s\necho after", "set -u; %s", "set -o pipefail; %s", "! { %s\n}; echo $?", "for i in 1 2; do %s\ndone", "%s & wait; echo $?", "%s && echo ok || echo bad",
	"trap 'echo exit $?' EXIT; %s", "cat <(%s\n)", "while read -r l; do %s\nbreak; done <<< 'a b'", "%s > out.txt 2>&1; cat out.txt", "x='a b'; a=(p 'q r'); %s", "set -- 1 '2 3'; %s",
	"case a in a) %s\n;; esac", "until %s\ndo break; done", "cat <<EOF\n$(%s\n)\nEOF", "shopt -s nullglob; %s", "time { %s\n} 2>/dev/null", "trap 'echo err' ERR; %s", "exec 3>&1; { %s\n} >&3 2>/dev/null",
}

var pieces = regexp.MustCompile(`[A-Za-z0-9_./-]+|\s+|&&|\|\||;;|\$\(\(|\$\(|\$\{|>>|<<<|<<|>&|[^\sA-Za-z0-9_]`)

// mutated changes a text in one to three places.
func mutated(rnd *rand.Rand, texts []string) string {
	pick := func() string { return texts[rnd.IntN(len(texts))] }
	text := pick()
	for range 1 + rnd.IntN(3) {
		tokens := pieces.FindAllString(text, -1)
		if len(tokens) == 0 || len(text) > 2000 {
			return text
		}
		i, j := rnd.IntN(len(tokens)), rnd.IntN(len(tokens))
		switch rnd.IntN(9) {
		case 0:
			tokens[i] = ""
		case 1:
			tokens[i], tokens[j] = tokens[j], tokens[i]
		case 2:
			tokens[i] += tokens[i]
		case 3, 4:
			tokens[i] = words[rnd.IntN(len(words))]
		case 5:
			tokens[i] += " " + words[rnd.IntN(len(words))] + " "
		case 6:
			other := pieces.FindAllString(pick(), -1)
			if len(other) > 0 {
				tokens = append(tokens[:i:i], other[rnd.IntN(len(other)):]...)
			}
		case 7:
			tokens[i] = []string{"\n", "\\\n", " ", "\t", "#", "'", "\"", "`", "\\", "$"}[rnd.IntN(10)]
		case 8:
			text = fmt.Sprintf(strings.ReplaceAll(frames[rnd.IntN(len(frames))], "%s", "%[1]s"), text)
			continue
		}
		text = strings.Join(tokens, "")
	}
	return text
}

// An inside is what the process inside the namespaces is told, and what it answers.
type inside struct {
	Dir      string // with the stand-ins and the texts
	For      time.Duration
	Seed     uint64
	Ran      int
	Same     int
	Refused  map[string]int // by the parser or as not supported, by the reason
	Varying  int            // in bash itself
	Stricter int            // bash refuses to read the text or a part of it
	Finds    []find
	Stricts  []string
}

// variable are texts whose results vary by their nature.
var variable = regexp.MustCompile(`RANDOM|\$\$|PPID|BASHPID|\btimes?\b|SECONDS|EPOCH|\b(set|declare|typeset|readonly|export|local|env)( -p)?\s*($|[^-+\w\s])|compgen`)

type find struct{ Text, Diff string }

// TestMutatedLikeBash changes real commands as text, runs them in bash and in the interpreter,
// and compares as TestLikeBash does. Few texts among thousands use what docs/shell-differences.md
// lists, so that a small share may differ; each is logged with its seed. It runs for ASSENT_LIKE_FUZZ, inside namespaces in which
// nothing but a folder in memory can be written, with few programs.
func TestMutatedLikeBash(t *testing.T) {
	if config := os.Getenv("ASSENT_LIKE_INSIDE"); config != "" {
		mutateInside(t, config)
		return
	}
	task := inside{Dir: t.TempDir(), For: time.Duration(rounds.N(10, 60)) * time.Second, Seed: uint64(time.Now().UnixNano())}
	if d, err := time.ParseDuration(os.Getenv("ASSENT_LIKE_FUZZ")); err == nil {
		task.For = d
	}
	if n, err := strconv.ParseUint(os.Getenv("ASSENT_LIKE_SEED"), 10, 64); err == nil {
		task.Seed = n
	}
	for _, name := range strings.Fields("cat head tail wc sort uniq tr cut grep sed seq ls true false basename dirname sleep rev tac expr printf env bash sh mkdir rm touch tee xargs") {
		if path, err := exec.LookPath(filepath.Join("/usr/bin", name)); err == nil {
			os.Symlink(path, filepath.Join(task.Dir, name))
		}
	}
	say := "#!/bin/sh\nprintf 'marker'; printf ' <%s>' \"$@\"; echo\necho \"$*\" >> \"$MARKS\"\n"
	if err := os.WriteFile(filepath.Join(task.Dir, "marker"), []byte(say), 0o755); err != nil {
		t.Fatal(err)
	}
	os.Chmod(task.Dir, 0o755)
	config, answer := filepath.Join(task.Dir, "config"), filepath.Join(task.Dir, "answer")
	data, _ := json.Marshal(task)
	if err := os.WriteFile(config, data, 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := os.Create(answer)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd := exec.Command("/proc/self/exe", "-test.run=^TestMutatedLikeBash$", "-test.timeout=0")
	cmd.Env = append(os.Environ(), "ASSENT_LIKE_INSIDE="+config)
	cmd.ExtraFiles = []*os.File{out}
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWNET | syscall.CLONE_NEWIPC,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
		Pdeathsig:   syscall.SIGKILL,
	}
	if log, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, log)
	}
	if data, err = os.ReadFile(answer); err == nil {
		err = json.Unmarshal(data, &task)
	}
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	for _, n := range task.Refused {
		refused += n
	}
	t.Logf("seed %d: %d texts in %v: %d the same, %d refused, %d refused by bash alone, %d vary in bash itself, %d differ", task.Seed, task.Ran, task.For, task.Same, refused, task.Stricter, task.Varying, len(task.Finds))
	if testing.Verbose() {
		for reason, n := range task.Refused {
			t.Logf("%5d %s", n, reason)
		}
		for _, text := range task.Stricts {
			t.Logf("bash alone refuses %q", text)
		}
	}
	for _, f := range task.Finds {
		t.Logf("%q\n%s", f.Text, f.Diff)
	}
	if ran := task.Same + len(task.Finds); len(task.Finds)*200 > ran {
		t.Errorf("%d of %d texts that both shells ran differ, more than 0.5 %%", len(task.Finds), ran)
	}
}

func mutateInside(t *testing.T, config string) {
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(config)
	must(err)
	var task inside
	must(json.Unmarshal(data, &task))
	var texts []string
	for _, s := range readSamples(t) {
		texts = append(texts, s.command)
	}
	// From here on only /tmp can be written, and it is another one.
	copied := map[string][]byte{}
	links := map[string]string{}
	entries, err := os.ReadDir(task.Dir)
	must(err)
	for _, e := range entries {
		if target, err := os.Readlink(filepath.Join(task.Dir, e.Name())); err == nil {
			links[e.Name()] = target
		} else if data, err := os.ReadFile(filepath.Join(task.Dir, e.Name())); err == nil {
			copied[e.Name()] = data
		}
	}
	must(unix.MountSetattr(-1, "/", unix.AT_RECURSIVE, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY, Propagation: unix.MS_PRIVATE}))
	must(syscall.Mount("none", "/tmp", "tmpfs", 0, "size=256m"))
	must(syscall.Mount("proc", "/proc", "proc", 0, ""))
	must(os.Mkdir("/tmp/bin", 0o755))
	for name, target := range links {
		must(os.Symlink(target, "/tmp/bin/"+name))
	}
	must(os.WriteFile("/tmp/bin/marker", copied["marker"], 0o755))
	must(os.Mkdir("/tmp/fixture", 0o755))
	must(os.MkdirAll("/tmp/fixture/project/docs", 0o755))
	for name, text := range map[string]string{"a.txt": "one\ntwo\nthree\n", "b c.txt": "x y\n", "README.md": "# Title\n\ntext a b\n", "docs/api.md": "GET /a\n", "run.sh": "echo \"run $0 $#\"\n", ".env": "A=1\n"} {
		must(os.WriteFile("/tmp/fixture/project/"+name, []byte(text), 0o644))
	}
	os.Chmod("/tmp/fixture/project/run.sh", 0o755)
	p := &place{t: t, root: "/tmp/w", fixture: "/tmp/fixture", path: "/tmp/bin", patience: 3 * time.Second}
	rnd := rand.New(rand.NewPCG(task.Seed, 1))
	task.Refused = map[string]int{}
	clean := func(r result) result {
		for {
			syscall.Kill(-1, syscall.SIGKILL) // this process is the first of its namespace
			if _, err := syscall.Wait4(-1, nil, 0, nil); err == syscall.ECHILD {
				return r
			}
		}
	}
	for began := time.Now(); time.Since(began) < task.For && len(task.Finds) < 200; {
		text := mutated(rnd, texts)
		if strings.ContainsRune(text, 0) || variable.MatchString(text) {
			continue
		}
		task.Ran++
		if os.Getenv("ASSENT_LIKE_TRACE") != "" {
			fmt.Fprintf(os.Stderr, "%q\n", text)
		}
		ours := clean(p.run(text, runInterp))
		if reason := refusal(ours.err); reason != "" {
			task.Refused[reason]++
			continue
		}
		bash := clean(p.run(text, runBash))
		diff := difference(bash, ours)
		if diff == "" {
			task.Same++
			continue
		}
		if strings.Contains(bash.stderr, "syntax error") || strings.Contains(bash.stderr, "unexpected EOF") {
			task.Stricter++
			task.Stricts = append(task.Stricts, text)
			continue
		}
		stable := true
		for range 3 {
			again := clean(p.run(text, runBash))
			if difference(bash, again) != "" {
				stable = false
			}
			mine := clean(p.run(text, runInterp))
			if difference(again, mine) == "" {
				stable = false
			}
		}
		if !stable {
			task.Varying++
			continue
		}
		task.Finds = append(task.Finds, find{text, diff + "messages of bash: " + short(bash.stderr) + "\nours: " + short(ours.stderr)})
	}
	answer := os.NewFile(3, "answer")
	must(json.NewEncoder(answer).Encode(task))
	must(answer.Close())
}

var numbers = regexp.MustCompile("[0-9]+:[0-9]+|`[^`]*`|[0-9]+")

// refusal says why a text was not run to its end.
func refusal(err error) string {
	switch err := err.(type) {
	case nil:
		return ""
	case *interp.UnsupportedError:
		return "not supported: " + numbers.ReplaceAllString(err.Construct, "N")
	case *interp.LimitError:
		return "limit"
	default:
		if strings.Contains(err.Error(), "deadline") {
			return ""
		}
		return numbers.ReplaceAllString(err.Error(), "N")
	}
}
