package agents

import (
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"
)

// codex is OpenAI Codex with the hooks of August 2026. A plain allow and an ask are
// invalid there, and what is invalid lets the call run.
var codex = Agent{
	Name: "codex", Title: "Codex", Patience: 590 * time.Second, hooksInProject: true, asksToLeave: true,
	replaces: true, sandboxed: sandboxedCodex,
	prompts: []string{"PermissionRequest"},
	moments: map[string]Moment{"PreToolUse": Before, "PermissionRequest": Asking, "PostToolUse": After},
	read:    readClaude,
	reply:   replyCodex,
	tools:   codexTools,
	like:    map[string]string{"shell": "Bash", "read_file": "read_file"},
}

func replyCodex(e Event, a Answer) Reply {
	none := Reply{Stdout: []byte("{}\n")}
	switch {
	case !e.Moment.Decides(), a.Verdict == Nothing:
		return none
	case a.Verdict == Ask && e.Moment == Asking:
		return none // the prompt is about to be shown
	case a.Verdict == Ask:
		a = Answer{Reason: "it needs approval, and Codex cannot show the question: " + a.Reason}
	case a.Verdict == Allow && e.Moment == Before && a.Input == nil:
		return none
	case a.Verdict == Allow && e.Moment == Asking && a.Input != nil:
		a = Answer{Reason: "a person changed the arguments, which Codex does not take here"}
	}
	if e.Moment == Asking {
		return printed(claudeOutput{permission(e, a)})
	}
	d := claudeDecision{Event: e.Hook, Decision: "deny", Reason: a.Reason}
	if a.Verdict == Allow {
		d = claudeDecision{Event: e.Hook, Decision: "allow", Input: a.Input}
	}
	return printed(claudeOutput{d})
}

// sandboxedCodex reports whether Codex runs commands in its own sandbox, as far as its command line
// and its configuration tell. Its events do not.
func sandboxedCodex(chain []Process, environ []string) bool {
	for _, p := range chain {
		if len(p.Args) == 0 || !slices.ContainsFunc(p.Args[:min(2, len(p.Args))], func(word string) bool {
			return strings.HasPrefix(path.Base(word), "codex")
		}) {
			continue
		}
		for i, word := range p.Args {
			next := ""
			if i+1 < len(p.Args) {
				next = p.Args[i+1]
			}
			switch {
			case word == "--":
			case word == "--dangerously-bypass-approvals-and-sandbox", word == "--yolo":
				return false
			case word == "-s", word == "--sandbox":
				return next != noSandbox
			case strings.HasPrefix(word, "--sandbox="):
				return strings.TrimPrefix(word, "--sandbox=") != noSandbox
			case word == "-c" || word == "--config":
				if value, ok := strings.CutPrefix(strings.ReplaceAll(next, " ", ""), "sandbox_mode="); ok {
					return strings.Trim(value, `"'`) != noSandbox
				}
			}
		}
		break
	}
	home := ""
	for _, v := range environ {
		name, value, _ := strings.Cut(v, "=")
		switch {
		case name == "CODEX_HOME" && value != "":
			home = value
		case name == "HOME" && home == "":
			home = path.Join(value, ".codex")
		}
	}
	text, err := os.ReadFile(path.Join(home, "config.toml"))
	if err != nil {
		return true
	}
	top, _, _ := strings.Cut("\n"+string(text), "\n[") // tables come after what is said for all
	return !regexp.MustCompile(`(?m)^[ \t]*sandbox_mode[ \t]*=[ \t]*["']` + noSandbox + `["'][ \t]*(#.*)?$`).MatchString(top)
}

// noSandbox is the mode in which Codex has none.
const noSandbox = "danger-full-access"
