package config

import (
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
)

// Override gives keys of a worker other values for one run:
//
//	f, err := config.Override(file, []string{"max_steps=3", "sandbox.paths.notes.mode=ro"})
//
// A value is read as YAML, so that it can be a text, a number, a bool, a list or a map. The
// result is read like any worker file: a key that is not known is an error. Of several
// settings about one key the last counts. The error begins with the setting, or with what it
// leads to.
func Override(f *File, settings []string) (*File, error) {
	if len(settings) == 0 {
		return f, nil
	}
	front, body, err := splitWorker(f.Policy.File, f.Data)
	if err != nil {
		return nil, fmt.Errorf("cannot be applied: %w", err)
	}
	var doc yaml.MapSlice
	if err := yaml.UnmarshalWithOptions(front, &doc, yaml.UseOrderedMap()); err != nil {
		return nil, fmt.Errorf("cannot be applied: %w", err)
	}
	for _, s := range settings {
		key, text, ok := strings.Cut(s, "=")
		if !ok || key == "" {
			return nil, fmt.Errorf("%q: write it as KEY.PATH=VALUE", s)
		}
		var value any
		if err := yaml.UnmarshalWithOptions([]byte(text), &value, yaml.UseOrderedMap()); err != nil {
			return nil, fmt.Errorf("%q: the value is not valid YAML; put text in quotes", s)
		}
		if doc, err = put(doc, strings.Split(key, "."), value); err != nil {
			return nil, fmt.Errorf("%q: %w", s, err)
		}
	}
	return reread(f, doc, body)
}

// put sets the value behind a path, and makes the maps on the way that are not there.
func put(doc yaml.MapSlice, path []string, value any) (yaml.MapSlice, error) {
	if path[0] == "" {
		return nil, fmt.Errorf("a part of the key is empty")
	}
	at := -1
	for i := range doc {
		if fmt.Sprint(doc[i].Key) == path[0] {
			at = i
		}
	}
	if at < 0 {
		doc = append(doc, yaml.MapItem{Key: path[0]})
		at = len(doc) - 1
	}
	if len(path) == 1 {
		doc[at].Value = value
		return doc, nil
	}
	inner, isMap := doc[at].Value.(yaml.MapSlice)
	if !isMap && doc[at].Value != nil {
		return nil, fmt.Errorf("%s is not a mapping, so no key in it can be set", path[0])
	}
	inner, err := put(inner, path[1:], value)
	doc[at].Value = inner
	return doc, err
}

// reread makes a worker of the changed front matter. Its bytes are the changed ones.
func reread(f *File, doc yaml.MapSlice, body string) (*File, error) {
	front, err := yaml.Marshal(doc)
	if err != nil {
		return nil, fmt.Errorf("cannot be applied: %w", err)
	}
	data := JoinWorker(f.Policy.File, front, body)
	w, err := LoadWorker(f.Policy.File, data, f.Folder)
	if err != nil {
		return nil, fmt.Errorf("makes the worker wrong: %w", err)
	}
	out := *f
	out.Data, out.Worker, out.Policy = data, w, w.Policy
	return &out, nil
}
