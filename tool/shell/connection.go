package shell

import (
	"slices"
	"strings"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool/shell/analysis"
)

// connection judges a host that a command talks to.
//
// On a stage each connection is judged by name when it is made, so what is said here decides
// only what is asked beforehand: a host that the command spells is, and a host that was found in
// settings is where something else is asked anyway. A host that is not known is not: there is
// nothing to show.
//
// Without a stage nothing stops a connection once the command runs. A host from settings says
// what is likely, and not that it is all: beside it stands a connection to a host that is not
// known, unless the reading can vouch for the program (git without hooks, helpers and proxies).
// That one asks, whatever hosts are listed, and is answered by an allow that spells the command.
func (j *judging) connection(i int) policy.Act {
	p := &j.script.Parts[i]
	// Redirects, and servers that are not what their name says, are found out on a stage.
	act := j.cfg.Network.Connect(p.Host, p.Port, p.TLS || j.staged(p))
	act.Cause = j.cause(p)
	guess := p.Host == "" || p.Settled
	act.Known = act.Known || p.Operand.Text == "*" // some host that a file of its own names
	switch {
	case act.Verdict == policy.VerdictBlock && !j.cfg.Network.On && len(j.cfg.Network.Allow) == 0 &&
		(p.Missing || j.sandboxed && guess):
		// A package manager does with its caches, or fails: nothing is sent either way.
		act.Verdict, act.Why = policy.VerdictAsk, "it may download missing packages, and the network is off"
		if j.opts.Sandbox != nil && !j.widened {
			act.Verdict, act.Why = policy.VerdictFree, "the sandbox blocks the network: it can use only what is installed"
		}
	case act.Verdict != policy.VerdictAsk:
	case j.staged(p):
		switch {
		case act.Target.Unknown && !j.surelyHost(i):
			act.Why = p.Operand.Text + " may turn out to name a file or a program instead of a host"
		case act.Target.Unknown:
			act.Verdict, act.Later, act.Why = policy.VerdictFree, true,
				"each host is judged by name when the command connects to it"
		case guess || p.Missing:
			act.Later = true
		}
	default:
		if act.Target.Unknown && len(j.cfg.Network.Deny) > 0 {
			act.PersonOnly, act.Why = true, "it may connect to a host that is denied: "+strings.Join(j.cfg.Network.Deny, ", ")
			break
		}
		act.Own = j.ownWords(p, act.Cause)
		if rule := j.ownRule(&act); act.Target.Unknown && rule != "" {
			act.Why = "its hosts are unknown before it runs; " + rule + " would include its connections"
		}
		if act.Cause > 0 {
			if by := j.spelled[act.Cause-1]; by != nil && by.pattern.Spells(act.Own) {
				act.Verdict, act.Why = policy.VerdictFree, "covered by a command that is "+j.allowed[act.Cause-1]
			}
		}
	}
	return act
}

// staged reports whether the connection is made on a stage: not on another machine, in a
// container, or by a command that was let out of the sandbox.
func (j *judging) staged(p *analysis.Part) bool {
	return j.cfg.Network.Staged && j.opts.Sandbox != nil && !j.widened && !p.Elsewhere
}

// surelyHost reports whether a connection to a host that is not known is a connection in any
// case: curl reads files too, and git runs programs, if a word turns out to say so. What the
// shell starts is judged once more with its real words.
func (j *judging) surelyHost(i int) bool {
	p := &j.script.Parts[i]
	scheme, _, isURL := strings.Cut(p.Operand.Begin, "://")
	return p.Word == 0 || isURL && strings.HasPrefix(strings.ToLower(scheme), "http") ||
		j.opts.Unsupported != nil && !j.bash && j.byShell(i)
}

// ownWords is how many leading words of its command an allow has to spell to answer the
// connection too, see [policy.Act.Own]; variables that are set for the command stand first.
func (j *judging) ownWords(p *analysis.Part, cause int) int {
	if cause == 0 || p.Redirect {
		return 0
	}
	command := &j.script.Parts[p.Cause-1]
	if command.Kind != analysis.Runs || command.Builtin {
		return 0
	}
	before := len(j.acts[cause-1].Target.Words) - len(command.Words)
	return before + command.Reading.OwnWords(command.Words, p.Word, p.Host != "" && !p.Settled)
}

// ownRule is the shortest allow that answers a connection with its command; empty if none can be
// written.
func (j *judging) ownRule(act *policy.Act) string {
	if act.Own == 0 || act.Cause == 0 {
		return ""
	}
	target, exact := j.acts[act.Cause-1].Target, "= "
	if act.Own <= len(target.Words) {
		target.Words, exact = target.Words[:act.Own], ""
	}
	if slices.ContainsFunc(target.Words, func(w policy.Word) bool { return w.Unknown }) {
		return ""
	}
	return "allow shell(" + exact + target.String() + ")"
}
