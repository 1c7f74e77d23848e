package connector_test

import (
	"context"
	"fmt"
	"log"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/tool/connector"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type payment struct {
	To    string `json:"to"`
	Cents int    `json:"cents"`
}

func pay(_ context.Context, _ *mcp.CallToolRequest, p payment) (*mcp.CallToolResult, any, error) {
	text := fmt.Sprintf("paid %d cents to %s", p.Cents, p.To)
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil, nil
}

// A server made with the SDK asks before its tools run. The same middleware works at the
// other end: client.AddSendingMiddleware(guard.Middleware).
func ExampleGuard() {
	ctx := context.Background()
	person := approval.ApproverFunc(func(_ context.Context, r *approval.Request) (approval.Decision, error) {
		fmt.Printf("May it call %s with %s?\n", r.Call.Name(), r.Call.Arguments)
		if string(r.Call.Arguments) == `{"cents":100,"to":"Ann"}` {
			return r.Approve(""), nil
		}
		return r.Deny("that is too much"), nil
	})
	guard, err := connector.NewGuard("bank", approval.Config{Approver: person})
	if err != nil {
		log.Fatal(err)
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "bank", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "pay", Description: "Pays somebody."}, pay)
	server.AddReceivingMiddleware(guard.Middleware)

	ours, theirs := mcp.NewInMemoryTransports()
	if _, err := server.Connect(ctx, ours, nil); err != nil {
		log.Fatal(err)
	}
	agent, err := mcp.NewClient(&mcp.Implementation{Name: "agent", Version: "1"}, nil).Connect(ctx, theirs, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer agent.Close()
	for _, cents := range []int{100, 100000} {
		r, err := agent.CallTool(ctx, &mcp.CallToolParams{Name: "pay", Arguments: payment{"Ann", cents}})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(r.Content[0].(*mcp.TextContent).Text)
	}
	// Output:
	// May it call bank:pay with {"cents":100,"to":"Ann"}?
	// paid 100 cents to Ann
	// May it call bank:pay with {"cents":100000,"to":"Ann"}?
	// [DENIED] bank:pay did not run; nothing was changed. Reason: a person said no. The person said: that is too much. Do not retry the same call unless you are told to.
}
