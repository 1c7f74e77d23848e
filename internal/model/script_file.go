package model

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/worker"
	"github.com/assent-dev/assent/policy"
)

// A scriptTurn is a turn as it is written.
type scriptTurn struct {
	If     *condition       `yaml:"if"`
	Unless *condition       `yaml:"unless"`
	Set    map[string]*from `yaml:"set"`
	Say    string           `yaml:"say"`
	Wait   string           `yaml:"wait"`
	Tokens int64            `yaml:"tokens"`
	Calls  []scriptCall     `yaml:"calls"`
	Listen bool             `yaml:"listen"`
	wait   time.Duration
}

type scriptCall struct {
	ID        string         `yaml:"id"`
	Connector string         `yaml:"connector"`
	Tool      string         `yaml:"tool"`
	Args      map[string]any `yaml:"args"`
}

// A condition holds if all that it says does.
type condition struct {
	Call     string `yaml:"call"`
	Stage    string `yaml:"stage"`
	Contains string `yaml:"contains"`
	Matches  string `yaml:"matches"`
	Denied   *bool  `yaml:"denied"`
	Error    *bool  `yaml:"error"`
	Message  string `yaml:"message"`
	matches  *regexp.Regexp
}

// A from says where a value comes from.
type from struct {
	Call  string `yaml:"call"`
	Match string `yaml:"match"`
	match *regexp.Regexp
}

// ParseScript reads a script:
//
//	turns:
//	  - say: I will look first.
//	    calls:
//	      - {id: look, tool: read_file, args: {path: notes/today.md}}
//	  - if: {call: look, denied: true}
//	    say: Then I cannot help.
//	  - unless: {call: look, denied: true}
//	    set: {title: {call: look, match: '# (.*)'}}
//	    say: It is about ${title}.
//
// See docs/script-models.md for all that a turn can say.
func ParseScript(file string, data []byte) (*Script, error) {
	var doc struct {
		Turns []scriptTurn `yaml:"turns"`
	}
	if err := decode(data, &doc); err != nil {
		return nil, fmt.Errorf("script %s: %w", file, err)
	}
	if len(doc.Turns) == 0 {
		return nil, fmt.Errorf("script %s: it has no turns", file)
	}
	for i := range doc.Turns {
		if err := doc.Turns[i].prepare(); err != nil {
			return nil, fmt.Errorf("script %s: turn %d: %w", file, i+1, err)
		}
	}
	return &Script{file: file, turns: doc.Turns}, nil
}

// decode reads YAML. The library panics at some that is none, a tag without a value for one.
func decode(data []byte, doc any) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("it cannot be read: %v", r)
		}
	}()
	return yaml.UnmarshalWithOptions(data, doc, yaml.Strict())
}

// prepare checks the turn and makes it ready to be played.
func (t *scriptTurn) prepare() (err error) {
	if t.wait, err = time.ParseDuration(cmp.Or(t.Wait, "0")); err != nil || t.wait < 0 {
		return fmt.Errorf("wait is a time such as 2s, not %q", t.Wait)
	}
	if t.Tokens < 0 {
		return fmt.Errorf("tokens is how many the turn costs, not %d", t.Tokens)
	}
	for _, c := range []*condition{t.If, t.Unless} {
		if err := c.prepare(); err != nil {
			return err
		}
	}
	for name, f := range t.Set {
		if err := f.prepare(); err != nil {
			return fmt.Errorf("set %s: %w", name, err)
		}
	}
	for i, c := range t.Calls {
		if c.Tool == "" {
			return fmt.Errorf("call %d names no tool", i+1)
		}
	}
	if t.Listen && len(t.Calls) > 0 {
		return errors.New("a turn has calls or listens, not both: calls are answered first")
	}
	return nil
}

func (c *condition) prepare() (err error) {
	if c == nil {
		return nil
	}
	if c.Call == "" && (c.Message == "" || c.Stage != "" || c.Contains != "" || c.Matches != "" || c.Denied != nil ||
		c.Error != nil) {
		return errors.New("a condition needs the id of a call")
	}
	if c.Matches != "" {
		if c.matches, err = regexp.Compile(c.Matches); err != nil {
			return fmt.Errorf("matches: %w", err)
		}
	}
	return nil
}

// holds reports whether the condition does. About a call without a result nothing holds.
func (c *condition) holds(p *performance) bool {
	if !strings.Contains(p.message, c.Message) {
		return false
	}
	if c.Call == "" {
		return true
	}
	result, ok := p.result(c.Call)
	is := func(want *bool, stages ...approval.Stage) bool {
		return want == nil || *want == oneOf(result.Stage, stages)
	}
	return ok && (c.Stage == "" || c.Stage == ending(result)) &&
		strings.Contains(result.Text, c.Contains) &&
		(c.matches == nil || c.matches.MatchString(result.Text)) &&
		is(c.Denied, approval.StageRefused) &&
		is(c.Error, approval.StageFailed, approval.StageCancelled, approval.StageUnknown)
}

// ending is the word by which a script knows how a call ended.
func ending(r worker.Result) string {
	switch {
	case r.Outcome.State == policy.StateBlocked, r.Outcome.State == policy.StateDismissed:
		return string(r.Outcome.State)
	case r.Stage == approval.StageRefused:
		return "denied"
	}
	return string(r.Stage)
}

func oneOf(s approval.Stage, stages []approval.Stage) bool {
	for _, other := range stages {
		if s == other {
			return true
		}
	}
	return false
}

func (f *from) prepare() (err error) {
	if f == nil || f.Call == "" {
		return errors.New("write {call: ID, match: PATTERN}")
	}
	f.match, err = regexp.Compile(cmp.Or(f.Match, `(?s).*`))
	return err
}

// placeholder is where a value goes. A dollar sign more in front of it is taken away, and
// the rest left as it is.
var placeholder = regexp.MustCompile(`\$?\$\{([^}]*)\}`)

// keep takes values from results: what the first group of the pattern found, or the whole
// of it. What is not found leaves the value as it was.
func (p *performance) keep(set map[string]*from) {
	for name, f := range set {
		result, ok := p.result(f.Call)
		found := f.match.FindStringSubmatch(result.Text)
		if !ok || found == nil {
			continue
		}
		p.values[name] = strings.TrimSpace(found[min(1, len(found)-1)])
	}
}

// fill puts values in their places. A value that nothing has set is an error: what would
// stand there instead is nobody's intention.
func (p *performance) fill(text string) (string, error) {
	var missing error
	filled := placeholder.ReplaceAllStringFunc(text, func(place string) string {
		if strings.HasPrefix(place, "$$") {
			return place[1:]
		}
		name := place[2 : len(place)-1]
		if name == "message" {
			return p.message
		}
		value, ok := p.values[name]
		if !ok && missing == nil {
			missing = fmt.Errorf("${%s} has no value: no set found one", name)
		}
		return value
	})
	return filled, missing
}

// fillAll puts values in their places in every text of an argument.
func (p *performance) fillAll(value any) (any, error) {
	switch v := value.(type) {
	case string:
		return p.fill(v)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			var err error
			if out[i], err = p.fillAll(v[i]); err != nil {
				return nil, err
			}
		}
		return out, nil
	case map[string]any:
		out := make(map[string]any, len(v))
		for name := range v {
			var err error
			if out[name], err = p.fillAll(v[name]); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	return value, nil
}
