package shell

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/assent-dev/assent/internal/rounds"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/roots"
	"github.com/assent-dev/assent/tool/shell/analysis"
	"github.com/assent-dev/assent/tool/shell/runner/shim"
	"github.com/assent-dev/assent/tool/shell/system"
)

// hostileTemplate makes a repository with a submodule, a merge and a signed commit, which
// gitTricks then change. SPY leaves a trace when it is started.
const hostileTemplate = `set -e
git init -q -b main .; echo one > file; echo 'b one' > other; git add .; git commit -qm first
git init -q -b main m; echo one > m/file; git -C m add .; git -C m commit -qm one
git -c advice.addEmbeddedRepo=false add m; git commit -qm module
git checkout -qb side; echo side > file; git commit -qam side; git checkout -q main; echo main > file; git commit -qam main
git merge -q side -m merged || { echo both > file; git commit -qam merged; }
{ git cat-file commit HEAD | sed '/^$/q' | sed '$d'; printf 'gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\nsigned\n'; } > ../commit
git reset -q --soft $(git hash-object -t commit -w ../commit)
echo changed > file; echo changed > m/file`

// gitSettings are what a repository may say; some of them only in company.
var gitSettings = strings.Split("core.fsmonitor=SPY¦core.fsmonitor=SPY¦CORE.FsMonitor=SPY¦core.pager=SPY¦core.editor=SPY¦core.sshCommand=SPY¦core.askPass=SPY¦core.gitProxy=SPY¦core.hooksPath=HOOKS¦core.hooksPath=../hooks¦core.alternateRefsCommand=SPY¦"+
	"core.worktree=../elsewhere¦core.worktree=..¦core.attributesFile=ATTRIBUTES¦core.bare=true¦core.untrackedCache=true¦core.fsmonitor=true¦diff.external=SPY¦diff.x.textconv=SPY¦diff.x.command=SPY¦diff.x.cachetextconv=true¦"+
	"filter.x.clean=SPY¦filter.x.smudge=SPY¦filter.x.process=SPY /dev/null¦filter.x.required=true¦filter.a=b.clean=SPY¦merge.x.driver=SPY¦merge.default=x¦gpg.program=SPY¦gpg.openpgp.program=SPY¦gpg.ssh.program=SPY¦gpg.format=ssh¦"+
	"log.showSignature=true¦format.pretty=%G?¦pretty.short=%G?¦pretty.mine=format:%GG¦log.diffMerges=remerge¦log.decorate=full¦alias.st=!SPY¦alias.status=!SPY¦alias.lg=log --ext-diff¦credential.helper=SPY¦sequence.editor=SPY¦"+
	"interactive.diffFilter=SPY¦pager.status=SPY¦pager.log=SPY¦difftool.x.cmd=SPY¦diff.tool=x¦man.viewer=x¦man.x.cmd=SPY¦help.format=man¦tar.x.command=SPY¦tar.tar.gz.command=SPY¦uploadpack.packObjectsHook=SPY¦remote.origin.url=.¦"+
	"remote.origin.url=ext::SPY¦remote.origin.uploadpack=SPY¦remote.origin.vcs=x¦remote.origin.promisor=true¦remote.origin.partialclonefilter=blob:none¦extensions.partialClone=origin¦core.repositoryformatversion=1¦protocol.ext.allow=always¦"+
	"url.ext::SPY.insteadOf=.¦submodule.m.update=!SPY¦submodule.recurse=true¦submodule.m.ignore=none¦submodule.m.active=true¦diff.submodule=diff¦diff.submodule=log¦status.submoduleSummary=true¦diff.ignoreSubmodules=none¦trailer.x.command=SPY¦"+
	"gc.recentObjectsHook=SPY¦maintenance.auto=true¦commit.gpgSign=true¦diff.autoRefreshIndex=true¦index.version=4¦feature.manyFiles=true¦extensions.worktreeConfig=true¦blame.ignoreRevsFile=SPY¦grep.fallbackToNoIndex=true", "¦")

