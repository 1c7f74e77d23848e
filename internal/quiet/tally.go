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
	classes map[string]*class
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

// A class counts the calls that do the same kind of thing.
type class struct {
	calls, asked int
	why          map[string]int
}

// The classes, in the order in which they are printed.
var classes = []string{"files", "other commands", "commands that change files", "commands that talk to hosts",
	"commands that are not known whole"}

// classOf is the class of a call.
func classOf(c call, a explain.Answer) string {
	at := 1
	if c.Tool != "shell" {
		return classes[0]
	}
	for _, act := range a.Acts {
		switch {
		case !act.Known && act.Tool == "shell" || strings.HasPrefix(act.Target, "unknown "):
			at = max(at, 4)
		case act.Tool == "connect":
			at = max(at, 3)
		case act.Tool == "write_file" || act.Tool == "delete_file":
			at = max(at, 2)
		}
	}
	return classes[at]
}

func (r row) inTwenty() float64 {
	if r.calls == 0 {
		return 0
	}
	return 20 * float64(r.asked) / float64(r.calls)
}

func (t *tally) count(d day, answers []explain.Answer) {
	r := row{day: d.name, calls: len(answers)}
	if t.classes == nil {
		t.classes = map[string]*class{}
	}
	asked := map[string]bool{}
	for i, a := range answers {
		name := classOf(d.calls[i], a)
		if t.classes[name] == nil {
			t.classes[name] = &class{why: map[string]int{}}
		}
		cl := t.classes[name]
		cl.calls++
		if a.Outcome == explain.Ask {
			cl.asked++
			cl.why[general(a.Why, "")]++
		}
		r.asked += t.later(asked, a)
		switch a.Outcome {
		case explain.Allow:
			continue
		case explain.Ask:
			r.asked++
			t.explain(a)
		default: // a call that is not understood is denied as well
			r.denied++
		}
		t.listed = append(t.listed, fmt.Sprintf("%-5s %s  %s\n      %s",
			a.Outcome, d.calls[i].ID, shown(d.calls[i]), cmp.Or(a.Error, a.Why)))
	}
	t.rows = append(t.rows, r)
}

// later counts the hosts that a call asks about when it connects. Each is asked about once a day: a
// person who says yes says it for the session.
func (t *tally) later(asked map[string]bool, a explain.Answer) int {
	n := 0
	for _, act := range a.Acts {
		if act.Outcome == explain.Later && !asked[act.Target] {
			asked[act.Target] = true
			n++
			t.listed = append(t.listed, fmt.Sprintf("later %s", act.Target))
		}
	}
	return n
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
	place = regexp.MustCompile(`(^|( at)? )\(?\S*policy\.yaml:\d+\)?`)
	path  = regexp.MustCompile(`(^|[ ;(])/[^ ;)]*`)
	plain = regexp.MustCompile(`^[a-z][a-z-]*$`)
)

// general is a reason without what is of one call only.
func general(why, target string) string {
	if rest, ok := strings.CutPrefix(why, target+" "); ok && target != "" {
		why = "PATH " + rest
	}
	return path.ReplaceAllString(strings.TrimSpace(place.ReplaceAllString(why, "")), "${1}PATH")
}

// programOf is the program of a command with its subcommand, or the tool of another act.
func programOf(a explain.Act) string {
	words := strings.Fields(strings.Map(unquoted, a.Target))
	words = slices.DeleteFunc(words, func(w string) bool { return strings.Contains(w, "=") }) // variables that it is given
	if a.Tool != "shell" || len(words) == 0 {
		return a.Tool
	}
	name := filepath.Base(words[0])
	if slices.Contains([]string{"git", "go", "npm", "npx", "pip"}, name) && len(words) > 1 &&
		plain.MatchString(words[1]) {
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
	for _, r := range append(slices.Clone(t.rows), t.all()) {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%.1f\t\n", r.day, r.calls, r.asked, r.denied, r.inTwenty())
	}
	_ = w.Flush() // it writes where the next line does
	fmt.Fprintf(out, "\nWhat %s asks about, and why most:\n", t.policy)
	for _, name := range classes {
		if cl := t.classes[name]; cl != nil {
			fmt.Fprintf(out, "%5d of %3d  %s", cl.asked, cl.calls, name)
			if cl.asked > 0 {
				fmt.Fprintf(out, ": %s", commonest(cl.why))
			}
			fmt.Fprintln(out)
		}
	}
	fmt.Fprintf(out, "\nWhy %s asks, in how many calls, and for which programs most:\n", t.policy)
	reasons := slices.SortedFunc(maps.Values(t.reasons), func(a, b *reason) int {
		return cmp.Or(cmp.Compare(b.calls, a.calls), strings.Compare(a.text, b.text))
	})
	for _, r := range reasons[:min(10, len(reasons))] {
		fmt.Fprintf(out, "%5d  %s\n       %s\n", r.calls, r.text, frequent(r.programs))
	}
	fmt.Fprintln(out)
}

// all is the sum of the days.
func (t *tally) all() row {
	all := row{day: "all"}
	for _, r := range t.rows {
		all.calls, all.asked, all.denied = all.calls+r.calls, all.asked+r.asked, all.denied+r.denied
	}
	return all
}

// commonest is the reason that is given most often.
func commonest(why map[string]int) string {
	return slices.MinFunc(slices.Collect(maps.Keys(why)), func(a, b string) int {
		return cmp.Or(cmp.Compare(why[b], why[a]), strings.Compare(a, b))
	})
}

// frequent names the programs that occur most often.
func frequent(programs map[string]int) string {
	names := slices.SortedFunc(maps.Keys(programs), func(a, b string) int {
		return cmp.Or(cmp.Compare(programs[b], programs[a]), strings.Compare(a, b))
	})
	var out []string
	for _, n := range names[:min(12, len(names))] {
		out = append(out, fmt.Sprintf("%s %d", n, programs[n]))
	}
	return strings.Join(out, ", ")
}
