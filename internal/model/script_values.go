package model

import (
	"fmt"
	"regexp"
	"strings"
)

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