// gitTricks are what else may be in a repository; they run in it.
var gitTricks = []string{
	"mkdir -p .git/hooks; for h in post-index-change pre-commit post-checkout reference-transaction pre-auto-gc fsmonitor-watchman post-rewrite; do cp SPY .git/hooks/$h; done",
	"mkdir -p ../hooks; cp SPY ../hooks/post-index-change; cp SPY ../hooks/reference-transaction",
	"echo '* filter=x diff=x merge=x' > .gitattributes", "mkdir -p .git/info; echo '* filter=x diff=x merge=x' > .git/info/attributes", "echo '* filter=x diff=x merge=x' > m/.gitattributes",
	"touch -d '1 hour ago' file other", "echo more >> file; git add file", "cp file new", "rm other",
	"h=$(git rev-parse HEAD:file); rm -f .git/objects/${h%${h#??}}/${h#??}", "h=$(git rev-parse HEAD:other); rm -f .git/objects/${h%${h#??}}/${h#??}",
	"git rev-parse HEAD | tr a-f A-F > .git/HEAD", "{ cat .git/HEAD; head -c 70000 /dev/zero | tr '\\0' '\\n'; } > .git/H; mv .git/H .git/HEAD",
	"mv .git ../moved; echo 'gitdir: ../moved' > .git", "mv .git hidden; ln -s hidden .git", "cp -r .git ../moved; echo ../../moved > .git/commondir",
	"mkdir -p ../alternate; cp -r .git ../alternate; mkdir -p .git/objects/info; echo ../../../alternate/.git/objects > .git/objects/info/alternates",
	"printf '[core]\\nfsmonitor = SPY\\n' > m/.git/more; printf '[include]\\npath = more\\n' >> m/.git/config", "git -C m config core.fsmonitor SPY", "git -C m config diff.external SPY", "git -C m config filter.x.clean SPY",
	"printf '[core]\\nfsmonitor = SPY\\n[diff]\\nexternal = SPY\\n' > .git/config.worktree; git config extensions.worktreeConfig true", "printf '[core]\\nfsmonitor = SPY\\n' > evil; git config include.path ../evil",
	"printf '[core]\\nfsmonitor = SPY\\n' > evil; git config includeIf.gitdir:/.path ../evil", "printf '[submodule \"m\"]\\npath = m\\nurl = ./m\\nupdate = !SPY\\nignore = none\\n' > .gitmodules",
	"mkdir -p sub && cp -r .git/. sub && git -C sub config core.fsmonitor SPY", "git update-index --split-index", "git update-index --index-version 4", "git -C m checkout -q --detach; echo x > m/file; git -C m commit -qam x",
}

// gitCommands are what people run; some of them are never free.
var gitCommands = strings.Split("git status¦git status --short¦git status -sb¦git status --porcelain=v2 -uall¦git status -v¦git status -vv¦git status --ignored¦git diff¦git diff --stat¦git diff --cached¦git diff HEAD~1¦git diff HEAD -- file¦git diff --word-diff¦git diff main...side¦git diff --raw m¦"+
	"git log¦git log --oneline -5¦git log -p -2¦git log --stat¦git log --graph --all¦git log --format=%G?¦git log --format=mine¦git log --pretty=short¦git log -Sone¦git log --follow -p -- file¦git log -m -p -1¦git log --alternate-refs¦git log --show-signature -1¦git log --remerge-diff -1¦"+
	"git show¦git show HEAD:file¦git show --stat¦git show HEAD~1 -p¦git show main:m¦git -c color.ui=false status¦git -c core.pager=cat log -p -1¦git -c status.submoduleSummary=true status¦git -c diff.submodule=log diff¦git --literal-pathspecs status¦git --no-replace-objects show -p¦git --namespace=x status¦"+
	"git --glob-pathspecs diff¦git --no-pager diff¦git -P log -p -1¦git -C . status¦git -C m status¦git -C m diff¦git -C sub status¦cd m && git log -p -1¦cd sub && git status¦git --no-optional-locks status¦git --bare log¦git -p log¦git --exec-path¦git --version¦git rev-parse HEAD¦git rev-parse --show-toplevel¦"+
	"git ls-files¦git ls-files -m¦git ls-files --others --exclude-standard¦git ls-tree -r HEAD¦git blame file¦git grep one¦git grep one HEAD¦git grep --recurse-submodules one¦git cat-file -p HEAD:file¦git cat-file --textconv HEAD:file¦git cat-file --filters HEAD:file¦git cat-file -t HEAD¦git describe --always --dirty¦"+
	"git describe --always¦git shortlog -sn HEAD¦git reflog¦git reflog show -p¦git for-each-ref¦git for-each-ref '--format=%(signature)'¦git branch¦git branch -a -vv¦git branch --show-current¦git tag¦git tag -l -n¦git tag -v x¦git remote -v¦git remote show origin¦git stash list¦git stash show -p¦git config -l¦git config --get user.name¦"+
	"git count-objects -v¦git name-rev HEAD¦git merge-base main side¦git rev-list --count HEAD¦git rev-list --alternate-refs --all¦git diff-tree -p HEAD~1 HEAD¦git diff-index HEAD¦git diff-files -p¦git whatchanged -p -1¦git submodule status¦git submodule¦git worktree list¦git check-ignore file¦git check-attr -a file¦git var GIT_EDITOR¦"+
	"git st¦git lg¦git ls-remote .¦git ls-remote origin¦git verify-commit HEAD¦git show-ref¦git show-branch¦git range-diff HEAD~1...HEAD¦git cherry main side¦git archive HEAD¦git fsck¦git symbolic-ref HEAD¦git hash-object file¦git format-patch --stdout -1¦git difftool -y¦git help log¦git status --help¦git version", "¦")

