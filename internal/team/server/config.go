package server

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"golang.org/x/mod/sumdb/note"

	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/webhook"
)

// DefaultConfig is the file that is read if none is named.
const DefaultConfig = "/etc/assent/serve.yaml"

// A Config is the file of a server. Each secret has a file of its own.
type Config struct {
	// Tenant is the team's name in bundles and requests, Team what people call it.
	Tenant string `yaml:"tenant"`
	Team   string `yaml:"team"`
	// Listen is an address of this machine, URL how machines and browsers reach it.
	Listen string `yaml:"listen"`
	URL    string `yaml:"url"`
	TLS    struct {
		Certificate string `yaml:"certificate"`
		Key         string `yaml:"key"`
	} `yaml:"tls"`
	Database struct {
		DSNFile     string `yaml:"dsn_file"`
		DSNVariable string `yaml:"dsn_variable"`
		Connections int    `yaml:"connections"`
	} `yaml:"database"`
	// Trust is the public half of the team's key.
	Trust string `yaml:"trust"`
	// LogKey is the file with the key that signs checkpoints.
	LogKey string `yaml:"log_key"`
	OIDC   struct {
		Issuer           string `yaml:"issuer"`
		ClientID         string `yaml:"client_id"`
		ClientSecretFile string `yaml:"client_secret_file"`
	} `yaml:"oidc"`
	Webhooks []Webhook `yaml:"webhooks"`
	// Metrics is the address of Prometheus' text; it must be on loopback. "off" has none.
	Metrics string `yaml:"metrics"`
	// PasskeyWait is how long a new passkey waits before it may be signed into a bundle, CheckpointEach the time
	// between two checkpoints.
	PasskeyWait    time.Duration `yaml:"passkey_wait"`
	CheckpointEach time.Duration `yaml:"checkpoint_each"`
	Limits         Limits        `yaml:"limits"`
}

// A Webhook is told what waits.
type Webhook struct {
	URL        string `yaml:"url"`
	SecretFile string `yaml:"secret_file"`
}

// Limits bound what one caller and all together can take. Zero means the default.
type Limits struct {
	// RequestBytes is the size of a call that brings questions, AuditBytes of one that brings records.
	RequestBytes int `yaml:"request_bytes"`
	AuditBytes   int `yaml:"audit_bytes"`
	// Waiting is how many machines may wait at a replica, Connections how many may be open.
	Waiting     int `yaml:"waiting"`
	Connections int `yaml:"connections"`
	// AuditInFlight is how many bytes of records may be in memory; further calls are told to come again.
	AuditInFlight int `yaml:"audit_in_flight"`
	// OpenRequests is how many questions of one machine may wait for people.
	OpenRequests int `yaml:"open_requests"`
}

func (l *Limits) defaults() {
	l.RequestBytes = cmp.Or(l.RequestBytes, 4<<20)
	l.AuditBytes = cmp.Or(l.AuditBytes, 4<<20)
	l.Waiting = cmp.Or(l.Waiting, 12_000)
	l.Connections = cmp.Or(l.Connections, 16_000)
	l.AuditInFlight = cmp.Or(l.AuditInFlight, 64<<20)
	l.OpenRequests = cmp.Or(l.OpenRequests, 1000)
}

// ReadConfig reads the file of a server. What is wrong in it is of type [config.Problems]. Paths in it are
// relative to its folder.
func ReadConfig(path string) (*Config, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w; name the server's file with --config, docs/serve.md has an example", err)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	const most = 128 << 10
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && len(data) > most {
		err = fmt.Errorf("%s is larger than %d bytes, the limit", path, most)
	}
	if err != nil {
		return nil, err
	}
	return ParseConfig(path, data)
}

// ParseConfig reads the text of a file.
func ParseConfig(path string, data []byte) (*Config, error) {
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		return nil, problemOf(path, err)
	}
	if len(file.Docs) == 0 || file.Docs[0].Body == nil {
		return nil, config.Problems{{File: path, Line: 1, Text: "the file is empty; docs/serve.md has an example"}}
	}
	r := reader{path: path, file: file}
	for _, key := range []string{"$.passkey_wait", "$.checkpoint_each"} {
		r.duration(key)
	}
	if len(r.problems) > 0 {
		return nil, r.problems
	}
	c := &Config{PasskeyWait: 24 * time.Hour, CheckpointEach: time.Minute}
	if err := yaml.NewDecoder(strings.NewReader(string(data)), yaml.Strict()).Decode(c); err != nil {
		return nil, problemOf(path, err)
	}
	c.Listen, c.Metrics, c.Team = cmp.Or(c.Listen, "127.0.0.1:8443"), cmp.Or(c.Metrics, "127.0.0.1:9464"), cmp.Or(c.Team, c.Tenant)
	c.Limits.defaults()
	for _, p := range []*string{&c.TLS.Certificate, &c.TLS.Key, &c.Database.DSNFile, &c.LogKey, &c.OIDC.ClientSecretFile} {
		*p = beside(path, *p)
	}
	for i := range c.Webhooks {
		c.Webhooks[i].SecretFile = beside(path, c.Webhooks[i].SecretFile)
	}
	r.check(c)
	if len(r.problems) > 0 {
		slices.SortStableFunc(r.problems, func(a, b config.Problem) int { return a.Line - b.Line })
		return nil, r.problems
	}
	return c, nil
}

