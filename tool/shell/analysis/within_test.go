package analysis

import "testing"

// A command whose folder is not known runs within a known one, and its relative paths are unknown.
func TestReadWithin(t *testing.T) {
	for text, want := range map[string]struct {
		path string // of what it touches; empty for unknown
		dir  string // that it runs in
	}{
		"cat k":                         {"", "/w"},
		"cat ../k":                      {"", "/w"},
		"cat /w/k":                      {"/w/k", "/w"},
		"cd sub && cat k":               {"", ""},
		"cd /w && cat k":                {"/w/k", "/w"},
		"if true; then :; fi; cat k":    {"", "/w"},
		"true || false; cat /w/k":       {"/w/k", "/w"},
		"if a; then cd b; fi; cat /w/k": {"/w/k", ""},
		"a || cd b; cat /w/k":           {"/w/k", ""},
	} {
		s, err := ReadWithin(text, "/w", project())
		if err != nil {
			t.Fatal(err)
		}
		var runs, touches *Part
		for i, p := range s.Parts {
			switch {
			case p.Kind == Runs && len(p.Words) > 0 && p.Words[0].Text == "cat":
				runs = &s.Parts[i]
			case p.Kind == Touches:
				touches = &s.Parts[i]
			}
		}
		if runs == nil || touches == nil || touches.Path != want.path || runs.Dir != want.dir {
			t.Errorf("%s: runs %+v, touches %+v", text, runs, touches)
		}
	}
}
