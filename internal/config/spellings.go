package config

import (
	"cmp"
	"slices"
	"strings"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/sandbox"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/roots"
)

// The documents that the program comes from write one thing in many ways. All of them are
// read here, as if the file had used our own words; the rest of the package knows only those.

// wordSpellings are other texts for an approval, which [tool.ParseWord] reads.
var wordSpellings = []string{"none", "preApproved", "pre_approved", "required", "approve", "blocked", "true", "false"}

// modeSpellings are other texts for a mode.
var modeSpellings = map[string]string{
	"interactive": "ask", "approve_all": "approve-all", "auto_approve": "approve-all", "auto_deny": "strict",
}

// consentSpellings are other keys for approval, each with what its values stand for.
var consentSpellings = []struct {
	key
	means map[string]tool.Word
}{
	{
		older("preApproved", "true: approval: allow; false: ask", yesNo),
		map[string]tool.Word{"true": tool.WordAllow, "false": tool.WordAsk},
	},
	{
		older("pre_approved", "true: approval: allow; false: ask", yesNo),
		map[string]tool.Word{"true": tool.WordAllow, "false": tool.WordAsk},
	},
	{older("blocked", "true: approval: deny", yesNo), map[string]tool.Word{"true": tool.WordDeny}},
	{older("allowed", "false: approval: deny", yesNo), map[string]tool.Word{"false": tool.WordDeny}},
	{older("action", "approve: approval: ask", oneOf("approve")), map[string]tool.Word{"approve": tool.WordAsk}},
}

// blockReason is another key for reason.
const blockReason = "blockReason"

func olderConsentKeys() []key {
	out := []key{older(blockReason, "reason", text)}
	for _, s := range consentSpellings {
		out = append(out, s.key)
	}
	return out
}

// Other keys of a path, of the sandbox, of the shell and of the whole file.
var (
	olderPathKeys = []key{
		older("read_approval", "approval.read", word),
		older("write_approval", "approval.write", word),
	}
	zoneShape = mapping([]key{{name: "name", about: "how tools and rules call it", shape: text, needed: true}}, pathKeys)
	zonesKey  = key{name: "zones", about: "the same as a list, each with its name", shape: listOf(zoneShape)}

	olderShellKeys  = []key{older("network", "sandbox.network", networkShape)}
	olderPolicyKeys = []key{
		older("tool_configs", "tools", toolsShape),
		older("pre_approved", "names of tools that run without asking", texts),
	}
	// refusedKeys are those that mean something else than they seem to, with what to write.
	refusedKeys = map[string]string{
		"tool_rules":  "write `tools: {NAME: {approval: ask}}`, or the approval of a path under sandbox",
		"shell_rules": "write `shell: {rules: [{pattern: …, approval: …}]}`",
	}
)

func older(name, about string, s *shape) key {
	return key{name: name, about: about, shape: s, older: true}
}

func spelledMode(text string) string { return cmp.Or(modeSpellings[strings.ToLower(text)], text) }

// spelledConsent reads the other keys for approval. One that disagrees is a problem.
func (o *object) spelledConsent(out *said, what string) {
	for _, s := range consentSpellings {
		n, ok := o.take(s.name)
		if !ok {
			continue
		}
		value := "false"
		switch {
		case s.shape != yesNo:
			if value = o.text(n, what+": "+s.name); s.means[value] == "" {
				o.problem(n, "%s: unknown %s %q; write approval: ask", what, s.name, value)
			}
		case o.bool(n, what+": "+s.name):
			value = "true"
		}
		if w := s.means[value]; w != "" {
			o.agree(out, said{word: w, node: n}, what)
		}
	}
}

// spelledPath reads the other keys for the approval of a path.
func (o *object) spelledPath(read, write *said, what string) {
	for i, into := range []*said{read, write} {
		key := olderPathKeys[i].name
		if n, ok := o.take(key); ok {
			o.agree(into, o.word(n, what+": "+key), what)
		}
	}
}

// zones reads paths as a list.
func (o *object) zones() (out []roots.Root) {
	n, ok := o.take(zonesKey.name)
	if !ok {
		return nil
	}
	for _, item := range o.items(n, "sandbox.zones") {
		zone := o.object(item, "a zone", zoneShape)
		var root roots.Root
		if at, ok := zone.take("name"); ok {
			root = o.path(zone, at, o.text(at, "name"))
		}
		out = append(out, root)
	}
	return out
}

// spelledTools reads the other places for a word on tools. In the list of names, what the
// file says about a name elsewhere comes first.
func (o *object) spelledTools(p *Policy) {
	if n, ok := o.take("tool_configs"); ok {
		o.tools(n, "tool_configs", p)
	}
	n, ok := o.take("pre_approved")
	if !ok {
		return
	}
	o.warn(n, "pre_approved is deprecated; write tools: {NAME: {approval: allow}}")
	for _, item := range o.items(n, "pre_approved") {
		name := o.text(item, "pre_approved")
		if _, err := policy.CompileName(policy.EffectAllow, name); err != nil {
			o.problem(item, "%v", err)
		}
		if !slices.ContainsFunc(p.Tools.Tools, func(t tool.Named) bool { return t.Name == name }) {
			p.Tools.Tools = append(p.Tools.Tools, tool.Named{Name: name, Approval: tool.WordAllow, Source: o.source(item)})
		}
	}
}

// spelledNetwork reads the other place of sandbox.network.
func (o *object) spelledNetwork(into *sandbox.Network) {
	n, ok := o.take("network")
	if !ok {
		return
	}
	net := o.network(n, "shell.network")
	same := into.On == net.On && slices.Equal(into.Domains, net.Domains) && slices.Equal(into.Deny, net.Deny)
	if into.Source != "" && !same {
		o.problem(n, "shell.network and sandbox.network (%s) disagree; keep one", into.Source)
		return
	}
	*into = net
}
