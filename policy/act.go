package policy

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/assent-dev/assent/internal/digest"
)

// A Verdict is a tool's own word on an act, before anything runs. The zero
// Verdict refuses. Verdicts are ordered, the strictest first.
type Verdict int

// The verdicts.
const (
	VerdictBlock Verdict = iota // nobody can approve it
	VerdictAsk                  // somebody or something remembered must answer
	VerdictFree                 // runs without an answer
)

func (v Verdict) String() string {
	switch v {
	case VerdictAsk:
		return "ask"
	case VerdictFree:
		return "free"
	}
	return "block"
}

// MarshalText implements [encoding.TextMarshaler].
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (v *Verdict) UnmarshalText(text []byte) error {
	for _, known := range []Verdict{VerdictBlock, VerdictAsk, VerdictFree} {
		if known.String() == string(text) {
			*v = known
			return nil
		}
	}
	*v = VerdictBlock
	return fmt.Errorf("unknown verdict %q: it is block, ask or free", text)
}

// The acts that built-in tools perform. A rule names one of these, a called
// tool, or a connector's tool.
const (
	ActReadFile     = "read_file"
	ActWriteFile    = "write_file"
	ActDeleteFile   = "delete_file"
	ActShareFile    = "share_file"
	ActShell        = "shell"
	ActConnect      = "connect"
	ActHTTPRequest  = "http_request"
	ActWorkerCall   = "worker_call"
	ActWorkerCreate = "worker_create"
	// ActProjectCode is not an act of its own, but another name of a shell act that runs code of a
	// project: its tests, builds and scripts. Its target is the folder of the project.
	ActProjectCode = "project_code"
)

// builtinKinds says what the targets of the built-in acts are.
var builtinKinds = map[string]Kind{
	ActReadFile: KindPath, ActWriteFile: KindPath, ActDeleteFile: KindPath, ActShareFile: KindPath,
	ActProjectCode: KindPath, ActShell: KindWords, ActConnect: KindURL, ActHTTPRequest: KindURL,
	ActWorkerCall: KindText, ActWorkerCreate: KindText,
}