// beside makes a path absolute that is relative to the folder of a file.
func beside(file, path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(file), path)
}

// moved says where keys are that were once in this file.
var moved = map[string]string{
	`"keep_days"`: `: it is in the signed policy; write it in team.yaml and run "assent policy publish"`,
}

// problemOf says where the YAML is wrong.
func problemOf(path string, err error) error {
	p := config.Problem{File: path, Line: 1, Column: 1, Text: err.Error()}
	var at yaml.Error
	if errors.As(err, &at) {
		pos := at.GetToken().Position
		p.Line, p.Column, p.Text = pos.Line, pos.Column, at.GetMessage()
	}
	if name, ok := strings.CutPrefix(p.Text, "unknown field "); ok {
		p.Text = "unknown key " + name + cmp.Or(moved[name], "; docs/serve.md lists the keys")
	}
	return config.Problems{p}
}

// A reader finds what is wrong in a file, and where.
type reader struct {
	path     string
	file     *ast.File
	problems config.Problems
}

// problem reports what is wrong with a key, such as $.tls.key, at the key or at the nearest key above it that the file has.
func (r *reader) problem(key, format string, args ...any) {
	p := config.Problem{File: r.path, Line: 1, Text: strings.TrimPrefix(key, "$.") + ": " + fmt.Sprintf(format, args...)}
	for ; key != "$"; key = key[:strings.LastIndexByte(key, '.')] {
		at, err := yaml.PathString(key)
		if err != nil {
			break
		}
		if n, err := at.FilterFile(r.file); err == nil && n != nil {
			p.Line, p.Column = n.GetToken().Position.Line, n.GetToken().Position.Column
			break
		}
	}
	r.problems = append(r.problems, p)
}

// ValidName reports whether a team, a person or a group can have a name: lower-case letters and digits, and after the first
// of them also these marks.
func ValidName(marks, name string) bool {
	for i, r := range name {
		if (r < 'a' || r > 'z') && (r < '0' || r > '9') && (i == 0 || !strings.ContainsRune(marks, r)) {
			return false
		}
	}
	return name != "" && len(name) <= 63
}

// duration reports a value that is not a duration. The decoder would not say where it is.
func (r *reader) duration(key string) {
	at, err := yaml.PathString(key)
	if err != nil {
		return
	}
	n, err := at.FilterFile(r.file)
	if err != nil || n == nil {
		return
	}
	if text := n.GetToken().Value; text != "" {
		if _, err := time.ParseDuration(text); err != nil {
			r.problem(key, "invalid duration %q: write one such as 30s, 15m or 24h", text)
		}
	}
}

func (r *reader) check(c *Config) {
	if !ValidName("-", c.Tenant) {
		r.problem("$.tenant", "write the team's name, in lower-case letters, digits and -, such as acme")
	}
	r.checkAddresses(c)
	switch {
	case c.Database.DSNFile == "" && c.Database.DSNVariable == "":
		r.problem("$.database", "name a file with dsn_file, or a variable of the environment with dsn_variable")
	case c.Database.DSNFile != "" && c.Database.DSNVariable != "":
		r.problem("$.database", "use dsn_file or dsn_variable, not both")
	case c.Database.Connections < 0:
		r.problem("$.database.connections", "must not be negative")
	}
	if _, err := note.NewVerifier(c.Trust); err != nil {
		r.problem("$.trust", "write the public half of the team's key, NAME+HASH+KEY, which 'assent policy key' printed")
	}
	if c.LogKey == "" {
		r.problem("$.log_key", "name the file of the key that signs checkpoints; 'assent serve key FILE' makes one")
	}
	if c.OIDC.Issuer != "" || c.OIDC.ClientID != "" || c.OIDC.ClientSecretFile != "" {
		if err := webAddress(c.OIDC.Issuer); err != nil {
			r.problem("$.oidc.issuer", "%v", err)
		}
		if c.OIDC.ClientID == "" {
			r.problem("$.oidc.client_id", "missing; write the name of this server at the sign-in service")
		}
	}
	for i, w := range c.Webhooks {
		at := fmt.Sprintf("$.webhooks[%d]", i)
		if err := webhook.CheckURL(w.URL); err != nil {
			r.problem(at, "url: %v", err)
		}
		if w.SecretFile == "" {
			r.problem(at, "secret_file: missing; every notice is signed, so name the file with the secret")
		}
	}
	if c.PasskeyWait < 0 {
		r.problem("$.passkey_wait", "must not be negative; 0s does not wait")
	}
	if c.CheckpointEach < time.Second {
		r.problem("$.checkpoint_each", "must be at least 1s")
	}
	for name, n := range map[string]int{"request_bytes": c.Limits.RequestBytes, "audit_bytes": c.Limits.AuditBytes,
		"waiting": c.Limits.Waiting, "connections": c.Limits.Connections,
		"audit_in_flight": c.Limits.AuditInFlight, "open_requests": c.Limits.OpenRequests} {
		if n < 0 {
			r.problem("$.limits."+name, "must not be negative")
		}
	}
}

