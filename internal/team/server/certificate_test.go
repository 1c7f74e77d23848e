package server

import (
	"bytes"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"log/slog"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A renewed certificate that is broken is not used, and the log says so, once.
func TestABrokenCertificateIsLogged(t *testing.T) {
	folder, now := t.TempDir(), time.Now()
	var log bytes.Buffer
	c := &certificate{cert: filepath.Join(folder, "tls.pem"), key: filepath.Join(folder, "tls.key"),
		log: slog.New(slog.NewTextHandler(&log, nil))}
	_, key, err := ed25519.GenerateKey(nil)
	must(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	must(t, err)
	must(t, os.WriteFile(c.key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), 0o600))
	renew := func(serial int64) {
		t.Helper()
		template := &x509.Certificate{SerialNumber: big.NewInt(serial)}
		der, err := x509.CreateCertificate(nil, template, template, key.Public(), key)
		must(t, err)
		must(t, os.WriteFile(c.cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
		must(t, os.Chtimes(c.cert, now, now.Add(time.Duration(serial)*time.Hour)))
	}
	wants := func(serial int64, lines int) {
		t.Helper()
		now = now.Add(11 * time.Second) // it looks every ten
		got, err := c.get(now)
		must(t, err)
		if got.Leaf.SerialNumber.Int64() != serial {
			t.Errorf("it uses certificate %d, not %d", got.Leaf.SerialNumber, serial)
		}
		if n := strings.Count(log.String(), "the new certificate is not used"); n != lines {
			t.Errorf("%d lines, not %d: %s", n, lines, log.String())
		}
	}
	renew(1)
	wants(1, 0)
	must(t, os.WriteFile(c.cert, []byte("half of it"), 0o600))
	wants(1, 1)
	wants(1, 1)
	renew(2)
	wants(2, 1)
	must(t, os.Remove(c.cert))
	wants(2, 2)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
