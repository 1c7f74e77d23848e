package model

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

// An Endpoint is a model at a provider: what both kinds of provider need to know.
type Endpoint struct {
	// Provider is anthropic or openai.
	Provider string
	// Model is the name that the provider knows it by.
	Model string
	// BaseURL is where the provider is; empty is its usual address.
	BaseURL string
	// URLName says in errors where BaseURL was set; empty is base_url.
	URLName string
	// Default is the usual address.
	Default string
	// Key is the secret; empty sends none.
	Key string
	// KeyName says in errors which key it is, such as ANTHROPIC_API_KEY.
	KeyName string
	// MaxTokens limits an answer; 0 leaves it to the provider, or to us where the
	// provider wants to be told.
	MaxTokens int64
	// Silence is how long a provider may say nothing in the middle of an answer; 0 means
	// [DefaultSilence].
	Silence time.Duration
	// Retry says how often to try again.
	Retry Retry
}

// DefaultSilence is long: a model may think for minutes before its first word.
const DefaultSilence = 5 * time.Minute

// Name returns the model as people choose it.
func (e *Endpoint) Name() string { return e.Provider + ":" + e.Model }

// URL returns the address that requests go to.
func (e *Endpoint) URL() string { return cmp.Or(e.BaseURL, e.Default) }

func (e *Endpoint) urlName() string { return cmp.Or(e.URLName, "base_url") }

func (e *Endpoint) base() string { return strings.TrimSuffix(e.URL(), "/") }

func (e *Endpoint) key() string {
	if e.Key == "" {
		return "a request without a key (" + e.KeyName + " is not set)"
	}
	return "the key in " + e.KeyName
}

// Check reports what keeps the endpoint from being used.
func (e *Endpoint) Check() error {
	if e.Model == "" {
		return fmt.Errorf("model %q: missing model name after the colon, such as %s", e.Name(), examples[e.Provider])
	}
	u, err := url.Parse(e.URL())
	switch {
	case err != nil:
		return fmt.Errorf("%s is not a URL", e.urlName()) // what it is may hold a secret
	case u.Scheme != "https" && u.Scheme != "http" || u.Host == "":
		return fmt.Errorf("invalid %s %q: write it as https://HOST/PATH", e.urlName(), u.Redacted())
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return fmt.Errorf("invalid %s %q: it must not have a user, query or fragment; put the key into %s", e.urlName(),
			u.Redacted(), e.KeyName)
	case u.Scheme == "http" && e.Key != "" && !isLocal(u.Hostname()):
		return fmt.Errorf("insecure %s %q: %s would be sent unencrypted; use https", e.urlName(), u.Redacted(),
			e.KeyName)
	case strings.ContainsFunc(e.Key, func(r rune) bool { return r <= ' ' || r > '~' }):
		return fmt.Errorf("the key in %s has characters that no key has; copy it again", e.KeyName)
	}
	return nil
}

// examples of how models are chosen.
var examples = map[string]string{"anthropic": "anthropic:claude-sonnet-4-5", "openai": "openai:gpt-5"}

// isLocal reports whether a host is this machine.
func isLocal(host string) bool {
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.IsLoopback() || strings.EqualFold(host, "localhost")
}

// Client returns an HTTP client that follows no redirect: a key is for one host.
func (e *Endpoint) Client() *http.Client {
	return &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return errElsewhere }}
}

var errElsewhere = errors.New("it sends elsewhere")
