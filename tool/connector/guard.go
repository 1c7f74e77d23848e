package connector

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
)

// A Guard puts a gate in front of the calls of a program that uses the MCP SDK itself, as a
// server or as a client:
//
//	guard, err := connector.NewGuard("payments", approval.Config{Approver: terminal})
//	server.AddReceivingMiddleware(guard.Middleware)
//
//	client.AddSendingMiddleware(guard.Middleware)
//
// A call that is refused is answered with a result that says so, for the model; the tool is
// not reached.
type Guard struct {
	gate     *approval.Gate
	preparer approval.Preparer
	name     string
}

// NewGuard returns a guard. The name is what rules call the tools by: NAME:TOOL; empty
// means that they are the program's own. Of the config Preparer says what calls would do,
// and without one every call asks; Clock and NewID, if they are not set, are the system's.
func NewGuard(name string, cfg approval.Config) (*Guard, error) {
	if cfg.Preparer == nil {
		cfg.Preparer = everyCallAsks{}
	}
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	if cfg.NewID == nil {
		cfg.NewID = rand.Text
	}
	gate, err := approval.New(cfg)
	if err != nil {
		return nil, err
	}
	return &Guard{gate: gate, preparer: cfg.Preparer, name: name}, nil
}

// Gate returns the gate.
func (g *Guard) Gate() *approval.Gate { return g.gate }

// everyCallAsks knows nothing of the tools.
type everyCallAsks struct{}

func (everyCallAsks) Prepare(_ context.Context, call policy.Call) (approval.Proposal, error) {
	act := policy.Act{
		Name: call.Tool, Connector: call.Connector, Target: policy.ArgumentsTarget(call.Arguments),
		Known: true, Verdict: policy.VerdictAsk, Why: "every call asks",
	}
	return approval.Proposal{Arguments: policy.DigestOf(call.Arguments), Acts: []policy.Act{act}}, nil
}

// Middleware is for [mcp.Server.AddReceivingMiddleware] and
// [mcp.Client.AddSendingMiddleware]. It lets pass what is no call of a tool.
func (g *Guard) Middleware(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
		if method != "tools/call" {
			return next(ctx, method, r)
		}
		call, change, err := g.callOf(r)
		if err != nil {
			return nil, err
		}
		return g.pass(ctx, call, func(ctx context.Context, args json.RawMessage) (mcp.Result, error) {
			change(args)
			return next(ctx, method, r)
		})
	}
}

// callOf reads a call of a tool, and returns how to change its arguments.
func (g *Guard) callOf(r mcp.Request) (call policy.Call, change func(json.RawMessage), err error) {
	call.Connector = g.name
	if s := r.GetSession(); s != nil {
		call.Session = s.ID()
	}
	switch p := r.GetParams().(type) {
	case *mcp.CallToolParamsRaw:
		call.Tool, call.Arguments = p.Name, p.Arguments
		return call, func(args json.RawMessage) { p.Arguments = args }, nil
	case *mcp.CallToolParams:
		call.Tool = p.Name
		if p.Arguments != nil {
			call.Arguments, err = json.Marshal(p.Arguments)
		}
		return call, func(args json.RawMessage) { p.Arguments = args }, err
	}
	return call, nil, fmt.Errorf("a call of a tool with parameters of type %T, which is not understood", r.GetParams())
}

// pass takes one call through the gate.
func (g *Guard) pass(ctx context.Context, call policy.Call, do func(context.Context, json.RawMessage) (mcp.Result, error)) (mcp.Result, error) {
	batch := g.gate.Review(ctx, call)
	var exec *approval.Execution
	err := approval.Again(func() error {
		g.gate.Ask(ctx, batch)
		o := batch.Outcome(0)
		if !o.Runs() {
			return nil
		}
		proposal, err := g.preparer.Prepare(ctx, o.Call)
		if err != nil {
			proposal = approval.Proposal{} // which is not what was shown
		}
		exec, err = batch.Start(ctx, 0, proposal)
		return err
	})
	o := batch.Outcome(0)
	switch {
	case err != nil:
		return failure(err.Error()), nil
	case exec == nil:
		return refusal(o), nil
	}
	result, err := do(ctx, o.Call.Arguments)
	if late := exec.End(ctx, stageOf(ctx, result, err), err); late != nil && err == nil {
		return failure(fmt.Sprintf("it ran, but its end could not be recorded: %v", late)), nil
	}
	return result, err
}

// stageOf says how a call ended.
func stageOf(ctx context.Context, result mcp.Result, err error) approval.Stage {
	r, ok := result.(*mcp.CallToolResult)
	switch {
	case err != nil && ctx.Err() != nil:
		return approval.StageCancelled
	case err != nil, ok && r != nil && r.IsError:
		return approval.StageFailed
	}
	return approval.StageCompleted
}

// refusal is what the model is told of a call that does not run.
func refusal(o approval.Outcome) mcp.Result {
	if o.State == policy.StateAnswered && o.Decision != nil {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: o.Decision.Result}}}
	}
	err := o.Err()
	if told, ok := err.(interface{ ForModel() string }); ok {
		return failure(told.ForModel())
	}
	return failure(fmt.Sprint(err))
}

func failure(text string) mcp.Result {
	return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}
