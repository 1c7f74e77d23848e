package connector

import (
	"maps"
	"slices"
	"strings"
	"sync"
)

// BuiltIn is who owns the names of tools that come from no connector.
const BuiltIn = "assent itself"

// Names are the names of the tools of all connectors that are used together, so that one
// cannot pass for another's. It is safe for concurrent use; the zero Names is empty.
type Names struct {
	mu    sync.Mutex
	looks map[string]map[string]string // by owner: what its names look like, and the names
}

// Set says which tools the owner has now.
func (n *Names) Set(owner string, names ...string) {
	looks := make(map[string]string, len(names))
	for _, name := range names {
		looks[skeleton(name)] = name
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.looks == nil {
		n.looks = map[string]map[string]string{}
	}
	n.looks[owner] = looks
}

// taken returns who else has a tool whose name looks like this one, and that name. The very
// same name is free: rules, pins and models know a tool by its connector too, and no rule for
// a built-in tool reaches a connector's.
func (n *Names) taken(owner, name string) (other, like string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, other := range slices.Sorted(maps.Keys(n.looks)) {
		like, ok := n.looks[other][skeleton(name)]
		if ok && other != owner && !strings.EqualFold(like, name) {
			return other, like
		}
	}
	return "", ""
}

// The methods of the protocol besides tools/call, as rules name them: CONNECTOR:METHOD. The
// last two are what a server asks of the client.
const (
	ReadResource = "resources/read"
	Subscribe    = "resources/subscribe"
	Unsubscribe  = "resources/unsubscribe"
	GetPrompt    = "prompts/get"
	Complete     = "completion/complete"
	SetLevel     = "logging/setLevel"
	Elicit       = "elicitation/create"
	Sample       = "sampling/createMessage"
)

// Methods returns the methods that rules can name. No tool of a server may have such a name:
// a rule for the one would answer for the other.
func Methods() []string {
	return []string{ReadResource, Subscribe, Unsubscribe, GetPrompt, Complete, SetLevel, Elicit, Sample}
}

// isMethod reports whether rules could take a tool's name for that of a method.
func isMethod(name string) bool {
	return slices.ContainsFunc(Methods(), func(method string) bool { return strings.EqualFold(method, name) })
}
