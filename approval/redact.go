package approval

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"sync"
)

// Redacted stands in place of a secret.
const Redacted = "[redacted]"

// secretKeys are parts of names whose values are secrets, without separators.
var secretKeys = []string{
	"password", "passwd", "passphrase", "secret", "token", "apikey", "accesskey", "privatekey",
	"authorization", "cookie", "credential", "signature", "sessionid", "bearer",
}

// notSecret are names that contain a secret key's name and hold no secret.
var notSecret = map[string]bool{
	"maxtokens": true, "tokens": true, "tokencount": true, "inputtokens": true, "outputtokens": true,
	"totaltokens": true, "nexttoken": true, "pagetoken": true, "nextpagetoken": true, "tokenlimit": true,
}

var keySeparators = strings.NewReplacer("_", "", "-", "", ".", "", " ", "")

func secretKey(key string) bool {
	key = keySeparators.Replace(strings.ToLower(key))
	if notSecret[key] {
		return false
	}
	for _, part := range secretKeys {
		if strings.Contains(key, part) {
			return true
		}
	}
	return key == "auth" || key == "pwd" || key == "pin" || key == "otp"
}

// secretForms are the looks of common secrets in running text. Where a form
// has a group, only the group is the secret.
var secretForms = sync.OnceValue(func() []*regexp.Regexp {
	forms := []string{
		`-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)`,
		`\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*`,      // JSON web tokens
		`\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b`,                        // AWS key ids
		`\bgh[pousr]_[A-Za-z0-9]{30,}\b`,                                 // GitHub
		`\bgithub_pat_[A-Za-z0-9_]{30,}\b`,                               //
		`\bglpat-[A-Za-z0-9_-]{16,}`,                                     // GitLab
		`\bxox[abeoprs]-[A-Za-z0-9-]{10,}`,                               // Slack
		`\bsk-[A-Za-z0-9_-]{16,}`,                                        // OpenAI, Anthropic
		`\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}`,                         // Stripe
		`\bAIza[A-Za-z0-9_-]{35}`,                                        // Google
		`\bya29\.[A-Za-z0-9_-]{20,}`,                                     //
		`\bnpm_[A-Za-z0-9]{30,}`,                                         // npm
		`\bhf_[A-Za-z0-9]{30,}`,                                          // Hugging Face
		`\bdop_v1_[a-f0-9]{60,}`,                                         // DigitalOcean
		`\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}`,                   // SendGrid
		`(?i)\b(?:bearer|basic|token)\s+([A-Za-z0-9._~+/=-]{12,})`,       // headers
		`[a-zA-Z][a-zA-Z0-9+.-]*://[^\s/:@]*:([^\s/@]+)@`,                // URL passwords
		`(?i)\b(?:cookie|authorization|x-api-key)\s*:\s*([^\r\n'"]{4,})`, // header lines
		`(?i)[a-z0-9_.-]*(?:password|passwd|passphrase|secret|api[_-]?key|access[_-]?key|private[_-]?key|[_-]token|\btoken|credential)[a-z0-9_.-]*["']?\s*[=:]\s*["']?([^\s"'&;,]{3,})`,
		`(?i)--(?:password|passwd|token|secret|api-key)[ =]["']?([^\s"'&;]{3,})`,
	}
	out := make([]*regexp.Regexp, len(forms))
	for i, f := range forms {
		out[i] = regexp.MustCompile(f)
	}
	return out
})

// Redact returns text with everything that looks like a secret replaced. It is
// for logs; what a person approves is shown as it is.
func Redact(text string) string {
	if len(text) < 4 {
		return text
	}
	for _, form := range secretForms() {
		text = redactForm(form, text)
	}
	return text
}

func redactForm(form *regexp.Regexp, text string) string {
	matches := form.FindAllStringSubmatchIndex(text, -1)
	if matches == nil {
		return text
	}
	var b strings.Builder
	last := 0
	for _, m := range matches {
		start, end := m[0], m[1]
		if len(m) > 2 {
			start, end = m[2], m[3]
		}
		b.WriteString(text[last:start])
		b.WriteString(Redacted)
		last = end
	}
	b.WriteString(text[last:])
	return b.String()
}

// RedactJSON returns JSON with the values of secret-looking keys, and secrets
// inside other texts, replaced. Keys keep their order and numbers their text.
// What is not JSON is replaced whole.
func RedactJSON(data json.RawMessage) json.RawMessage {
	if len(data) == 0 {
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var out bytes.Buffer
	if err := redactValue(dec, &out, false); err != nil {
		return json.RawMessage(`"` + Redacted + `"`)
	}
	return out.Bytes()
}

// redactValue copies one value; a secret one becomes [Redacted], whatever it is.
func redactValue(dec *json.Decoder, out *bytes.Buffer, secret bool) error {
	token, err := dec.Token()
	if err != nil {
		return err
	}
	switch t := token.(type) {
	case json.Delim:
		if !secret {
			out.WriteRune(rune(t))
		}
		if err := redactContainer(dec, out, t == '{', secret); err != nil {
			return err
		}
		if _, err := dec.Token(); err != nil {
			return err
		}
		if secret {
			return writeJSON(out, Redacted)
		}
		out.WriteRune(rune(t) + 2) // } and ] stand two after { and [
		return nil
	case string:
		if secret {
			t = Redacted
		}
		return writeJSON(out, Redact(t))
	case json.Number:
		if secret {
			return writeJSON(out, Redacted)
		}
		out.WriteString(t.String())
		return nil
	}
	return writeJSON(out, token) // true, false, null tell nothing
}

func redactContainer(dec *json.Decoder, out *bytes.Buffer, object, secret bool) error {
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
			if err := writeJSON(target, Redact(name)); err != nil {
				return err
			}
			target.WriteByte(':')
			inner = secret || secretKey(name)
		}
		if err := redactValue(dec, target, inner); err != nil {
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
