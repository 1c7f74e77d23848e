package connector_test

import (
	"strings"
	"testing"

	"github.com/assent-dev/assent/tool/connector"
)

func TestNameFor(t *testing.T) {
	for command, want := range map[string]string{
		"npx -y @modelcontextprotocol/server-github@1.2":                "server-github",
		"npx -y @modelcontextprotocol/server-filesystem /home/me/notes": "server-filesystem",
		"/usr/bin/npx --yes some-server@latest --flag":                  "some-server",
		"npx --package=@a/b -- b-cli":                                   "b",
		"npx -p @a/b b-cli":                                             "b",
		"npx github:user/my-server#abc":                                 "my-server",
		"npm exec -- @a/server-x":                                       "server-x",
		"pnpm dlx @a/server-x":                                          "server-x",
		"yarn dlx @a/server-x@2":                                        "server-x",
		"bunx @a/server-x":                                              "server-x",
		"bun x @a/server-x":                                             "server-x",
		"bun run src/index.ts":                                          "weather",
		"uvx mcp-server-git":                                            "mcp-server-git",
		"uvx mcp-server-git==0.6.2 --repository .":                      "mcp-server-git",
		"uvx mcp-server-git@latest":                                     "mcp-server-git",
		"uvx --from git+https://host/x/tools.git@main serve-tools":      "serve-tools",
		"uvx --with httpx mcp_server_time":                              "mcp-server-time",
		"uv tool run mcp-server-git":                                    "mcp-server-git",
		"pipx run mcp-server-git":                                       "mcp-server-git",
		"uv run server.py":                                              "weather",
		"uv --directory /srv/tides run server.py":                       "tides",
		"uv run --directory /srv/tides tide-server":                     "tide-server",
		"uv run --project ../tides main":                                "tides",
		"uv run python -m mcp_server_x":                                 "mcp-server-x",
		"python3 -m mcp_server_x":                                       "mcp-server-x",
		"python3.12 -u -m mcp_server_x.server":                          "mcp-server-x",
		"python3 -m server":                                             "weather",
		"python3 path/to/notes.py":                                      "notes",
		"python3 -X dev path/tides/server.py --port 1":                  "tides",
		"python3 server.py":                                             "weather",
		"node dist/index.js":                                            "weather",
		"node /opt/tides/dist/index.js":                                 "tides",
		"node --import tsx /opt/tides/src/main.ts":                      "tides",
		"tsx server.ts":                                                 "weather",
		"deno run -A jsr:@std/tides@1.0":                                "tides",
		"deno run --allow-net /opt/tides/main.ts":                       "tides",
		"java -Xmx1g -jar /opt/tides.jar":                               "tides",
		"docker run -i --rm -e TOKEN -v /a:/b ghcr.io/github/github-mcp-server:1.2": "github-mcp-server",
		"docker run -it --network host --env-file=/x mcp/time@sha256:abc":           "time",
		"docker run -eTOKEN=x --rm localhost:5000/tides":                            "tides",
		"docker exec -i tides serve":                                                "tides",
		"podman run --rm -i mcp/time":                                               "time",
		"env TOKEN=x DEBUG=1 npx -y @a/server-x":                                    "server-x",
		"env -u HOME npx -y @a/server-x":                                            "server-x",
		"timeout 60 uvx mcp-server-git":                                             "mcp-server-git",
		"nice -n 10 uvx mcp-server-git":                                             "mcp-server-git",
		"op run --env-file .env -- npx -y @a/server-x":                              "server-x",
		"poetry run python -m mcp_server_x":                                         "mcp-server-x",
		"/opt/bin/github-mcp-server stdio":                                          "github-mcp-server",
		"github-mcp-server stdio":                                                   "github-mcp-server",
		"./server":                                                                  "weather",
		"bash /opt/tides/run.sh":                                                    "tides",
		"Some.Server --x":                                                           "some-server",
		"docker compose up":                                                         "docker",
		"npx":                                                                       "npx",
		"python3":                                                                   "python3",
	} {
		if got := connector.NameFor(strings.Fields(command), "/home/me/weather"); got != want {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
	for text, want := range map[string]string{
		"cd /x && exec npx -y '@a/server-x'": "server-x",
		"uvx mcp-server-git":                 "mcp-server-git",
		". ./.env; uvx mcp-server-git 2>&1":  "mcp-server-git",
	} {
		if got := connector.NameFor([]string{"bash", "-lc", text}, "/home/me/weather"); got != want && want != "" {
			t.Errorf("bash -lc %q: %q, want %q", text, got, want)
		}
	}
	for _, command := range [][]string{nil, {""}, {"/"}, {"..."}, {"é"}, {strings.Repeat("x", 300)}, {"npx", "@"}, {"docker", "run", "-i"}, {"python3", "-m"}, {"a__b"}} {
		name := connector.NameFor(command, "/")
		if err := (connector.Config{Name: name, Command: []string{"x"}}).Check(); err != nil || len(name) > 64 {
			t.Errorf("%q: %q, %v", command, name, err)
		}
	}
}

func TestSameServer(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"npx -y @a/x@1", "npx @a/x@2 --flag", true},
		{"npx -y @a/x", "env TOKEN=1 npx -y @a/x", true},
		{"npx -y @a/x", "npx -y @b/x", false},
		{"npx -y @a/x", "npx -y x", false},
		{"npx -y server-x", "uvx server-x", false},
		{"uvx mcp-server-git==1", "uvx mcp-server-git==2", true},
		{"uvx --from git+https://a/x@1 serve", "uvx --from git+https://a/x@2 serve", true},
		{"uvx --from git+https://a/x serve", "uvx --from git+https://b/x serve", false},
		{"python3 server.py", "python3 ./server.py -v", true},
		{"python3 server.py", "python3 /home/me/weather/server.py", true},
		{"python3 server.py", "python3 ../tides/server.py", false},
		{"python3 -m mcp_x", "python3.12 -u -m mcp_x", true},
		{"docker run -i mcp/time:1", "docker run -i --rm mcp/time:2 --x", true},
		{"docker run -i mcp/time", "docker run -i evil/time", false},
		{"docker run -i mcp/time", "docker run --entrypoint sh -i mcp/time", true},
		{"github-mcp-server", "github-mcp-server stdio", true},
		{"github-mcp-server", "./github-mcp-server", false},
		{"python3 -c 1", "python3 -c 2", false},
		{"docker compose up", "docker compose down", false},
	} {
		if got := connector.SameServer(strings.Fields(c.a), strings.Fields(c.b), "/home/me/weather"); got != c.same {
			t.Errorf("%q and %q: %v", c.a, c.b, got)
		}
	}
	if connector.SameServer([]string{"sh", "-c", "a && x"}, []string{"sh", "-c", "b && x"}, "/") {
		t.Error("two texts of a shell are taken for one")
	}
}
