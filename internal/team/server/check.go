package server

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/assent-dev/assent/internal/team/bundle"
	"github.com/assent-dev/assent/internal/team/db"
)

// A Checked is one thing that was looked at.
type Checked struct {
	What string
	Note string // what was found, if it is fine
	Err  error
}

// Text says what was found.
func (c Checked) Text() string {
	if c.Err != nil {
		return c.Err.Error()
	}
	return c.Note
}

// Check looks at everything that a server needs besides its file, which was read already.
func Check(ctx context.Context, c *Config) []Checked {
	var out []Checked
	look := func(what string, f func() (string, error)) {
		found, err := f()
		out = append(out, Checked{what, found, err})
	}
	look("file", func() (string, error) {
		return fmt.Sprintf("team %s, listens on %s, reached as %s", c.Tenant, c.Listen, c.URL), nil
	})
	look("certificate", func() (string, error) { return checkCertificate(c, time.Now()) })
	look("log key", func() (string, error) {
		k, err := ReadLogKey(c.LogKey)
		if err != nil {
			return "", err
		}
		if name := logName(c.Tenant); k.Name() != name {
			return "", fmt.Errorf("log_key: %s holds the key %s, and the team %s needs one named %s; "+
				"'assent serve key FILE --tenant %s' makes it",
				c.LogKey, k.Name(), c.Tenant, name, c.Tenant)
		}
		return fmt.Sprintf("%s+%08x", k.Name(), k.KeyHash()), nil
	})
	look("database", func() (string, error) { return checkDatabase(ctx, c) })
	look("sign-in", func() (string, error) { return checkIssuer(ctx, c) })
	look("webhooks", func() (string, error) {
		hooks, err := c.hooks()
		if len(hooks) == 0 {
			return "none", err
		}
		return fmt.Sprintf("%d, each with its secret", len(hooks)), err
	})
	return out
}

// soon is how long before its end a certificate counts as a problem.
const soon = 14 * 24 * time.Hour

func checkCertificate(c *Config, now time.Time) (string, error) {
	if c.TLS.Certificate == "" {
		return "none: plain HTTP on " + c.Listen, nil
	}
	if err := privateKey(c.TLS.Key); err != nil {
		return "", fmt.Errorf("tls.key: %w", err)
	}
	pair, err := loadPair(c.TLS.Certificate, c.TLS.Key)
	if err != nil {
		return "", fmt.Errorf("tls: %w", err)
	}
	leaf, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		return "", fmt.Errorf("tls: %w", err)
	}
	u, err := url.Parse(c.URL)
	if err != nil {
		return "", err
	}
	if err := leaf.VerifyHostname(u.Hostname()); err != nil {
		return "", fmt.Errorf("tls: the certificate is not for %s: %w", u.Hostname(), err)
	}
	switch left := leaf.NotAfter.Sub(now); {
	case now.Before(leaf.NotBefore) || left < 0:
		return "", fmt.Errorf("tls: the certificate is valid from %s to %s; renew it",
			leaf.NotBefore.Format(time.DateOnly), leaf.NotAfter.Format(time.DateOnly))
	case left < soon:
		return "", fmt.Errorf("tls: the certificate expires on %s; renew it", leaf.NotAfter.Format(time.DateOnly))
	}
	return fmt.Sprintf("for %s until %s", u.Hostname(), leaf.NotAfter.Format(time.DateOnly)), nil
}

func checkDatabase(ctx context.Context, c *Config) (string, error) {
	dsn, err := c.DSN()
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	d, err := db.Open(ctx, dsn, c.Tenant)
	if err != nil {
		return "", err
	}
	defer d.Close()
	now, err := d.Now(ctx)
	if err != nil {
		return "", err
	}
	if off := time.Since(now).Abs(); off > 5*time.Second {
		return "", fmt.Errorf("the clocks of this machine and the database differ by %v; "+
			"set both from the same time server", off.Round(time.Second))
	}
	row, err := d.Newest(ctx, bundle.Serials(c.Tenant, c.Trust))
	if errors.Is(err, db.ErrNotFound) {
		return "its tables are up to date; the team has published no policy yet, so all records are kept", nil
	}
	if err != nil {
		return "", err
	}
	b, err := bundle.OpenFor(c.Tenant, row.Note, c.Trust)
	if err != nil {
		return "", err
	}
	kept := "all records are kept"
	if b.KeepDays > 0 {
		kept = fmt.Sprintf("records are kept for %d days", b.KeepDays)
	}
	return fmt.Sprintf("its tables are up to date; the newest bundle is %d; %s", b.Serial, kept), nil
}

// checkIssuer asks the sign-in service who it is, as sign-in does.
func checkIssuer(ctx context.Context, c *Config) (string, error) {
	if c.OIDC.Issuer == "" {
		return "no sign-in service is set (oidc), so nobody can sign in", nil
	}
	if c.OIDC.ClientSecretFile != "" {
		if _, err := Secret(c.OIDC.ClientSecretFile); err != nil {
			return "", fmt.Errorf("oidc.client_secret_file: %w", err)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(c.OIDC.Issuer, "/")+"/.well-known/openid-configuration", nil)
	if err != nil {
		return "", err
	}
	client := &http.Client{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true,
		DialContext: (&net.Dialer{Timeout: 5 * time.Second}).DialContext}}
	got, err := client.Do(r)
	if err != nil {
		return "", fmt.Errorf("oidc.issuer: %w", err)
	}
	defer got.Body.Close()
	var said struct {
		Issuer string `json:"issuer"`
	}
	if got.StatusCode != http.StatusOK || json.NewDecoder(io.LimitReader(got.Body, 1<<20)).Decode(&said) != nil || said.Issuer != c.OIDC.Issuer {
		return "", fmt.Errorf("oidc.issuer: %s does not describe itself as this issuer (%s, %q); write the address exactly as it does",
			c.OIDC.Issuer, got.Status, said.Issuer)
	}
	return c.OIDC.Issuer, nil
}
