package model_test

import (
	"strings"
	"testing"

	"github.com/assent-dev/assent/internal/model"
)

func TestAnEndpointThatCannotBeUsed(t *testing.T) {
	good := model.Endpoint{Provider: "openai", Model: "m", Default: "https://api.example/v1", Key: "sk-1", KeyName: "OPENAI_API_KEY"}
	for name, tt := range map[string]struct {
		change func(*model.Endpoint)
		says   string // empty: it can be used
	}{
		"as it is":                {func(*model.Endpoint) {}, ""},
		"no model":                {func(e *model.Endpoint) { e.Model = "" }, "openai:gpt"},
		"no URL":                  {func(e *model.Endpoint) { e.BaseURL = "localhost:11434" }, "https://HOST"},
		"a local server":          {func(e *model.Endpoint) { e.BaseURL = "http://localhost:11434/v1" }, ""},
		"a local address":         {func(e *model.Endpoint) { e.BaseURL = "http://[::1]:1/v1" }, ""},
		"a key in the open":       {func(e *model.Endpoint) { e.BaseURL = "http://api.example/v1" }, "unencrypted"},
		"no key in the open":      {func(e *model.Endpoint) { e.BaseURL, e.Key = "http://gpu.example/v1", "" }, ""},
		"a password in the URL":   {func(e *model.Endpoint) { e.BaseURL = "https://u:hunter22@api.example/v1" }, "must not have a user"},
		"a secret in a wrong URL": {func(e *model.Endpoint) { e.BaseURL = "https://u:hunter22@api.example:x/" }, "not a URL"},
		"a key with a newline":    {func(e *model.Endpoint) { e.Key = "sk-1\nX: y" }, "OPENAI_API_KEY"},
		"no file":                 {func(e *model.Endpoint) { e.BaseURL = "file:///etc/passwd" }, "https://HOST"},
	} {
		e := good
		tt.change(&e)
		err := e.Check()
		if (err == nil) != (tt.says == "") || err != nil && !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: error %v, want %q", name, err, tt.says)
		}
		if err != nil && (strings.Contains(err.Error(), "hunter22") || strings.Contains(err.Error(), "sk-1")) {
			t.Errorf("%s: the error tells a secret: %v", name, err)
		}
	}
}
