package shell

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/assent-dev/assent/tool"
)

// An allow of a program that nobody describes says nothing about words that it does not have.
func TestAllowOfAnUndescribedProgram(t *testing.T) {
	b := newBench(t, Config{Rules: allow("frob", "frob push", "= frob pull x", "other *", "third go *")})
	b.all("allow", "frob", "frob push", "frob pull x", "other", "other -x --run sh", "third go", "third go -x")
	b.all("ask", "frob x", "frob -c sh", "frob push x", "frob push --exec=sh", "frob pull", "frob pull x y", "third", "third run", "FOO=1 frob", "frob $X", "./frob")
}

// Paths among words meet the roots and the rules about files, whatever allows the program.
func TestPathsOfAnUndescribedProgram(t *testing.T) {
	b := newBench(t, Config{Rules: allow("frob *")}, "deny read_file(/etc/shadow)", "deny read_file(**/.env)", "deny write_file(proj/README.md)")
	b.all("allow", "frob", "frob x y", "frob src/a.go", "frob --in=src/a.go", "frob -fsrc/a.go", "frob https://example.com", "frob https://example.com/etc/shadow", "frob --url=http://h/x,y", "frob a=b", "frob no/such/file", "frob -v --all 10:20")
	for _, word := range []string{
		"/etc/shadow", "--config=/etc/shadow", "-f/etc/shadow", "@/etc/shadow", "host:/etc/shadow", "user@host:/etc/shadow", "file:///etc/shadow", "--x=file:///etc/shadow", "file://localhost/etc/shadow", "php://filter/resource=/etc/shadow", "https://h,/etc/shadow", "key=/etc/shadow", "a,/etc/shadow", "--opt=key=/etc/shadow",
		"/etc/../etc/shadow", `'{"path": "/etc/shadow"}'`, "'cmd </etc/shadow'", "'(load \"/etc/shadow\")'", ".env", "--env=.env", "-f.env", "@.env", "./src/../.env",
	} {
		b.all("deny", "frob "+word, "frob x "+word+" y")
	}
	b.all("ask", "frob /etc/hosts", "frob --config=/etc/hosts", "frob -f../../x", "frob ../../x", "frob '~/.ssh/config'", "frob host:/etc/hosts", "frob ../home/.ssh/id_rsa", "frob --out=../x")
	b.all("person", "frob README.md", "frob --out=README.md", "frob -oREADME.md")
}

// The same holds for a program of the table that does more than the table says, and for a
// default that allows; what the table sees already is judged as before.
func TestPathsThatTheTableDoesNotSee(t *testing.T) {
	b := newBench(t, Config{Rules: allow("make", "npm test", "ls"), Default: Default{Approval: tool.WordAllow}}, "deny read_file(/etc/shadow)", "deny read_file(**/.env)")
	b.all("allow", "make", "make all", "npm test -- src/a.go", "ls src", "npm test -- --prefix=/no/such/folder", "nosuch src/a.go", "true /etc/shadow", "git commit -m 'about .env'", "git commit -m .env",
		"npm test -- 'what reads .env'")
	b.all("deny", "npm test -- /etc/shadow", "npm test -- --file=.env", "make X=/etc/shadow", "nosuch --in=/etc/shadow")
	p, err := b.propose("npm test -- src/a.go")
	if err != nil || p.Acts[0].Known {
		t.Errorf("a command with a file that nobody looked at is said to be known: %+v, %v", p.Acts, err)
	}
}

// What shows the environment, or a variable that looks like a secret, is not read-only.
func TestEnvironment(t *testing.T) {
	for name, cfg := range map[string]Config{"preset": {Readonly: true}, "effect": {Default: Default{ByEffect: true}}} {
		b := newBench(t, cfg)
		t.Log(name)
		b.all("ask",
			"env", "printenv", "printenv API_KEY", "set", "export", "export -p", "declare", "declare -p", "declare -x", "typeset -p", "readonly -p", "declare -p API_KEY", "command export -p", "builtin set",
			"jq -n env", "jq -n '$ENV.PATH'", "jq -n '\"\\(env)\"'", "env | sort", "set | head -3",
			"echo $API_KEY", `echo "${API_KEY}"`, "echo ${API_KEY:0:4}", "echo ${API_KEY:-none}", "echo x${GITHUB_TOKEN}y", "printf %s $DB_PASSWORD", "cat <<< $AWS_SECRET_ACCESS_KEY", "cat <<E\n$API_KEY\nE", "echo $OPENAI_KEY",
			"x=$API_KEY; echo $x", "for k in $API_KEY; do echo $k; done", "bash -c 'echo $API_KEY'", "eval 'echo $API_KEY'", "echo $(echo $API_KEY)", "false && API_KEY=1; echo $API_KEY", "API_KEY=$API_KEY; echo $API_KEY",
			"f() { echo $API_KEY; }; f", "echo ${API_KEY@Q}", "echo ${API_KEY//a/b}", "grep -c x <<< \"$API_KEY\"", "basename $API_KEY")
		b.all("allow",
			"echo $HOME", "echo $PATH", "[ -n \"$API_KEY\" ] && echo set", "[[ -z $API_KEY ]] || echo set", "test -n \"$API_KEY\"", "echo ${API_KEY:+set}", "echo ${#API_KEY}", ": $API_KEY", "API_KEY=1; echo $API_KEY",
			"echo '$API_KEY'", "set -e; ls", "set -- a b; ls", "declare -f", "for token in a b; do echo $token; done", "jq .env README.md")
	}
	b := newBench(t, Config{Default: Default{ByEffect: true}})
	b.all("ask", "awk 'BEGIN {print ENVIRON[\"X\"]}'", "ps auxe", "ps e")
	b.all("allow", "printenv PATH", "ps aux", "ps -o pid,etime", "awk '{print $1}' README.md")
}

