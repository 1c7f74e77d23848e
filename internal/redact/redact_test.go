package redact

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestRedactJSON(t *testing.T) {
	for in, want := range map[string]string{
		`{"password":"x","a":1.50}`:                                                               `{"password":"[redacted]","a":1.50}`,
		`{"Api-Key":"x","apiKey":"x","API_KEY":"x"}`:                                              `{"Api-Key":"[redacted]","apiKey":"[redacted]","API_KEY":"[redacted]"}`,
		`{"Authorization":"x","Set-Cookie":"x","pin":1234}`:                                       `{"Authorization":"[redacted]","Set-Cookie":"[redacted]","pin":"[redacted]"}`,
		`{"access_token":["x",{"y":"z"}],"b":[{"secret":{}}]}`:                                    `{"access_token":"[redacted]","b":[{"secret":"[redacted]"}]}`,
		`{"client_secret":{"a":[["x"]]},"c":"d"}`:                                                 `{"client_secret":"[redacted]","c":"d"}`,
		`{"max_tokens":100,"tokens":5,"maxOutputTokens":7,"next_page_token":"p","tokenizer":"t"}`: `{"max_tokens":100,"tokens":5,"maxOutputTokens":7,"next_page_token":"p","tokenizer":"t"}`,
		`{"token":true,"secret":null,"author":"me","passenger":"x"}`:                              `{"token":true,"secret":null,"author":"me","passenger":"x"}`,
		`{"cmd":"curl -H 'Authorization: Bearer abc' <x>"}`:                                       `{"cmd":"curl -H 'Authorization: [redacted]' <x>"}`,
		`{"cmd":"{\"password\":\"a b\"}"}`:                                                        `{"cmd":"{\"password\":\"[redacted]\"}"}`,
		`{"a":9007199254740993,"b":[],"c":{}}`:                                                    `{"a":9007199254740993,"b":[],"c":{}}`,
		`{"name":"password","value":"x"}`:                                                         `{"name":"password","value":"[redacted]"}`,
		`[{"value":["x"],"n":1,"key":"API_TOKEN"},{"name":"a","value":"b"}]`:                      `[{"value":"[redacted]","n":1,"key":"API_TOKEN"},{"name":"a","value":"b"}]`,
		`{"argv":["deploy","--token","x","--name","y"]}`:                                          `{"argv":["deploy","--token","[redacted]","--name","y"]}`,
		`["mysql","-u","root","-px1","db"]`:                                                       `["mysql","-u","root","-p[redacted]","db"]`,
		`["sshpass","-p","x1","ssh","a"]`:                                                         `["sshpass","-p","[redacted]","ssh","a"]`,
		`["docker","run","-p","80:80"]`:                                                           `["docker","run","-p","80:80"]`,
		`["--max-tokens","100","--token-stdin","--x"]`:                                            `["--max-tokens","100","--token-stdin","--x"]`,
		`{"required":["password","name"]}`:                                                        `{"required":["password","name"]}`,
		`{"password":`:                                                                            `"[redacted]"`,
		`not json`:                                                                                `"[redacted]"`,
		"":                                                                                        "",
		strings.Repeat("[", 5_000_000):                                                            `"[redacted]"`,
		strings.Repeat(`{"a":`, 20_000) + "secret":                                                `"[redacted]"`,
	} {
		got := JSON(json.RawMessage(in))
		if string(got) != want {
			t.Errorf("RedactJSON(%.60s) = %.200s, want %s", in, got, want)
		}
		if len(got) > 0 && (!json.Valid(got) || string(JSON(got)) != string(got)) {
			t.Errorf("RedactJSON(%.60s) is not stable JSON", in)
		}
	}
}

var plantedSecrets = []string{
	"ghp_" + strings.Repeat("a1B2", 9), "github_pat_" + strings.Repeat("a1_", 12), "glpat-" + strings.Repeat("x1-", 7),
	"AKIAIOSFODNN7EXAMPLE", "xoxb-123456789012-abcdef", "sk-ant-" + strings.Repeat("q9", 12), "sk_live_" + strings.Repeat("4eC3", 5),
	"AIza" + strings.Repeat("b", 35), "ya29." + strings.Repeat("c", 25), "npm_" + strings.Repeat("d", 36), "hf_" + strings.Repeat("e", 34),
	"dop_v1_" + strings.Repeat("f0", 32), "SG." + strings.Repeat("g", 22) + "." + strings.Repeat("h", 43),
	"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl",
	"-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----",
}

func TestRedactKnowsCommonFormats(t *testing.T) {
	for _, secret := range plantedSecrets {
		for _, text := range []string{secret, "use " + secret + " now", `"` + secret + `"`, "x=" + secret + "&y=1", "(" + secret + ")"} {
			if got := Text(text); strings.Contains(got, secret) || !strings.Contains(got, Replacement) {
				t.Errorf("Redact(%s) = %s", text, got)
			}
		}
	}
}

