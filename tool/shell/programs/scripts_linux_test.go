package programs

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/assent-dev/assent/internal/reexec"
	"github.com/assent-dev/assent/internal/rounds"
)

// The test program also runs scripts, as the first process of a sandbox.
func TestMain(m *testing.M) {
	reexec.Main(map[string]reexec.Role{
		"run-scripts": func([]string) error { return runScripts(os.Stdin, os.Stdout) },
	})
	os.Exit(m.Run())
}

// secret stands in a file that no script is given, and in the environment.
const secret = "5f1c secret 5f1c"

// A deedResult is what a program did in a folder with the files in and secret.
type deedResult struct {
	Ran    bool     // the program M
	Files  []string // that were made or changed
	Output string
	Error  string
}

// runScripts answers each command line with what it did. What a script runs can only be M,
// which leaves a trace; it stands in every line of the input too, for a script that runs what
// it reads.
func runScripts(in io.Reader, out io.Writer) error {
	for name, text := range map[string]string{"/tmp/bin/M": "#!/bin/sh\n: > /tmp/ran\n"} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o755)); err != nil {
			return err
		}
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 64 << 10, Max: 64 << 10}); err != nil {
		return err
	}
	read, write := json.NewDecoder(bufio.NewReader(in)), json.NewEncoder(out)
	for {
		var argv []string
		if err := read.Decode(&argv); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		r, err := runScript(argv)
		if err != nil {
			r.Error = err.Error()
		}
		if err := write.Encode(r); err != nil {
			return err
		}
	}
}

var inputs = map[string]string{"/tmp/w/in": "M x\nM a b/c\n\nM 1 2 3\n", "/tmp/w/secret": secret}

func runScript(argv []string) (r deedResult, err error) {
	_ = os.RemoveAll("/tmp/w")
	_ = os.Remove("/tmp/ran")
	if err := os.Mkdir("/tmp/w", 0o755); err != nil {
		return r, err
	}
	for name, text := range inputs {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			return r, err
		}
	}
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return r, err
	}
	output, err := os.Create("/tmp/output") // RLIMIT_FSIZE ends what prints without end
	if err != nil {
		return r, err
	}
	defer output.Close()
	cmd := exec.Command(path, argv[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = "/tmp/w", output, output
	cmd.Env = []string{"PATH=/tmp/bin", "LANG=C.UTF-8", "SECRET=" + secret}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return r, err
	}
	kill := func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	timer := time.AfterFunc(100*time.Millisecond, kill) // many loops have no end
	_ = cmd.Wait()                                      // most scripts have mistakes
	timer.Stop()
	kill()
	text, err := os.ReadFile("/tmp/output")
	if err != nil {
		return r, err
	}
	r.Output = string(text[:min(len(text), 4096)])
	_, ran := os.Stat("/tmp/ran")
	r.Ran = ran == nil
	err = filepath.WalkDir("/tmp/w", func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if text, _ := os.ReadFile(path); inputs[path] == "" || string(text) != inputs[path] {
			r.Files = append(r.Files, filepath.Base(path))
		}
		return nil
	})
	return r, err
}

// A scriptBox is a sandbox in which scripts run, one after another.
type scriptBox struct {
	in     io.WriteCloser
	read   *json.Decoder
	stderr bytes.Buffer
}

func newScriptBox(t *testing.T) *scriptBox {
	t.Helper()
	b := &scriptBox{}
	cmd := exec.Command("bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--ro-bind", "/", "/", "--dev", "/dev",
		"--proc", "/proc", "--tmpfs", "/tmp", "--ro-bind", reexec.Self(), "/tmp/scripts", "--chdir", "/", "/tmp/scripts", "run-scripts")
	cmd.Stderr = &b.stderr
	var err error
	if b.in, err = cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("%v: install bubblewrap", err)
	}
	t.Cleanup(func() { b.in.Close(); _ = cmd.Wait() })
	b.read = json.NewDecoder(bufio.NewReader(out))
	return b
}

// run returns what a command line did that it should not.
func (b *scriptBox) run(argv []string) (string, error) {
	if err := json.NewEncoder(b.in).Encode(argv); err != nil {
		return "", fmt.Errorf("%w: %s", err, b.stderr.String())
	}
	var r deedResult
	if err := b.read.Decode(&r); err != nil {
		return "", fmt.Errorf("%q: %w: the sandbox ended: %s", argv, err, b.stderr.String())
	}
	switch {
	case r.Error != "":
		return "", fmt.Errorf("%q: %s", argv, r.Error)
	case r.Ran:
		return "it ran M", nil
	case len(r.Files) > 0:
		return fmt.Sprintf("it wrote %q", r.Files), nil
	case strings.Contains(r.Output, secret):
		return "it showed the secret", nil
	case strings.Contains(r.Output, "sandbox mode"):
		return "it is refused by its own sandbox: " + r.Output, nil
	}
	return "", nil
}

// A language is what scripts are tried in.
type language struct {
	name     string // of the program whose reading counts
	runners  [][]string
	seeds    []string
	pieces   []string
	harmful  []string   // pieces that do what must not be done; each script gets one
	flags    [][]string // that are tried before the script
	joinable bool       // several scripts may follow -e
}

