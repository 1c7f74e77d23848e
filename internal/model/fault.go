package model

import (
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/assent-dev/assent/internal/redact"
)

// A Fault is why a turn could not be had, in words that say what to do.
type Fault struct {
	Kind FaultKind
	// Status is that of the answer; 0 if there was none.
	Status int
	// After is how long the provider wants to be left alone; 0 if it does not say.
	After time.Duration
	// Text is the whole story, without secrets.
	Text string
}

func (f *Fault) Error() string { return f.Text }

// A FaultKind is what kind of thing went wrong.
type FaultKind string

// The kinds.
const (
	FaultKey         FaultKind = "key"         // the key is missing, or was refused
	FaultModel       FaultKind = "model"       // there is no such model, or not for this key
	FaultRequest     FaultKind = "request"     // the provider does not take the request
	FaultLimit       FaultKind = "limit"       // too much was asked in too short a time
	FaultQuota       FaultKind = "quota"       // the account has nothing left
	FaultServer      FaultKind = "server"      // the provider failed
	FaultBroken      FaultKind = "broken"      // the answer broke off or made no sense
	FaultUnreachable FaultKind = "unreachable" // nobody answers at the address
	FaultCut         FaultKind = "cut"         // the answer reached its limit of tokens
	FaultRefused     FaultKind = "refused"     // the model will not answer
)

// passing reports whether the same request may work a moment later.
func (f *Fault) passing() bool {
	return f.Kind == FaultLimit || f.Kind == FaultServer || f.Kind == FaultBroken
}

// An Answer is what a provider said instead of a turn.
type Answer struct {
	Status int
	After  time.Duration
	Code   string // the provider's own word for it
	Detail string // for people
}

// Refused is the fault behind an answer that is not a turn.
func (e *Endpoint) Refused(a Answer) *Fault {
	f := &Fault{Status: a.Status, After: a.After}
	switch {
	case a.Code == "insufficient_quota" || a.Code == "billing_error" || a.Status == 402:
		f.Kind = FaultQuota
		f.Text = fmt.Sprintf("the account behind %s has nothing left; top it up, or use another model", e.key())
	case a.Status == 401:
		f.Kind = FaultKey
		f.Text = fmt.Sprintf("%s refused %s; check it, or replace it", e.base(), e.key())
	case a.Status == 403:
		f.Kind = FaultKey
		f.Text = fmt.Sprintf("%s does not let %s use %s; take another key or model", e.base(), e.key(), e.Name())
	case a.Status == 404:
		f.Kind = FaultModel
		f.Text = fmt.Sprintf("%s does not know model %q; check the name after %q and %s", e.base(), e.Model,
			e.Provider+":", e.urlName())
	case a.Status == 429 || a.Code == "rate_limit_error":
		f.Kind = FaultLimit
		f.Text = fmt.Sprintf("%s limits how much it is asked; wait, or use another model", e.base())
	case a.Status == 408, a.Status == 409, a.Status >= 500, a.Code == "overloaded_error", a.Code == "api_error":
		f.Kind = FaultServer
		f.Text = fmt.Sprintf("%s failed; try again later", e.base())
	default:
		f.Kind = FaultRequest
		f.Text = fmt.Sprintf("%s does not take the request for %s", e.base(), e.Name())
	}
	f.Text = e.clean(f.Text + describe(a))
	return f
}

// describe says what the provider said.
func describe(a Answer) string {
	var parts []string
	if a.Status != 0 && a.Status != 200 {
		parts = append(parts, fmt.Sprintf("status %d", a.Status))
	}
	if detail := strings.Join(strings.Fields(a.Detail), " "); detail != "" {
		parts = append(parts, cut(detail, 300))
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ": ") + ")"
}

// Broken is the fault of an answer that broke off, or that makes no sense.
func (e *Endpoint) Broken(why string) *Fault {
	return &Fault{Kind: FaultBroken, Text: e.clean(fmt.Sprintf("the answer of %s broke off: %s", e.Name(), why))}
}

// Cut is the fault of an answer that reached its limit.
func (e *Endpoint) Cut() *Fault {
	return &Fault{Kind: FaultCut, Text: fmt.Sprintf("the answer of %s reached its limit of tokens and is not complete, "+
		"so nothing of it is run; raise max_tokens, or ask for less at once", e.Name())}
}

// Declined is the fault of a model that ends a turn for a reason of its own.
func (e *Endpoint) Declined(reason string) *Fault {
	return &Fault{Kind: FaultRefused,
		Text: e.clean(fmt.Sprintf("%s ended its answer early (%s), so nothing of it is run; say it differently, or use "+
			"another model", e.Name(), cut(reason, 100)))}
}

// Failed is the fault behind an error of the network, or of what came over it.
func (e *Endpoint) Failed(err error) *Fault {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return e.Broken("a part of it is not JSON")
	}
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err // without the URL
	}
	f := &Fault{Kind: FaultUnreachable}
	var dns *net.DNSError
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.Is(err, errElsewhere):
		f.Text = fmt.Sprintf("%s redirects to another address, and the key is not sent there; set %s to that address", e.base(),
			e.urlName())
	case errors.Is(err, syscall.ECONNREFUSED):
		f.Text = fmt.Sprintf("nothing answers at %s; start the server, or check %s", e.base(), e.urlName())
	case errors.As(err, &dns) && dns.IsNotFound:
		f.Text = fmt.Sprintf("there is no host %q; check %s and the network", dns.Name, e.urlName())
	case errors.As(err, &certificate):
		f.Text = fmt.Sprintf("the certificate of %s is not trusted; check %s (%v)", e.base(), e.urlName(),
			certificate.Err)
	default:
		f.Kind = FaultBroken
		f.Text = fmt.Sprintf("the connection to %s failed (%v)", e.base(), err)
	}
	f.Text = e.clean(f.Text)
	return f
}

// clean removes what must not be told: the key, and what looks like one.
func (e *Endpoint) clean(text string) string {
	if e.Key != "" {
		text = strings.ReplaceAll(text, e.Key, redact.Replacement)
	}
	return redact.Text(text)
}

func cut(text string, n int) string {
	if runes := []rune(text); len(runes) > n {
		return string(runes[:n]) + "…"
	}
	return text
}
