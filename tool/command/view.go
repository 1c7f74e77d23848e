package command

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/assent-dev/assent/present"
)

// longEnough is how long a text must be for its being in the view to be no accident.
const longEnough = 16

// view fills the template of the view and adds, as facts, the arguments that it does not
// show in full: whoever answers sees everything that the program is given.
func (t *Tool) view(args json.RawMessage, all map[string]any) (present.View, error) {
	content, err := fill(t.templates.view, all)
	if err != nil {
		return present.View{}, err
	}
	v := present.View{Kind: kinds[t.cfg.View.Type], Content: content, Language: t.cfg.View.Language}
	if v.Kind == present.Diff {
		if _, err := present.ParseDiff(content); err != nil {
			return present.View{}, fmt.Errorf("the template view.content makes no diff of these arguments: %w", err)
		}
	}
	var given map[string]json.RawMessage
	if err := json.Unmarshal(args, &given); err != nil {
		return present.View{}, err
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		text, isText := all[name].(string)
		if !isText {
			text = string(given[name])
		}
		if isText && len(text) >= longEnough && strings.Contains(content, text) {
			continue
		}
		v.Facts = append(v.Facts, present.TextFact(name, text))
	}
	if v.Facts.Validate() != nil { // a name that cannot be shown as one
		v.Facts = present.Facts{present.TextFact("arguments", string(args))}
	}
	return v, nil
}