// BuiltinActs returns the names of the acts of built-in tools, sorted.
func BuiltinActs() []string {
	names := make([]string, 0, len(builtinKinds))
	for name := range builtinKinds {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// An Act is one thing that a call would do, named as rules name it. It is plain
// data. The unit of asking is the request; the unit of consent is the act.
type Act struct {
	// Name is a built-in act's name or that of the tool itself.
	Name string `json:"name"`
	// Connector is where a foreign tool comes from; empty for built-in acts.
	Connector string `json:"connector,omitempty"`
	// Target is what is acted on.
	Target Target `json:"target"`
	// Dir is the folder that a command runs in.
	Dir string `json:"dir,omitempty"`
	// Away says that Dir is not one in which rules about commands hold: no rule
	// allows the act there, only a grant for that folder, or a person.
	Away bool `json:"away,omitempty"`
	// Cause is 1 + the index of the act that this one follows from, 0 for none:
	// `cp a b` causes a read and a write. An allow for the cause also answers
	// this act, unless ByName or PersonOnly is set.
	Cause int `json:"cause,omitempty"`
	// ByName marks an act that only an allow with a matching target answers:
	// redirections, paths outside the roots, hosts, secrets, hard links.
	ByName bool `json:"by_name,omitempty"`
	// Secret marks an act on a file that is answered by nothing but its own
	// name: no folder, and no pattern that ends in * or **.
	Secret bool `json:"secret,omitempty"`
	// PersonOnly marks an act that nothing remembered and no mode answers.
	PersonOnly bool `json:"person_only,omitempty"`
	// Opaque marks code that cannot be read before it runs: any deny may be met.
	Opaque bool `json:"opaque,omitempty"`
	// Later marks an act of which the tool judges each part when it happens, with its real
	// values: a deny that may be met is left to that. If its verdict is to ask, it is asked
	// together with other acts of the call, and never asked alone.
	Later bool `json:"later,omitempty"`
	// Own marks a connection of the command that is its Cause, where nothing judges it by
	// name when it is made. It is how many leading words of that command an allow has to
	// spell to answer the connection too: `allow shell(npm install)` does, if it is 2, and
	// `allow shell(npm)` does not. An allow of exactly the command always does. 0 means that
	// only an allow of the host answers it.
	Own int `json:"own,omitempty"`
	// Line is where the act stands in the command that is shown, from 1; 0 if
	// that means nothing.
	Line int `json:"line,omitempty"`
	// Known says that everything the act would do is understood.
	Known bool `json:"known,omitempty"`
	// Prefix is how many leading words make a command worth remembering
	// (`git push`: 2). 0 means that no prefix is offered.
	Prefix int `json:"prefix,omitempty"`
	// Domain is *.NAME, the hosts that a yes to a connection may be remembered for besides the
	// host itself; empty if none are offered.
	Domain string `json:"domain,omitempty"`
	// Project is the absolute path of the project whose own code the act runs, see
	// [ActProjectCode]; empty if it runs none.
	Project string `json:"project,omitempty"`
	// Verdict is the tool's own word on this act.
	Verdict Verdict `json:"verdict"`
	// Why is the reason for the verdict: a config line, a default, a mark.
	Why string `json:"why,omitempty"`
	// Code is the write of a file that the act runs as code, as that write would be
	// judged; nil if it runs none, or a sandbox holds what it runs. An offer to
	// remember the act warns if the write needs no answer.
	Code *Act `json:"-"`
}

// asProjectCode returns the act by its other name.
func (a *Act) asProjectCode() *Act {
	code := *a
	code.Name, code.Target = ActProjectCode, Target{Kind: KindPath, Written: []string{a.Project}, Resolved: []string{a.Project}}
	return &code
}

// plainProjectCode reports whether a yes to the project's code covers the act: no flag makes
// its program run something else, no variable is set for it, and its words are known.
func (a *Act) plainProjectCode() bool {
	t := &a.Target
	return a.Project != "" && !a.Away && !a.PersonOnly && !a.Opaque && !t.Unknown && plainRest(t.Words) && len(t.command()) == len(t.Words)
}

// wrongKind reports whether a built-in act has a target that its rules could
// not match. A call without a target of its own has its arguments as one.
func (a *Act) wrongKind() bool {
	kind, builtin := builtinKinds[a.Name]
	return builtin && a.Connector == "" && a.Target.Kind != kind && a.Target.Kind != KindArguments
}

// String returns the act as rules name it, for example write_file(notes/a.md).
func (a Act) String() string {
	name := qualified(a.Connector, a.Name)
	if a.Target.Kind == KindArguments {
		return name
	}
	return name + "(" + a.Target.String() + ")"
}

// A Call is one tool invocation that an agent wants.
type Call struct {
	// ID is the id that the model gave the call. Within a turn it is unique.
	ID string `json:"id"`
	// Connector says where a foreign tool comes from; empty for built-in tools.
	Connector string `json:"connector,omitempty"`
	// Tool is the tool's own name, as the model sees it.
	Tool string `json:"tool"`
	// Arguments are the arguments; a [approval.Gate] keeps only their canonical form.
	Arguments json.RawMessage `json:"arguments"`
	// Definition is the digest of the tool's definition that the model was
	// shown. Zero means the definition at the moment of the review.
	Definition Digest `json:"definition,omitzero"`
	// Session is the run, chat or foreign session that the call belongs to.
	// Empty means the gate's own session.
	Session string `json:"session,omitempty"`
	// Workers is the chain of workers that led to the call, outermost first.
	Workers []string `json:"workers,omitempty"`
	// Project is the folder of the project that the call belongs to: rules for another one do not
	// answer it. An [approval.Gate] that knows its project says so itself.
	Project string `json:"project,omitempty"`
}

// Name returns the tool's name, behind that of its connector if it has one.
func (c Call) Name() string { return qualified(c.Connector, c.Tool) }

func qualified(connector, name string) string {
	if connector == "" {
		return name
	}
	return connector + ":" + name
}

// Via says by what way an answer came.
type Via string

// The ways. An answer that says nothing came from the program that embeds the
// gate.
const (
	ViaProgram     Via = "program"
	ViaTerminal    Via = "terminal"
	ViaInbox       Via = "inbox"
	ViaBrowser     Via = "browser" // with a proof that a person answered
	ViaAPI         Via = "api"     // a program with a token, which can only deny
	ViaTeam        Via = "team"    // signed by those whom the team's policy names
	ViaCommand     Via = "command"
	ViaElicitation Via = "elicitation"
	ViaAgentPrompt Via = "agent-prompt"
	ViaRule        Via = "rule"
	ViaGrant       Via = "grant"
	ViaMode        Via = "mode"
)

// Who says who answered.
type Who struct {
	User string `json:"user,omitempty"`
	Host string `json:"host,omitempty"`
	Via  Via    `json:"via,omitempty"`
}

// String returns who answered, for a sentence.
func (w Who) String() string {
	text := w.User
	switch {
	case text != "" || w.Host != "":
	case w.Via == ViaRule || w.Via == ViaGrant || w.Via == ViaMode:
		return "a " + string(w.Via)
	default:
		text = "somebody"
	}
	if w.Host != "" {
		text += " on " + w.Host
	}
	if w.Via != "" {
		text += " (" + string(w.Via) + ")"
	}
	return text
}

// A Digest is a SHA-256 hash, written sha256: and the hash in hex. The zero Digest stands for
// "none".
type Digest = digest.Digest

// DigestOf returns the digest of data.
func DigestOf(data []byte) Digest { return digest.Of(data) }
