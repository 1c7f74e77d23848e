package web_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/hosts"
	"github.com/assent-dev/assent/tool/web"
)

func Example() {
	request, err := web.New(web.Options{Network: hosts.Policy{Allow: []string{"docs.example.org"}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	gate, err := tool.Guard(approval.Config{}, request)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, url := range []string{"https://docs.example.org/api", "https://example.org/", "http://0x7f.1/"} {
		args, _ := json.Marshal(map[string]string{"url": url})
		batch := gate.Review(context.Background(), policy.Call{ID: "1", Tool: "http_request", Arguments: args})
		fmt.Println(batch.Outcome(0).State, batch.Outcome(0).Acts[0])
	}
	// Output:
	// free http_request(GET https://docs.example.org/api)
	// pending http_request(GET https://example.org/)
	// blocked http_request(GET http://127.0.0.1/)
}
