package analysis

import (
	"slices"
	"strings"
	"testing"
)

// TestEverydayLines: what people and agents write is read, and says what it runs, also where
// the printer makes another program of it. Then the form is the text itself.
func TestEverydayLines(t *testing.T) {
	for text, want := range map[string][]string{
		"for i in 1 2; do sleep 1 & done; wait":                               {"sleep 1", "sleep 1", "wait"},
		"case a in a) echo x;; esac; echo next":                               {"echo x", "echo next"},
		"(ls &); pwd":                                                         {"ls", "pwd"},
		"x=$(case a in a) echo b;; esac); echo $x":                            {"echo b", "echo ?"},
		"echo $(case a in a) :;; esac); touch M":                              {"echo ?", ":", "touch M"},
		"echo $(: &); touch M":                                                {"echo ?", ":", "touch M"},
		"echo $(: & :); touch M":                                              {"echo ?", ":", ":", "touch M"},
		"echo \"$`touch M`\"":                                                 {"echo ?", "touch M"},
		"echo $(if true; then ls & fi); touch M":                              {"echo ?", "true", "ls", "touch M"},
		"cat <(case a in a) ls;; esac); touch M":                              {"cat /dev/fd/63", "ls", "touch M"},
		"x=$(ls &) pwd":                                                       {"pwd", "ls"},
		"{ ls & }; wait":                                                      {"ls", "wait"},
		"while read -r l; do echo a & done < README.md; wait":                 {"read -r l", "echo a", "wait"},
		"for f in a b; do case $f in a) ls;; *) pwd & esac; done; wait":       {"ls", "pwd", "ls", "pwd", "wait"},
		"if true; then ls & fi; wait":                                         {"true", "ls", "wait"},
		"f() { ls & }; f; wait":                                               {"f", "ls", "wait"},
		"make build > log 2>&1 & pid=$!; wait $pid":                           {"make build", "wait ?"},
		"python3 -m http.server 8000 & sleep 1; kill %1":                      {"python3 -m http.server 8000", "sleep 1", "kill %1"},
		"eval 'case a in a) echo x;; esac; echo next'":                        {"eval case a in a) echo x;; esac; echo next", "echo x", "echo next"},
		"echo \"$(for i in 1; do sleep 1 & done; wait)\"; touch M":            {"echo ?", "sleep 1", "wait", "touch M"},
		"case $1 in a) ls & ;; b) pwd;; esac; touch M":                        {"ls", "pwd", "touch M"},
		"until ls; do sleep 1 & done; touch M":                                {"ls", "sleep 1", "touch M"},
		"(sleep 1 & sleep 2 &); wait":                                         {"sleep 1", "sleep 2", "wait"},
		"x=$(case a in a) echo b;; esac) make":                                {"make", "echo b"},
		"[ -f x ] && { ls & }; wait":                                          {"[ -f x ]", "ls", "wait"},
		"for i in 1 2; do (sleep 1; echo $i) & done; wait; echo \"all done\"": {"sleep 1", "echo 1", "sleep 1", "echo 2", "wait", "echo all done"},
	} {
		script, err := Read(text, "/w", project())
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if got := ran(script); !slices.Equal(got, want) {
			t.Errorf("%q\nruns %q\nwant %q", text, got, want)
		}
		if !script.Text.Printed() && script.Text.String() != text {
			t.Errorf("%q became %q, which is another program", text, script.Text)
		}
	}
}

// ran are the programs and builtins of a script with their words; ? stands for a word that
// is not known.
func ran(script *Script) (commands []string) {
	for _, p := range script.Parts {
		if p.Kind != Runs {
			continue
		}
		var words []string
		for _, w := range p.Words {
			if !w.Known {
				w.Text = "?"
			}
			words = append(words, w.Text)
		}
		commands = append(commands, strings.Join(words, " "))
	}
	return commands
}

// TestPrinted: a text that was printed parses to the tree that was judged, and only such
// text may be handed to another shell.
func TestPrinted(t *testing.T) {
	for text, want := range map[string]bool{
		"ls": true, "ls;pwd": true, "echo `ls`": true, "ls # x": true, "if a;then b;fi": true, "cat <<E\nx\nE": true,
		"case a in a) ls;; esac; pwd": false, "x=(a b)": true, "for f; do ls; done": true, "a[1]=x": true, "echo $[1+2]": true,
		"echo $(: &); touch M": false, "echo $(case a in a) :;; esac); touch M": false, "echo \"$`touch M`\"": false, "echo a\\": false,
	} {
		f, err := canonical(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if f.printed != want {
			t.Errorf("%q: printed %v as %q", text, f.printed, f.text)
		}
		again, err := canonical(f.text)
		if err != nil || again.text != f.text || again.printed != f.printed {
			t.Errorf("%q becomes %q, and that %q: %v", text, f.text, again.text, err)
		}
	}
}

// TestSameTree: two texts have the same tree only if they are the same program.
func TestSameTree(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		same bool
	}{
		{"ls", "  ls  ", true}, {"a;b", "a\nb", true}, {"echo `a`", "echo $(a)", true}, {"a # c", "a", true}, {"a|b", "a | \\\nb", true},
		{"a;b", "a b", false}, {"a&b", "a;b", false}, {"a", "! a", false}, {"a 'b'", "a b", false}, {"a \"b\"", "a 'b'", false}, {"a $'b'", "a 'b'", false},
		{"for x; do a; done", "for x in; do a; done", false}, {"x=a b", "x=a; b", false}, {"a >b", "a >>b", false}, {"a 2>b", "a >b", false},
		{"((a[i]))", "((${a[i]}))", false}, {"$x", "${x}", false}, {"${x:-a}", "${x-a}", false}, {"a\n", "a &\n", false}, {"(a)", "{ a; }", false},
		{"if a; then b; else c; fi", "if a; then b; elif c; then :; fi", false}, {"while a; do b; done", "until a; do b; done", false},
		{"case a in b) c;; esac", "case a in b) c;& esac", false}, {"cat <<E\na\nE", "cat <<'E'\na\nE", false}, {"cat <<E\na\nE", "cat <<E\nb\nE", false},
		{"a+=b", "a=b", false}, {"a | b", "a |& b", false}, {"a[0]=b", "a[1]=b", false}, {"x=(a b)", "x=(a)", false}, {"f() { a; }", "g() { a; }", false},
	} {
		a, err1 := canonical(tt.a)
		b, err2 := canonical(tt.b)
		if err1 != nil || err2 != nil {
			t.Errorf("%q %q: %v %v", tt.a, tt.b, err1, err2)
			continue
		}
		if got := sameStatements(a.file, b.file); got != tt.same {
			t.Errorf("%q and %q: the same tree %v", tt.a, tt.b, got)
		}
	}
}
