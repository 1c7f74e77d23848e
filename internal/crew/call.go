package crew

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/worker"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/roots"
)

//go:embed call.md
var callWords string

type callArgs struct {
	Worker      string          `json:"worker" jsonschema:"the name of the worker"`
	Input       json.RawMessage `json:"input" jsonschema:"what it is to do: a text, or what its input_schema says"`
	Attachments []string        `json:"attachments,omitempty" jsonschema:"files that it gets, each as ROOT/NAME"`
}

// tools are those with which a member calls and makes others.
func (m *Member) tools() []tool.Tool {
	return []tool.Tool{m.listTool(), m.shareTool(), tool.FuncAction(policy.ActWorkerCall, callWords, m.prepareCall),
		m.createTool()}
}

// A delegation is a worker_call that was looked at.
type delegation struct {
	blocked string // why nobody can approve it
	file    *config.File
	files   []file
}

// delegation finds out what a worker_call means, without any effect. Of a worker that has
// begun the files are those that it was given, whatever became of them.
func (m *Member) delegation(in callArgs, begun *child) (d delegation, err error) {
	switch {
	case !config.ValidWorkerName(in.Worker):
		return d, fmt.Errorf("invalid worker name %q: use letters, digits, - and _", in.Worker)
	case !m.Worker.MayCall(in.Worker):
		d.blocked = fmt.Sprintf("allow_workers of %s does not name %s", m.Worker.Name, in.Worker)
	case slices.Contains(m.Chain, in.Worker):
		d.blocked = fmt.Sprintf("%s is already among the callers (%s); workers cannot call each other in a circle",
			in.Worker, strings.Join(m.Chain, " › "))
	case len(m.Chain) >= MaxDepth:
		d.blocked = fmt.Sprintf("%d workers have called each other already (%s)", len(m.Chain),
			strings.Join(m.Chain, " › "))
	}
	if d.blocked != "" {
		return d, nil
	}
	path, err := config.FindNamed(in.Worker, m.crew.Folders...)
	switch {
	case err != nil && slices.Contains(config.ListWorkers(m.crew.Folders...), in.Worker):
		return d, fmt.Errorf("worker %s cannot be called: it has two files, and only a person can remove one", in.Worker)
	case err != nil:
		return d, fmt.Errorf("no worker is named %q; call %s for the list", in.Worker, listWorkers)
	}
	if d.file, err = config.Read(path, config.WorkerFile); err != nil {
		return d, fmt.Errorf("worker %s cannot be called: %w", in.Worker, err)
	}
	if d.file.Worker.Name != in.Worker {
		return d, fmt.Errorf("worker %s cannot be called: its file calls it %s", in.Worker, d.file.Worker.Name)
	}
	if err := CheckInput(d.file.Worker, in.Input); err != nil {
		return d, err
	}
	if begun == nil {
		d.files, err = m.attachments(in.Attachments, d.file.Worker)
		return d, err
	}
	for _, a := range begun.Message.Attachments {
		d.files = append(d.files, file{Attachment: a})
	}
	return d, nil
}

// attachments reads the files, as far as both workers take them.
func (m *Member) attachments(names []string, to *config.Worker) ([]file, error) {
	var out []file
	var shown []string
	var sizes []int64
	for _, name := range names {
		if slices.ContainsFunc(out, func(f file) bool { return f.Name == name }) {
			return nil, fmt.Errorf("attachment %q is listed twice", name)
		}
		if len(out) >= m.Worker.Attachments.MaxAttachments {
			return nil, fmt.Errorf("%d attachments; %s may hand over %d", len(names), m.Worker.Name, m.Worker.Attachments.MaxAttachments)
		}
		f, err := m.attachment(name)
		if err != nil {
			return nil, err
		}
		out, shown, sizes = append(out, f), append(shown, f.Name), append(sizes, int64(len(f.Data)))
	}
	if err := m.Worker.Attachments.Check(shown, sizes); err != nil {
		return nil, fmt.Errorf("%s may not hand this over: %w", m.Worker.Name, err)
	}
	if err := to.Attachments.Check(shown, sizes); err != nil {
		return nil, fmt.Errorf("%s does not take this: %w", to.Name, err)
	}
	return out, nil
}

func (m *Member) prepareCall(ctx context.Context, in callArgs) (tool.Action, error) {
	d, err := m.delegation(in, m.turn.called(tool.CallID(ctx)))
	if err != nil {
		return tool.Action{}, err
	}
	if d.blocked != "" {
		return tool.Block(d.blocked), nil
	}
	act := policy.Act{
		Name: policy.ActWorkerCall, Known: true, Verdict: policy.VerdictAsk, Why: "calling a worker asks",
		// Rules name the worker; an answer for the session is for this input and these files.
		Target: policy.TextTarget(in.Worker).SharedWith(d.digest(in).String()),
	}
	if refused := m.refusedShare(in); refused != "" {
		act.PersonOnly, act.Why = true, refused
	}
	do := func(ctx context.Context) (any, error) { return m.call(ctx, in, d) }
	if m.crew.Store != nil {
		do = func(ctx context.Context) (any, error) { return m.callLater(ctx, in, d) }
	}
	return tool.Ask(do).On(act).Seeing(d.digest(in)).Titled(d.summary(in)).
		Showing(func(ctx context.Context) (present.View, error) { return m.callView(ctx, in, d) }), nil
}

