package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/assent-dev/assent/internal/explain"
)

// A tally is how often a policy asks.
type tally struct {
	policy  string
	rows    []row
	reasons map[string]*reason
	listed  []string // what -v prints
}

// A row counts the calls of one day.
type row struct {
	day                  string
	calls, asked, denied int
}

// A reason is why calls are asked, and the programs that it is given for.
type reason struct {
	text     string
	calls    int
	programs map[string]int
}

func (r row) inTwenty() float64 {
	if r.calls == 0 {
		return 0
	}
	return 20 * float64(r.asked) / float64(r.calls)
}

func (t *tally) count(d day, answers []explain.Answer) {
	r := row{day: d.name, calls: len(answers)}
	for i, a := range answers {
		switch a.Outcome {
		case explain.Allow:
			continue
		case explain.Ask:
			r.asked++
			t.explain(a)
		default: // a call that is not understood is denied as well
			r.denied++
		}
		t.listed = append(t.listed, fmt.Sprintf("%-5s %s  %s\n      %s", a.Outcome, d.calls[i].ID, shown(d.calls[i]), cmp.Or(a.Error, a.Why)))
	}
	t.rows = append(t.rows, r)
}

// explain counts each reason once a call, with the programs of the acts that give it.
func (t *tally) explain(a explain.Answer) {
	given := map[string]map[string]bool{}
	for _, act := range a.Acts {
		if act.Outcome != explain.Ask {
			continue
		}
		text := general(cmp.Or(act.Why, a.Why), act.Target)
		if given[text] == nil {
			given[text] = map[string]bool{}
		}
		given[text][programOf(act)] = true
	}
	if len(given) == 0 {
		given[general(a.Why, "")] = nil
	}
	if t.reasons == nil {
		t.reasons = map[string]*reason{}
	}
	for text, programs := range given {
		r := t.reasons[text]
		if r == nil {
			r = &reason{text: text, programs: map[string]int{}}
			t.reasons[text] = r
		}
		r.calls++
		for p := range programs {
			r.programs[p]++
		}
	}
}

var (
	place = regexp.MustCompile(`( at)? \(?\S*policy\.yaml:\d+\)?`)
	path  = regexp.MustCompile(`(^|[ ;(])/[^ ;)]*`)
	plain = regexp.MustCompile(`^[a-z][a-z-]*$`)
)

// general is a reason without what is of one call only.
func general(why, target string) string {
	if rest, ok := strings.CutPrefix(why, target+" "); ok && target != "" {
		why = "PATH " + rest
	}
	return path.ReplaceAllString(place.ReplaceAllString(why, ""), "${1}PATH")
}

// programOf is the program of a command with its subcommand, or the tool of another act.
func programOf(a explain.Act) string {
	words := strings.Fields(strings.Map(unquoted, a.Target))
	words = slices.DeleteFunc(words, func(w string) bool { return strings.Contains(w, "=") }) // variables that it is given
	if a.Tool != "shell" || len(words) == 0 {
		return a.Tool
	}
	name := filepath.Base(words[0])
	if slices.Contains([]string{"git", "go", "npm", "npx", "pip"}, name) && len(words) > 1 && plain.MatchString(words[1]) {
		name += " " + words[1]
	}
	return name
}

// unquoted leaves out what is put around words.
func unquoted(r rune) rune {
	if strings.ContainsRune("'\"‹›", r) {
		return -1
	}
	return r
}

// shown is a call in a line.
func shown(c call) string {
	var args struct{ Command, Path string }
	_ = json.Unmarshal(c.Args, &args) // other arguments are shown as they are
	text := cmp.Or(args.Command, c.Tool+" "+cmp.Or(args.Path, string(c.Args)))
	line, _, more := strings.Cut(text, "\n")
	if more {
		line += " …"
	}
	return line
}

func (t *tally) print(out io.Writer, verbose bool) {
	if verbose {
		for _, l := range t.listed {
			fmt.Fprintln(out, l)
		}
		fmt.Fprintln(out)
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "%s\tcalls\tasked\tdenied\tquestions in 20\t\n", t.policy)
	all := row{day: "all"}
	for _, r := range t.rows {
		all.calls, all.asked, all.denied = all.calls+r.calls, all.asked+r.asked, all.denied+r.denied
	}
	for _, r := range append(slices.Clone(t.rows), all) {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%.1f\t\n", r.day, r.calls, r.asked, r.denied, r.inTwenty())
	}
	_ = w.Flush() // it writes where the next line does
	fmt.Fprintf(out, "\nWhy %s asks, in how many calls, and for which programs most:\n", t.policy)
	reasons := slices.SortedFunc(maps.Values(t.reasons), func(a, b *reason) int {
		return cmp.Or(cmp.Compare(b.calls, a.calls), strings.Compare(a.text, b.text))
	})
	for _, r := range reasons[:min(10, len(reasons))] {
		fmt.Fprintf(out, "%5d  %s\n       %s\n", r.calls, r.text, most(r.programs))
	}
	fmt.Fprintln(out)
}

// most names the programs that occur most often.
func most(programs map[string]int) string {
	names := slices.SortedFunc(maps.Keys(programs), func(a, b string) int {
		return cmp.Or(cmp.Compare(programs[b], programs[a]), strings.Compare(a, b))
	})
	var out []string
	for _, n := range names[:min(12, len(names))] {
		out = append(out, fmt.Sprintf("%s %d", n, programs[n]))
	}
	return strings.Join(out, ", ")
}
