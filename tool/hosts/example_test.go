package hosts_test

import (
	"fmt"

	"github.com/assent-dev/assent/tool/hosts"
)

// A policy with a list: hosts on it are free, others ask, and what no list names exactly is refused
// where it would lead into this machine or its network.
func Example() {
	policy := hosts.Policy{
		Allow: []string{"proxy.golang.org", "*.npmjs.org", "git.example.com:22"},
		Deny:  []string{"*.example.net"},
	}
	for _, c := range []hosts.Connection{
		{Host: "proxy.golang.org", Port: "443"},
		{Host: "registry.npmjs.org", Port: "443"},
		{Host: "git.example.com", Port: "22"},
		{Host: "git.example.com", Port: "443"},
		{Host: "api.example.net", Port: "443"},
		{Host: "169.254.169.254", Port: "80"},
	} {
		act := policy.Judge(c)
		fmt.Printf("%s: %s: %s\n", c, act.Verdict, act.Why)
	}
	// Output:
	// proxy.golang.org:443: free: proxy.golang.org is listed
	// registry.npmjs.org:443: free: *.npmjs.org is listed
	// git.example.com:22: free: git.example.com:22 is listed
	// git.example.com:443: ask: only git.example.com:22 is listed
	// api.example.net:443: block: api.example.net:443 is denied
	// 169.254.169.254:80: block: 169.254.169.254 is an address of a cloud's metadata service; such hosts are refused unless sandbox.network.allow lists them: 169.254.169.254:80
}

// A policy that is intersected only narrows: free is what both leave free.
func ExamplePolicy_Intersect() {
	caller := hosts.Policy{Allow: []string{"*.example.com"}}
	worker := hosts.Policy{On: true, Allow: []string{"api.example.com", "pypi.org"}}
	fmt.Println(caller.Intersect(worker).Allow)
	// Output: [api.example.com]
}
