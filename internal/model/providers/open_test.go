package providers_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/assent-dev/assent/internal/model"
	"github.com/assent-dev/assent/internal/model/modeltest"
	"github.com/assent-dev/assent/internal/model/providers"
	"github.com/assent-dev/assent/internal/worker"
	"github.com/zalando/go-keyring"
)

const secret = "sk-REPLACED-0123456789abcdef"

// keys returns keys with these variables and nothing in the keyring.
func keys(variables map[string]string) providers.Keys {
	return providers.Keys{
		Environ: func(name string) (string, bool) { v, ok := variables[name]; return v, ok },
		Keyring: func(string, string) (string, error) { return "", keyring.ErrNotFound },
	}
}

func TestOpenSaysWhatIsMissing(t *testing.T) {
	for name, tt := range map[string]struct {
		model string
		o     providers.Options
		says  []string
	}{
		"no key for Anthropic":     {"anthropic:claude-x", providers.Options{}, []string{"ANTHROPIC_API_KEY", "keyring"}},
		"no key for OpenAI":        {"openai:gpt-x", providers.Options{}, []string{"OPENAI_API_KEY", "keyring"}},
		"no key by another name":   {"openai:x", providers.Options{BaseURL: "https://router.example/v1", KeyVariable: "ROUTER_KEY"}, []string{"ROUTER_KEY"}},
		"no provider":              {"claude-x", providers.Options{}, []string{"did you mean anthropic:claude-x?"}},
		"no provider for a script": {"demo.yaml", providers.Options{}, []string{"did you mean script:demo.yaml?"}},
		"an unknown provider":      {"bedrock:x", providers.Options{}, []string{`"bedrock:x"`, "anthropic:MODEL, openai:MODEL or script:FILE"}},
		"nothing":                  {"", providers.Options{}, []string{"anthropic:MODEL"}},
		"only a provider":          {"openai", providers.Options{}, []string{"openai:MODEL"}},
		"no model":                 {"openai:", providers.Options{BaseURL: "http://localhost:1"}, []string{"missing model name"}},
		"a wrong address":          {"openai:x", providers.Options{BaseURL: "localhost:1"}, []string{"base_url"}},
		"no script":                {"script:", providers.Options{}, []string{"missing file name"}},
		"no such script":           {"script:/nowhere/x.yaml", providers.Options{}, []string{"/nowhere/x.yaml"}},
	} {
		t.Run(name, func(t *testing.T) {
			tt.o.Keys = keys(nil)
			m, err := providers.Open(t.Context(), tt.model, tt.o)
			if err == nil || m != nil {
				t.Fatalf("model %v, error %v", m, err)
			}
			for _, says := range tt.says {
				if !strings.Contains(err.Error(), says) {
					t.Errorf("%v does not say %q", err, says)
				}
			}
		})
	}
}

func TestWhereAKeyComesFrom(t *testing.T) {
	keyring.MockInit()
	if err := keyring.Set("assent", "OPENAI_API_KEY", secret+"-ring\n"); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		set  string
		o    providers.Options
		want string
	}{
		"the environment comes first": {secret + " ", providers.Options{}, "Bearer " + secret},
		"then the keyring":            {"", providers.Options{}, "Bearer " + secret + "-ring"},
		"a local server needs no key": {"", providers.Options{Keys: keys(nil)}, ""},
		"another variable":            {"", providers.Options{KeyVariable: "MY_KEY", Keys: keys(map[string]string{"MY_KEY": secret + "-my"})}, "Bearer " + secret + "-my"},
		"without a keyring there is none": {"", providers.Options{Keys: providers.Keys{Keyring: func(string, string) (string, error) {
			return "", errors.New("no D-Bus")
		}}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("OPENAI_API_KEY", tt.set)
			s := modeltest.NewServer(t, modeltest.Refuse(401, `{"error":{"message":"bad key"}}`))
			tt.o.BaseURL = s.URL
			m, err := providers.Open(t.Context(), "openai:x", tt.o)
			if err != nil {
				t.Fatal(err)
			}
			_, err = m.Talk(t.Context(), worker.Prompt{Rounds: []worker.Round{{Message: worker.Message{Text: "x"}}}}, nil)
			var f *model.Fault
			if !errors.As(err, &f) || f.Kind != model.FaultKey || strings.Contains(err.Error(), secret) {
				t.Errorf("error %v", err)
			}
			if got := s.Requests()[0].Header.Get("Authorization"); got != tt.want {
				t.Errorf("sent %q, want %q", got, tt.want)
			}
		})
	}
}

// The address of a provider is that of config, else that of the environment.
func TestWhereAnAddressComesFrom(t *testing.T) {
	for provider, variable := range map[string]string{"anthropic": "ANTHROPIC_BASE_URL", "openai": "OPENAI_BASE_URL"} {
		refuse := modeltest.Refuse(401, `{"error":{"message":"bad key"}}`)
		s := modeltest.NewServer(t, refuse, refuse)
		for name, o := range map[string]providers.Options{
			"environment": {Keys: keys(map[string]string{variable: s.URL})},
			"config":      {BaseURL: s.URL, Keys: keys(map[string]string{variable: "http://127.0.0.1:1"})},
		} {
			m, err := providers.Open(t.Context(), provider+":x", o)
			if err != nil {
				t.Fatal(err)
			}
			_, err = m.Talk(t.Context(), worker.Prompt{Rounds: []worker.Round{{Message: worker.Message{Text: "x"}}}}, nil)
			if f := (*model.Fault)(nil); !errors.As(err, &f) || f.Kind != model.FaultKey {
				t.Errorf("%s from the %s: %v", provider, name, err)
			}
		}
		if n := len(s.Requests()); n != 2 {
			t.Errorf("%s: %d requests", provider, n)
		}
		_, err := providers.Open(t.Context(), provider+":x", providers.Options{Keys: keys(map[string]string{variable: "ftp://x"})})
		if err == nil || !strings.Contains(err.Error(), "invalid "+variable) {
			t.Errorf("a wrong address: %v", err)
		}
	}
}

func TestAKeyringThatWaitsForAPersonCanBeGivenUp(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	waiting := make(chan struct{})
	t.Cleanup(func() { close(waiting) })
	k := keys(nil)
	k.Keyring = func(string, string) (string, error) {
		cancel(enough)
		<-waiting
		return "", nil
	}
	if _, err := providers.Open(ctx, "openai:x", providers.Options{Keys: k}); !errors.Is(err, enough) {
		t.Errorf("error %v", err)
	}
}

func TestOpenAScript(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "hello.yaml"), []byte("turns:\n  - say: Hello.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := providers.Open(t.Context(), "script:hello.yaml", providers.Options{Folder: dir})
	if err != nil {
		t.Fatal(err)
	}
	var l modeltest.Listener
	turn, err := m.Talk(t.Context(), worker.Prompt{Rounds: []worker.Round{{}}}, &l)
	if err != nil || turn.Text != "Hello." || l.Heard.String() != "Hello.|" {
		t.Errorf("turn %+v, heard %q, error %v", turn, l.Heard.String(), err)
	}
}