// tryScripts mutates scripts, and runs those that are read as harmless in every program of
// the language. One that runs, writes or reads something else is a failure. Without
// ASSENT_FUZZ_TIME it tries the same scripts each time.
func tryScripts(t *testing.T, l language) {
	deadline, most, seed := time.Time{}, 800, uint64(1)
	if s := os.Getenv("ASSENT_FUZZ_TIME"); s != "" {
		duration, err := time.ParseDuration(s)
		if err != nil {
			t.Fatal(err)
		}
		deadline, seed = time.Now().Add(duration), rounds.Seed()
	}
	var tried, ran atomic.Int64
	var group sync.WaitGroup
	for worker := range 2 {
		b := newScriptBox(t)
		group.Go(func() {
			r := rand.New(rand.NewPCG(seed, uint64(worker)))
			for i := 0; (deadline.IsZero() && i < most || time.Now().Before(deadline)) && !t.Failed(); i++ {
				args := l.mutated(r)
				tried.Add(1)
				harmless, named := free(append([]string{l.name}, args...))
				if !harmless {
					continue
				}
				for _, runner := range l.runners {
					if named && slices.Contains(runner, "--sandbox") {
						continue // it may not read that
					}
					ran.Add(1)
					what, err := b.run(append(slices.Clone(runner), args...))
					if err != nil {
						t.Error(err)
						return
					}
					if what != "" {
						t.Errorf("%s, but was read as harmless: %s %q", what, strings.Join(runner, " "), args)
					}
				}
			}
		})
	}
	group.Wait()
	t.Logf("seed %d: %d scripts, %d runs of those that are read as harmless", seed, tried.Load(), ran.Load())
	if ran.Load() < 100 {
		t.Error("hardly any script was read as harmless: the test tests nothing")
	}
}

// mutated makes a command line without the program.
func (l language) mutated(r *rand.Rand) []string {
	args := slices.Clone(l.flags[r.IntN(len(l.flags))])
	if l.joinable && r.IntN(4) == 0 {
		for range 2 + r.IntN(2) {
			args = append(args, "-e", l.script(r))
		}
		return append(args, "in")
	}
	return append(args, l.script(r), "in")
}

func (l language) script(r *rand.Rand) string {
	pick := func(from []string) string { return from[r.IntN(len(from))] }
	text := pick(l.seeds)
	if r.IntN(3) == 0 {
		text += pick([]string{"\n", ";", "; ", " ", ""}) + pick(l.seeds)
	}
	for n := range 1 + r.IntN(4) {
		i, j := r.IntN(len(text)+1), r.IntN(len(text)+1)
		i, j = min(i, j), max(i, j)
		if n == 0 {
			text = text[:i] + pick(l.harmful) + text[i:]
			continue
		}
		switch r.IntN(6) {
		case 0, 1, 2:
			text = text[:i] + pick(l.pieces) + text[i:]
		case 3:
			text = text[:i] + pick(l.pieces) + text[min(j, i+1+r.IntN(4)):]
		case 4:
			text = text[:i] + text[min(j, i+1+r.IntN(4)):]
		case 5:
			text = text[:j] + text[i:j] + text[j:]
		}
		if len(text) > 400 {
			text = text[:400]
		}
	}
	return text
}

func TestSedScripts(t *testing.T) {
	tryScripts(t, language{
		name: "sed", runners: [][]string{{"sed"}, {"sed", "--sandbox"}, {"busybox", "sed"}}, joinable: true,
		flags: [][]string{{}, {}, {"-n"}, {"-E"}, {"-z"}, {"-s"}, {"--posix"}},
		seeds: strings.Split("s/a/b/¦s/a/b/g¦s/x/M/p¦s|a|b|¦s,a,b,2¦s#M#y#¦/a/d¦/a/,/b/p¦1,3p¦$d¦1~2d¦2,+1d¦/a/I,$p¦$!N;s/\\n/ /¦:a;N;$!ba;s/\\n/,/g¦/a/{s/b/c/;p}¦y/abc/xyz/¦"+
			"1i hello¦$a M x¦/a/c\\\nM x¦2q¦=¦l¦s/[ab]/c/¦s/[^/]/x/¦s/[[:space:]]*$//¦s/\\(M\\) \\(.*\\)/\\2 \\1/¦# e M\np¦s/M/\\n/g¦/x/!d¦ba;:a¦:x;s/a/b/;tx¦bend;e M;:end¦b;e M¦s/a/[/;e M¦"+
			"/[/]e M/p¦s/[]/]e M/x/¦s/a/b/#e M¦1!G;h;$!d¦\\,M,p¦\\#a#d¦n;d¦s/[[.a.]]/e M/¦s/[[=/=]]/b/¦y/a\\/b/M x/¦s/\\[/e M/¦s/a/b\\\nc/¦a\\¦i\\\n¦$!{N;ba};:a¦s/[\\]/e M/;s/]/x/¦s/[^]/]/e M/¦b#;y/abc/xyz/;p¦ta#;s/a/b/¦s/[[===]]/=]]/;y/a/b/;p¦s/[[=a=]]/x/;s/b/c/¦s/[/a/]/r in\n/;p", "¦"),
		harmful: strings.Split("e¦e M¦;e M¦\ne M\n¦;e M;¦\ne¦w out¦;w out¦r secret¦;r secret¦R secret¦W out¦/e¦/w out¦/ge¦s/M/M/e¦s/x/M/w out¦}e M¦};e M¦a;e M¦e\n#¦e\np;#¦\ne M\n#", "¦"),
		pieces: strings.Split("\n¦;¦ ¦}¦{¦#¦:a¦:a#¦ba#¦b a¦t¦ta;¦:¦[¦]¦[[===]]¦[[=e=]]¦[[.-.]]¦[[:a:]]¦[^]¦"+
			"[/]¦[]/]¦[\\]¦\\¦\\\n¦\\n¦\\/¦/¦/,/¦,¦|¦$¦1¦0,¦+¦~¦!¦!!¦&¦I¦M¦g¦p¦2¦\\cx¦\\x2f¦\\o57¦\\d47¦\\d010¦*¦^¦.¦a\\¦a ¦i\\\n¦c x¦#n\n¦'¦\"¦é¦\xff¦\\,¦s/¦y/¦s,¦q5¦l 3¦L¦v¦v 9¦F¦z¦\t¦\r¦=¦a#¦r in\n¦;y/a/b/¦#;y/a/b/¦=]]/", "¦"),
	})
}

