package assent_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/assent-dev/assent"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/terminal"
)

func Example() {
	ctx := context.Background()
	a, err := assent.Open(ctx, assent.Options{Policy: "policy.yaml", Approver: terminal.New()})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer a.Close()
	result := a.Call(ctx, policy.Call{Tool: "shell", Arguments: json.RawMessage(`{"command": "git status"}`)})
	fmt.Println(result.Text)
}
