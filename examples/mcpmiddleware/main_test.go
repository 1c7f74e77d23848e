package main

import (
	"context"
	"os"
	"strings"
)

func Example() {
	if err := run(context.Background(), strings.NewReader("y\n"), os.Stdout); err != nil {
		panic(err)
	}
	// Output:
	// balance: done for ann
	// May it do this? Tool call: payments:pay
	// {
	//   "account": "ann",
	//   "amount": 12
	// }
	// [y/N] pay: done for ann
	// close_account: [DENIED] payments:close_account did not run; nothing was changed. Reason: policy, rule deny payments:close_account. Do not retry the same call unless you are told to.
}
