package providers

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/assent-dev/assent/internal/model"
	"github.com/assent-dev/assent/internal/model/anthropic"
	"github.com/assent-dev/assent/internal/model/openai"
	"github.com/assent-dev/assent/internal/worker"
)

// Options are what can be said about a model besides its name. The zero Options are fine.
type Options struct {
	// BaseURL is where the provider is; empty is what ANTHROPIC_BASE_URL or OPENAI_BASE_URL says, and
	// without that its usual address.
	BaseURL string
	// KeyVariable is the variable, and the account in the keyring, that has the key; empty
	// is ANTHROPIC_API_KEY or OPENAI_API_KEY.
	KeyVariable string
	// MaxTokens limits an answer; 0 leaves it to the provider.
	MaxTokens int64
	// Silence is how long a provider may say nothing; 0 means [model.DefaultSilence].
	Silence time.Duration
	// Folder is what the file of a script is relative to; empty is the working folder.
	Folder string
	// Retry says how often to try again.
	Retry model.Retry
	// Keys is where keys come from. The zero Keys are the environment and the keyring.
	Keys Keys
}

// Open returns the model of the name. It talks to no provider. The error says what is
// missing and where it belongs.
func Open(ctx context.Context, name string, o Options) (worker.Talker, error) {
	provider, rest, found := strings.Cut(name, ":")
	switch {
	case provider == "script" && found:
		return openScript(rest, o)
	case provider == "anthropic" && found:
		e, err := o.endpoint(ctx, provider, rest, "ANTHROPIC_API_KEY")
		if err != nil {
			return nil, err
		}
		return checked(anthropic.New(e))
	case provider == "openai" && found:
		e, err := o.endpoint(ctx, provider, rest, "OPENAI_API_KEY")
		if err != nil {
			return nil, err
		}
		return checked(openai.New(e))
	}
	return nil, fmt.Errorf("model %q: write anthropic:MODEL, openai:MODEL or script:FILE%s", name, guess(name))
}

// checked keeps a nil pointer from looking like a model.
func checked[T worker.Talker](t T, err error) (worker.Talker, error) {
	if err != nil {
		return nil, err
	}
	return t, nil
}

// guess finishes a name that lacks its provider.
func guess(name string) string {
	switch {
	case strings.HasPrefix(name, "claude"):
		return fmt.Sprintf("; did you mean anthropic:%s?", name)
	case strings.HasPrefix(name, "gpt"), strings.HasPrefix(name, "o3"), strings.HasPrefix(name, "o4"):
		return fmt.Sprintf("; did you mean openai:%s?", name)
	case strings.HasSuffix(name, ".yaml"), strings.HasSuffix(name, ".yml"):
		return fmt.Sprintf("; did you mean script:%s?", name)
	}
	return ""
}

func openScript(file string, o Options) (worker.Talker, error) {
	if file == "" {
		return nil, fmt.Errorf("model %q: missing file name after the colon", "script:")
	}
	if !filepath.IsAbs(file) {
		file = filepath.Join(o.Folder, file)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("model script:%s: %w", file, err)
	}
	return checked(model.ParseScript(file, data))
}

// endpoint finds the key. Only a provider at its usual address needs one: a server on
// somebody's own machine may do without.
func (o Options) endpoint(ctx context.Context, provider, name, variable string) (model.Endpoint, error) {
	url, urlName := o.BaseURL, ""
	if url == "" {
		urlName = strings.TrimSuffix(variable, "_API_KEY") + "_BASE_URL"
		url = o.Keys.variable(urlName)
	}
	variable = cmp.Or(o.KeyVariable, variable)
	key, err := o.Keys.find(ctx, variable)
	if err != nil {
		return model.Endpoint{}, err
	}
	if key == "" && (url == "" || o.KeyVariable != "") {
		return model.Endpoint{}, &model.Fault{Kind: model.FaultKey, Text: missing(provider, variable)}
	}
	return model.Endpoint{
		Provider: provider, Model: name, BaseURL: url, URLName: urlName, Key: key, KeyName: variable,
		MaxTokens: o.MaxTokens, Silence: o.Silence, Retry: o.Retry,
	}, nil
}
