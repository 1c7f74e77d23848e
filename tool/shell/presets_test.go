package shell

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// presetConfig is a config that names presets.
func presetConfig(names ...string) (c Config) {
	for _, name := range names {
		rules, _ := PresetRules(name, "policy.yaml:7")
		c.Rules = append(c.Rules, rules...)
		c.Readonly = c.Readonly || name == ReadonlyPreset
	}
	return c
}

// A preset allows commands, and not what they do to files and hosts.
func TestPresets(t *testing.T) {
	b := newBench(t, presetConfig("git"))
	b.all("allow", "git add src", "git commit -m x", "git branch x", "git tag v1", "git tag -a v1 -m x", "git branch -m y", "git reset HEAD", "git restore --staged src/a.go")
	b.all("ask", "git reset --hard", "git reset -q --hard HEAD", "git clean -f", "git checkout -- src/a.go", "git checkout src/a.go",
		"git stash drop", "git stash", "git branch -D x", "git branch -d x", "git tag -d v1", "git tag -f v1", "git branch -f x", "git branch -M y", "git commit -n -m x", "git commit -S -m x",
		"git rm src/a.go", "git restore src/a.go", "git restore --staged --worktree src/a.go", "git restore -SW src/a.go", "git rebase -x ./run.sh main",
		"git -c core.pager=./run.sh commit", "git mv src/a.go src/c.go", "git commit $X", "go test ./...", "ls")

	b = newBench(t, presetConfig("go"))
	b.all("allow", "go build ./...", "go test -run X ./src", "go vet ./...", "GOOS=linux go build ./...", "timeout 5 go test ./...")
	b.all("ask", "go run .", "go generate ./...", "go test -exec ./run.sh ./...", "go build -toolexec ./run.sh", "go build -o out .", "cd /tmp && go test", "FOO=1 go test", "go env -w X=1")

	b = newBench(t, presetConfig("node", "python", "rust", "make"))
	b.all("allow", "npm test", "npm run build", "npx tsc --noEmit", "pytest -q", "python3 -m pytest", "mypy src", "cargo test", "make", "make -j4 lint")
	b.all("ask", "npx other", "node -e 1", "python3 x.py", "python3 -c 1", "python3 -m http.server", "cargo run", "make > out", "make -f /etc/x")

	b.all("deny", "git push", "git pull", "git fetch", "npm publish", "npm ci", "pip install x", "cargo publish") // the network is off
	cfg := presetConfig("git", "readonly")
	cfg.Rules = append(cfg.Rules, deny("git commit")...)
	b = newBench(t, cfg)
	b.all("deny", "git commit -m x")
	cfg.Rules = append(said("ask", "git add"), presetConfig("git").Rules...)
	b = newBench(t, cfg)
	b.all("ask", "git add src")
	b.write(b.dir+"/.git/hooks/pre-commit", "#!/bin/sh\n")
	b.all("ask", "git commit -m x")

	for _, p := range presetList {
		if rules, ok := PresetRules(p.Name, "x:1"); !ok || len(rules) != len(p.Allow) {
			t.Errorf("%s: %d rules", p.Name, len(rules))
		}
	}
	if _, ok := PresetRules("none", "x:1"); ok {
		t.Error("there is no preset none")
	}
}

// The documentation lists each preset as it is.
func TestPresetsAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/config.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range presetList {
		if want := documented(p); !strings.Contains(string(text), want) {
			t.Errorf("docs/config.md does not describe the preset %s as it is; it must say:\n%s", p.Name, want)
		}
	}
}

func documented(p preset) string {
	var b strings.Builder
	fmt.Fprintf(&b, "### `%s`\n\n%s", p.Name, p.About)
	if p.RunsCode {
		b.WriteString(" It runs code of the project.")
	}
	fmt.Fprintf(&b, "\n\n- allows `%s`\n", strings.Join(p.Allow, "`, `"))
	if len(p.Except) > 0 {
		fmt.Fprintf(&b, "- asks for `%s`\n", strings.Join(p.Except, "`, `"))
	}
	return b.String()
}

// go list asks git, so that what a repository makes git run is asked about.
func TestGoListAsksGit(t *testing.T) {
	b := newBench(t, Config{Readonly: true})
	b.tool.opts.Sandbox = fakeSandbox{}
	b.all("allow", "go list ./...", "go list -m all", "go env", "go version")
	b.git("config", "core.fsmonitor", "./run.sh")
	b.all("ask", "go list -export ./...", "go list -toolexec ./run.sh .", "go env -w GOFLAGS=x", "go list /etc/...")
	b.tool.opts.Run = nil // as a hook judges it: no hardened git runs
	b.all("ask", "go list ./...")
	b.all("allow", "go list -m all")
}
