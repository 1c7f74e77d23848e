package netns

import "strings"

// ProxyVariables are what tells programs to use a proxy at an address of their own loopback.
// Those that do not know them have no network.
func ProxyVariables(address string) map[string]string {
	out := map[string]string{"NO_PROXY": "localhost,127.0.0.1,::1", "no_proxy": "localhost,127.0.0.1,::1"}
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY"} {
		out[name] = "http://" + address
		out[strings.ToLower(name)] = "http://" + address
	}
	out["ALL_PROXY"], out["all_proxy"] = "socks5h://"+address, "socks5h://"+address
	return out
}
