package shell

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/hosts"
)

// A Config is the operator's word on commands. The zero Config asks for every
// command.
type Config struct {
	// Rules are tried in order; the first that matches decides, but a deny
	// anywhere wins.
	Rules []Rule
	// Readonly turns on the preset for programs that only read and print.
	Readonly bool
	// Default is for what nothing else decides.
	Default Default
	// Env are names of variables that may be set before a command without a
	// question, and that are passed on to it.
	Env []string
	// Cwd is the folder that commands run in, by its virtual name. Empty is the
	// root named ".", else the only root.
	Cwd string
	// Source is the file and line of cwd, or of the whole.
	Source string
	// Network says which hosts commands may talk to.
	Network hosts.Policy
	// Hold is how long a running command waits for the answer to a question that came up
	// while it ran; 0 is [DefaultHold].
	Hold time.Duration
	// Running lets a command whose words are known only when it runs begin without a
	// question: each program that it starts is judged then.
	Running bool
	// UndoOff is the file and line that says that nothing is kept for undo; empty if none
	// does.
	UndoOff string
	// JudgeSource is the file and line that says whether; empty if none does.
	JudgeSource string
}

func (c Config) hold() time.Duration {
	if c.Hold > 0 {
		return c.Hold
	}
	return DefaultHold
}

// A Rule is what config says about commands that begin with the words of a
// pattern.
type Rule struct {
	Pattern  string
	Approval tool.Word
	// Reason is told when the command is denied.
	Reason string
	// Description is the summary of a command that matched.
	Description string
	// Paths are names of roots: the rule applies only if every path among the
	// arguments resolves into one of them. Not for a deny.
	Paths []string
	// Preset is the preset that the rule is one of. Such a rule allows a command, and nothing
	// that follows from it.
	Preset string
	// Except are patterns of commands that the rule is not for.
	Except []string
	// Source is the file and line.
	Source string
}

// A Default is for commands that no rule names.
type Default struct {
	// Approval is allow, ask or deny; empty is ask.
	Approval tool.Word
	// ByEffect makes a command as free as the files and hosts it would touch,
	// instead of Approval.
	ByEffect bool
	// WhenSandboxed, if it is allow, lets a command that a sandbox holds run
	// without a question, under conditions: see [AutoAllow].
	WhenSandboxed tool.Word
	Reason        string
	Source        string
}

// A rule that is ready to be matched.
type rule struct {
	Rule
	pattern policy.CommandPattern
	except  []policy.CommandPattern
}

// compile checks the config and makes its patterns ready.
func (c Config) compile() ([]rule, error) {
	if err := c.Network.Validate(); err != nil {
		return nil, err
	}
	rules := make([]rule, 0, len(c.Rules))
	for _, r := range c.Rules {
		compiled, err := r.compile()
		if err != nil {
			return nil, fmt.Errorf("%s: shell pattern %q: %w", sourceOr(r.Source), r.Pattern, err)
		}
		rules = append(rules, compiled)
	}
	return rules, nil
}

func (r Rule) compile() (rule, error) {
	pattern, err := policy.CompileCommand(r.Pattern)
	switch {
	case err != nil:
		return rule{}, err
	case r.Approval == "":
		return rule{}, errors.New("approval must be allow, ask or deny")
	case r.Approval == tool.WordDeny && len(r.Paths) > 0:
		return rule{}, errors.New("sandbox_paths on a deny would let the command run elsewhere; leave it out")
	}
	compiled := rule{Rule: r, pattern: pattern}
	for _, text := range r.Except {
		except, err := policy.CompileCommand(text)
		if err != nil {
			return rule{}, err
		}
		compiled.except = append(compiled.except, except)
	}
	return compiled, nil
}

// covers reports whether a rule that allows is about the command.
func (r *rule) covers(target policy.Target) bool {
	meets := func(e policy.CommandPattern) bool { return e.Meets(target) != policy.MatchNo }
	return r.pattern.Covers(target) && !slices.ContainsFunc(r.except, meets)
}

// Check reports what is wrong with a rule on its own.
func (r Rule) Check() error {
	_, err := r.compile()
	return err
}

// Hidden says for each rule that can never decide which earlier one hides it: a
// text for the person who wrote it.
func (c Config) Hidden() []string {
	rules, err := c.compile()
	if err != nil {
		return nil // that is reported as an error
	}
	var out []string
	for i, r := range rules {
		if r.Approval == tool.WordDeny || r.Preset != "" {
			continue // a deny wins wherever it stands, and nobody wrote the rules of a preset
		}
		hides := func(first rule) bool {
			return len(first.Paths) == 0 && first.Preset == "" && first.Approval != tool.WordDeny &&
				first.pattern.Hides(r.pattern)
		}
		if at := slices.IndexFunc(rules[:i], hides); at >= 0 {
			out = append(out, fmt.Sprintf("%s: the rule for %q is never reached: the one for %q (%s) comes first",
				sourceOr(r.Source), r.Pattern, rules[at].Pattern, sourceOr(rules[at].Source)))
		}
	}
	return out
}

func sourceOr(source string) string {
	if source == "" {
		return "shell rules"
	}
	return source
}

// harmlessEnv are variables that change how a program prints, and not what it
// runs; they may be set before any command.
var harmlessEnv = []string{
	"CI", "LANG", "LANGUAGE", "LC_ALL", "LC_COLLATE", "LC_CTYPE", "LC_MESSAGES", "LC_NUMERIC", "LC_TIME",
	"TZ", "TERM", "COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLORTERM",
	"NODE_ENV", "RUST_BACKTRACE", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE", "PYTHONHASHSEED",
	"DEBIAN_FRONTEND", "GOOS", "GOARCH", "CGO_ENABLED", "VERBOSE", "SOURCE_DATE_EPOCH",
}

// mayBeSet reports whether a variable may be set before a command without a
// question.
func (c *Config) mayBeSet(name string) bool {
	return slices.Contains(harmlessEnv, name) || slices.Contains(c.Env, name)
}
