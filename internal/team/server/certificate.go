package server

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"
)

// A certificate is read again when its file has changed, so that a renewed one needs no restart.
type certificate struct {
	cert, key string
	log       *slog.Logger // hears of one that is not taken

	mu      sync.Mutex
	checked time.Time
	changed time.Time
	loaded  *tls.Certificate
	warned  string // what the log has heard
}

func (c *certificate) tls() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.get(time.Now()) },
	}
}

// privateKey reports the key of a certificate that everybody can read. A group may: that is how Debian shares such keys.
func privateKey(path string) error { return private(path, 0o007, "640") }

// loadPair reads a certificate and its key. An error names the file, or both.
func loadPair(cert, key string) (tls.Certificate, error) {
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err == nil || errors.As(err, new(*fs.PathError)) { // which names its file
		return pair, err
	}
	return pair, fmt.Errorf("%s and %s: %s; write a certificate and its key in PEM format", cert, key, strings.TrimPrefix(err.Error(), "tls: "))
}

// get returns the newest certificate that could be read. A broken or half-written one does not replace it.
func (c *certificate) get(now time.Time) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.loaded != nil && now.Sub(c.checked) < 10*time.Second {
		return c.loaded, nil
	}
	c.checked = now
	info, err := os.Stat(c.cert)
	if err == nil {
		err = privateKey(c.key)
	}
	if err == nil && (c.loaded == nil || !info.ModTime().Equal(c.changed)) {
		var pair tls.Certificate
		if pair, err = loadPair(c.cert, c.key); err == nil {
			c.loaded, c.changed = &pair, info.ModTime()
		}
	}
	if c.loaded == nil {
		return nil, err
	}
	problem := ""
	if err != nil {
		problem = err.Error()
	}
	if problem != "" && problem != c.warned { // once, and not with every look
		c.log.Warn("the new certificate is not used; the one before stays", "error", problem)
	}
	c.warned = problem
	return c.loaded, nil
}
