package policy

import (
	"fmt"
	"strings"
)

// warnings says which open acts run files that may be written without asking: a yes that is
// remembered for one of them lets an agent run what it writes.
func (j *judging) warnings(open []int) (out []string) {
	for _, i := range open {
		a := &j.acts[i]
		if a.Code == nil || !j.writesFreely(a.Code) {
			continue
		}
		out = appendNew(out, fmt.Sprintf("%s runs files in %s, which may be written without asking: what an agent writes there it can run. "+
			"No question can help with that, the sandbox does (sandbox.require_os_sandbox).", a.short(), a.Code.place()))
	}
	return out
}

// writesFreely reports whether the write, or one further down, needs no answer.
func (j *judging) writesFreely(write *Act) bool {
	alone := Policy{Rules: j.Rules, Fixed: j.Fixed, Grants: j.Grants, Mode: ModeAsk}
	call := *j.Call
	call.Tool, call.Connector, call.Definition = write.Name, "", Digest{}
	state := alone.Judge(Question{Call: &call, Acts: []Act{*write}, Now: j.Now}).State
	return state.Runs() || state == StatePending && (j.Rules.allowsBelow(write) || j.Fixed.allowsBelow(write))
}

// allowsBelow reports whether an allow is for something in the folder of the act's file.
func (s *RuleSet) allowsBelow(a *Act) bool {
	for _, r := range s.Rules() {
		name, target, _ := strings.Cut(r.Pattern, "(")
		if r.Effect != EffectAllow || !r.Enabled || name != a.Name {
			continue
		}
		for _, folder := range folders(a.Target.Written) {
			if inside(folder, target) {
				return true
			}
		}
	}
	return false
}

// short is the command as far as it is worth remembering.
func (a *Act) short() string {
	if a.Target.Kind == KindWords && a.Prefix > 0 {
		return joinWords(a.prefixWords(ReachPrefix))
	}
	return a.Target.String()
}

// place is the folder of the act's file.
func (a *Act) place() string {
	if len(a.Target.Written) == 0 {
		return a.Target.String()
	}
	return folders(a.Target.Written)[0]
}