// validPort reports whether a text is a port; 0 is any that is free.
func validPort(text string) bool {
	_, err := net.LookupPort("tcp", text)
	return text != "" && err == nil
}

func (r *reader) checkAddresses(c *Config) {
	if _, port, err := net.SplitHostPort(c.Listen); err != nil || !validPort(port) {
		r.problem("$.listen", "write ADDRESS:PORT, such as 127.0.0.1:8443")
	}
	u, err := url.Parse(c.URL)
	if problem := webAddress(c.URL); problem != nil {
		r.problem("$.url", "%v", problem)
	} else if err == nil && (u.Path != "" || u.RawQuery != "" || u.Fragment != "") {
		r.problem("$.url", "write it without a path, such as https://assent.example.org")
	} else if err == nil && u.Scheme == "http" && c.TLS.Certificate != "" {
		r.problem("$.url", "the server speaks TLS, because tls.certificate is set: write https://%s", u.Host)
	}
	if (c.TLS.Certificate == "") != (c.TLS.Key == "") {
		r.problem("$.tls", "name both certificate and key")
	}
	if c.TLS.Certificate == "" && !loopback(c.Listen) {
		r.problem("$.listen", "other machines can reach %s, so set tls.certificate and tls.key", c.Listen)
	}
	if c.Metrics != "off" && !loopback(c.Metrics) {
		r.problem("$.metrics", "write an address on loopback, such as 127.0.0.1:9464, or off")
	}
}

// webAddress reports an address that is neither https nor on this machine.
func webAddress(text string) error {
	u, err := url.Parse(text)
	if err == nil && u.User == nil && u.Host != "" &&
		(u.Scheme == "https" || u.Scheme == "http" && (u.Hostname() == "localhost" || loopback(u.Host))) {
		return nil
	}
	return errors.New("write https://HOST, or http://localhost:PORT on one machine")
}

// loopback reports whether only this machine can reach an address.
func loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = address
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.IsLoopback()
}

// Secret reads a file that only its owner may read.
func Secret(path string) (string, error) {
	if err := private(path, 0o077, "600"); err != nil {
		return "", err
	}
	data, err := os.ReadFile(path)
	return strings.TrimSpace(string(data)), err
}

// private reports a file whose mode has bits that a secret must not have.
func private(path string, bits fs.FileMode, should string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file; name the file with the secret", path)
	}
	if info.Mode().Perm()&bits != 0 {
		return fmt.Errorf("others can read %s; run: chmod %s %s", path, should, path)
	}
	return nil
}

// DSN reads how the database is reached, with the limit of connections unless it names one itself.
func (c *Config) DSN() (string, error) {
	dsn := os.Getenv(c.Database.DSNVariable)
	if c.Database.DSNVariable == "" {
		var err error
		if dsn, err = Secret(c.Database.DSNFile); err != nil {
			return "", fmt.Errorf("database.dsn_file: %w", err)
		}
	} else if dsn == "" {
		return "", fmt.Errorf("database.dsn_variable: the environment variable %s is not set", c.Database.DSNVariable)
	}
	scheme, _, isURL := strings.Cut(dsn, "://")
	if dsn == "" || isURL && scheme != "postgres" && scheme != "postgresql" {
		return "", errors.New("the address of the database must look like postgres://USER@HOST/DATABASE, " +
			"or like host=HOST user=USER dbname=DATABASE")
	}
	if strings.Contains(dsn, "pool_max_conns") {
		return dsn, nil
	}
	limit := fmt.Sprintf("pool_max_conns=%d", cmp.Or(c.Database.Connections, 16))
	switch {
	case !isURL:
		return dsn + " " + limit, nil
	case strings.Contains(dsn, "?"):
		return dsn + "&" + limit, nil
	}
	return dsn + "?" + limit, nil
}
