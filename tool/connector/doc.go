// Package connector makes tools of what an MCP server offers.
//
// A [Connector] starts a server, or reaches one over HTTP, and keeps it going: one that
// dies is started again, later each time, and until then its calls are refused by its
// name while all other tools go on. Every tool that the server lists becomes a
// [tool.Tool] named CONNECTOR:TOOL, which asks.
//
//	github, err := connector.Open(ctx, connector.Config{
//		Name:    "github",
//		Command: []string{"github-mcp-server", "stdio"},
//		Env:     map[string]string{"GITHUB_TOKEN": token},
//		Targets: map[string]string{"create_issue": "repo"},
//	}, connector.Options{Runner: host.None{}, Pins: pins, Environ: os.Environ()})
//	defer github.Close()
//	gate, err := tool.Guard(cfg, github.Tools()...)
//
// Two ideas carry the package.
//
// A server is a stranger. What it says about its tools is quoted to the person and never
// believed; its hints make a call free only where config trusts them; its output is
// limited, and its name is the one that config gives it.
//
// What was agreed to is pinned. The definitions of a connector that is met for the first
// time are kept in [Pins]: name, description, schemas, hints, and how the server is
// started or reached. A tool that is not as it was kept, that was not there, or that
// looks like another asks a person, whatever rules, grants and modes say, and shows what
// is different. Until somebody agreed, models are shown the definition as it was, so that
// new words of a stranger do not reach them unseen. Grants end with the definition that
// they were given for.
//
// A [Guard] puts a gate in front of the calls of a program that uses the MCP SDK itself, as a
// server or as a client.
package connector