func TestRedactInRunningText(t *testing.T) {
	for in, want := range map[string]string{
		"password=hunter2":                        "password=[redacted]",
		"DB_PASSWORD: hunter2, next":              "DB_PASSWORD: [redacted], next",
		`password = "my long, pass"; ok`:          `password = "[redacted]"; ok`,
		`password = 'it is; long' ok`:             `password = '[redacted]' ok`,
		`{"password":"a\"b c"}`:                   `{"password":"[redacted]"}`,
		`{\"password\":\"a b\",\"x\":1}`:          `{\"password\":\"[redacted]\",\"x\":1}`,
		"secret := hunter2":                       "secret := [redacted]",
		"https://u:hunter2@a.b/x":                 "https://u:[redacted]@a.b/x",
		"https://a.b/?access_token=hunter2&y=1":   "https://a.b/?access_token=[redacted]&y=1",
		"Cookie: sid=\"hunter2\"; theme=dark\nok": "Cookie: [redacted]\nok",
		"curl -H 'x-api-key: hunter2' https://a":  "curl -H 'x-api-key: [redacted]' https://a",
		`"Authorization": "hunter2"`:              `"Authorization": "[redacted]"`,
		"Authorization: Basic dXNlcjpwYXNz":       "Authorization: [redacted]",
		"mysql --password hunter2 db":             "mysql --password [redacted] db",
		"deploy --api-key=hunter2 now":            "deploy --api-key=[redacted] now",
		"mysql -u root -phunter2 db":              "mysql -u root -p[redacted] db",
		"shell(mysql -phunter2)":                  "shell(mysql -p[redacted])",
		"cd x && /usr/bin/mysqldump -p'hunter2'":  "cd x && /usr/bin/mysqldump -p'[redacted]'",
		"mysql -P 3306 -p db":                     "mysql -P 3306 -p db",
		"mysql db; cp -pr a b":                    "mysql db; cp -pr a b",
		"sshpass -p hunter2 ssh a":                "sshpass -p [redacted] ssh a",
		"redis-cli -h a -a hunter2 GET x":         "redis-cli -h a -a [redacted] GET x",
		"docker login -u me -p hunter2 r.io":      "docker login -u me -p [redacted] r.io",
		"docker run -p 80:80 x":                   "docker run -p 80:80 x",
		"unzip -P hunter2 a.zip":                  "unzip -P [redacted] a.zip",
		"openssl rsa -passin pass:hunter2 -in k":  "openssl rsa -passin pass:[redacted] -in k",
		"x --db-password hunter2 --token-stdin y": "x --db-password [redacted] --token-stdin y",
		`{"name": "password", "value": "a b"}`:    `{"name": "password", "value": "[redacted]"}`,
		`{"value":"a b","key":"API_TOKEN"}`:       `{"value":"[redacted]","key":"API_TOKEN"}`,
		`["--token","hunter2"]`:                   `["--token","[redacted]"]`,
		`"[\"--token\", \"hunter2\"]"`:            `"[\"--token\", \"[redacted]\"]"`,
		"max_tokens=4096 cfg.max_tokens: 100":     "max_tokens=4096 cfg.max_tokens: 100",
		"input_tokens: 1200, token_count=300":     "input_tokens: 1200, token_count=300",
		"shell(git status)":                       "shell(git status)",
		"the tokenizer: gpt2 counts":              "the tokenizer: gpt2 counts",
		"a keyboard: qwerty":                      "a keyboard: qwerty",
		"":                                        "",
	} {
		if got := Text(in); got != want {
			t.Errorf("Redact(%s)\n got %s\nwant %s", in, got, want)
		}
		if got := Text(want); got != want {
			t.Errorf("Redact(%s) again gives %s", want, got)
		}
	}
}

func FuzzRedactJSON(f *testing.F) {
	for _, seed := range []string{`{"a":["x",{"b":1.0}],"token":"y"}`, `"password=x"`, `[null,true,-0]`, `{"cookie":{"a":"b"}}`, `{"a":"\ud800 Cookie: x"}`} {
		f.Add([]byte(seed), uint8(3), "access_token")
	}
	f.Fuzz(func(t *testing.T, data []byte, n uint8, key string) {
		got := JSON(data)
		if len(data) > 0 && !json.Valid(got) {
			t.Fatalf("RedactJSON(%q) = %q is no JSON", data, got)
		}
		if again := JSON(got); len(data) > 0 && !json.Valid(again) {
			t.Fatalf("RedactJSON(%q) = %q is no JSON", got, again)
		}
		if !json.Valid(data) {
			return
		}
		// A secret by its format, anywhere; one by its key, whatever it is in.
		format := plantedSecrets[int(n)%len(plantedSecrets)]
		planted := map[string]any{"data": json.RawMessage(data), "text": key + " " + format + " " + key, "list": []any{[]string{format}}}
		for _, name := range []string{"token", "Password", "x_" + key + "_api_key", "Set-Cookie"} {
			planted[name] = map[string]any{key: []any{json.RawMessage(data), "hunter2-planted"}}
		}
		out := string(JSON(marshal(t, planted)))
		inside, err := json.Marshal(format)
		if err != nil {
			t.Fatal(err)
		}
		for _, secret := range []string{strings.Trim(string(inside), `"`), "hunter2-planted"} {
			if strings.Contains(out, secret) && !strings.Contains(string(data)+key, "hunter2") {
				t.Fatalf("%q survives in %s", secret, out)
			}
		}
	})
}

// No form fits a text that is too short to be looked at: all of up to five of the
// characters that forms are about are tried.
func TestNoSecretIsTooShortToBeLookedFor(t *testing.T) {
	if got := Text("-u a:b"); got != "-u a:"+Replacement {
		t.Errorf("the shortest form is left: %q", got)
	}
	letters := "-u a:=/@?&ek"
	var try func(text string)
	try = func(text string) {
		for _, f := range secretForms() {
			if got := f.redact(text); got != text {
				t.Errorf("%q has a form", text)
			}
		}
		if len(text) < shortestForm-1 && !t.Failed() {
			for _, l := range letters {
				try(text + string(l))
			}
		}
	}
	for _, first := range letters {
		if !t.Failed() && (first == '-' || first == ' ' || first == 'a') {
			try(string(first))
		}
	}
}

func marshal(t *testing.T, v any) []byte {
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
