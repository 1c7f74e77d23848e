package config

import (
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/assent-dev/assent/policy"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/jsonschema-go/jsonschema"
)

// files are the kinds of files, with their tables and how they are loaded.
var files = map[Kind]struct {
	shape *shape
	load  func(text string) (any, error)
}{
	PolicyFile: {policyShape, func(text string) (any, error) { return Load("f.yaml", []byte(text), "/base") }},
	WorkerFile: {workerShape, func(text string) (any, error) { return LoadWorker("f.yaml", []byte(text), "/base") }},
	TeamFile:   {teamShape, func(text string) (any, error) { return LoadTeam("f.yaml", []byte(text)) }},
	UserFile:   {userShape, func(text string) (any, error) { return LoadUser("f.yaml", []byte(text)) }},
}

func validator(t *testing.T, kind Kind) func(text string) error {
	t.Helper()
	data, err := Schema(kind)
	if err != nil {
		t.Fatal(err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(data, &s); err != nil {
		t.Fatal(err)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return func(text string) error {
		asJSON, err := yaml.YAMLToJSON([]byte(text))
		if err != nil {
			return err
		}
		var value any
		if err := json.Unmarshal(asJSON, &value); err != nil {
			return err
		}
		return resolved.Validate(value)
	}
}

// eachKey visits every key of the shape with its path.
func eachKey(s *shape, path string, visit func(path string, k key)) {
	if s.values != nil {
		eachKey(s.values, path+".*", visit)
	}
	if s.items != nil {
		eachKey(s.items, path+"[]", visit)
	}
	for _, k := range s.keys {
		below := strings.TrimPrefix(path+"."+k.name, ".")
		visit(below, k)
		eachKey(k.shape, below, visit)
	}
}

// sampleOf returns a file that uses a key, and its kind.
func sampleOf(path string) (text string, kind Kind) {
	for _, kind := range []Kind{WorkerFile, UserFile, TeamFile} {
		if text, ok := strings.CutPrefix(samples[path], string(kind)+" "); ok {
			return text, kind
		}
	}
	return samples[path], PolicyFile
}

func TestEveryKeyHasASample(t *testing.T) {
	known := map[string]bool{}
	for _, f := range files {
		eachKey(f.shape, "", func(path string, _ key) {
			known[path] = true
			if samples[path] == "" {
				t.Errorf("no sample uses %s", path)
			}
		})
	}
	for path := range samples {
		if !known[path] {
			t.Errorf("a sample uses %s, which no file has", path)
		}
	}
}

// value reads YAML into plain values.
func value(t *testing.T, text string) map[string]any {
	t.Helper()
	var out map[string]any
	if err := yaml.Unmarshal([]byte(text), &out); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return out
}

// change replaces what stands at the path, and takes the key away if it is to be nothing.
func change(at any, path string, to any) any {
	return changeAt(at, strings.Split(strings.ReplaceAll(path, "[]", ".[]"), "."), to)
}

func changeAt(at any, path []string, to any) any {
	switch v := at.(type) {
	case []any:
		v[0] = changeAt(v[0], path[1:], to)
	case map[string]any:
		for name := range maps.Clone(v) {
			switch {
			case name != path[0] && path[0] != "*":
			case len(path) > 1:
				v[name] = changeAt(v[name], path[1:], to)
			case to == nil:
				delete(v, name)
			default:
				v[name] = to
			}
		}
	}
	return at
}

// line writes values as one line of YAML.
func line(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

var sameLoaded = cmp.Options{
	cmp.Comparer(func(a, b *policy.RuleSet) bool { return reflect.DeepEqual(a.Rules(), b.Rules()) }),
	cmpopts.IgnoreFields(Policy{}, "Warnings", "Notes"),
	cmpopts.EquateEmpty(),
}

// Every key that is taken means something: with it the file loads as something else than
// without it, or does not load without it. The version only refuses others, and a shell
// rule that says nothing asks anyway.
func TestEveryKeyChangesWhatIsLoaded(t *testing.T) {
	for _, path := range slices.Sorted(maps.Keys(samples)) {
		text, kind := sampleOf(path)
		text = line(t, value(t, text))
		with, err := files[kind].load(text)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		without, err := files[kind].load(line(t, change(value(t, text), path, nil)))
		if err != nil && !errors.As(err, new(Problems)) {
			t.Errorf("%s: %v", path, err)
		}
		if err == nil && cmp.Equal(with, without, sameLoaded) && path != "version" && path != "shell.rules[].action" {
			t.Errorf("%s changes nothing: %s", path, text)
		}
	}
}

func TestTheSchemaTakesWhatTheLoaderTakes(t *testing.T) {
	values := []any{"zzz", "", "ask", true, 7, -7, 1.5, []any{}, []any{"a"}, []any{1}, []any{map[string]any{"zzz": 1}}, map[string]any{}, map[string]any{"zzz": "a"}, map[string]any{"zzz": map[string]any{"zzz": 1}}}
	validators := map[Kind]func(string) error{}
	for kind := range files {
		validators[kind] = validator(t, kind)
	}
	for _, path := range slices.Sorted(maps.Keys(samples)) {
		text, kind := sampleOf(path)
		valid := validators[kind]
		if err := valid(text); err != nil {
			t.Errorf("the schema refuses %s: %v", text, err)
		}
		for _, v := range values {
			changed := line(t, change(value(t, text), path, v))
			_, loaded := files[kind].load(changed)
			if refused := valid(changed); refused != nil && loaded == nil {
				t.Errorf("%s is loaded, and the schema says %v", changed, refused)
			}
		}
	}
}

// What the schema takes is loaded too, as far as kinds and keys go: a value of the wrong
// kind, or an unknown key, is refused by both.
func TestTheLoaderRefusesWhatTheSchemaRefuses(t *testing.T) {
	for kind, f := range files {
		valid := validator(t, kind)
		eachKey(f.shape, "", func(path string, k key) {
			text, of := sampleOf(path)
			if of != kind {
				return
			}
			wrong := map[kinds]any{aText: "zzz", aBool: true, aCount: 7, aList: []any{7}, aMapping: map[string]any{"zzz": 7}}
			for is, v := range wrong {
				changed := line(t, change(value(t, text), path, v))
				_, err := f.load(changed)
				if k.shape.kinds&is == 0 && (err == nil || valid(changed) == nil) {
					t.Errorf("%s: loader %v, schema %v", changed, err, valid(changed))
				}
			}
		})
	}
}

func TestSchemaIsForFourKinds(t *testing.T) {
	if _, err := Schema("rules"); err == nil || !strings.Contains(err.Error(), "worker, policy, config and team") {
		t.Error(err)
	}
}
