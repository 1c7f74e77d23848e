// Command mcpmiddleware is an MCP server whose tools ask a person: a gate as middleware of
// the MCP SDK. Run it to see a client call it: one call is free by a rule, one is asked, one
// is denied by a rule.
package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool/connector"
)

func main() {
	if err := run(context.Background(), os.Stdin, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// run lets a client make three calls, and asks on in and out.
func run(ctx context.Context, in io.Reader, out io.Writer) error {
	rules, err := parse("allow payments:balance", "deny payments:close_account")
	if err != nil {
		return err
	}
	guard, err := connector.NewGuard("payments", approval.Config{Policy: rules, Approver: prompt{bufio.NewScanner(in), out}})
	if err != nil {
		return err
	}
	server := newServer()
	server.AddReceivingMiddleware(guard.Middleware)

	client, err := connect(ctx, server)
	if err != nil {
		return err
	}
	defer client.Close()
	for _, name := range []string{"balance", "pay", "close_account"} {
		result, err := client.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: account{Account: "ann", Amount: 12}})
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s: %s\n", name, result.Content[0].(*mcp.TextContent).Text)
	}
	return nil
}

func parse(lines ...string) (*policy.RuleSet, error) {
	var rules []policy.Rule
	for _, line := range lines {
		rule, err := policy.ParseRule(line)
		if err != nil {
			return nil, err
		}
		rules = append(rules, rule)
	}
	return policy.CompileRules(rules)
}

// account is what the tools take.
type account struct {
	Account string `json:"account"`
	Amount  int    `json:"amount"`
}

func newServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "payments", Version: "1"}, nil)
	for _, name := range []string{"balance", "pay", "close_account"} {
		mcp.AddTool(s, &mcp.Tool{Name: name}, func(_ context.Context, _ *mcp.CallToolRequest, a account) (*mcp.CallToolResult, any, error) {
			text := fmt.Sprintf("done for %s", a.Account)
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil, nil
		})
	}
	return s
}

func connect(ctx context.Context, server *mcp.Server) (*mcp.ClientSession, error) {
	theirs, ours := mcp.NewInMemoryTransports()
	if _, err := server.Connect(ctx, theirs, nil); err != nil {
		return nil, err
	}
	return mcp.NewClient(&mcp.Implementation{Name: "client", Version: "1"}, nil).Connect(ctx, ours, nil)
}

// prompt asks on two streams. Anything but y is a no.
type prompt struct {
	in  *bufio.Scanner
	out io.Writer
}

// Approve implements [approval.Approver].
func (p prompt) Approve(ctx context.Context, r *approval.Request) (approval.Decision, error) {
	view, err := r.View(ctx)
	if err != nil {
		return approval.Decision{}, err
	}
	fmt.Fprintf(p.out, "May it do this? %s\n%s\n[y/N] ", r.Summary, view.Safe().Content)
	if p.in.Scan() && strings.TrimSpace(p.in.Text()) == "y" {
		return r.Approve(""), nil
	}
	return r.Deny(""), p.in.Err()
}
