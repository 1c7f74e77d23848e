package rulebook

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/policy"
)

// A Concern says what an [Advice] is about.
type Concern string

// The concerns.
const (
	ManyTools   Concern = "many-tools"  // it is about more tools than one would think
	Hidden      Concern = "hidden"      // it never decides: another one does first
	Hides       Concern = "hides"       // another one never decides any more
	Contradicts Concern = "contradicts" // another one says the opposite of part of it
	NoPort      Concern = "no-port"     // it allows connections and names no port
	Connections Concern = "connections" // it allows connections too
	Unreached   Concern = "unreached"   // it denies less than one would think
)

// An Advice is something worth knowing about a rule before it is kept.
type Advice struct {
	Concern Concern `json:"concern"`
	Text    string  `json:"text"`
	// Other is the rule that it is compared with, Tools those that it covers.
	Other *policy.Rule `json:"other,omitempty"`
	Tools []string     `json:"tools,omitempty"`
}

// Advise compares a rule with those that are kept and hold at now, and counts which of the
// known tools (TOOL or CONNECTOR:TOOL) it is about; more than most is worth a word.
func Advise(rules []policy.Rule, rule policy.Rule, known []string, most int, now time.Time) []Advice {
	var out []Advice
	if tools := about(rule, known); len(tools) > most {
		text := fmt.Sprintf("it covers %d known tools: %s", len(tools), strings.Join(tools, ", "))
		out = append(out, Advice{ManyTools, text, nil, tools})
	}
	if _, name, host, hasHost := split(rule.Pattern); rule.Effect == policy.EffectAllow && hasHost &&
		strings.EqualFold(name, policy.ActConnect) &&
		!strings.HasSuffix(host, "*") && !strings.Contains(host[strings.LastIndexByte(host, ']')+1:], ":") {
		out = append(out, Advice{Concern: NoPort, Text: fmt.Sprintf("it answers no connection to a port that is "+
			"known: write connect(%s:443), or connect(%s:*) for every port", host, host)})
	}
	mine := examples(rule)
	for _, other := range rules {
		if !other.HoldsIn(rule.Project) && !rule.HoldsIn(other.Project) {
			continue
		}
		if other.Enabled && (other.Expires.IsZero() || now.Before(other.Expires)) {
			out = append(out, compare(rule, other, mine, examples(other))...)
		}
	}
	return out
}

// about returns the known tools that the name of the rule stands for.
func about(rule policy.Rule, known []string) []string {
	bare := rule
	if connector, name, _, hasTarget := split(rule.Pattern); hasTarget && rule.Scope == policy.ScopeTool {
		if bare.Pattern = name; connector != "" {
			bare.Pattern = connector + ":" + name
		}
	}
	var out []string
	for _, tool := range known {
		connector, name, foreign := strings.Cut(tool, ":")
		if !foreign {
			connector, name = "", tool
		}
		e := example{
			call: policy.Call{Connector: connector, Tool: name},
			act: policy.Act{Name: name, Connector: connector, Target: policy.ArgumentsTarget([]byte("{}")),
				Verdict: policy.VerdictAsk},
		}
		if e.decided(bare) {
			out = append(out, tool)
		}
	}
	return out
}

// compare says what a new rule and one that is kept mean for each other.
func compare(rule, other policy.Rule, mine, theirs []example) []Advice {
	inOther, inMine := count(mine, other), count(theirs, rule)
	allMine := inOther > 0 && inOther == len(mine) && other.HoldsIn(rule.Project)
	allTheirs := inMine > 0 && inMine == len(theirs) && rule.HoldsIn(other.Project)
	advice := func(c Concern, format string) []Advice {
		return []Advice{{Concern: c, Text: fmt.Sprintf(format, other), Other: &other}}
	}
	// Of two allows for a command, only one may answer the connections as well.
	mineConnects, theirsConnects := Connects(rule) != "", Connects(other) != ""
	switch opposite := rule.Effect != other.Effect; {
	case !opposite && mineConnects != theirsConnects:
		return nil
	case !opposite && allMine:
		return advice(Hidden, "it changes nothing: %q covers all of it")
	case !opposite && allTheirs:
		return advice(Hides, "%q is no longer needed: this covers all of it")
	case !opposite || inOther+inMine == 0:
		return nil
	case rule.Effect == policy.EffectAllow && allMine:
		return advice(Hidden, "it never allows anything: %q denies all of it, and a deny comes first")
	case rule.Effect == policy.EffectAllow:
		return advice(Contradicts, "part of it stays denied: %q comes first")
	case allTheirs:
		return advice(Contradicts, "%q allows nothing any more: this denies all of it")
	}
	return advice(Contradicts, "%q allows part of it; this comes first, so that part is denied")
}

func count(examples []example, rule policy.Rule) (n int) {
	for i := range examples {
		if examples[i].decided(rule) {
			n++
		}
	}
	return n
}

// ErrUnknownTool says that a rule names no tool there is, and nearly one that is.
var ErrUnknownTool = errors.New("unknown tool")

// CheckName looks at the tool that a rule names. A slip is an error, because a misspelt deny
// allows; a name that is not known here may be meant for a tool from elsewhere, and is
// worth a warning.
func CheckName(rule policy.Rule, known []string) (warning string, err error) {
	_, name, _, _ := split(rule.Pattern)
	if rule.Scope == policy.ScopeConnector ||
		slices.ContainsFunc(known, func(k string) bool { return strings.EqualFold(k, name) }) {
		return "", nil
	}
	conf, err := config.Load("rule", []byte("rules: ["+quoted(rule.String())+"]\n"), "")
	var problems config.Problems
	if errors.As(err, &problems) {
		return "", &policy.RuleError{Err: ErrUnknownTool, Rule: rule.String(), Detail: afterColon(problems[0].Text)}
	}
	if err != nil || len(conf.Notes) == 0 {
		return "", err
	}
	return afterColon(conf.Notes[0].Text), nil
}

// afterColon leaves out the rule, which stands before the colon.
func afterColon(text string) string {
	if _, after, ok := strings.Cut(text, "): "); ok {
		return after
	}
	if _, after, ok := strings.Cut(text, ": "); ok {
		return after
	}
	return text
}