// A hostile is a worker with a repository of its own.
type hostile struct {
	t                        *testing.T
	base, dir, spy, template string
	env                      []string
	tools                    map[string]*bench
}

func newHostile(t *testing.T) *hostile {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	h := &hostile{t: t, base: base, dir: base + "/proj", spy: base + "/spy", template: base + "/template"}
	h.env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + base + "/home", "LANG=C.UTF-8", "TERM=dumb"}
	write := func(name, text string, mode os.FileMode) {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	write(h.spy, "#!/bin/sh\necho \"$0 $*\" >> "+base+"/trace\ncat \"$1\" 2> /dev/null || cat\n", 0o700)
	write(base+"/home/.gitconfig", "[user]\nname = A\nemail = a@example.com\n[protocol \"file\"]\nallow = always\n", 0o600)
	write(base+"/attributes", "* filter=x diff=x merge=x\n", 0o600)
	for _, dir := range []string{h.template, h.dir, base + "/elsewhere"} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := h.run(h.template, hostileTemplate, ""); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	h.tools = map[string]*bench{}
	for name, cfg := range map[string]Config{"preset": {Readonly: true}, "effect": {Default: Default{ByEffect: true}}} {
		h.tools[name+" of a hook"], h.tools[name] = h.bench(cfg, false), h.bench(cfg, true)
	}
	return h
}

// bench is the tool in front of the repository: one that runs commands hardens git, one that
// only judges does not.
func (h *hostile) bench(cfg Config, runs bool) *bench {
	set, err := roots.New(roots.Options{Home: h.base + "/home"}, roots.Root{Name: "proj", Host: h.dir, Mode: roots.ModeReadWrite,
		Approval: map[roots.Access]policy.Verdict{roots.AccessRead: policy.VerdictFree, roots.AccessWrite: policy.VerdictAsk, roots.AccessDelete: policy.VerdictAsk}})
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { set.Close() })
	opts := Options{World: func(dir string) analysis.World { return system.New(dir, h.env) }}
	if runs {
		opts.Run = func(context.Context, Command) (Result, error) { return Result{}, nil }
	}
	cfg.Cwd = "proj"
	b := &bench{t: h.t, dir: h.dir, rules: compile(h.t, nil)}
	if b.tool, err = New(cfg, set, opts); err != nil {
		h.t.Fatal(err)
	}
	if b.set, err = tool.NewSet(b.tool); err != nil {
		h.t.Fatal(err)
	}
	return b
}

