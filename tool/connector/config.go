package connector

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/assent-dev/assent/sandbox"
	"github.com/assent-dev/assent/tool/shell/runner"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A Config is a connector as config has it. Name and one of Command and URL are needed.
type Config struct {
	// Name is what rules call it. It is ours, whatever the server calls itself.
	Name string
	// Command starts the server, which then speaks on its standard streams. Env are
	// variables of its process besides the few that every one has; Pass names others that it
	// gets from our own environment.
	Command []string
	Env     map[string]string
	Pass    []string
	// URL is where the server is; Headers are sent with every request to it.
	URL     string
	Headers map[string]string
	// Targets name, for a tool, the argument that rules match as its target. Without one
	// every argument counts.
	Targets map[string]string
	// TrustAnnotations lets a tool run without a question if the server says that it
	// only reads.
	TrustAnnotations bool
	// ByCommand says that the server was named by its command line and no config: see
	// [FromCommand]. Named says that its name was given, and not made of that.
	ByCommand, Named bool
	// Source is the file and line, for the person who asks why.
	Source string
}

// FromCommand returns the config of a server that a user launches with a command line in a
// folder, in the way in which a client would launch it: with our whole environment. Its name
// is made of what is launched unless one is given. It is in lower case, as rules read it.
func FromCommand(name string, command []string, dir string) Config {
	return Config{Name: cmp.Or(strings.ToLower(name), NameFor(command, dir)), Command: command, ByCommand: true,
		Named: name != ""}
}

// Options are what a connector works with. A connector with a command needs a Runner.
type Options struct {
	// Runner starts the server under Profile, in the folder Dir.
	Runner  sandbox.Runner
	Profile sandbox.Profile
	Dir     string
	// Environ is our own environment, as NAME=VALUE, of which a server of a config gets
	// little.
	Environ []string
	// Verify is asked before each start of the server; an error refuses that start. Nil means
	// that the server is started as it is.
	Verify func() error
	// HTTP is used for connectors with a URL; nil means a client of its own.
	HTTP *http.Client
	// Pins keeps definitions. Nil means a memory of the connector's own.
	Pins Pins
	// Names are those of the tools of other connectors and of [BuiltIn] ones. Nil means that
	// there are no others.
	Names *Names
	// Report hears what happens to the connector. It must not block. Nil means nobody.
	Report func(Event)
	// Elicit asks the person at the agent for what the server wants to know. Nil means that
	// servers are told that nobody can be asked.
	Elicit func(ctx context.Context, connector string, params *mcp.ElicitParams) (*mcp.ElicitResult, error)
	// Sample asks the agent's own model for the server. Nil means that there is none.
	Sample Sampler
	// Heard is told of notifications of the server that are about more than one call: log
	// messages, and lists or resources that changed. It must not block. Nil means nobody.
	Heard func(connector string, params mcp.Params)

	// ConnectTimeout is how long a server may take to greet and to list its tools; 0 means
	// 30 seconds. CallTimeout is how long a call may take; 0 means 10 minutes.
	ConnectTimeout, CallTimeout time.Duration
	// Fresh is how old the list of tools may be when a call is made; 0 means a second.
	Fresh time.Duration
	// Backoff is how long to wait before the server is started again, by how often that
	// failed in a row; nil means from one second on, doubled up to a minute.
	Backoff func(failures int) time.Duration
	// MaxMessage is how many bytes one message may have, and MaxResult one result; 0 means
	// 16 MiB and 4 MiB.
	MaxMessage, MaxResult int
}

// withDefaults returns the options with nothing left open.
func (o Options) withDefaults() Options {
	o.ConnectTimeout = cmp.Or(o.ConnectTimeout, 30*time.Second)
	o.CallTimeout = cmp.Or(o.CallTimeout, 10*time.Minute)
	o.Fresh = cmp.Or(o.Fresh, time.Second)
	o.MaxMessage = cmp.Or(o.MaxMessage, 16<<20)
	o.MaxResult = cmp.Or(o.MaxResult, 4<<20)
	if o.Pins == nil {
		o.Pins = NewMemoryPins()
	}
	if o.Names == nil {
		o.Names = &Names{}
	}
	if o.Report == nil {
		o.Report = func(Event) {}
	}
	if o.Heard == nil {
		o.Heard = func(string, mcp.Params) {}
	}
	if o.Backoff == nil {
		o.Backoff = backoff
	}
	return o
}

// backoff doubles from a second to a minute.
func backoff(failures int) time.Duration {
	return min(time.Second<<min(failures, 6), time.Minute)
}

// Check reports what is wrong with the config, all of it. It starts nothing.
func (c Config) Check() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if c.Name == "" || strings.Contains(c.Name, "__") || strings.ContainsFunc(c.Name, notInName) {
		fault("its name %q: a name has letters, digits, - and single _", c.Name)
	}
	switch {
	case len(c.Command) == 0 && c.URL == "":
		fault("it needs a command or a url")
	case len(c.Command) > 0 && c.URL != "":
		fault("it has a command and a url; keep one")
	case len(c.Command) > 0 && c.Command[0] == "":
		fault("its command is empty")
	}
	if c.URL != "" {
		if u, err := url.Parse(c.URL); err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
			fault("its url: write it as https://HOST/PATH") // not repeated: it may hold a secret
		}
	}
	for name := range c.Env {
		if !runner.MayPass(name) {
			fault("env: %q may not be set; it is not a name, or it makes programs run other code", name)
		}
	}
	for _, name := range c.Pass {
		if !runner.MayPass(name) {
			fault("the variable %q may not be passed on; it is not a name, or it makes programs run other code", name)
		}
	}
	if err := errors.Join(faults...); err != nil {
		return fmt.Errorf("connector %s%s: %w", c.Name, at(c.Source), err)
	}
	return nil
}

func notInName(c rune) bool {
	return c != '-' && c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z')
}

func at(source string) string {
	if source == "" {
		return ""
	}
	return " (" + source + ")"
}
