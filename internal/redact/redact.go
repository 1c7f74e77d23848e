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
	named := func(form string, hints ...string) secretForm {
		f := plain(form, hints...)
		f.named = true
		return f
	}
	const name = `([a-z0-9_.-]*(?:password|passwd|passphrase|secret|api[_-]?key|access[_-]?key|private[_-]?key|token|` +
		`credential|authorization|cookie)[a-z0-9_.-]*)`
	const value, quote = `((?:[^"\\]|\\[^"])+)`, `\\*"`
	forms := []secretForm{
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
		named(`(?i)(?:^|[\s"'(])--`+name+` +["']?([^\s"'&;-][^\s"'&;)]{2,})`, "--"),
		// {"name": "password", "value": "x"}, in either order, and ["--token", "x"]
		named(`(?i)`+quote+`(?:name|key|field|header|variable)`+quote+`\s*:\s*`+quote+name+quote+
			`\s*,\s*`+quote+`(?:value|val|content|data)`+quote+`\s*:\s*`+quote+value, `"`),
		plain(`(?i)`+quote+`(?:value|val|content|data)`+quote+`\s*:\s*`+quote+value+quote+
			`\s*,\s*`+quote+`(?:name|key|field|header|variable)`+quote+`\s*:\s*`+quote+
			`[a-z0-9_.-]*(?:password|passwd|secret|token|api[_-]?key|credential|authorization)[a-z0-9_.-]*`+quote, `"`),
		named(`(?i)["']--?`+name+`\\*["']\s*,\s*\\*["']([^"'\\]+)`, "-"),
	}
	for _, p := range passwordFlags {
		value, gap := `([^\s"';&|)]+)`, ``
		if p.apart {
			gap = `[ =]?`
		}
		forms = append(forms, plain(`(?:^|[\s/;|&("'`+"`"+`])`+strings.ReplaceAll(p.program, " ", `\s+`)+`(?:\s[^|;&\n]*?)?\s`+
			p.flag+gap+`["']?`+value, p.hint()))
	}
	return forms
})

// passwordFlags are the flags of programs that take a password without a name that says so. Apart says that it may be
// the next word: mysql's is not.
var passwordFlags = []passwordFlag{
	{`(?:mysql[a-z]*|mariadb(?:-[a-z]+)?)`, "-p", false},
	{`(?:sshpass|7z[ar]?|mongo[a-z]*)`, "-p", true},
	{`(?:docker|podman|buildah|skopeo|az|oc|cf|registry) login`, "-p", true},
	{`redis-cli`, "-a", true},
	{`(?:zip|unzip|sqlcmd|bcp)`, "-P", true},
	{`ldap[a-z]+`, "-w", true},
	{`openssl [a-z0-9]+`, "-pass(?:in|out)? pass:", true},
	{`(?:smbclient|rpcclient) `, "-U [^ %]+%", true},
}

type passwordFlag struct {
	program, flag string
	apart         bool
}

func (p *passwordFlag) hint() string { return strings.ToLower(p.flag[:2]) }

// redactWord redacts a word of a command if the words before it give away that it is a secret: --token x, mysql -px.
func redactWord(argv []string, i int) string {
	word := argv[i]
	if i == 0 || Text(word) != word {
		return Text(word)
	}
	flag := argv[i-1]
	if name := strings.TrimLeft(flag, "-"); name != flag && secretKey(name) && !strings.HasPrefix(word, "-") {
		return Replacement
	}
	// The line that ends with the word is redacted there.
	line := strings.Join(argv[max(0, i-maxWordsBack):i+1], " ")
	rest, cut := strings.CutSuffix(Text(line), Replacement)
	if !cut || !strings.HasPrefix(line, rest) || strings.ContainsAny(word, " \"'") {
		return word
	}
	return word[:max(0, len(rest)-(len(line)-len(word)))] + Replacement
}

// maxWordsBack is how far before a secret the name of its program may stand.
const maxWordsBack = 12

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
	begin := target.Len()
	var members []member
	for first := true; dec.More(); first = false {
		if !first {
			target.WriteByte(',')
		}
		inner, name := secret, ""
		if object {
			key, err := dec.Token()
			if err != nil {
				return err
			}
			name, _ = key.(string)
			if err := writeJSON(target, Text(name)); err != nil {
				return err
			}
			target.WriteByte(':')
			inner = secret || secretKey(name)
		}
		from := target.Len()
		if err := redactValue(dec, target, inner, depth+1); err != nil {
			return err
		}
		members = append(members, member{strings.ToLower(name), from - begin, target.Len() - begin})
	}
	if secret {
		return nil
	}
	return redactTogether(target, begin, members, object)
}

// A member is a value of a container, and where it was written.
type member struct {
	name     string
	from, to int
}

// redactTogether redacts what the members of a container give away only together: {"name": "password", "value": "x"}
// and ["--token", "x"].
func redactTogether(out *bytes.Buffer, begin int, members []member, object bool) error {
	written := out.Bytes()[begin:]
	next := map[int]string{}
	if object {
		pairs(written, members, next)
	} else {
		arguments(written, members, next)
	}
	if len(next) == 0 {
		return nil
	}
	written = bytes.Clone(written)
	out.Truncate(begin)
	done := 0
	for i, m := range members {
		if text, ok := next[i]; ok {
			out.Write(written[done:m.from])
			if err := writeJSON(out, text); err != nil {
				return err
			}
			done = m.to
		}
	}
	out.Write(written[done:])
	return nil
}

// pairs finds the values of an object that another member of it names.
func pairs(written []byte, members []member, next map[int]string) {
	named := slices.ContainsFunc(members, func(m member) bool {
		var text string
		return slices.Contains([]string{"name", "key", "field", "header", "variable"}, m.name) &&
			json.Unmarshal(written[m.from:m.to], &text) == nil && secretKey(text)
	})
	for i, m := range members {
		if named && slices.Contains([]string{"value", "val", "content", "data"}, m.name) {
			next[i] = Replacement
		}
	}
}

// arguments finds the secrets of a list that is the words of a command.
func arguments(written []byte, members []member, next map[int]string) {
	isFlag := func(m member) bool { return bytes.HasPrefix(written[m.from:m.to], []byte(`"-`)) }
	if !slices.ContainsFunc(members, isFlag) {
		return
	}
	argv := make([]string, len(members))
	for i, m := range members {
		_ = json.Unmarshal(written[m.from:m.to], &argv[i]) // what is no text is no word
	}
	for i, word := range argv {
		flag := i > 0 && strings.HasPrefix(argv[i-1], "-")
		if !flag && !strings.HasPrefix(word, "-") {
			continue
		}
		if safe := redactWord(argv, i); safe != word {
			next[i] = safe
		}
	}
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