func TestAwkPrograms(t *testing.T) {
	tryScripts(t, language{
		name: "awk", runners: [][]string{{"gawk"}, {"gawk", "--sandbox"}, {"gawk", "--posix"}, {"mawk"}, {"busybox", "awk"}},
		flags: [][]string{{}, {}, {"-F:"}, {"-F", "/"}, {"-v", "x=M"}},
		seeds: strings.Split("{print $1}¦NR>1¦$2 > 5 {print $1}¦/a/ {n++} END {print n/2}¦/a|b/¦{print $1 \"|\" $2}¦{if ($1 > 5) print}¦{print ($1 > 5)}¦{print ($1+$2)/2}¦{print n++ / 2}¦{s += $2} END {print s}¦"+
			"!seen[$0]++¦{c[$1]++} END {for (k in c) print k, c[k]}¦{gsub(/a/, \"b\"); print}¦BEGIN {for (i = 1; i < 3; i++) print i*i}¦{printf \"%s\\n\", $1}¦{x = $0; sub(/[ab\\/]/, \"c\", x); print x}¦function f(a) { return a / 2 } {print f($2)}¦"+
			"{print toupper($0), length, length($1)}¦{print \"system(\\\"M\\\")\"}¦/system\\(\"M\"\\)/¦{print 1,\n2}¦$1 ~ /a/ && $2 !~ /b/¦{a[1]=2; print a[1]/2, \"x\"}¦# system(\"M\")\n{print}¦{print $2/1}¦NR==1,NR==2¦"+
			"2*x/= #/ 1¦x/=2¦{print 4 /2/ 1}¦{ x = /a/ ? 1 : 2; print x }¦{ print /a/ }¦{ print length / 2 }¦{ print \"a\" > \"out\" }¦BEGIN { while ((getline l < \"secret\") > 0) print l }¦BEGIN { print NR }", "¦"),
		harmful: strings.Split("system(\"M\")¦; system(\"M\")¦\nsystem(\"M\")\n¦;system(\"M\");¦print | \"M\"¦| \"M\"¦\"M\" | getline¦print > \"out\"¦> \"out\"¦>> \"out\"¦>\"out\"¦getline < \"secret\"¦while ((getline l < \"secret\") > 0) print l¦ENVIRON[\"SECRET\"]¦print ENVIRON[\"SECRET\"]¦for (k in ENVIRON) print ENVIRON[k]¦ARGV[1]=\"secret\"¦@¦@f(\"M\")¦f=\"system\"", "¦"),
		pieces: strings.Split("BEGIN {¦{¦}¦(¦)¦[¦]¦/¦/= ¦/=¦ / ¦//¦\"¦\\\"¦\\¦\\\n¦\\/¦#¦\n¦;¦,¦|¦||¦|&¦>¦>=¦<¦ ¦$¦1¦2*x¦x¦NR¦print¦print ¦"+
			"printf¦if (x) ¦else ¦in ¦while (i++ < 2) ¦do ¦return ¦function g() {¦g()¦length¦length()¦sub(/a/,\"b\")¦~¦!¦!~¦&&¦?¦:¦++¦--¦+¦-¦=¦==¦+=¦^¦%¦/[/¦/[^/]/¦/]/¦[[:a:]]¦[]/]¦/a/¦/\"/¦\"/\"¦\"#\"¦/#/¦1e5¦0x1¦.5¦é¦\xff¦'¦\r¦\t¦print(1)(2) > \"out\"¦next¦delete x¦RS=\"\"¦FS=\"/\"¦case¦default:¦switch (x) {¦regex¦in x¦nextfile", "¦"),
	})
}