// digest covers what a delegation hands over, and to whom.
func (d delegation) digest(in callArgs) policy.Digest {
	all := []string{string(in.Input), policy.DigestOf(d.file.Data).String()}
	for _, f := range d.files {
		all = append(all, f.Name, policy.DigestOf(f.Data).String())
	}
	data, err := json.Marshal(all)
	if err != nil {
		return policy.Digest{} // texts can always be written
	}
	return policy.DigestOf(data)
}

func (d delegation) summary(in callArgs) string {
	text := "Call worker " + in.Worker
	switch n := len(d.files); {
	case n == 1:
		text += " with 1 attachment"
	case n > 1:
		text += fmt.Sprintf(" with %d attachments", n)
	}
	return text
}

// callView shows who is called, with what, and by whom.
func (m *Member) callView(ctx context.Context, in callArgs, d delegation) (present.View, error) {
	cfg, err := m.crew.Configure(ctx, d.file)
	if err != nil {
		return present.View{}, err
	}
	shown := struct {
		Worker      string          `json:"worker"`
		Description string          `json:"description,omitempty"`
		CalledBy    string          `json:"called_by"`
		Input       json.RawMessage `json:"input"`
		Attachments []string        `json:"attachments,omitempty"`
		NotTrusted  []string        `json:"not_trusted_so_left_out,omitempty"`
	}{in.Worker, d.file.Worker.Description, strings.Join(m.Chain, " › "), in.Input, nil, cfg.Ignored}
	for _, f := range d.files {
		shown.Attachments = append(shown.Attachments, fmt.Sprintf("%s (%s)", f.Name, sizeWord(len(f.Data))))
	}
	return jsonView(shown)
}

// refusedShare says which file of the call was refused in this turn, if one was.
func (m *Member) refusedShare(in callArgs) string {
	for _, name := range in.Attachments {
		for _, id := range m.turn.ids(shareKey{name, in.Worker}) {
			if what := m.crew.Dependencies.refusedCall(m.Chain, id); what != "" {
				return what
			}
		}
	}
	return ""
}

// call runs the worker and returns its answer.
func (m *Member) call(ctx context.Context, in callArgs, d delegation) (any, error) {
	message, err := m.message(in, d)
	if err != nil {
		return nil, err
	}
	callee, err := m.callee(ctx, d.file)
	if err != nil {
		return nil, err
	}
	answer, err := callee.answer(ctx, func(run *worker.Run) (worker.Round, error) { return run.Say(ctx, message) })
	return answer, errors.Join(err, callee.Close())
}

// message is what the worker is told, with exactly the files that were shared in this turn.
func (m *Member) message(in callArgs, d delegation) (worker.Message, error) {
	out := worker.Message{Text: InputText(in.Input)}
	for _, f := range d.files {
		if !m.turn.gave(shareKey{f.asked, in.Worker}, policy.DigestOf(f.Data)) {
			return out, fmt.Errorf("%s was not shared with %s, so it was not called", f.Name, in.Worker)
		}
		out.Attachments = append(out.Attachments, f.Attachment)
	}
	return out, nil
}

// callee opens the worker of a file as one that this member called.
func (m *Member) callee(ctx context.Context, f *config.File) (*Member, error) {
	cfg, err := m.configuration(ctx, f)
	if err != nil {
		return nil, fmt.Errorf("worker %s: %w", f.Worker.Name, err)
	}
	callee, err := m.crew.open(cfg, m)
	if err != nil {
		return nil, fmt.Errorf("worker %s: %w", f.Worker.Name, err)
	}
	return callee, nil
}

// configuration says what holds for a worker that is called, and makes the folders that
// it may write and that are not there, inside what the caller may write.
func (m *Member) configuration(ctx context.Context, f *config.File) (*config.Configuration, error) {
	cfg, err := m.crew.Configure(ctx, f)
	if err != nil {
		return nil, err
	}
	if m.crew.Looking {
		return cfg, nil
	}
	for _, r := range cfg.MissingRoots() {
		p, _, err := m.Box.Roots.ResolveHost(r.Host)
		if err != nil || p.FolderAct(roots.AccessWrite).Verdict == policy.VerdictBlock ||
			p.FolderAct(roots.AccessWrite).ByName {
			continue // it is left out, as what the caller does not reach
		}
		if err := os.MkdirAll(r.Host, 0o700); err != nil {
			return nil, err
		}
	}
	return cfg, nil
}

// answer lets the member run and returns what it says last. An answer that ended it ends
// the whole run.
func (m *Member) answer(ctx context.Context, do func(*worker.Run) (worker.Round, error)) (string, error) {
	run, err := m.Run(ctx)
	if err != nil {
		return "", err
	}
	round, err := do(run)
	if errors.As(err, new(*worker.PausedError)) {
		return "", err
	}
	m.caller.run.Charge(run.Usage()) // once, at its end
	var stopped *worker.StoppedError
	if errors.As(err, &stopped) && !stopped.Repeated && m.crew.Stop != nil {
		m.crew.Stop(err)
	}
	if err != nil {
		return "", fmt.Errorf("worker %s: %w", m.Worker.Name, err)
	}
	text := LastText(round)
	return text, CheckOutput(m.Worker, text)
}

// LastText is what a worker said at the end of a round.
func LastText(r worker.Round) string {
	if len(r.Steps) == 0 {
		return ""
	}
	return r.Steps[len(r.Steps)-1].Turn.Text
}
