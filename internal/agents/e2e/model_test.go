//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// A model asks for one command after another, then says that it is done. How far it is
// stands in what it is sent: the results of the commands so far. A command may also be the
// arguments of the agent's tool for commands as JSON, or stand for a call of another tool: its
// name and arguments.
type model struct {
	t        *testing.T
	commands []string
	url      string

	mu      sync.Mutex
	results []string // of the commands, as it was told last
}

func startModel(t *testing.T, commands ...string) string {
	t.Helper()
	return newModel(t, commands...).url
}

func newModel(t *testing.T, commands ...string) *model {
	t.Helper()
	m := &model{t: t, commands: commands}
	server := httptest.NewServer(m)
	t.Cleanup(server.Close)
	m.url = server.URL
	return m
}

// result is what the model was told about a command.
func (m *model) result(n int) string {
	m.t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	if n >= len(m.results) {
		m.t.Fatalf("the agent did not come to the command %q", m.commands[n])
	}
	return m.results[n]
}

// all are the results of all commands.
func (m *model) all() []string {
	m.t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.results) != len(m.commands) {
		m.t.Fatalf("of %d commands the agent made %d: %q", len(m.commands), len(m.results), m.results)
	}
	return m.results
}

// told notes the results that a request has. One with fewer is about something else.
func (m *model) told(results []string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(results) >= len(m.results) {
		m.results = results
	}
	return len(results)
}

// ServeHTTP answers as the provider would whose path it is. Everything else an agent may
// want to know is not there.
func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Messages []struct{ Content json.RawMessage } // Anthropic
		Tools    []struct{ Name string }
		Input    []struct {
			Type   string
			Output json.RawMessage
		} // OpenAI
		Contents []struct {
			Parts []struct{ FunctionResponse json.RawMessage }
		} // Gemini
	}
	if r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&in) != nil {
		http.NotFound(w, r)
		return
	}
	var done []string
	switch {
	case strings.HasSuffix(r.URL.Path, "/v1/messages"):
		for _, message := range in.Messages {
			var blocks []struct {
				Type    string
				Content json.RawMessage
			}
			_ = json.Unmarshal(message.Content, &blocks) // a text has none
			for _, b := range blocks {
				if b.Type == "tool_result" {
					done = append(done, string(b.Content))
				}
			}
		}
		m.anthropic(w, m.told(done), len(in.Tools) > 0)
	case strings.HasSuffix(r.URL.Path, "/responses"):
		for _, item := range in.Input {
			if item.Type == "function_call_output" {
				done = append(done, string(item.Output))
			}
		}
		m.openAI(w, m.told(done))
	case strings.HasSuffix(r.URL.Path, ":streamGenerateContent"):
		for _, content := range in.Contents {
			for _, part := range content.Parts {
				if part.FunctionResponse != nil {
					done = append(done, string(part.FunctionResponse))
				}
			}
		}
		m.gemini(w, m.told(done))
	default:
		http.NotFound(w, r)
	}
}

// Names that the agents give to commands in the background.
var (
	taskName    = regexp.MustCompile(`background with ID: (\w+)`)
	sessionName = regexp.MustCompile(`running with session ID (\d+)`)
)

// filled is a call with the names of the last command in the background for $TASK and $SESSION.
func (m *model) filled(text string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	for name, form := range map[string]*regexp.Regexp{"$TASK": taskName, "$SESSION": sessionName} {
		for _, told := range m.results {
			if found := form.FindStringSubmatch(told); found != nil {
				text = strings.ReplaceAll(text, name, found[1])
			}
		}
	}
	return text
}

// otherTool is a call of a tool that does not run commands.
var otherTool = regexp.MustCompile(`^(\w+) (\{.*)$`)

// call returns the tool and the arguments of a call. Shell and command are how the agent names the
// tool that runs commands, and its argument.
func (m *model) call(n int, shell, command string) (tool, arguments string) {
	text := m.filled(m.commands[n])
	if other := otherTool.FindStringSubmatch(text); other != nil && json.Valid([]byte(other[2])) {
		return other[1], other[2]
	}
	if strings.HasPrefix(text, "{") && json.Valid([]byte(text)) {
		return shell, text
	}
	return shell, `{"` + command + `":` + quote(text) + `}`
}

func (m *model) anthropic(w http.ResponseWriter, done int, tools bool) {
	block, delta, stop := `{"type":"text","text":""}`, `{"type":"text_delta","text":"Done."}`, "end_turn"
	if tools && done < len(m.commands) {
		tool, arguments := m.call(done, "Bash", "command")
		block = fmt.Sprintf(`{"type":"tool_use","id":"toolu_%d","name":%q,"input":{}}`, done, tool)
		delta = fmt.Sprintf(`{"type":"input_json_delta","partial_json":%s}`, quote(arguments))
		stop = "tool_use"
	}
	m.stream(w,
		`{"type":"message_start","message":{"id":"msg","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}}`,
		`{"type":"content_block_start","index":0,"content_block":`+block+`}`,
		`{"type":"content_block_delta","index":0,"delta":`+delta+`}`,
		`{"type":"content_block_stop","index":0}`,
		`{"type":"message_delta","delta":{"stop_reason":"`+stop+`","stop_sequence":null},"usage":{"output_tokens":1}}`,
		`{"type":"message_stop"}`)
}

func (m *model) openAI(w http.ResponseWriter, done int) {
	item := `{"type":"message","id":"m","role":"assistant","content":[{"type":"output_text","text":"Done."}]}`
	if done < len(m.commands) {
		tool, arguments := m.call(done, "exec_command", "cmd")
		item = fmt.Sprintf(`{"type":"function_call","id":"fc_%d","call_id":"call_%d","name":%q,"arguments":%s}`,
			done, done, tool, quote(arguments))
	}
	m.stream(w,
		`{"type":"response.created","response":{"id":"r"}}`,
		`{"type":"response.output_item.done","item":`+item+`}`,
		`{"type":"response.completed","response":{"id":"r","usage":{"input_tokens":1,"output_tokens":1,"total_tokens":2}}}`)
}

func (m *model) gemini(w http.ResponseWriter, done int) {
	part := `{"text":"Done."}`
	if done < len(m.commands) {
		tool, arguments := m.call(done, "run_shell_command", "command")
		part = `{"functionCall":{"name":"` + tool + `","args":` + arguments + `}}`
	}
	m.stream(w, `{"candidates":[{"index":0,"finishReason":"STOP","content":{"role":"model","parts":[`+part+`]}}],`+
		`"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":1,"totalTokenCount":2}}`)
}

// stream sends events, each under the name of its type if it has one.
func (m *model) stream(w http.ResponseWriter, events ...string) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, data := range events {
		var event struct{ Type string }
		if err := json.Unmarshal([]byte(data), &event); err != nil {
			m.t.Errorf("%v: %s", err, data)
		}
		if event.Type != "" {
			fmt.Fprintf(w, "event: %s\n", event.Type)
		}
		fmt.Fprintf(w, "data: %s\n\n", data)
	}
}

func quote(text string) string {
	data, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(data)
}
