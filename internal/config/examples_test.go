package config

import (
	"io/fs"
	"path/filepath"
	"slices"
	"testing"
)

// examples are the files of this repository that people start from or read.
func examples(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, pattern := range []string{"internal/starter/*.yaml", "internal/starter/*.worker", "internal/demo/policy.yaml", "internal/corpus/data/*.yaml"} {
		found, err := filepath.Glob(filepath.Join("../..", pattern))
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %v, %v", pattern, found, err)
		}
		out = append(out, found...)
	}
	err := filepath.WalkDir("../../examples", func(path string, d fs.DirEntry, err error) error {
		if err == nil && (filepath.Ext(path) == workerSuffix || slices.Contains([]string{policyName, UserName}, d.Name())) {
			out = append(out, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestTheExamplesFitTheSchemaAndLoad(t *testing.T) {
	for _, path := range examples(t) {
		f, err := Read(path, "")
		if err != nil {
			t.Error(err)
			continue
		}
		text := f.Data
		if f.Kind == WorkerFile && filepath.Ext(path) == workerSuffix {
			if text, _, err = splitWorker(path, f.Data); err != nil {
				t.Fatal(err)
			}
		}
		if err := validator(t, f.Kind)(string(text)); err != nil {
			t.Errorf("%s: the schema refuses it: %v", path, err)
		}
		for _, p := range slices.Concat(f.Policy.Warnings, f.Policy.Notes) {
			t.Error(p)
		}
	}
}
