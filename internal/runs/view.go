package runs

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/assent-dev/assent/internal/crew"
	"github.com/assent-dev/assent/internal/worker"
	"github.com/assent-dev/assent/tool"
)

// A View shows a run: what workers say on standard output as it comes, results on
// standard error; or everything on standard output as events in JSON.
type View struct {
	out    io.Writer
	say    Printer // to standard error
	events *json.Encoder
	status func(error) int
	before func() // is called before results are shown
	run    string // the id of a run that can be resumed
}

// NewView returns a view on the two streams. Status is what the program ends with after an error.
func NewView(out, errOut io.Writer, asJSON bool, status func(error) int) *View {
	v := &View{out: out, say: NewPrinter(errOut), status: status, before: func() {}}
	if asJSON {
		v.events = json.NewEncoder(out)
		v.events.SetEscapeHTML(false)
	}
	return v
}

// errors is where a person is told what is no result.
func (v *View) errors() io.Writer { return v.say.out }

// A runEvent is one line of --json.
type runEvent struct {
	Event     string          `json:"event"` // start, text, call, result or end
	Session   string          `json:"session,omitempty"`
	Run       string          `json:"run,omitempty"` // of a run that can be resumed
	Workers   []string        `json:"workers,omitempty"`
	Text      string          `json:"text,omitempty"`
	ID        string          `json:"id,omitempty"`
	Tool      string          `json:"tool,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	State     string          `json:"state,omitempty"`
	Stage     string          `json:"stage,omitempty"`
	Status    *int            `json:"status,omitempty"`
	Error     string          `json:"error,omitempty"`
	Usage     *worker.Usage   `json:"usage,omitempty"`
	Pending   []waitingCall   `json:"pending,omitempty"` // what the run waits for
}

// A waitingCall is a call that a run waits for an answer to.
type waitingCall struct {
	Request string   `json:"request"`
	Tool    string   `json:"tool"`
	Summary string   `json:"summary"`
	Workers []string `json:"workers,omitempty"`
}

func (v *View) event(e runEvent) {
	if v.events != nil {
		// A reader that went away ends the run by a signal.
		_ = v.events.Encode(e)
	}
}

func (v *View) begin(m *crew.Member, d *Session) {
	v.event(runEvent{Event: "start", Session: d.Session, Run: v.run, Workers: m.Chain})
}

// end says how the run ended, with the status that the program ends with.
func (v *View) end(used worker.Usage, err error) {
	status := v.status(err)
	e := runEvent{Event: "end", Run: v.run, Status: &status, Usage: &used}
	if err != nil {
		e.Error = err.Error()
	}
	if paused := (*worker.PausedError)(nil); errors.As(err, &paused) {
		for _, r := range paused.Pending {
			e.Pending = append(e.Pending, waitingCall{r.ID, r.Call.Name(), r.Summary, r.Call.Workers})
		}
	}
	v.event(e)
}

// watch returns who watches the workers of a chain.
func (v *View) watch(chain []string) worker.Watcher { return &workerView{View: v, chain: chain} }

// A workerView shows one worker of a run.
type workerView struct {
	*View
	chain []string
	open  bool // a line of text has not ended
}

// label says who speaks, if it is not the worker that the person named.
func (v *workerView) label() string {
	if len(v.chain) < 2 {
		return ""
	}
	return strings.Join(v.chain[1:], " › ") + ": "
}

// Text implements [worker.Listener].
func (v *workerView) Text(piece string) {
	if v.events != nil {
		return
	}
	to := v.out
	if len(v.chain) > 1 {
		to = v.say.out // what another worker answers is a result
	}
	if !v.open {
		piece = v.label() + piece
	}
	v.open = true
	fmt.Fprint(to, printable(piece))
}

// Again implements [worker.Listener].
func (v *workerView) Again(after time.Duration, why error) {
	v.endLine()
	v.say.Line("assent: the model's answer was cut off; trying again in %v: %v", after, why)
}

func (v *workerView) endLine() {
	if v.open && len(v.chain) < 2 {
		fmt.Fprintln(v.out)
	} else if v.open {
		fmt.Fprintln(v.say.out)
	}
	v.open = false
}

// Turn implements [worker.Watcher].
func (v *workerView) Turn(t worker.Turn) {
	v.endLine()
	if t.Text != "" {
		v.event(runEvent{Event: "text", Workers: v.chain, Text: t.Text})
	}
	for _, c := range t.Calls {
		e := runEvent{Event: "call", Workers: v.chain, ID: c.ID, Tool: c.Name()}
		if json.Valid(c.Arguments) { // a model may send what is none
			e.Arguments = c.Arguments
		}
		v.event(e)
	}
}

// Results implements [worker.Watcher].
func (v *workerView) Results(results []tool.Result) {
	v.before()
	for _, r := range results {
		e := runEvent{
			Event: "result", Workers: v.chain, ID: r.ID, Tool: r.Tool,
			State: string(r.Outcome.State), Stage: string(r.Stage), Text: r.Text,
		}
		if r.Err != nil {
			e.Error = r.Err.Error()
		}
		v.event(e)
	}
	v.say.Results(results)
}
