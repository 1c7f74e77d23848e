// Package redact replaces what looks like a secret in texts and JSON before they are recorded. It
// is pure.
package redact

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/assent-dev/assent/internal/canonical"
)

// Replacement stands in place of a secret.
const Replacement = "[redacted]"

// secretKeys are parts of names whose values are secrets, without separators.
var secretKeys = []string{
	"password", "passwd", "passphrase", "secret", "token", "apikey", "accesskey", "privatekey",
	"encryptionkey", "signingkey", "sharedkey", "masterkey", "sshkey", "dbpass",
	"authorization", "cookie", "credential", "signature", "sessionid", "bearer",
}

// notSecret are ends of names that contain a secret key's name and hold no secret.
var notSecret = []string{
	"maxtokens", "inputtokens", "outputtokens", "totaltokens", "prompttokens", "completiontokens", "cachedtokens",
	"reasoningtokens", "budgettokens", "tokencount", "tokenlimit", "tokenizer", "nexttoken", "pagetoken",
}

var keySeparators = strings.NewReplacer("_", "", "-", "", ".", "", " ", "")

// SecretName reports whether a field or variable of this name may hold a secret.
func SecretName(name string) bool { return secretKey(name) }

func secretKey(key string) bool {
	key = keySeparators.Replace(strings.ToLower(key))
	if key == "tokens" || slices.ContainsFunc(notSecret, func(end string) bool { return strings.HasSuffix(key, end) }) {
		return false
	}
	if slices.ContainsFunc(secretKeys, func(part string) bool { return strings.Contains(key, part) }) {
		return true
	}
	switch key {
	case "auth", "pass", "pw", "pwd", "pin", "otp", "jwt", "sig":
		return true
	}
	return false
}

// A secretForm is the look of a common secret in running text. Where the form
// has a group, only the group is the secret.
type secretForm struct {
	hints []string // one of these is in every text that has the form, in lower case
	form  func() *regexp.Regexp
	named bool // the first group is a name, which must be that of a secret
}

var secretForms = sync.OnceValue(func() []secretForm {
	plain := func(form string, hints ...string) secretForm {
		// Most texts have no hint of most forms, and a hook reads only a few texts.
		return secretForm{hints: hints, form: sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(form) })}
	}
	assignment := plain(`(?i)([a-z0-9_.-]*(?:password|passwd|passphrase|secret|api[_-]?key|access[_-]?key|`+
		`private[_-]?key|token|credential)[a-z0-9_.-]*)`+
		`\\*["']?\s*(?::=|=>|==?|:)\s*(?:\\+"((?:[^"\\]|\\[^"])+)|"((?:[^"\\]|\\[\s\S])+)|'([^']+)|([^\s"'&;,\\]{3,}))`,
		"password", "passwd", "passphrase", "secret", "key", "token", "credential")
	assignment.named = true
	return []secretForm{
		plain(`-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)`, "private key-----"),
		plain(`\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*`, "eyj"),        // JSON web tokens
		plain(`\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b`, "akia", "asia", "abia", "acca"), // AWS key ids
		plain(`\bgh[pousr]_[A-Za-z0-9]{30,}\b`, "ghp_", "gho_", "ghu_", "ghs_", "ghr_"),  // GitHub
		plain(`\bgithub_pat_[A-Za-z0-9_]{30,}\b`, "github_pat_"),                         //
		plain(`\bglpat-[A-Za-z0-9_-]{16,}`, "glpat-"),                                    // GitLab
		plain(`\bxox[abeoprs]-[A-Za-z0-9-]{10,}`, "xox"),                                 // Slack
		plain(`\bsk-[A-Za-z0-9_-]{16,}`, "sk-"),                                          // OpenAI, Anthropic
		plain(`\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}`, "k_live_", "k_test_"),            // Stripe
		plain(`\bAIza[A-Za-z0-9_-]{35}`, "aiza"),                                         // Google
		plain(`\bya29\.[A-Za-z0-9_-]{20,}`, "ya29."),                                     //
		plain(`\bnpm_[A-Za-z0-9]{30,}`, "npm_"),                                          // npm
		plain(`\bhf_[A-Za-z0-9]{30,}`, "hf_"),                                            // Hugging Face
		plain(`\bdop_v1_[a-f0-9]{60,}`, "dop_v1_"),                                       // DigitalOcean
		plain(`\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}`, "sg."),                     // SendGrid
		plain(`(?i)\b(?:bearer|basic|token)\s+([A-Za-z0-9._~+/=-]{12,})`, "bearer", "basic", "token"),
		plain(`[a-zA-Z][a-zA-Z0-9+.-]*://[^\s/:@]*:([^\s/@]+)@`, "://"), // URL passwords
		plain(`[a-zA-Z][a-zA-Z0-9+.-]*://([^\s/:@]{8,})@`, "://"),       // and tokens in their place
		plain(`[?&](?:sig|signature|key|auth)=([^&\s"']{6,})`, "sig=", "signature=", "key=", "auth="),
		plain(`(?:^|\s)(?:-u|--user)[ =]["']?[^\s:"']+:([^\s"']+)`, "-u", "--user"),
		plain(`(?i)\b(?:cookie|authorization|x-api-key)\\*["']?\s*:\s*\\*["']?((?:="[^"\r\n]*"|[^\r\n'"\\]){4,})`,
			"cookie", "authorization", "x-api-key"),
		assignment,
		plain(`(?i)--(?:password|passwd|token|secret|api-key) +["']?([^\s"'&;]{3,})`, "--passw", "--token", "--secret", "--api-key"),
	}
})

