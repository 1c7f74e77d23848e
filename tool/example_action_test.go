package tool_test

import (
	"context"
	"fmt"

	"github.com/assent-dev/assent/tool"
)

// A tool that looks at a call before it says whether that asks.
func ExampleFuncAction() {
	type transfer struct {
		To     string `json:"to"`
		Amount int    `json:"amount"`
	}
	pay := tool.FuncAction("pay", "Pays somebody.", func(_ context.Context, in transfer) (tool.Action, error) {
		do := func(context.Context) (any, error) { return fmt.Sprintf("paid %s %d", in.To, in.Amount), nil }
		if in.Amount <= 10 {
			return tool.Free(do), nil
		}
		return tool.Ask(do).Titled(fmt.Sprintf("Pay %s %d", in.To, in.Amount)), nil
	})
	gate := guard(person(yes), pay)
	call(gate, "pay", `{"to":"ann","amount":5}`)
	call(gate, "pay", `{"to":"ben","amount":5000}`)
	// Output:
	// told:  paid ann 5
	// asked: Pay ben 5000
	// told:  paid ben 5000
}
