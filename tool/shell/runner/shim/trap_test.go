package shim_test

import (
	"fmt"
	"io"
	"os/exec"
	"strings"
	"testing"

	"github.com/creack/pty"
)

// traps are settings of a repository that start a program when git only reads. SPY is
// the program.
var traps = map[string]struct {
	settings string // git config lines, `key value`
	files    map[string]string
	prepare  string // commands for bash
	commands []string
	fails    bool // what it wants cannot be had without the program
}{
	"a file system monitor": {
		settings: "core.fsmonitor SPY",
		commands: []string{"git status", "git diff", "git --no-pager status", "git -C . status", "cd sub && git -C .. status --short", "git -P diff --stat"},
		prepare:  "mkdir sub",
	},
	"a clean filter": {
		settings: "filter.x.clean SPY\nfilter.x.required true",
		files:    map[string]string{".gitattributes": "* filter=x", "file": "two\n"},
		commands: []string{"git status", "git diff", "git diff --stat HEAD"},
	},
	"a filter with a name of many words": {
		settings: `"filter.a b 'c' \"d\".clean" SPY`,
		prepare:  `printf '* filter=x\n' > .gitattributes; git config filter.x.clean SPY; echo two > file`,
		commands: []string{"git status", "git diff"},
	},
	"a filter process": {
		settings: "filter.x.process 'SPY /dev/null'\nfilter.x.required true",
		files:    map[string]string{".gitattributes": "* filter=x", "file": "two\n"},
		commands: []string{"git diff"},
	},
	"a text converter": {
		settings: "diff.x.textconv SPY",
		files:    map[string]string{".gitattributes": "* diff=x", "file": "two\n"},
		commands: []string{"git diff", "git log -p", "git show", "git log -Sone", "git show --stat -p HEAD", "git diff --no-index file other; true"},
	},
	"an external diff": {
		settings: "diff.external SPY",
		files:    map[string]string{"file": "two\n"},
		commands: []string{"git diff", "git diff HEAD -- file"},
	},
	"a diff driver": {
		settings: "diff.x.command SPY",
		files:    map[string]string{".gitattributes": "* diff=x", "file": "two\n"},
		commands: []string{"git diff"},
	},
	"a program for signatures": {
		settings: "gpg.program SPY\nlog.showSignature true",
		prepare:  signed("PGP SIGNATURE"),
		commands: []string{"git log", "git show", "git log --format=%G?", "git log --show-signature"},
	},
	"a program for signatures by a format": {
		settings: "gpg.program SPY\nformat.pretty %G?",
		prepare:  signed("PGP SIGNATURE"),
		commands: []string{"git log", "git show"},
	},
	"a program for certificates": {
		settings: "gpg.x509.program SPY",
		prepare:  signed("SIGNED MESSAGE"),
		commands: []string{"git log --format=%G?"},
	},
	"a program for keys": {
		settings: "gpg.ssh.program SPY\ngpg.ssh.allowedSignersFile /dev/null",
		prepare:  signed("SSH SIGNATURE"),
		commands: []string{"git log --format=%G?"},
	},
	"a hook for the index": {
		settings: "core.hooksPath HOOKS",
		prepare:  "mkdir ../hooks; cp SPY ../hooks/post-index-change; touch -d '1 hour ago' file",
		commands: []string{"git status", "git diff"},
	},
	"a monitor in a submodule": {
		prepare:  submodule + "git -C m config core.fsmonitor SPY; echo two > m/file",
		commands: []string{"git status", "git diff", "git status --short"},
	},
	"a monitor in a submodule behind global options": {
		prepare: submodule + "git -C m config core.fsmonitor SPY; echo two > m/file",
		commands: []string{"git -c color.ui=false status", "git --literal-pathspecs status", "git --no-replace-objects diff", "git --namespace=x status",
			"git --namespace x -c advice.statusHints=false -C . diff --stat", "git --icase-pathspecs --no-pager status --short", "git -c status.submoduleSummary=true status"},
	},
	"objects that are elsewhere behind global options": {
		settings: "core.repositoryformatversion 1\nextensions.partialClone origin\nremote.origin.promisor true\nremote.origin.url .\nremote.origin.uploadpack 'SPY /dev/null'",
		prepare:  `h=$(git rev-parse HEAD:file); rm -f .git/objects/${h:0:2}/${h:2}`,
		commands: []string{"git -c color.ui=false show", "git --glob-pathspecs log -p", "git --no-replace-objects show", "git --noglob-pathspecs show HEAD:file"},
		fails:    true,
	},
	"a filter in a submodule": {
		prepare:  submodule + "git -C m config filter.x.clean SPY; echo '* filter=x' > m/.gitattributes; echo two > m/file",
		commands: []string{"git status", "git diff"},
	},
	"a text converter in a submodule": {
		settings: "diff.submodule diff",
		prepare:  submodule + "git -C m config diff.x.textconv SPY; echo '* diff=x' > m/.gitattributes; echo two > m/file; git -C m commit -qam two",
		commands: []string{"git diff"},
	},
	"a merge driver": {
		settings: "merge.x.driver SPY\nlog.diffMerges remerge",
		prepare: "echo '* merge=x' > .gitattributes; git add .; git commit -qm x; git checkout -qb side; echo side > file; git commit -qam side; " +
			"git checkout -q main; echo main > file; git commit -qam main; git -c merge.x.driver=true merge -q side -m merged; rm -f LOGFILE",
		commands: []string{"git show --remerge-diff", "git log -p -m"},
	},
	"objects that are elsewhere": {
		settings: "core.repositoryformatversion 1\nextensions.partialClone origin\nremote.origin.promisor true\nremote.origin.url .\nremote.origin.uploadpack 'SPY /dev/null'",
		prepare:  `h=$(git rev-parse HEAD:file); rm -f .git/objects/${h:0:2}/${h:2}`,
		commands: []string{"git show", "git log -p"},
		fails:    true,
	},
	"objects behind a program": {
		settings: "core.repositoryformatversion 1\nextensions.partialClone origin\nremote.origin.promisor true\nremote.origin.url 'ext::SPY /dev/null'\nprotocol.ext.allow always",
		prepare:  `h=$(git rev-parse HEAD:file); rm -f .git/objects/${h:0:2}/${h:2}`,
		commands: []string{"git show", "git log -p"},
		fails:    true,
	},
	"a variable": {
		files:    map[string]string{"file": "two\n"},
		commands: []string{"export GIT_EXTERNAL_DIFF=SPY; git diff", "export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.fsmonitor GIT_CONFIG_VALUE_0=SPY; git status", "export GIT_TRACE=LOGFILE; git status"},
	},
}

