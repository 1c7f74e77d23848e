package server_test

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/team/server"
)

// good is a file with all keys that are needed.
var good = map[string]string{
	"tenant": "tenant: acme", "url": "url: https://assent.example.org", "database": "database: {dsn_file: dsn}",
	"trust": "trust: TRUST", "log_key": "log_key: log.key",
}

var order = []string{"tenant", "listen", "url", "tls", "database", "trust", "log_key", "oidc", "webhooks", "metrics", "passkey_wait", "checkpoint_each", "keep_days", "limits"}

func file(t *testing.T, change map[string]string) (*server.Config, error) {
	t.Helper()
	_, trust := teamKeys(t)
	var lines []string
	for _, k := range order {
		line := good[k]
		if c, ok := change[k]; ok {
			line = c
		}
		if line != "" {
			lines = append(lines, strings.ReplaceAll(line, "TRUST", trust))
		}
	}
	return server.ParseConfig("/etc/assent/serve.yaml", []byte(strings.Join(lines, "\n")+"\n"))
}

func TestConfig(t *testing.T) {
	c, err := file(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	if c.Listen != "127.0.0.1:8443" || c.Metrics != "127.0.0.1:9464" || c.Database.DSNFile != "/etc/assent/dsn" || c.LogKey != "/etc/assent/log.key" ||
		c.Team != "acme" || c.Limits.RequestBytes == 0 ||
		c.PasskeyWait != 24*time.Hour || c.CheckpointEach != time.Minute {
		t.Errorf("%+v", c)
	}
}

// Each mistake is reported at its line.
func TestConfigProblems(t *testing.T) {
	for _, c := range []struct{ key, text, want string }{
		{"tenant", "tenant: Acme Inc", "serve.yaml:1:9: tenant: write the team"},
		{"tenant", "", "tenant: write the team"},
		{"tenant", "tenat: acme", `serve.yaml:1:1: unknown key "tenat"; docs/serve.md lists the keys`},
		{"tenant", "tenant: acme\ntenant: other", "already defined"},
		{"tenant", "tenant: [", "serve.yaml:"},
		{"url", "url: http://assent.example.org", "serve.yaml:2:6: url: write https"},
		{"url", "url: https://assent.example.org/x", "without a path"},
		{"url", "url: https://ann:pw@assent.example.org", "url: write https"},
		{"listen", "listen: 0.0.0.0:443", "other machines can reach 0.0.0.0:443, so set tls.certificate and tls.key"},
		{"listen", "listen: ':443'", "other machines can reach"},
		{"listen", "listen: localhost:443", "other machines can reach"}, // a name can lead anywhere
		{"listen", "listen: nowhere", "write ADDRESS:PORT"},
		{"listen", "listen: 127.0.0.1:99999", "write ADDRESS:PORT"},
		{"tls", "tls: {certificate: a.pem}", "tls: name both"},
		{"database", "database: {}", "name a file with dsn_file"},
		{"database", "database: {dsn: postgres://x}", `unknown key "dsn"`},
		{"database", "database: {dsn_file: a, dsn_variable: B}", "not both"},
		{"trust", "trust: acme", "trust: write the public half"},
		{"log_key", "", "log_key: name the file"},
		{"oidc", "oidc: {issuer: http://idp.example.org, client_id: x}", "oidc.issuer: write https"},
		{"oidc", "oidc: {issuer: https://idp.example.org}", "oidc.client_id: missing"},
		{"webhooks", "webhooks: [{url: http://example.org, secret_file: x}]", "webhooks[0]: url: write https"},
		{"webhooks", "webhooks: [{url: https://example.org}]", "secret_file: missing"},
		{"metrics", "metrics: 0.0.0.0:9464", "write an address on loopback"},
		{"passkey_wait", "passkey_wait: -1h", "must not be negative"},
		{"passkey_wait", "passkey_wait: soon", `passkey_wait: invalid duration "soon": write one such as`},
		{"url", "url: http://localhost:8443\ntls: {certificate: a.pem, key: a.key}", "write https://localhost:8443"},
		{"checkpoint_each", "checkpoint_each: 10ms", "at least 1s"},
		{"keep_days", "keep_days: 400", `serve.yaml:6:1: unknown key "keep_days": it is in the signed policy; write it in team.yaml`},
		{"limits", "limits: {waiting: -1}", "limits.waiting: must not be negative"},
		{"limits", "limits: {waitng: 1}", `unknown key "waitng"`},
	} {
		_, err := file(t, map[string]string{c.key: c.text})
		if !errors.As(err, new(config.Problems)) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got %v, want %q", c.text, err, c.want)
		}
	}
}

// Every key is on the page.
func TestConfigDocs(t *testing.T) {
	page, err := os.ReadFile("../../../docs/serve.md")
	if err != nil {
		t.Fatal(err)
	}
	var walk func(prefix string, of reflect.Type)
	walk = func(prefix string, of reflect.Type) {
		for i := range of.NumField() {
			f := of.Field(i)
			name, kind := prefix+f.Tag.Get("yaml"), f.Type
			if kind.Kind() == reflect.Slice {
				kind = kind.Elem()
			}
			if kind.Kind() == reflect.Struct {
				walk(name+".", kind)
			} else if !strings.Contains(string(page), "| `"+name+"` |") {
				t.Errorf("docs/serve.md has no row for %s", name)
			}
		}
	}
	walk("", reflect.TypeFor[server.Config]())
}

// What others can read is no secret.
func TestSecret(t *testing.T) {
	path := filepath.Join(t.TempDir(), "dsn")
	if err := os.WriteFile(path, []byte("x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if s, err := server.Secret(path); s != "x" || err != nil {
		t.Error(s, err)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := server.Secret(path); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Error(err)
	}
}

func TestLogKey(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys", "log.key")
	if _, err := server.ReadLogKey(path); err == nil || !strings.Contains(err.Error(), "assent serve key") {
		t.Error(err)
	}
	public, err := server.MakeLogKey(path, "acme")
	if err != nil {
		t.Fatal(err)
	}
	signer, err := server.ReadLogKey(path)
	if err != nil || !strings.HasPrefix(public, "acme-log+") || signer.Name() != "acme-log" {
		t.Error(public, err)
	}
	if info, _ := os.Stat(path); info.Mode().Perm() != 0o600 {
		t.Error(info.Mode())
	}
	// In /etc/assent other users' assent must find policy.yaml, or find that there is none.
	if info, _ := os.Stat(filepath.Dir(path)); info.Mode().Perm()&0o055 != 0o055 {
		t.Errorf("others cannot enter the folder: %v", info.Mode())
	}
	if _, err := server.MakeLogKey(path, "acme"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("an existing key was replaced: %v", err)
	}
}

// teamKeys returns a key of a team and its public half.
func teamKeys(t testing.TB) (note.Signer, string) {
	t.Helper()
	secret, public, err := note.GenerateKey(rand.Reader, "acme")
	if err != nil {
		t.Fatal(err)
	}
	signer, err := note.NewSigner(secret)
	if err != nil {
		t.Fatal(err)
	}
	return signer, public
}
