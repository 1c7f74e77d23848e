package health

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/assent-dev/assent/internal/agents/install"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/present"
)

// manyQuestions is how many a day are worth a look at 'assent rules suggest'.
const manyQuestions = 10

// next says what to do now, the most urgent first.
func (s *Status) next() {
	s.Next = []string{}
	do := func(format string, args ...any) { s.Next = append(s.Next, fmt.Sprintf(format, args...)) }
	if len(s.Problems) > 0 {
		do("Run 'assent doctor': it says how to fix each problem.")
	}
	if !s.Approvals {
		do("Run 'assent approvals on': nobody is asked at the moment.")
	}
	if s.Waiting > 0 && !s.Inbox {
		do("Run 'assent inbox': %s.", count(s.Waiting, "request waits", "requests wait"))
	}
	protected := 0
	for _, a := range s.Agents {
		switch {
		case a.Settings == "":
			do("Run 'assent install %s' to protect %s.", a.Name, a.Title)
		case !a.Proven && !a.Untried:
			do("Run 'assent verify %s': it says what to do.", a.Name)
		default:
			protected++
		}
	}
	if len(s.Agents) == 0 {
		do("Run 'assent install AGENT' (%s), or 'assent demo' to see what happens.", strings.Join(install.AgentNames(), ", "))
	}
	for _, t := range s.Policy {
		if t.Untrusted {
			do("Run 'assent trust %s' to see what it would allow.", relative(s.Folder, t.File))
		}
	}
	if !s.Sandbox {
		do("Run 'assent sandbox doctor' to get a sandbox.")
	}
	if s.Today.Approved >= manyQuestions {
		do("Run 'assent rules suggest' to be asked less often.")
	}
	if len(s.Next) == 0 && protected > 0 && !s.Inbox {
		do("Nothing to do. 'assent inbox' answers all agents in one terminal.")
	}
}

// Print prints it for a person.
func (s *Status) Print(w io.Writer) error {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-12s%s\n", name, present.SafeLine(fmt.Sprintf(format, args...)))
	}
	for _, a := range s.Agents {
		printAgent(&b, a)
	}
	if len(s.Agents) == 0 {
		line("Agents", "none was found")
	}
	fmt.Fprintln(&b)
	line("Folder", "%s", config.ShortPath(s.Folder))
	name := "Policy"
	for _, t := range s.Policy {
		line(name, "%-14s%s", t.Whose, t.text(s.Folder))
		name = ""
	}
	if s.Otherwise != "" {
		line(name, "%-14s%s", "otherwise", s.Otherwise)
	}
	if s.HookShell == config.HookStage {
		line("Commands", "assent runs those of other agents in its sandbox (hook.shell: stage)")
	} else {
		line("Commands", "the agents run their own after assent's answer (hook.shell: %s)", s.HookShell)
	}
	if s.Sandbox {
		line("Sandbox", "works")
	} else {
		line("Sandbox", "none: %s", s.NoSandbox)
	}
	if !s.Approvals {
		line("Approvals", "OFF: whatever would be asked runs without a question")
	}
	inbox := "no inbox is open"
	if s.Inbox {
		inbox = "an inbox is open"
	}
	if s.Team != nil {
		name := "Team"
		for _, text := range s.Team.lines(time.Now()) {
			line(name, "%s", text)
			name = ""
		}
	}
	line("Waiting", "%s; %s", count(s.Waiting, "request", "requests"), inbox)
	line("Rules", "%s", s.Rules.text())
	line("Today", "%s", s.Today.text())
	line("Store", "%s (%s)", config.ShortPath(s.Store), size(s.Bytes))
	for _, p := range s.Problems {
		line("PROBLEM", "%s", p)
	}
	name = "Next"
	for _, text := range s.Next {
		if name != "" {
			fmt.Fprintln(&b)
		}
		line(name, "%s", text)
		name = ""
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// maxWhy is how many reasons are printed for one agent; 'assent verify' has them all.
const maxWhy = 3

func printAgent(b *strings.Builder, a install.AgentStatus) {
	switch {
	case a.Settings == "":
		fmt.Fprintf(b, "%-12sNOT protected: it does not ask assent\n", a.Title)
		return
	case a.Proven:
		fmt.Fprintf(b, "%-12sprotected, checked just now; hook in %s\n", a.Title, present.SafeLine(config.ShortPath(a.Settings)))
	case a.Untried:
		fmt.Fprintf(b, "%-12sinstalled, not tried; hook in %s\n", a.Title, present.SafeLine(config.ShortPath(a.Settings)))
		fmt.Fprintf(b, "  The hook answers as it should, but nobody has run assent with %s itself.\n", a.Title)
	default:
		fmt.Fprintf(b, "%-12sNOT proven to ask; hook in %s\n", a.Title, present.SafeLine(config.ShortPath(a.Settings)))
	}
	for i, why := range a.Why {
		if i == maxWhy {
			fmt.Fprintf(b, "  and %d more; see 'assent verify %s'\n", len(a.Why)-maxWhy, a.Name)
			break
		}
		fmt.Fprintf(b, "  %s\n", present.SafeLine(why))
	}
	if a.IfDead != "" {
		fmt.Fprintf(b, "  If the hook is killed: %s.\n", a.IfDead)
	}
	for _, note := range a.Notes {
		fmt.Fprintf(b, "  %s.\n", note)
	}
}

func (t Tier) text(folder string) string {
	switch {
	case !t.There:
		return "none (" + config.ShortPath(t.File) + ")"
	case t.Untrusted:
		return relative(folder, t.File) + ", NOT trusted: it can only deny"
	case t.Whose == "this project":
		return relative(folder, t.File) + ", trusted"
	}
	return config.ShortPath(t.File)
}

func (r Rules) text() string {
	if r == (Rules{}) {
		return "none saved"
	}
	text := fmt.Sprintf("%d everywhere", r.Everywhere)
	if r.Here > 0 || r.Elsewhere > 0 {
		text += fmt.Sprintf(", %d for this project, %d for other projects", r.Here, r.Elsewhere)
	}
	if r.Disabled > 0 {
		text += fmt.Sprintf("; %d disabled or expired", r.Disabled)
	}
	return text
}

func (t Today) text() string {
	if t.Calls == 0 {
		return "no calls yet"
	}
	text := fmt.Sprintf("%s: %d without a question, %d approved, %d denied, %d blocked", count(int(t.Calls), "call", "calls"),
		t.Allowed, t.Approved, t.Denied, t.Blocked)
	if t.Handed > 0 {
		text += fmt.Sprintf(", %d left to the agent's prompt", t.Handed)
	}
	return text
}

func count(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}

func size(n int64) string {
	switch {
	case n == 0:
		return "nothing saved yet"
	case n < 1<<20:
		return fmt.Sprintf("%d KB", (n+1023)>>10)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
}

// relative writes a path below a folder without it.
func relative(folder, path string) string {
	if rel, err := filepath.Rel(folder, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return config.ShortPath(path)
}