// shortestForm is the length of the shortest text that has a form: -u a:b.
const shortestForm = 6

// Text returns text with everything that looks like a secret replaced. It is
// for logs; what a person approves is shown as it is.
func Text(text string) string {
	if len(text) < shortestForm {
		return text
	}
	lower := strings.ToLower(text)
	for _, f := range secretForms() {
		if slices.ContainsFunc(f.hints, func(hint string) bool { return strings.Contains(lower, hint) }) {
			text = f.redact(text)
		}
	}
	return text
}

func (f *secretForm) redact(text string) string {
	var b strings.Builder
	last := 0
	for _, m := range f.form().FindAllStringSubmatchIndex(text, -1) {
		start, end := m[0], m[1]
		for i := 2; i < len(m); i += 2 {
			if m[i] >= 0 {
				start, end = m[i], m[i+1]
			}
		}
		if f.named && !secretKey(text[m[2]:m[3]]) {
			continue
		}
		b.WriteString(text[last:start])
		b.WriteString(Replacement)
		last = end
	}
	b.WriteString(text[last:])
	return b.String()
}

// JSON returns JSON with the values of secret-looking keys, and secrets
// inside other texts, replaced. Keys keep their order and numbers their text.
// What is not JSON, or deeper than [canonical.MaxDepth], is replaced whole.
func JSON(data json.RawMessage) json.RawMessage {
	if len(data) == 0 {
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var out bytes.Buffer
	if err := redactValue(dec, &out, false, 0); err != nil {
		return json.RawMessage(`"` + Replacement + `"`)
	}
	return out.Bytes()
}

// redactValue copies one value; a secret one becomes [Replacement], whatever it is.
func redactValue(dec *json.Decoder, out *bytes.Buffer, secret bool, depth int) error {
	if depth > canonical.MaxDepth {
		return canonical.ErrTooDeep
	}
	token, err := dec.Token()
	if err != nil {
		return err
	}
	switch t := token.(type) {
	case json.Delim:
		if !secret {
			out.WriteRune(rune(t))
		}
		if err := redactContainer(dec, out, t == '{', secret, depth); err != nil {
			return err
		}
		if _, err := dec.Token(); err != nil {
			return err
		}
		if secret {
			return writeJSON(out, Replacement)
		}
		out.WriteRune(rune(t) + 2) // } and ] stand two after { and [
		return nil
	case string:
		if secret {
			t = Replacement
		}
		return writeJSON(out, Text(t))
	case json.Number:
		if secret {
			return writeJSON(out, Replacement)
		}
		out.WriteString(t.String())
		return nil
	}
	return writeJSON(out, token) // true, false, null tell nothing
}

func redactContainer(dec *json.Decoder, out *bytes.Buffer, object, secret bool, depth int) error {
	target := out
	if secret {
		target = &bytes.Buffer{}
	}
	for first := true; dec.More(); first = false {
		if !first {
			target.WriteByte(',')
		}
		inner := secret
		if object {
			key, err := dec.Token()
			if err != nil {
				return err
			}
			name, _ := key.(string)
			if err := writeJSON(target, Text(name)); err != nil {
				return err
			}
			target.WriteByte(':')
			inner = secret || secretKey(name)
		}
		if err := redactValue(dec, target, inner, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func writeJSON(out *bytes.Buffer, v any) error {
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	out.Truncate(out.Len() - 1) // the newline that Encode adds
	return nil
}
