package shell

import (
	"slices"

	"github.com/assent-dev/assent/tool"
)

// A preset is a list of rules with a name. It allows commands themselves: the files that they
// change, the hosts that they talk to and the secrets that they read keep their own word, and
// a deny holds.
type preset struct {
	Name string
	// About says what it is for, in a sentence.
	About string
	// RunsCode says that its programs run code of the project or of its packages.
	RunsCode bool
	// Allow are patterns of commands.
	Allow []string
	// Except are patterns of commands that ask all the same.
	Except []string
}

// presetList are those that config may name besides readonly. That one is not a list of commands: it
// covers whatever the table of programs says to only read.
var presetList = []preset{
	{
		Name: "git",
		About: "Local work with git. What throws work away asks, and so does what publishes it. `git fetch` is " +
			"allowed as a command, because the host that it talks to is asked or allowed as what it is; `git pull` " +
			"asks, because it also merges what others wrote. Hooks and filters of the repository ask.",
		Allow: []string{
			"git add", "git commit", "git mv", "git stash", "git switch", "git checkout -b",
			"git restore --staged", "git merge",
			"git rebase", "git cherry-pick", "git revert", "git reset", "git branch", "git tag", "git fetch",
		},
		Except: []string{
			"git commit --no-verify", "git stash drop", "git stash clear", "git switch --discard-changes",
			"git switch -C", "git checkout --force", "git checkout -B", "git restore --worktree", "git reset --hard",
			"git reset --merge", "git reset --keep", "git branch --delete", "git branch --force", "git tag --delete",
			"git tag --force", "git merge --no-verify", "git rebase --no-verify", "git fetch --force",
			"git fetch --update-head-ok", "git fetch --prune", "git fetch --refmap",
		},
	},
	{
		Name: "go", RunsCode: true,
		About: "Builds and tests of a Go module. `go run`, `go generate`, `go get` and `go install` ask.",
		Allow: []string{
			"go build", "go test", "go vet", "go fmt", "go doc", "go list", "go mod tidy", "go mod download",
			"go mod graph", "go mod why", "go mod verify", "gofmt -w",
		},
	},
	{
		Name: "node", RunsCode: true,
		About: "Tests, builds and packages of a Node project, with what its packages bring along. " +
			"Installing talks to the registry, which is asked or allowed as what it is.",
		Allow: []string{
			"npm test", "npm run", "npm ci", "npm install", "npm ls", "npm pkg get", "pnpm test", "pnpm run",
			"pnpm install", "yarn test", "yarn run", "yarn install",
			"npx tsc", "npx eslint", "npx prettier", "npx vitest", "npx jest", "tsc", "eslint", "prettier",
			"vitest", "jest",
		},
	},
	{
		Name: "python", RunsCode: true,
		About: "Tests and checks of a Python project, and its environment. Installing talks to the index, " +
			"which is asked or allowed as what it is.",
		Allow: []string{
			"pytest", "python -m pytest", "python3 -m pytest", "python -m unittest", "python3 -m unittest",
			"python -m venv", "python3 -m venv", "ruff check", "ruff format", "mypy", "black", "isort", "flake8",
			"pip install -r", "pip install -e", "pip list", "pip show", "pip freeze",
		},
	},
	{
		Name: "rust", RunsCode: true,
		About: "Builds and tests of a Cargo workspace. `cargo run`, `cargo install` and `cargo publish` ask.",
		Allow: []string{"cargo build", "cargo check", "cargo test", "cargo bench", "cargo fmt", "cargo clippy",
			"cargo doc", "cargo tree", "cargo metadata"},
	},
	{
		Name: "make", RunsCode: true,
		About: "Every target of the project's Makefile, whatever it does: also one that is called deploy.",
		Allow: []string{"make"},
	},
}

// ReadonlyPreset is the name of the preset for whatever the table of programs says to only read.
const ReadonlyPreset = "readonly"

// PresetNames are the names that config may use.
func PresetNames() []string {
	names := []string{ReadonlyPreset}
	for _, p := range presetList {
		names = append(names, p.Name)
	}
	return names
}

// PresetRules are the rules of a preset that config names at the source. There are none for
// readonly; an unknown name is reported.
func PresetRules(name, source string) (rules []Rule, ok bool) {
	at := slices.IndexFunc(presetList, func(p preset) bool { return p.Name == name })
	if at < 0 {
		return nil, name == ReadonlyPreset
	}
	for _, pattern := range presetList[at].Allow {
		rules = append(rules, Rule{
			Pattern: pattern, Approval: tool.WordAllow, Preset: name, Except: presetList[at].Except, Source: source,
		})
	}
	return rules, true
}