// unhardened is the tool as a hook makes it: nobody hardens the git of another agent.
func (b *bench) unhardened() *bench {
	other := *b
	judging := *b.tool
	judging.opts.Run = nil
	other.tool = &judging
	var err error
	if other.set, err = tool.NewSet(other.tool); err != nil {
		b.t.Fatal(err)
	}
	return &other
}

// Where no hardened git runs, a command is judged without it.
func TestGitOfAnotherAgent(t *testing.T) {
	own := newBench(t, Config{Readonly: true})
	hook := own.unhardened()
	commands := []string{"git status", "git diff", "git log -p", "git show", "git -c color.ui=false status", "git --literal-pathspecs diff"}
	own.all("allow", commands...)
	hook.all("allow", commands...)
	config := filepath.Join(own.dir, ".git/config")
	plain, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	for _, setting := range []string{
		"[remote \"o\"]\nurl = .\npromisor = true\nuploadpack = ./x\n", "[extensions]\npartialClone = o\n", "[Remote \"O\"]\nPromisor\n",
	} {
		own.write(config, string(plain)+setting)
		own.all("allow", commands...)
		hook.all("ask", commands...)
	}
	for _, setting := range []string{"[core]\nfsmonitor = ./x\n", "[diff]\nexternal = ./x\n", "[filter \"x\"]\nclean = ./x\n"} {
		own.write(config, string(plain)+setting)
		own.all("ask", "git diff")
		hook.all("ask", "git diff")
	}
	own.write(config, string(plain))
	own.git("init", "-q", "m")
	own.git("-c", "user.name=a", "-c", "user.email=b", "-C", "m", "commit", "-q", "--allow-empty", "-m", "x")
	own.git("-c", "advice.addEmbeddedRepo=false", "add", "m")
	own.all("allow", commands...)
	hook.all("ask", "git status", "git diff")
	own.all("ask", "git log --alternate-refs", "git rev-list --alternate-refs --all")
}

// A repository that lies elsewhere, or borrows from elsewhere, is judged by where that is.
func TestGitLeavesTheRoots(t *testing.T) {
	for name, change := range map[string]func(b *bench, git, outside string){
		"a .git file": func(b *bench, git, outside string) {
			rename(b, git, outside)
			b.write(git, "gitdir: "+outside+"\n")
		},
		"a relative .git file": func(b *bench, git, outside string) {
			rename(b, git, outside)
			b.write(git, "gitdir: ../outside\n")
		},
		"commondir": func(b *bench, git, outside string) {
			b.copy(git, outside)
			b.write(git+"/commondir", "../../outside\n")
		},
		"core.worktree": func(b *bench, git, outside string) { b.git("config", "core.worktree", "../../home") },
		"alternates":    func(b *bench, git, outside string) { b.write(git+"/objects/info/alternates", outside+"/objects\n") },
		"relative alternates": func(b *bench, git, outside string) {
			b.write(git+"/objects/info/alternates", "../../../outside/objects\n")
		},
		"alternates of alternates": func(b *bench, git, outside string) {
			b.write(git+"/inside/info/alternates", outside+"\n")
			b.write(git+"/objects/info/alternates", "../inside\n")
		},
		"quoted alternates": func(b *bench, git, outside string) { b.write(git+"/objects/info/alternates", "\"\\057etc\"\n") },
		"a link":            func(b *bench, git, outside string) { rename(b, git, outside); link(b, outside, git) },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, Config{Readonly: true})
			b.all("allow", "git status", "git log")
			git := filepath.Join(b.dir, ".git")
			change(b, git, filepath.Join(filepath.Dir(b.dir), "outside"))
			b.all("ask", "git status", "git log", "git -c color.ui=false diff")
			b.unhardened().all("ask", "git status", "git log")
		})
	}
	b := newBench(t, Config{Readonly: true})
	git := filepath.Join(b.dir, ".git")
	rename(b, git, filepath.Join(b.dir, "moved"))
	b.write(git, "gitdir: moved\n")
	b.write(filepath.Join(b.dir, "moved/objects/info/alternates"), "# none\n../../src\n")
	b.all("allow", "git status", "git log")
}

func rename(b *bench, from, to string) {
	b.t.Helper()
	if err := os.Rename(from, to); err != nil {
		b.t.Fatal(err)
	}
}

func link(b *bench, to, at string) {
	b.t.Helper()
	if err := os.Symlink(to, at); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) copy(from, to string) {
	b.t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		b.t.Fatal(err)
	}
}
