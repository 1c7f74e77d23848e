package soundness

import (
	_ "embed"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/assent-dev/assent/internal/rounds"
	"github.com/assent-dev/assent/tool/shell/analysis"
	"github.com/assent-dev/assent/tool/shell/host"
)

func TestMain(m *testing.M) {
	if os.Getenv(inJail) != "" {
		if err := work(); err != nil {
			fmt.Fprintln(os.Stderr, "worker:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	code := m.Run()
	if top, err := kit(); err == nil {
		_ = os.RemoveAll(top)
	}
	os.Exit(code)
}

func openJail(t testing.TB) *jail {
	t.Helper()
	top, err := kit()
	if err != nil {
		t.Fatal(err)
	}
	j, err := newJail(top)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(j.close)
	return j
}

//go:embed testdata/seeds.txt
var seedText string

// seeds are commands that were once wrong, or may be: separated by lines of three dashes.
func seeds() []string {
	list := strings.Split(strings.TrimSuffix(seedText, "\n"), "\n---\n")
	return list[1:] // the first says what the file is
}

// TestSeeds runs each seed under every policy.
func TestSeeds(t *testing.T) {
	j := openJail(t)
	for _, text := range seeds() {
		for first := range policyNames() {
			a, err := j.try(question{Text: text, First: first})
			if err != nil {
				t.Fatalf("%q: %v", text, err)
			}
			if len(a.Wrong) > 0 {
				t.Error(a.report(text))
			}
		}
	}
}

// TestNotices: what was not judged is seen.
func TestNotices(t *testing.T) {
	j := openJail(t)
	for _, tt := range []struct{ judged, happens, want string }{
		{"spy a", "spy a b", `it started ["spy" "a" "b"] in /w/proj`},
		{"spy a", "cd src && spy a", `it started ["spy" "a"] in /w/proj/src`},
		{"spy a", "/usr/bin/spy a & env -i spy2 & wait", `it started ["spy2"] in /w/proj`},
		{"sort src/*", "sort src/x.go -m", `it started ["sort" "src/x.go" "-m"] in /w/proj`},
		{"cat a.txt", "cat a.txt; : < b.txt", "it opened /w/proj/b.txt"},
		{"cat a.txt", "cat a.txt; : < links/env", "it opened /w/proj/.env"},
		{"cat a.txt", "cat a.txt; : < ~/.ssh/id_rsa", "it opened /w/home/.ssh/id_rsa"},
		{"ls src", "ls src; : < src/x.go", "it opened /w/proj/src/x.go"},
		{"echo x > new", "echo x > new; echo x > newer", "it made /w/proj/newer"},
		{"echo x > new", "echo x > new; exec 3<> b.txt; echo x >&3", "it changed /w/proj/b.txt"},
		{"rm -r src", "rm -r src empty", "it removed /w/proj/empty"},
		{"chmod 600 a.txt", "chmod 600 a.txt b.txt", "it changed /w/proj/b.txt"},
		{"true", "if", "bash does not take it"},
	} {
		a, err := j.try(question{Text: tt.judged, First: slices.Index(policyNames(), "named"), Instead: tt.happens})
		if err != nil {
			t.Fatal(err)
		}
		noticed := func(wrong string) bool { return strings.HasPrefix(wrong, tt.want) }
		if !slices.ContainsFunc(a.Wrong, noticed) {
			t.Errorf("%q was judged and %q happened: %q, want %q", tt.judged, tt.happens, a.Wrong, tt.want)
		}
	}
}

// maxProblems is after how many wrong commands a search ends.
const maxProblems = 5

// A tally is what a search went through.
type tally struct {
	next     atomic.Uint64
	mu       sync.Mutex
	ran      map[string]int // by policy
	unread   int
	asked    int
	starts   int
	touched  int
	problems int
}

func (c *tally) count(a answer) (enough bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case a.Unread:
		c.unread++
	case a.Policy == "":
		c.asked++
	default:
		c.ran[a.Policy]++
		c.starts += a.Starts
		c.touched += a.Touched
	}
	if len(a.Wrong) > 0 {
		c.problems++
	}
	return c.problems >= maxProblems
}

func (c *tally) total() (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, each := range c.ran {
		n += each
	}
	return n
}

// TestSound runs commands that are allowed until there were enough of them.
func TestSound(t *testing.T) {
	want := rounds.N(20_000, 1_000_000)
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv("ASSENT_SOUND_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("ASSENT_SOUND_SEED: %v", err)
		}
	}
	t.Logf("ASSENT_SOUND_SEED=%d", seed)
	c := &tally{ran: map[string]int{}}
	var all sync.WaitGroup
	for range runtime.NumCPU() {
		j := openJail(t)
		all.Go(func() { search(t, j, c, seed, want) })
	}
	all.Wait()
	t.Logf("ran %d commands %v: %d programs started, %d files touched; %d would ask, %d cannot be read",
		c.total(), c.ran, c.starts, c.touched, c.asked, c.unread)
	for _, name := range policyNames() {
		if !t.Failed() && c.ran[name] < want/100 {
			t.Errorf("the policy %s allows only %d commands: it tests too little", name, c.ran[name])
		}
	}
}

// batch is how many commands are sent to a jail at once.
const batch = 64

// search tries commands until enough of them ran, and shows those that are wrong.
func search(t *testing.T, j *jail, c *tally, seed uint64, want int) {
	for c.total() < want {
		first := c.next.Add(batch) - batch
		list := make([]question, batch)
		for i := range list {
			number := first + uint64(i)
			list[i] = question{Text: command(seed, number), First: int(number) % len(policyNames())}
		}
		answers, err := j.tryAll(list)
		if err != nil {
			t.Errorf("seed %d, from number %d on: %v", seed, first, err)
			return
		}
		for i, a := range answers {
			if len(a.Wrong) > 0 {
				show(t, j, list[i], a)
			}
			if c.count(a) {
				return
			}
		}
	}
}

// show reduces a command that is wrong, and reports what is left.
func show(t *testing.T, j *jail, q question, a answer) {
	wrong := func(text string) bool {
		a, err := j.try(question{Text: text, First: q.First})
		return err == nil && len(a.Wrong) > 0
	}
	if !wrong(q.Text) {
		t.Errorf("this was wrong once, and not again: %s", a.report(q.Text))
		return
	}
	short := reduced(q.Text, wrong)
	a, err := j.try(question{Text: short, First: q.First})
	if err != nil {
		t.Errorf("%q: %v", short, err)
		return
	}
	t.Errorf("from %q:\n%s", q.Text, a.report(short))
}

// FuzzSound lets the fuzzer look for commands.
func FuzzSound(f *testing.F) {
	for _, text := range seeds() {
		f.Add(text, uint(0))
	}
	for number := range uint64(200) {
		f.Add(command(1, number), uint(number))
	}
	j := openJail(f)
	f.Fuzz(func(t *testing.T, text string, first uint) {
		// The worker is another process: this shows the fuzzer which ways a text takes.
		_, _ = analysis.Read(text, places[0], host.New(places[0], environ))
		a, err := j.try(question{Text: text, First: int(first % uint(len(policyNames())))})
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if len(a.Wrong) > 0 {
			t.Error(a.report(text))
		}
	})
}

// TestGrammar: every rule that is named is there, and every one that is there is named.
func TestGrammar(t *testing.T) {
	g := theGrammar()
	named := map[string]bool{"list": true}
	for _, alternatives := range g {
		for _, text := range alternatives {
			for part := range strings.SplitSeq(text, "«") {
				name, _, ok := strings.Cut(part, "»")
				if _, rule, quoted := strings.Cut(name, ":"); quoted {
					name = rule
				}
				if ok {
					named[strings.TrimSuffix(name, "!")] = true
				}
			}
		}
	}
	if have, want := slices.Sorted(maps.Keys(g)), slices.Sorted(maps.Keys(named)); !slices.Equal(have, want) {
		t.Errorf("rules %v\nnamed %v", have, want)
	}
}