// run hands a text to sh, with a folder first in PATH if one is given.
func (h *hostile) run(dir, text, first string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(h.t.Context(), 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", text)
	cmd.Dir, cmd.Env = dir, h.env
	cmd.WaitDelay = time.Second
	if first != "" {
		cmd.Env = append([]string{"PATH=" + first + ":/usr/local/bin:/usr/bin:/bin"}, h.env[1:]...)
	}
	return cmd.CombinedOutput()
}

// traced returns which programs were started since it was last asked.
func (h *hostile) traced() string {
	text, _ := os.ReadFile(h.base + "/trace")
	_ = os.Remove(h.base + "/trace")
	return string(text)
}

func (h *hostile) fill(text string) string {
	return strings.NewReplacer("SPY", h.spy, "HOOKS", h.base+"/hooks", "ATTRIBUTES", h.base+"/attributes").Replace(text)
}

// prepare makes the repository anew, with some of the tricks and settings.
func (h *hostile) prepare(r *rand.Rand) (made []string) {
	text := "rm -rf ../proj/* ../proj/.g* ../moved ../alternate ../hooks; cp -a ../template/. .\n"
	for range r.IntN(3) {
		trick := gitTricks[r.IntN(len(gitTricks))]
		made = append(made, trick)
		text += h.fill(trick) + "\n"
	}
	for n := range r.IntN(4) {
		setting := gitSettings[r.IntN(len(gitSettings))]
		made = append(made, setting)
		key, value, _ := strings.Cut(h.fill(setting), "=")
		where := ""
		if n == 0 && r.IntN(6) == 0 {
			where, made = "-C m ", append(made, "(in the submodule)")
		}
		text += fmt.Sprintf("git %sconfig --add '%s' '%s'\n", where, key, value)
	}
	_, _ = h.run(h.dir, text, "") // some do not go together
	return made
}

// try judges a command in every way, and runs it where it is free.
func (h *hostile) try(command, shims string, count func(free bool)) string {
	for name, b := range h.tools {
		free := b.judge(command) == "allow"
		count(free)
		if !free {
			continue
		}
		first := ""
		if b.tool.opts.Run != nil {
			first = shims
		}
		h.traced()
		out, _ := h.run(h.dir, command, first)
		if started := h.traced(); started != "" {
			return fmt.Sprintf("%s: %s is free and starts %q\n%s", name, command, started, out)
		}
	}
	return ""
}

// TestHostileRepositories runs what is free in repositories that want to start a program: in
// the way of the tool, with the hardened git, and as another agent would. Without
// ASSENT_FUZZ_TIME it tries the same repositories each time.
func TestHostileRepositories(t *testing.T) {
	deadline, most, seed := time.Time{}, 15, uint64(1)
	if s := os.Getenv("ASSENT_FUZZ_TIME"); s != "" {
		duration, err := time.ParseDuration(s)
		if err != nil {
			t.Fatal(err)
		}
		deadline, seed = time.Now().Add(duration), rounds.Seed()
	}
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	repositories, judged, ran := 0, 0, 0
	count := func(free bool) {
		mu.Lock()
		defer mu.Unlock()
		judged++
		if free {
			ran++
		}
	}
	var group sync.WaitGroup
	for worker := range 2 {
		h := newHostile(t)
		shims, err := shim.Install(h.base+"/state", bash, git)
		if err != nil {
			t.Fatal(err)
		}
		group.Go(func() {
			r := rand.New(rand.NewPCG(seed, uint64(worker)))
			for i := 0; (deadline.IsZero() && i < most || time.Now().Before(deadline)) && !t.Failed(); i++ {
				made := h.prepare(r)
				mu.Lock()
				repositories++
				mu.Unlock()
				for range 8 {
					command := gitCommands[r.IntN(len(gitCommands))]
					if what := h.try(command, shims, count); what != "" {
						t.Errorf("%s\nthe repository has: %s", what, strings.Join(made, "\n\t"))
						break
					}
				}
			}
		})
	}
	group.Wait()
	t.Logf("seed %d: %d repositories, %d judgements, %d free commands run", seed, repositories, judged, ran)
	if ran < 50 {
		t.Error("hardly any command was free: the test tests nothing")
	}
}