const submodule = "git init -q -b main m; echo one > m/file; git -C m add .; git -C m commit -qm one; git -c advice.addEmbeddedRepo=false add m; git commit -qm module; "

// signed makes a commit with a signature that only its program could judge.
func signed(kind string) string {
	return `{ git cat-file commit HEAD | sed '/^$/q' | sed '$d'; printf 'gpgsig -----BEGIN ` + kind + `-----\n \n x\n -----END ` + kind +
		`-----\n\nsigned\n'; } > ../commit; git reset -q --soft $(git hash-object -t commit -w ../commit)`
}

func (l *lab) fill(text string) string {
	return strings.NewReplacer("SPY", l.spy, "HOOKS", l.base+"/hooks", "LOGFILE", l.trace).Replace(text)
}

// Each trap closes on plain git, and not on ours.
func TestTraps(t *testing.T) {
	for name, trap := range traps {
		for i, text := range trap.commands {
			t.Run(fmt.Sprint(name, i), func(t *testing.T) {
				t.Parallel()
				l := newLab(t)
				l.prepare(l.fill(trap.prepare) + "\n:")
				for line := range strings.Lines(trap.settings) {
					l.prepare("git config " + l.fill(strings.TrimSpace(line)))
				}
				for file, content := range trap.files {
					l.write(file, content)
				}
				l.traced()
				r := l.hardened(l.fill(text))
				if started := l.traced(); started != "" || (r.ExitCode == 0) == trap.fails {
					t.Errorf("%s: hardened, it started %q, exit code %d: %s", text, started, r.ExitCode, r.Stderr.Text)
				}
				r = l.run(l.env, l.fill(text))
				if l.traced() == "" {
					t.Errorf("%s: plain git does not start it, exit code %d: %s%s", text, r.ExitCode, r.Stdout.Text, r.Stderr.Text)
				}
			})
		}
	}
}

// A pager is only started for a terminal, which a command never has; with the shim it
// does not start there either.
func TestPager(t *testing.T) {
	l := newLab(t)
	l.prepare("git config core.pager " + l.spy)
	for path, want := range map[string]bool{l.shim + "/git": false, "git": true} {
		cmd := exec.Command(path, "log")
		cmd.Dir, cmd.Env = l.dir, []string{"HOME=" + l.base + "/home", "PATH=/usr/bin:/bin", "TERM=xterm"}
		terminal, err := pty.Start(cmd)
		must(t, err)
		_, _ = io.Copy(io.Discard, terminal) // until the other side is closed
		must(t, cmd.Wait())
		terminal.Close()
		if got := l.traced() != ""; got != want {
			t.Errorf("%s starts a pager: %v", path, got)
		}
	}
}
