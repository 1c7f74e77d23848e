package permissions

import (
	"fmt"
	"slices"
	"strings"
)

// A ruleCall is a call in a file of rules. Such files are Starlark, a small Python, and nearly all
// of them are a list of calls with texts and lists. Anything else is an error: to run a program for
// it is not this package's work.
type ruleCall struct {
	name string
	args []ruleArg
	line int
}

// A ruleArg is an argument. Its value is a string or a list of values.
type ruleArg struct {
	name  string
	value any
}

// maxRuleDepth is how deep lists are nested.
const maxRuleDepth = 4

// parseRules reads a whole file.
func parseRules(text string) (out []ruleCall, err error) {
	p := &ruleParser{text: text, line: 1}
	for {
		p.blank()
		for p.at < len(p.text) && p.text[p.at] == ';' {
			p.at++
			p.blank()
		}
		if p.at == len(p.text) {
			return out, nil
		}
		call, err := p.call()
		if err != nil {
			return nil, fmt.Errorf("line %d: %w; assent reads calls with texts and lists alone", p.line, err)
		}
		out = append(out, call)
	}
}

type ruleParser struct {
	text     string
	at, line int
}

// blank passes over white space and comments.
func (p *ruleParser) blank() {
	for p.at < len(p.text) {
		switch c := p.text[p.at]; {
		case c == '\n':
			p.line++
			p.at++
		case c == ' ' || c == '\t' || c == '\r':
			p.at++
		case c == '#':
			for p.at < len(p.text) && p.text[p.at] != '\n' {
				p.at++
			}
		default:
			return
		}
	}
}

// take passes over a character, if it comes next.
func (p *ruleParser) take(c byte) bool {
	p.blank()
	if p.at < len(p.text) && p.text[p.at] == c {
		p.at++
		return true
	}
	return false
}

// name reads a name, "" if none comes next.
func (p *ruleParser) name() string {
	p.blank()
	from := p.at
	for ; p.at < len(p.text); p.at++ {
		c := p.text[p.at]
		letter, digit := c == '_' || 'a' <= c|0x20 && c|0x20 <= 'z', '0' <= c && c <= '9'
		if !letter && (!digit || p.at == from) {
			break
		}
	}
	return p.text[from:p.at]
}

func (p *ruleParser) call() (c ruleCall, err error) {
	c.line = p.line
	if c.name = p.name(); c.name == "" || !p.take('(') {
		return c, fmt.Errorf("a call is missing")
	}
	for !p.take(')') {
		var a ruleArg
		p.blank()
		if from := p.at; p.at < len(p.text) && p.text[p.at] != '"' && p.text[p.at] != '\'' && p.text[p.at] != '[' {
			if a.name = p.name(); a.name == "" || !p.take('=') {
				p.at = from
				return c, fmt.Errorf("an argument of %s is not understood", c.name)
			}
		}
		if a.value, err = p.value(0); err != nil {
			return c, err
		}
		if a.name != "" && slices.ContainsFunc(c.args, func(b ruleArg) bool { return b.name == a.name }) {
			return c, fmt.Errorf("%s has %s twice", c.name, a.name)
		}
		c.args = append(c.args, a)
		if !p.take(',') {
			if !p.take(')') {
				return c, fmt.Errorf("a comma or a closing parenthesis is missing in %s", c.name)
			}
			break
		}
	}
	// Nothing may follow on the line: it could be an operator.
	for p.at < len(p.text) && (p.text[p.at] == ' ' || p.text[p.at] == '\t' || p.text[p.at] == '\r') {
		p.at++
	}
	if p.at < len(p.text) && strings.IndexByte("\n#;", p.text[p.at]) < 0 {
		return c, fmt.Errorf("something follows the call of %s", c.name)
	}
	return c, nil
}

func (p *ruleParser) value(depth int) (any, error) {
	p.blank()
	switch {
	case depth > maxRuleDepth:
		return nil, fmt.Errorf("lists are nested too deeply")
	case p.at == len(p.text):
		return nil, fmt.Errorf("a value is missing")
	case p.take('['):
		list := []any{}
		for !p.take(']') {
			item, err := p.value(depth + 1)
			if err != nil {
				return nil, err
			}
			list = append(list, item)
			if !p.take(',') {
				if !p.take(']') {
					return nil, fmt.Errorf("a comma or a closing bracket is missing")
				}
				break
			}
		}
		return list, nil
	}
	return p.quoted()
}

// quoted reads a text on one line.
func (p *ruleParser) quoted() (string, error) {
	quote := p.text[p.at]
	if quote != '"' && quote != '\'' {
		return "", fmt.Errorf("a text or a list is missing")
	}
	if strings.HasPrefix(p.text[p.at:], strings.Repeat(string(quote), 3)) {
		return "", fmt.Errorf("a text in three quotes is not understood")
	}
	var b strings.Builder
	for p.at++; p.at < len(p.text); p.at++ {
		switch c := p.text[p.at]; c {
		case quote:
			p.at++
			return b.String(), nil
		case '\n':
			return "", fmt.Errorf("a text has no end")
		case '\\':
			p.at++
			if p.at == len(p.text) {
				return "", fmt.Errorf("a text has no end")
			}
			i := strings.IndexByte(`\"'nrt`, p.text[p.at])
			if i < 0 {
				return "", fmt.Errorf("a text has an escape that is not understood")
			}
			b.WriteByte("\\\"'\n\r\t"[i])
		default:
			b.WriteByte(c)
		}
	}
	return "", fmt.Errorf("a text has no end")
}
